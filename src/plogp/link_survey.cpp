// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/link_survey.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/index.hpp"
#include "plogp/flow_survey.hpp"
#include "plogp/stream_survey.hpp"

namespace laple {
namespace {

constexpr int kFanOut = 3;  // nodes that exhaust the NIC of another one

constexpr const char* kCutShort = "not all was measured: there was no more time";

class LinkSurvey {
  public:
    LinkSurvey(LinkProbes& probes, const LinkSurveyInput& input, LinkModel known,
               const std::function<bool()>& may_go_on, const LinkProgress& progress)
        : probes_(probes),
          input_(input),
          model_(std::move(known)),
          may_go_on_(may_go_on),
          progress_(progress),
          count_(input.count()),
          rounds_(input.rounds()) {
        model_.clusters.resize(at(count_));
        steps_ = 2 * count_ + 1 + 3 * static_cast<int>(rounds_.size()) + (count_ > 1 ? count_ : 0);
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
            if (step("lanes between clusters")) survey_lanes(probes_, input_, round, model_);
        }
        for (int c = 0; c < count_ && count_ > 1; ++c) {
            if (step(fmt::format("uplink of cluster {}", c))) survey_uplink(probes_, input_, c, model_);
        }
        for (const auto& round : rounds_) {
            if (step("streams between clusters")) survey_streams(probes_, input_, round, model_);
        }
        if (is_cut_short_) model_.warnings.emplace_back(kCutShort);
        return std::move(model_);
    }

  private:
    int first_of(int cluster) const { return input_.nodes_of(cluster).front(); }

    bool has_time() {
        if (may_go_on_ && !may_go_on_()) is_cut_short_ = true;
        return !is_cut_short_;
    }

    bool step(const std::string& what) {
        if (is_cut_short_ || !has_time()) return false;
        if (progress_) progress_(what, steps_done_, steps_);
        ++steps_done_;
        return true;
    }

    LinkProbeOptions options_for(int a, int b) const {
        LinkProbeOptions options;
        options.is_far = input_.one_way(a, b) >= kFarLink;
        options.round_trip = 2 * input_.one_way(a, b);
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
        const auto& nodes = input_.nodes_of(cluster);
        if (nodes.size() < 2 || !model.inside.gap.is_empty()) return;
        const auto samples = probes_.links({{nodes[0], nodes[1], options_for(cluster, cluster)}});
        if (!has_time()) return;  // it has left out the larger messages
        model.inside = fit(samples.front(), fmt::format("in cluster {}", cluster));
        model.reserve = reserve_of(samples.front());
        model.is_reserve_known = !samples.front().rested.empty();
        model.eager_limit = static_cast<double>(probes_.eager_limits({{nodes[0], nodes[1]}}).front());
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
        if (!has_time()) return;  // as above
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto [a, b] = pairs[i];
            Plogp& plogp = model_.link(a, b).plogp;
            plogp = fit(samples[i], fmt::format("between clusters {} and {}", a, b));
            // Of two measurements of the same way, the less disturbed one.
            const Seconds known = input_.one_way(a, b);
            if (known > Seconds(0)) plogp.latency = std::min(plogp.latency, known);
        }
    }

    void measure_nic(int cluster) {
        ClusterModel& model = model_.clusters[at(cluster)];
        const auto& nodes = input_.nodes_of(cluster);
        if (nodes.size() < 2 || model.nic_in > 0) return;
        std::vector<Flow> out;
        std::vector<Flow> in;
        for (std::size_t i = 1; i < nodes.size() && i <= kFanOut; ++i) {
            out.push_back({nodes[0], nodes[i]});
            in.push_back({nodes[i], nodes[0]});
        }
        const FlowOptions options =
            flow_options(model.inside, input_.one_way(cluster, cluster), input_.is_undisturbed);
        model.nic_out = sum_of_rates(probes_, out, options, Sharing::few);
        model.nic_in = sum_of_rates(probes_, in, options, Sharing::few);
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

std::vector<ProbeRound> LinkSurveyInput::rounds() const {
    return rounds_of_all(all_below(clusters.size()));
}

LinkModel survey_links(LinkProbes& probes, const LinkSurveyInput& input, LinkModel known,
                       const std::function<bool()>& may_go_on, const LinkProgress& progress) {
    return LinkSurvey(probes, input, std::move(known), may_go_on, progress).run();
}

}  // namespace laple
