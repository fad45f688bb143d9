// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/lane_loads.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/index.hpp"

namespace laple {
namespace {

/// Sums of `count` loads in a row that end with each member's, all around, `count` times of `each`.
void add_in_turn(std::span<const double> loads, std::size_t count, double each, std::vector<double>& sums) {
    const std::size_t size = loads.size();
    double all = 0;
    for (const double load : loads) all += load;
    double window = static_cast<double>(count / size) * all;
    for (std::size_t l = 0; l < count % size; ++l) window += loads[size - 1 - l];
    for (std::size_t i = 0; i < size; ++i) {
        // From the window that ends with the member before.
        if (count % size > 0) window += loads[i] - loads[(i + size - count % size) % size];
        sums[i] += each * window;
    }
}

/// The most that a member has on average of all segments, which take turns in so many lanes, when members
/// take each other's places from lane to lane.
double most_in_turn(std::span<const double> loads, int lanes, std::uint64_t segments,
                    std::vector<double>& sums) {
    sums.assign(loads.size(), 0);
    add_in_turn(loads, at(lanes), static_cast<double>(segments / at(lanes)), sums);
    add_in_turn(loads, segments % at(lanes), 1, sums);
    return *std::max_element(sums.begin(), sums.end()) / static_cast<double>(segments);
}

}  // namespace

int LaneLoads::first_in_turn(int cluster) const {
    return cluster == root_ && scratch_.members[at(cluster)]->size() > 1 ? 1 : 0;
}

double LaneLoads::flows(int from, int to) const {
    const int senders = scratch_.members[at(from)]->size() - first_in_turn(from);
    const int pairs = std::min(tree_.lanes, senders * scratch_.members[at(to)]->size());
    return std::min(static_cast<double>(pairs), static_cast<double>(segments_));
}

double LaneLoads::busiest(int cluster, const ForParent& inside, const SegmentTimes& times,
                          const SegmentTimes* back) {
    const Members& members = *scratch_.members[at(cluster)];
    std::vector<double>& sending = scratch_.sending;
    std::vector<double>& receiving = scratch_.receiving;
    sending.assign(members.depth.size(), 0);
    receiving.assign(members.depth.size(), 0);
    const auto port_back = [&](int to) { return back == nullptr ? 0 : back->port(cluster, to); };
    for (int member = 0; member < members.size(); ++member) {
        const auto children = static_cast<double>(members.children_of(member).size());
        const ForParent& parent = member == 0 ? scratch_.parent[at(cluster)] : inside;
        sending[at(member)] = parent.to + children * times.port(cluster, cluster);
        receiving[at(member)] = parent.from + children * port_back(cluster);
        for (const std::size_t send : scratch_.by_member.of(at(member))) {
            sending[at(member)] += times.port(cluster, tree_.order[send].to);
            receiving[at(member)] += port_back(tree_.order[send].to);
        }
    }
    const auto first = at(first_in_turn(cluster));
    const auto most = [&](const std::vector<double>& loads) {
        return most_in_turn(std::span<const double>(loads).subspan(first), tree_.lanes, segments_,
                            scratch_.sums);
    };
    const double busiest = std::max(most(sending), most(receiving));
    return first == 0 ? busiest : std::max({busiest, sending[0], receiving[0]});
}

}  // namespace laple
