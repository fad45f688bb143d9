// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/trees/host_tree.hpp"

#include <algorithm>
#include <cstddef>

#include "base/index.hpp"

namespace laple {

Rank leader_on(const Machine& machine, Host host, int lane) {
    const auto ranks = machine.ranks_on(host);
    return ranks[at(lane) % ranks.size()];
}

Rank leader_on(const Machine& machine, Host host, int lane, Rank root) {
    return machine.host_of(root) == host ? root : leader_on(machine, host, lane);
}

Shape shape_on_host(bool in_segments) {
    return in_segments ? Shape{Shape::Kind::kary, 2} : Shape{Shape::Kind::binomial};
}

RankLinks links_on_host(const Machine& machine, Rank rank, Rank leader, Shape shape) {
    const auto ranks = machine.ranks_on(machine.host_of(rank));
    if (ranks.size() == 1) return {};
    const auto place_of = [&](Rank r) {
        return static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), r) - ranks.begin());
    };
    const std::size_t first = place_of(leader);
    const auto rank_at = [&](int place) { return ranks[(first + at(place)) % ranks.size()]; };
    const std::size_t own = (place_of(rank) + ranks.size() - first) % ranks.size();
    RankLinks links = links_of_member(shape, static_cast<int>(ranks.size()), static_cast<int>(own));
    if (links.parent != Tree::kNoParent) links.parent = rank_at(links.parent);
    for (Rank& child : links.children) child = rank_at(child);
    return links;
}

}  // namespace laple
