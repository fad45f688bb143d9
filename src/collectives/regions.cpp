// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/regions.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "collectives/hierarchy.hpp"

namespace laple {
namespace {

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

struct Edge {
    double latency;
    int a;
    int b;
};

std::vector<Edge> shortest_first(const NetworkCosts& costs) {
    std::vector<Edge> edges;
    for (int a = 0; a < costs.count(); ++a) {
        for (int b = a + 1; b < costs.count(); ++b)
            edges.push_back({std::max(costs.link(a, b).latency, costs.link(b, a).latency), a, b});
    }
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& x, const Edge& y) { return x.latency < y.latency; });
    return edges;
}

/// Sets of clusters that grow together.
class Joined {
  public:
    explicit Joined(int count) : set_(at(count)) { std::iota(set_.begin(), set_.end(), 0); }
    bool are_joined(int a, int b) const { return set_[at(a)] == set_[at(b)]; }
    void join(int a, int b) {
        const int to = std::min(set_[at(a)], set_[at(b)]);
        const int from = std::max(set_[at(a)], set_[at(b)]);
        std::replace(set_.begin(), set_.end(), from, to);
    }
    RegionList regions() const {
        RegionList regions(set_.size());
        for (std::size_t c = 0; c < set_.size(); ++c) regions[at(set_[c])].push_back(static_cast<int>(c));
        std::erase_if(regions, [](const auto& region) { return region.empty(); });
        return regions;
    }

  private:
    std::vector<int> set_;  // of each cluster; its name is its smallest cluster
};

}  // namespace

RegionList regions_by_latency(const Topology& topology, const NetworkCosts& costs) {
    if (topology.level_count() > 1) return groups_of_clusters(topology);
    constexpr double kLargeStep = 2;
    constexpr double kLeast = 1e-9;
    RegionList outermost;
    double before = 0;
    Joined joined(costs.count());
    for (const Edge& edge : shortest_first(costs)) {
        if (joined.are_joined(edge.a, edge.b)) continue;
        if (before > 0 && edge.latency >= kLargeStep * before) outermost = joined.regions();
        joined.join(edge.a, edge.b);
        before = std::max(edge.latency, kLeast);
    }
    return outermost;
}

int coordinator_place(int lane, int lanes, int ranks) {
    return lanes > ranks ? lane % ranks : lane * ranks / lanes;
}

Regions::Regions(const Topology& topology, RegionList regions, Shape within)
    : topology_(topology), regions_(regions.empty() ? groups_of_clusters(topology) : std::move(regions)) {
    const int innermost = topology_.level_count() - 1;
    region_of_.resize(at(topology_.group_count(innermost)));
    for (const auto& region : regions_) {
        ranks_.emplace_back();
        for (const int cluster : region) {
            region_of_[at(cluster)] = static_cast<int>(ranks_.size()) - 1;
            const auto members = topology_.members(innermost, cluster);
            ranks_.back().insert(ranks_.back().end(), members.begin(), members.end());
            inside_.try_emplace(members.size(), links_of(within, static_cast<int>(members.size())));
        }
    }
}

int Regions::cluster_of(Rank rank) const {
    return topology_.group_of(topology_.level_count() - 1, rank);
}

int Regions::region_of(Rank rank) const {
    return region_of_[at(cluster_of(rank))];
}

std::vector<Rank> Regions::coordinators(int lane, int lanes) const {
    std::vector<Rank> coordinators;
    for (const auto& ranks : ranks_)
        coordinators.push_back(ranks[at(coordinator_place(lane, lanes, static_cast<int>(ranks.size())))]);
    return coordinators;
}

Rank Regions::deputy(int cluster, Rank coordinator, int lane) const {
    if (cluster == cluster_of(coordinator)) return coordinator;
    const auto members = topology_.members(topology_.level_count() - 1, cluster);
    return members[at(lane) % members.size()];
}

RankLinks Regions::links(Rank coordinator, int lane, Rank rank) const {
    const int own = cluster_of(rank);
    const auto members = topology_.members(topology_.level_count() - 1, own);
    const std::size_t count = members.size();
    const Rank first = deputy(own, coordinator, lane);
    const auto position = [&](Rank r) {
        return static_cast<std::size_t>(std::lower_bound(members.begin(), members.end(), r) -
                                        members.begin());
    };
    const std::size_t turn = position(first);
    const auto member = [&](int place) { return members[(at(place) + turn) % count]; };

    const ShapeLinks& inside = inside_.at(count);
    const std::size_t place = (position(rank) + count - turn) % count;
    RankLinks links;
    if (rank == coordinator) {
        for (const int cluster : regions_[at(region_of_[at(own)])]) {
            if (cluster != own) links.children.push_back(deputy(cluster, coordinator, lane));
        }
    } else {
        links.parent = rank == first ? coordinator : member(inside.parent[place]);
    }
    for (const int child : inside.children[place]) links.children.push_back(member(child));
    return links;
}

}  // namespace laple
