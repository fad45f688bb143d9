// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/link_survey.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/probe_rounds.hpp"
#include "plogp/uplink_burst.hpp"

namespace laple {
namespace {

constexpr Seconds kFar = std::chrono::milliseconds(1);  // one way: from here on handshakes and idling matter
constexpr double kGrowth = 1.10;                        // lanes that add less than a tenth do not count
constexpr double kDoubted = 0.80;                       // of the best rate: look again
constexpr int kFanOut = 3;                              // nodes that exhaust the NIC of another one
constexpr Bytes kLargestMessage = 16 * 1024;            // of a flow
constexpr Bytes kSmallestMessage = 1024;
constexpr double kWindows = 4;  // round trips' worth of data under way in a flow
constexpr Bytes kLeastWindow = 256 * 1024;
constexpr Bytes kMostWindow = 16 * 1024 * 1024;
constexpr Seconds kShortestFlow = std::chrono::milliseconds(150);
constexpr Seconds kNoFlowIsShorter = std::chrono::milliseconds(1);
constexpr Bytes kLeastUnderWay = 4;      // messages of a flow, where nothing disturbs
constexpr double kMessagesOfFlow = 400;  // in all, then
constexpr double kFlowTrips = 12;        // round trips that flows last: TCP may find its rate in half of them
// Rates that grow by less have settled: that of a lone flow is steady, lanes that fill an uplink disturb each
// other.
constexpr double kSettledAlone = 0.08;
constexpr double kSettled = 0.15;
constexpr int kMostTrialsAlone = 5;
constexpr int kMostTrials = 3;

/// What flows that are measured together have in common.
enum class Sharing { none, few, uplink };

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

constexpr const char* kCutShort = "not all was measured: there was no more time";

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

std::vector<ProbeRound> rounds_of_clusters(int count) {
    std::vector<int> clusters(at(count));
    std::iota(clusters.begin(), clusters.end(), 0);
    return rounds_of_all(clusters);
}

/// As large as the segments of a pipeline, but without a handshake where that takes long.
Bytes message_of_flow(const Plogp& plogp) {
    Bytes bytes = kLargestMessage;
    while (plogp.latency >= kFar && bytes > kSmallestMessage && plogp.send_overhead.at(bytes) > plogp.latency)
        bytes /= 4;
    return bytes;
}

/// What a single large message suggests for flows on such a link. Where nothing disturbs them, few messages
/// under way do, and few in all: a simulator's time grows with the square of the former.
FlowOptions flow_options(const Plogp& plogp, Seconds one_way, bool is_undisturbed) {
    FlowOptions options;
    options.message_bytes = message_of_flow(plogp);
    const Seconds shortest = is_undisturbed && !plogp.gap.is_empty()
                                 ? kMessagesOfFlow * plogp.gap.at(options.message_bytes)
                                 : kShortestFlow;
    options.duration = std::max({shortest, 2 * kFlowTrips * one_way, kNoFlowIsShorter});
    options.window_bytes = is_undisturbed ? kLeastUnderWay * options.message_bytes : kLeastWindow;
    if (plogp.gap.is_empty() || plogp.gap.known().rbegin()->second <= Seconds(0)) return options;
    const auto& [bytes, gap] = *plogp.gap.known().rbegin();
    const double windows = is_undisturbed ? kWindows / 2 : kWindows;
    const double in_flight = windows * 2 * one_way / gap * static_cast<double>(bytes);
    options.window_bytes = static_cast<Bytes>(
        std::clamp(in_flight, static_cast<double>(options.window_bytes), static_cast<double>(kMostWindow)));
    return options;
}

/// What will do for both.
FlowOptions larger(const FlowOptions& a, const FlowOptions& b) {
    return {std::max(a.message_bytes, b.message_bytes), std::max(a.window_bytes, b.window_bytes),
            std::max(a.duration, b.duration)};
}

class LinkSurvey {
  public:
    LinkSurvey(LinkProbes& probes, const LinkSurveyInput& input, LinkModel known,
               const std::function<bool()>& may_go_on, const LinkProgress& progress)
        : probes_(probes),
          input_(input),
          model_(std::move(known)),
          may_go_on_(may_go_on),
          progress_(progress),
          count_(static_cast<int>(input.clusters.size())),
          rounds_(rounds_of_clusters(count_)) {
        model_.clusters.resize(at(count_));
        steps_ = 2 * count_ + 1 + 2 * static_cast<int>(rounds_.size()) + (count_ > 1 ? count_ : 0);
    }

    LinkModel run() {
        std::erase(model_.warnings, kCutShort);
        if (step("reductions")) measure_reductions();
        for (int c = 0; c < count_; ++c) {
            if (step(fmt::format("cluster {}", c))) measure_inside(c);
        }
        for (const auto& round : rounds_) {
            if (step("links between clusters")) measure_between(round);
        }
        for (int c = 0; c < count_; ++c) {
            if (step(fmt::format("NICs in cluster {}", c))) measure_nic(c);
        }
        for (const auto& round : rounds_) {
            if (step("lanes between clusters")) measure_lanes(round);
        }
        for (int c = 0; c < count_ && count_ > 1; ++c) {
            if (step(fmt::format("uplink of cluster {}", c))) measure_uplink(c);
        }
        if (is_cut_short_) model_.warnings.emplace_back(kCutShort);
        return std::move(model_);
    }

  private:
    const std::vector<int>& nodes_of(int cluster) const { return input_.clusters[at(cluster)]; }
    int first_of(int cluster) const { return nodes_of(cluster).front(); }
    Seconds latency(int a, int b) const { return input_.latency[at(a)][at(b)]; }

    bool step(const std::string& what) {
        if (is_cut_short_) return false;
        if (may_go_on_ && !may_go_on_()) {
            is_cut_short_ = true;
            return false;
        }
        if (progress_) progress_(what, steps_done_, steps_);
        ++steps_done_;
        return true;
    }

    LinkProbeOptions options_for(int a, int b) const {
        LinkProbeOptions options;
        options.is_far = latency(a, b) >= kFar;
        options.round_trip = 2 * latency(a, b);
        // Beyond the step to handshakes, which cost some round trips themselves.
        if (options.is_far) options.longest_trip += 4 * options.round_trip;
        return options;
    }

    Plogp fit(const PlogpSamples& samples, const std::string& where) {
        PlogpFit fit = fit_plogp(samples);
        for (const std::string& warning : fit.warnings)
            model_.warnings.push_back(fmt::format("{}: {}", where, warning));
        return std::move(fit.model);
    }

    void measure_reductions() {
        std::vector<int> nodes;
        for (int c = 0; c < count_; ++c) nodes.push_back(first_of(c));
        const std::vector<double> times = probes_.reductions(nodes);
        for (int c = 0; c < count_; ++c) model_.clusters[at(c)].reduction = times[at(c)];
    }

    void measure_inside(int cluster) {
        ClusterModel& model = model_.clusters[at(cluster)];
        const auto& nodes = nodes_of(cluster);
        if (nodes.size() < 2 || !model.inside.gap.is_empty()) return;
        const auto samples = probes_.links({{nodes[0], nodes[1], options_for(cluster, cluster)}});
        model.inside = fit(samples.front(), fmt::format("in cluster {}", cluster));
        model.reserve = reserve_of(samples.front());
    }

    void measure_between(const ProbeRound& round) {
        std::vector<LinkProbes::Link> links;
        ProbeRound pairs;
        for (const auto& [a, b] : round) {
            if (!model_.link(a, b).plogp.gap.is_empty()) continue;
            pairs.push_back({a, b});
            links.push_back({first_of(a), first_of(b), options_for(a, b)});
        }
        if (links.empty()) return;
        const auto samples = probes_.links(links);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto [a, b] = pairs[i];
            Plogp& plogp = model_.link(a, b).plogp;
            plogp = fit(samples[i], fmt::format("between clusters {} and {}", a, b));
            // Of two measurements of the same way, the less disturbed one.
            if (latency(a, b) > Seconds(0)) plogp.latency = std::min(plogp.latency, latency(a, b));
        }
    }

    /// The rate of each flow, when their sum is best. While it still grows, they are measured again: TCP
    /// remembers where it was. So are flows that have filled an uplink and lost packets, with less under way:
    /// after a loss they do not fill it for a while, and what was held back until a lost packet came again
    /// arrives at once, faster than any uplink.
    std::vector<double> settled_rates(const std::vector<Flow>& flows, FlowOptions options, Sharing sharing) {
        const double settled = sharing == Sharing::none ? kSettledAlone : kSettled;
        const int most_trials = sharing == Sharing::none ? kMostTrialsAlone : kMostTrials;
        std::vector<double> best;
        double best_sum = -1;
        bool is_best_lossy = false;
        for (int trial = 1;; ++trial) {
            const auto measured = probes_.rates(flows, options);
            double early = 0;
            double late = 0;
            for (const FlowRate& rate : measured) {
                early += rate.early;
                late += rate.late;
            }
            const bool has_lost = sharing == Sharing::uplink && late < (1 - settled) * early;
            if (has_lost) late = early;
            std::vector<double> rates;
            for (const FlowRate& rate : measured)
                rates.push_back(has_lost ? rate.early : (rate.early + rate.late) / 2);
            const bool is_better = is_best_lossy == has_lost ? early + late > best_sum : is_best_lossy;
            if (best.empty() || is_better) {
                best_sum = early + late;
                best = std::move(rates);
                is_best_lossy = has_lost;
            }
            const bool has_settled = !has_lost && late <= (1 + settled) * early;
            if (has_settled || trial == most_trials) return best;
            const Bytes least = std::min(options.window_bytes, kLeastWindow / 2);
            if (has_lost) options.window_bytes = std::max(options.window_bytes / 2, least);
        }
    }

    double sum_of_rates(const std::vector<Flow>& flows, const FlowOptions& options, Sharing sharing) {
        const auto rates = settled_rates(flows, options, sharing);
        return std::accumulate(rates.begin(), rates.end(), 0.0);
    }

    void measure_nic(int cluster) {
        ClusterModel& model = model_.clusters[at(cluster)];
        const auto& nodes = nodes_of(cluster);
        if (nodes.size() < 2 || model.nic_in > 0) return;
        std::vector<Flow> out;
        std::vector<Flow> in;
        for (std::size_t i = 1; i < nodes.size() && i <= kFanOut; ++i) {
            out.push_back({nodes[0], nodes[i]});
            in.push_back({nodes[i], nodes[0]});
        }
        const FlowOptions options =
            flow_options(model.inside, latency(cluster, cluster), input_.is_undisturbed);
        model.nic_out = sum_of_rates(out, options, Sharing::few);
        model.nic_in = sum_of_rates(in, options, Sharing::few);
    }

    /// Lanes of one direction of a pair of clusters while their number is searched.
    struct Search {
        int from = 0;
        int to = 0;
        Lanes* lanes = nullptr;
        int next = 1;  // 0: done
        int most = 0;
        bool has_looked_again = false;
    };

    /// How many lanes to try after what is known: twice as many as long as that helps, then the least number
    /// between the last two that helps as much.
    static int next_count(const Lanes& lanes, int most) {
        const int last = lanes.rate.rbegin()->first;
        const double best = lanes.most();
        const bool grows = lanes.rate.size() < 2 ||
                           lanes.rate.rbegin()->second > kGrowth * std::prev(lanes.rate.end(), 2)->second;
        if (grows && last < most && lanes.rate.rbegin()->second >= best) return std::min(2 * last, most);
        // Below the least count that carries (nearly) all, above the largest that does not.
        const auto found = lanes.rate.lower_bound(lanes.useful());
        const int useful = found->first;
        const int below = found == lanes.rate.begin() ? 0 : std::prev(found)->first;
        return useful - below > 1 ? (useful + below) / 2 : 0;
    }

    /// A lower number than the useful one that would do if it had been disturbed a little; 0 when there is
    /// none.
    static int nearly_enough(const Lanes& lanes) {
        for (const auto& [count, rate] : lanes.rate) {
            if (count < lanes.useful() && rate > kDoubted * lanes.most()) return count;
        }
        return 0;
    }

    /// Close and far pairs separately: what fills a far link would overload a close one, in messages as much
    /// as in bytes.
    void measure_lanes(const ProbeRound& round) {
        ProbeRound near;
        ProbeRound far;
        for (const auto& [a, b] : round) (latency(a, b) < kFar ? near : far).push_back({a, b});
        for (const ProbeRound& pairs : {near, far}) {
            measure_lanes(pairs, false);
            measure_lanes(pairs, true);
        }
    }

    /// One direction of all pairs at the same time.
    void measure_lanes(const ProbeRound& pairs, bool is_back) {
        std::vector<Search> open;
        for (const auto& [a, b] : pairs) {
            LinkPair& pair = model_.link(a, b);
            if (pair.plogp.gap.is_empty()) continue;
            Lanes& lanes = is_back ? pair.back : pair.there;
            if (!lanes.rate.empty()) continue;
            const int most = static_cast<int>(std::min(nodes_of(a).size(), nodes_of(b).size()));
            open.push_back({is_back ? b : a, is_back ? a : b, &lanes, 1, most});
        }
        while (!open.empty()) {
            measure_counts(open);
            std::erase_if(open, [](const Search& search) { return search.next == 0; });
        }
    }

    void measure_counts(std::vector<Search>& open) {
        std::vector<Flow> flows;
        FlowOptions options;
        for (const Search& search : open) {
            for (int lane = 0; lane < search.next; ++lane)
                flows.push_back({nodes_of(search.from)[at(lane)], nodes_of(search.to)[at(lane)]});
            const auto [a, b] = std::minmax(search.from, search.to);
            options =
                larger(options, flow_options(model_.link(a, b).plogp, latency(a, b), input_.is_undisturbed));
        }
        const auto rates =
            settled_rates(flows, options, flows.size() == open.size() ? Sharing::none : Sharing::few);
        auto rate = rates.begin();
        for (Search& search : open) {
            double& known = search.lanes->rate[search.next];
            known = std::max(known, std::accumulate(rate, rate + search.next, 0.0));
            rate += search.next;
            search.next = next_count(*search.lanes, search.most);
            if (search.next == 0 && !search.has_looked_again) {
                search.has_looked_again = true;
                search.next = nearly_enough(*search.lanes);
            }
        }
    }

    /// Up to `count` nodes of other clusters, each once: as many of each as its link can feed.
    std::vector<int> spread_over_others(int cluster, std::size_t count) const {
        std::vector<double> left(at(count_), 0);  // what its link could still carry
        std::vector<std::size_t> used(at(count_), 0);
        for (const LinkPair& pair : model_.links) {
            if (pair.a == cluster || pair.b == cluster)
                left[at(pair.a == cluster ? pair.b : pair.a)] = std::min(pair.there.most(), pair.back.most());
        }
        std::vector<int> nodes;
        while (nodes.size() < count) {
            int best = -1;
            for (int c = 0; c < count_; ++c) {
                const bool is_free = c != cluster && used[at(c)] < nodes_of(c).size();
                if (is_free && (best < 0 || left[at(c)] > left[at(best)])) best = c;
            }
            if (best < 0) break;
            const LinkPair* pair = model_.between(cluster, best);
            nodes.push_back(nodes_of(best)[used[at(best)]++]);
            if (pair != nullptr) left[at(best)] -= pair->there.of_one();
        }
        return nodes;
    }

    /// As much for each of so many flows that together they fill all links of a cluster twice.
    Bytes share_of_links(int cluster, std::size_t flows, const FlowOptions& options) const {
        double under_way = 0;
        for (const LinkPair& pair : model_.links) {
            if (pair.a != cluster && pair.b != cluster) continue;
            under_way +=
                2 * 2 * latency(pair.a, pair.b).count() * std::max(pair.there.most(), pair.back.most());
        }
        return std::clamp(static_cast<Bytes>(under_way / static_cast<double>(flows)),
                          kLeastUnderWay * options.message_bytes, options.window_bytes);
    }

    void measure_uplink(int cluster) {
        ClusterModel& model = model_.clusters[at(cluster)];
        if (model.uplink_in > 0) return;
        at_least_links(cluster);
        if (is_as_fast_as_nics(cluster)) return;
        FlowOptions options;
        for (int c = 0; c < count_; ++c) {
            const LinkPair* pair = c == cluster ? nullptr : model_.between(cluster, c);
            if (pair != nullptr)
                options =
                    larger(options, flow_options(pair->plogp, latency(cluster, c), input_.is_undisturbed));
        }
        if (options.message_bytes == 0) return;  // no link of it was measured
        const auto& nodes = nodes_of(cluster);
        const std::vector<int> others = spread_over_others(cluster, std::max(nodes.size(), at(count_ - 1)));
        // The flows share what fills the uplink.
        options.window_bytes = input_.is_undisturbed ? share_of_links(cluster, others.size(), options)
                                                     : std::max(options.window_bytes / 2, kLeastWindow / 2);
        std::vector<Flow> out;
        std::vector<Flow> in;
        for (std::size_t i = 0; i < others.size(); ++i) {
            out.push_back({nodes[i % nodes.size()], others[i]});
            in.push_back({others[i], nodes[i % nodes.size()]});
        }
        model.uplink_out = sum_of_rates(out, options, Sharing::uplink);
        model.uplink_in = sum_of_rates(in, options, Sharing::uplink);
        at_least_links(cluster);
        measure_burst(cluster);
    }

    /// From some nodes of a cluster, each to one node of some others.
    std::vector<Flow> flows_of_burst(int cluster) const {
        std::vector<Flow> flows;
        const auto& nodes = nodes_of(cluster);
        for (std::size_t i = 0; i < std::min(nodes.size(), kMostOfBurst); ++i) {
            for (int next = 1; next < count_ && at(next) <= kMostOfBurst; ++next) {
                const auto& others = nodes_of((cluster + next) % count_);
                flows.push_back({nodes[i], others[i % others.size()]});
            }
        }
        return flows;
    }

    /// What may wait at an uplink lies between the most that was seen to pass and the least that was not.
    void measure_burst(int cluster) {
        ClusterModel& model = model_.clusters[at(cluster)];
        const std::vector<Flow> flows = flows_of_burst(cluster);
        const auto senders = static_cast<double>(std::min(nodes_of(cluster).size(), kMostOfBurst));
        // A simulator loses nothing.
        if (input_.is_undisturbed || senders * model.nic_out <= model.uplink_out) return;
        const double most = std::min(static_cast<double>(kMostBurst), kLongestBurst * model.uplink_out);
        for (double bytes = kLeastBurst; bytes <= most; bytes *= kBurstStep) {
            if (!loses(cluster, flows, bytes)) continue;
            const double passed = bytes / std::sqrt(kBurstStep);
            model.burst =
                waiting_at_uplink(passed, senders * model.reserve, senders * model.nic_out, model.uplink_out);
            return;
        }
    }

    /// By the slowest of what it passes: the uplink, the links to other clusters, the NICs there.
    Seconds time_of_burst(int cluster, const std::vector<Flow>& flows, double bytes) const {
        double longest = bytes / model_.clusters[at(cluster)].uplink_out;
        const double each = bytes / static_cast<double>(flows.size());
        for (int c = 0; c < count_; ++c) {
            const auto& nodes = nodes_of(c);
            const LinkPair* pair = c == cluster ? nullptr : model_.between(cluster, c);
            if (pair == nullptr) continue;
            const auto to = std::count_if(flows.begin(), flows.end(), [&](const Flow& flow) {
                return std::find(nodes.begin(), nodes.end(), flow.to) != nodes.end();
            });
            const double link = (pair->a == cluster ? pair->there : pair->back).most();
            const double all = each * static_cast<double>(to);
            if (link > 0) longest = std::max(longest, all / link);
            const double nic = model_.clusters[at(c)].nic_in;
            // Each node of the cluster gets as much, but for one flow.
            const double to_one =
                std::ceil(static_cast<double>(to) / static_cast<double>(nodes.size())) * each;
            if (nic > 0) longest = std::max(longest, to_one / nic);
        }
        return Seconds(longest);
    }

    /// Whether something is lost, in two of three trials. The first one will do when it passes.
    bool loses(int cluster, const std::vector<Flow>& flows, double bytes) {
        Seconds farthest{0};
        for (int c = 0; c < count_; ++c) {
            if (c != cluster) farthest = std::max(farthest, latency(cluster, c));
        }
        const Seconds longest = 2 * farthest + time_of_burst(cluster, flows, bytes) +
                                std::max(kTripsOfLoss * 2 * farthest, kSurelyLoss);
        const Seconds rest = std::max(kLeastRest, 2 * farthest);
        const auto each = static_cast<Bytes>(bytes / static_cast<double>(flows.size()));
        int lost = 0;
        for (int trial = 1; trial <= kBurstTrials; ++trial) {
            const auto times = probes_.bursts(flows, std::max<Bytes>(each, 1), rest);
            if (*std::max_element(times.begin(), times.end()) > longest) ++lost;
            if (lost == 0 || lost == 2) break;
        }
        return lost == 2;
    }

    /// The uplink can carry whatever one link has carried.
    void at_least_links(int cluster) {
        ClusterModel& model = model_.clusters[at(cluster)];
        for (const LinkPair& pair : model_.links) {
            if (pair.a != cluster && pair.b != cluster) continue;
            const bool is_out = pair.a == cluster;
            model.uplink_out = std::max(model.uplink_out, (is_out ? pair.there : pair.back).most());
            model.uplink_in = std::max(model.uplink_in, (is_out ? pair.back : pair.there).most());
        }
    }

    /// Whether one link alone has been seen to carry all that the NICs of a cluster can send and get.
    bool is_as_fast_as_nics(int cluster) const {
        constexpr double kNearly = 0.85;
        const ClusterModel& model = model_.clusters[at(cluster)];
        const auto nodes = kNearly * static_cast<double>(nodes_of(cluster).size());
        return model.nic_out > 0 && model.nic_in > 0 && model.uplink_out >= nodes * model.nic_out &&
               model.uplink_in >= nodes * model.nic_in;
    }

    LinkProbes& probes_;
    const LinkSurveyInput& input_;
    LinkModel model_;
    const std::function<bool()>& may_go_on_;
    const LinkProgress& progress_;
    int count_;
    std::vector<ProbeRound> rounds_;
    int steps_ = 0;
    int steps_done_ = 0;
    bool is_cut_short_ = false;
};

}  // namespace

LinkModel survey_links(LinkProbes& probes, const LinkSurveyInput& input, LinkModel known,
                       const std::function<bool()>& may_go_on, const LinkProgress& progress) {
    return LinkSurvey(probes, input, std::move(known), may_go_on, progress).run();
}

}  // namespace laple
