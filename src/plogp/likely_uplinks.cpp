// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/likely_uplinks.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace laple {
namespace {

constexpr double kSame = 0.85;        // of the rates of two links, for measured ones differ
constexpr double kMore = 1.5;         // the bursts of token buckets make up less
constexpr double kFaster = 1.25;      // hosts together than their uplink
constexpr double kAloneFaster = 1.5;  // a host alone may just be busy

enum class Way { out, in };

/// What the fastest link of a cluster carries away from it, or to it.
double most_of(const LinkModel& model, int cluster, Way way) {
    double most = 0;
    for (const LinkPair& link : model.links) {
        if (!link.joins(cluster)) continue;
        const Lanes& lanes = link.lanes_from(way == Way::out ? cluster : link.other(cluster));
        if (!lanes.rate.empty()) most = std::max(most, lanes.most());
    }
    return most;
}

/// The rate of an uplink that holds up two links at least; 0: none does.
double binding_uplink(const LinkModel& model, const LinkSurveyInput& input, int c, Way way) {
    const double faster = input.nodes_of(c).size() > 1 ? kFaster : kAloneFaster;
    const double most = most_of(model, c, way);
    const double nic = model.clusters[at(c)].nic_out;
    int held_up = 0;
    for (const LinkPair& link : model.links) {
        if (!link.joins(c)) continue;
        const int other = link.other(c);
        const Lanes& lanes = link.lanes_from(way == Way::out ? c : other);
        if (lanes.rate.empty() || lanes.most() < kSame * most) continue;
        const bool are_hosts_faster = nic <= 0 || nic * lanes.rate.rbegin()->first > faster * most;
        const double of_other = most_of(model, other, way == Way::out ? Way::in : Way::out);
        if (are_hosts_faster && of_other > faster * most) ++held_up;
    }
    return held_up >= 2 ? most : 0;
}

}  // namespace

void set_uplinks(LinkModel& model, const LinkSurveyInput& input, const std::vector<UplinkRates>& together,
                 bool is_finished) {
    const auto uplink = [&](int c, Way way, double of_all) {
        const double most = most_of(model, c, way);
        if (!is_finished) return of_all > 0 ? std::max(of_all, most) : 0;
        return of_all > kMore * most ? of_all : binding_uplink(model, input, c, way);
    };
    for (int c = 0; c < input.count(); ++c) {
        const UplinkRates of_all = together.empty() ? UplinkRates() : together[at(c)];
        ClusterModel& cluster = model.clusters[at(c)];
        cluster.uplink_out = uplink(c, Way::out, of_all.out);
        cluster.uplink_in = uplink(c, Way::in, of_all.in);
    }
}

}  // namespace laple
