// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/index.hpp"
#include "plogp/flow_survey.hpp"
#include "plogp/uplink_burst.hpp"

namespace laple {
namespace {

// A burst that loses packets takes at least two round trips longer (TCP's tail loss probe), and 200 ms where
// no later packet reveals the loss (retransmission timeout). One that TCP starts slowly takes one longer.
// (RFC 8985)
constexpr double kTripsOfLoss = 1.5;
constexpr Seconds kSurelyLoss = std::chrono::milliseconds(10);  // busy machines take some, too
constexpr Bytes kLeastBurst = 64 * 1024;
constexpr Bytes kMostBurst = 512 * 1024;
constexpr double kLongestBurst = 0.25;  // seconds in the uplink
constexpr double kBurstStep = 1.25;
constexpr std::size_t kMostOfBurst = 8;  // nodes, and clusters that they send to
constexpr int kBurstTrials = 3;
constexpr Seconds kLeastRest = std::chrono::milliseconds(15);  // until token buckets are full again

/// Of one cluster.
class UplinkSurvey {
  public:
    UplinkSurvey(LinkProbes& probes, const LinkSurveyInput& input, int cluster, LinkModel& model)
        : probes_(probes),
          input_(input),
          cluster_(cluster),
          model_(model),
          known_(model.clusters[at(cluster)]),
          nodes_(input.nodes_of(cluster)) {}

    void measure() {
        if (known_.uplink_in > 0) return;
        at_least_links();
        if (is_as_fast_as_nics()) return;
        FlowOptions options = options_of_links();
        if (options.message_bytes == 0) return;  // no link of it was measured
        const auto count = std::max(nodes_.size(), input_.clusters.size() - 1);
        const std::vector<int> others = nodes_of_others(count);
        // The flows share what fills the uplink.
        options.window_bytes = input_.is_undisturbed
                                   ? share_of_links(others.size(), options)
                                   : std::max(options.window_bytes / 2, kLeastFlowWindow / 2);
        std::vector<Flow> out;
        std::vector<Flow> in;
        for (std::size_t i = 0; i < others.size(); ++i) {
            out.push_back({nodes_[i % nodes_.size()], others[i]});
            in.push_back({others[i], nodes_[i % nodes_.size()]});
        }
        known_.uplink_out = sum_of_rates(probes_, out, options, Sharing::uplink);
        known_.uplink_in = sum_of_rates(probes_, in, options, Sharing::uplink);
        at_least_links();
        measure_burst();
    }

  private:
    /// Of this cluster with others.
    std::vector<const LinkPair*> links() const {
        std::vector<const LinkPair*> links;
        for (const LinkPair& pair : model_.links) {
            if (pair.joins(cluster_)) links.push_back(&pair);
        }
        return links;
    }

    /// The uplink can carry whatever one link has carried.
    void at_least_links() {
        for (const LinkPair* pair : links()) {
            known_.uplink_out = std::max(known_.uplink_out, pair->lanes_from(cluster_).most());
            known_.uplink_in = std::max(known_.uplink_in, pair->lanes_from(pair->other(cluster_)).most());
        }
    }

    /// Whether one link alone has been seen to carry all that the NICs of a cluster can send and get.
    bool is_as_fast_as_nics() const {
        constexpr double kNearly = 0.85;
        const auto nodes = kNearly * static_cast<double>(nodes_.size());
        return known_.nic_out > 0 && known_.nic_in > 0 && known_.uplink_out >= nodes * known_.nic_out &&
               known_.uplink_in >= nodes * known_.nic_in;
    }

    FlowOptions options_of_links() const {
        FlowOptions options;
        for (const LinkPair* pair : links()) {
            const Seconds one_way = input_.one_way(cluster_, pair->other(cluster_));
            options = larger(options, flow_options(pair->plogp, one_way, input_.is_undisturbed));
        }
        return options;
    }

    /// Up to `count` nodes of other clusters, each once: as many of each as its link can feed.
    std::vector<int> nodes_of_others(std::size_t count) const {
        std::vector<double> left(input_.clusters.size(), 0);  // what its link could still carry
        std::vector<std::size_t> used(input_.clusters.size(), 0);
        for (const LinkPair* pair : links())
            left[at(pair->other(cluster_))] = std::min(pair->there.most(), pair->back.most());
        std::vector<int> nodes;
        while (nodes.size() < count) {
            int best = -1;
            for (int c = 0; c < input_.count(); ++c) {
                const bool is_free = c != cluster_ && used[at(c)] < input_.nodes_of(c).size();
                if (is_free && (best < 0 || left[at(c)] > left[at(best)])) best = c;
            }
            if (best < 0) break;
            const LinkPair* pair = model_.between(cluster_, best);
            nodes.push_back(input_.nodes_of(best)[used[at(best)]++]);
            if (pair != nullptr) left[at(best)] -= pair->there.of_one();
        }
        return nodes;
    }

    /// As much for each of so many flows that together they fill all links of a cluster twice.
    Bytes share_of_links(std::size_t flows, const FlowOptions& options) const {
        double under_way = 0;
        for (const LinkPair* pair : links()) {
            under_way += 2 * 2 * input_.one_way(pair->a, pair->b).count() *
                         std::max(pair->there.most(), pair->back.most());
        }
        return std::clamp(static_cast<Bytes>(under_way / static_cast<double>(flows)),
                          kLeastUnderWay * options.message_bytes, options.window_bytes);
    }

    /// From some nodes of the cluster, each to one node of some others.
    std::vector<Flow> flows_of_burst() const {
        std::vector<Flow> flows;
        for (std::size_t i = 0; i < std::min(nodes_.size(), kMostOfBurst); ++i) {
            for (int next = 1; next < input_.count() && at(next) <= kMostOfBurst; ++next) {
                const auto& others = input_.nodes_of((cluster_ + next) % input_.count());
                flows.push_back({nodes_[i], others[i % others.size()]});
            }
        }
        return flows;
    }

    /// What may wait at an uplink lies between the most that was seen to pass and the least that was not.
    void measure_burst() {
        const std::vector<Flow> flows = flows_of_burst();
        const auto senders = static_cast<double>(std::min(nodes_.size(), kMostOfBurst));
        // A simulator loses nothing.
        if (input_.is_undisturbed || senders * known_.nic_out <= known_.uplink_out) return;
        const double most = std::min(static_cast<double>(kMostBurst), kLongestBurst * known_.uplink_out);
        for (double bytes = kLeastBurst; bytes <= most; bytes *= kBurstStep) {
            if (!loses(flows, bytes)) continue;
            const double passed = bytes / std::sqrt(kBurstStep);
            known_.burst = waiting_at_uplink(passed, senders * known_.reserve, senders * known_.nic_out,
                                             known_.uplink_out);
            return;
        }
    }

    /// By the slowest of what it passes: the uplink, the links to other clusters, the NICs there.
    Seconds time_of_burst(const std::vector<Flow>& flows, double bytes) const {
        double longest = bytes / known_.uplink_out;
        const double each = bytes / static_cast<double>(flows.size());
        for (const LinkPair* pair : links()) {
            const auto& nodes = input_.nodes_of(pair->other(cluster_));
            const auto count = std::count_if(flows.begin(), flows.end(), [&](const Flow& flow) {
                return std::find(nodes.begin(), nodes.end(), flow.to) != nodes.end();
            });
            const auto to = static_cast<double>(count);
            const double link = pair->lanes_from(cluster_).most();
            if (link > 0) longest = std::max(longest, each * to / link);
            const double nic = model_.clusters[at(pair->other(cluster_))].nic_in;
            // Each node of the cluster gets as much, but for one flow.
            const double to_one = std::ceil(to / static_cast<double>(nodes.size())) * each;
            if (nic > 0) longest = std::max(longest, to_one / nic);
        }
        return Seconds(longest);
    }

    /// Whether something is lost, in two of three trials. The first one will do when it passes.
    bool loses(const std::vector<Flow>& flows, double bytes) {
        Seconds trip{0};  // to the farthest cluster, and back
        for (int c = 0; c < input_.count(); ++c) {
            if (c != cluster_) trip = std::max(trip, 2 * input_.one_way(cluster_, c));
        }
        const Seconds longest =
            trip + time_of_burst(flows, bytes) + std::max(kTripsOfLoss * trip, kSurelyLoss);
        const auto each = static_cast<Bytes>(bytes / static_cast<double>(flows.size()));
        int lost = 0;
        for (int trial = 1; trial <= kBurstTrials; ++trial) {
            const auto times = probes_.bursts(flows, std::max<Bytes>(each, 1), std::max(kLeastRest, trip));
            if (*std::max_element(times.begin(), times.end()) > longest) ++lost;
            if (lost == 0 || lost == 2) break;
        }
        return lost == 2;
    }

    LinkProbes& probes_;
    const LinkSurveyInput& input_;
    int cluster_;
    const LinkModel& model_;
    ClusterModel& known_;
    const std::vector<int>& nodes_;
};

}  // namespace

void survey_uplink(LinkProbes& probes, const LinkSurveyInput& input, int cluster, LinkModel& model) {
    UplinkSurvey(probes, input, cluster, model).measure();
}

}  // namespace laple
