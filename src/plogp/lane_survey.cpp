// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "plogp/flow_survey.hpp"

namespace laple {
namespace {

constexpr double kGrowth = 1.10;   // lanes that add less than a tenth do not count
constexpr double kDoubted = 0.80;  // of the best rate: look again

/// How many lanes to try after what is known: twice as many as long as that helps, then the least number
/// between the last two that helps as much.
int next_count(const Lanes& lanes, int most) {
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
int nearly_enough(const Lanes& lanes) {
    for (const auto& [count, rate] : lanes.rate) {
        if (count < lanes.useful() && rate > kDoubted * lanes.most()) return count;
    }
    return 0;
}

/// The search for the useful number of lanes from one cluster to another.
struct LaneSearch {
    int from = 0;
    int to = 0;
    Lanes* lanes = nullptr;
    int most = 0;
    int next = 1;  // 0: done
    bool has_looked_again = false;

    void add(double rate) {
        double& known = lanes->rate[next];
        known = std::max(known, rate);
        next = next_count(*lanes, most);
        if (next == 0 && !has_looked_again) {
            has_looked_again = true;
            next = nearly_enough(*lanes);
        }
    }
};

/// The next number of each search, all at the same time.
void measure_counts(LinkProbes& probes, const LinkSurveyInput& input, std::vector<LaneSearch>& open,
                    LinkModel& model) {
    std::vector<Flow> flows;
    FlowOptions options;
    for (const LaneSearch& search : open) {
        for (int i = 0; i < search.next; ++i) flows.push_back(input.lane(search.from, search.to, i));
        const auto [a, b] = std::minmax(search.from, search.to);
        options =
            larger(options, flow_options(model.link(a, b).plogp, input.one_way(a, b), input.is_undisturbed));
    }
    const Sharing sharing = flows.size() == open.size() ? Sharing::none : Sharing::few;
    const auto rates = settled_rates(probes, flows, options, sharing);
    auto rate = rates.begin();
    for (LaneSearch& search : open) {
        const auto end = rate + search.next;
        search.add(std::accumulate(rate, end, 0.0));
        rate = end;
    }
}

/// One direction of all pairs at the same time.
void survey_direction(LinkProbes& probes, const LinkSurveyInput& input, const ProbeRound& pairs, bool is_back,
                      LinkModel& model) {
    std::vector<LaneSearch> open;
    for (const auto& [a, b] : pairs) {
        LinkPair& pair = model.link(a, b);
        if (pair.plogp.gap.is_empty()) continue;
        Lanes& lanes = is_back ? pair.back : pair.there;
        if (lanes.rate.empty())
            open.push_back({is_back ? b : a, is_back ? a : b, &lanes, input.most_lanes(a, b)});
    }
    while (!open.empty()) {
        measure_counts(probes, input, open, model);
        std::erase_if(open, [](const LaneSearch& search) { return search.next == 0; });
    }
}

}  // namespace

void survey_lanes(LinkProbes& probes, const LinkSurveyInput& input, const ProbeRound& round,
                  LinkModel& model) {
    // Close and far pairs separately: what fills a far link would overload a close one, in messages as much
    // as in bytes.
    ProbeRound near;
    ProbeRound far;
    for (const auto& [a, b] : round) (input.one_way(a, b) < kFarLink ? near : far).push_back({a, b});
    for (const ProbeRound& pairs : {near, far}) {
        survey_direction(probes, input, pairs, false, model);
        survey_direction(probes, input, pairs, true, model);
    }
}

}  // namespace laple
