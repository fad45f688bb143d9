// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/stream_survey.hpp"

#include <algorithm>

#include "base/options.hpp"
#include "plogp/flow_survey.hpp"

namespace laple {
namespace {

constexpr Seconds kShortest = std::chrono::milliseconds(100);
constexpr double kTrips = 10;      // that connections flow: TCP doubles its rate with each
constexpr double kOtherTrips = 6;  // to connect, to drain, to tell
constexpr double kTripsToTell = 2;
constexpr Seconds kRepeated(1);  // TCP's first packet, after that
constexpr double kTripsToConnect = 4;
constexpr double kGrowth = 1.10;  // connections that add less than a tenth do not count
constexpr double kFull = 0.85;    // of what is known to be a limit

/// Whether from `from` to `to` one flow carries less than all that is known to hold it up. An uplink is known
/// (`are_uplinks_known`) where more than this flow has shown what it carries.
bool is_below_limits(const LinkModel& model, int from, int to, const Lanes& lanes, bool are_uplinks_known) {
    const ClusterModel& sends = model.clusters[static_cast<std::size_t>(from)];
    const ClusterModel& receives = model.clusters[static_cast<std::size_t>(to)];
    const double flow = lanes.of_one() > 0 ? lanes.of_one() : lanes.most();
    const bool are_more_lanes = !lanes.rate.empty() && lanes.rate.rbegin()->first > 1;
    // What several pairs of hosts do not exceed is the link's own limit. Where the two are equal, one flow
    // was not measured, for TCP was on its way up yet (link_sweep.cpp).
    if (are_more_lanes && flow >= kFull * lanes.most() && flow < lanes.most()) return false;
    const auto fills = [flow](double limit) { return limit > 0 && flow >= kFull * limit; };
    if (fills(sends.nic_out) || fills(receives.nic_in)) return false;
    return !are_uplinks_known || (!fills(sends.uplink_out) && !fills(receives.uplink_in));
}

}  // namespace

bool may_gain_by_streams(const LinkModel& model, const LinkSurveyInput& input, int a, int b) {
    const LinkPair* link = model.between(a, b);
    if (link == nullptr || input.is_undisturbed || input.one_way(a, b) < kFarLink) return false;
    const bool are_uplinks_known = input.count() > 2 || input.most_lanes(a, b) > 1;
    return is_below_limits(model, a, b, link->there, are_uplinks_known) ||
           is_below_limits(model, b, a, link->back, are_uplinks_known);
}

Seconds duration_of_streams(Seconds round_trip) {
    return std::max(kShortest, kTrips * round_trip);
}

Seconds time_to_connect(Seconds round_trip) {
    return kRepeated + kTripsToConnect * round_trip;
}

Seconds time_to_measure_streams(Seconds round_trip) {
    return std::max(duration_of_streams(round_trip) + kOtherTrips * round_trip,
                    time_to_connect(round_trip) + kTripsToTell * round_trip);
}

void measure_streams(LinkProbes& probes, const LinkSurveyInput& input, const ProbeRound& pairs,
                     int connections, LinkModel& model) {
    if (pairs.empty()) return;
    ProbeRound nodes;
    Seconds longest{0};
    for (const auto& [a, b] : pairs) {
        nodes.push_back({input.nodes_of(a).front(), input.nodes_of(b).front()});
        longest = std::max(longest, 2 * input.one_way(a, b));
    }
    const auto rates = probes.streams(nodes, connections, longest, duration_of_streams(longest));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        LinkPair& link = model.link(pairs[i].a, pairs[i].b);
        link.streams_there.rate[connections] = rates[i].there;
        link.streams_back.rate[connections] = rates[i].back;
    }
}

void survey_streams(LinkProbes& probes, const LinkSurveyInput& input, const ProbeRound& round,
                    LinkModel& model) {
    ProbeRound open;
    for (const auto& [a, b] : round) {
        const bool is_known = model.between(a, b) != nullptr && !model.link(a, b).streams_there.rate.empty();
        if (!is_known && may_gain_by_streams(model, input, a, b)) open.push_back({a, b});
    }
    for (int connections = 1; connections <= Settings::kMostStreams && !open.empty(); connections *= 2) {
        measure_streams(probes, input, open, connections, model);
        std::erase_if(open, [&](const NodePair& pair) {
            const LinkPair& link = model.link(pair.a, pair.b);
            const auto grows = [&](const Lanes& lanes) {
                return lanes.rate.at(connections) > kGrowth * lanes.at(connections / 2);
            };
            return connections > 1 && !grows(link.streams_there) && !grows(link.streams_back);
        });
    }
}

}  // namespace laple
