// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/near_groups.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/index.hpp"

namespace laple {
namespace {

struct Edge {
    double latency;
    int a;
    int b;
};

std::vector<Edge> shortest_first(const MachineCosts& costs) {
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
    ClusterGroups groups() const {
        ClusterGroups groups(set_.size());
        for (std::size_t c = 0; c < set_.size(); ++c) groups[at(set_[c])].push_back(static_cast<int>(c));
        std::erase_if(groups, [](const auto& group) { return group.empty(); });
        return groups;
    }

  private:
    std::vector<int> set_;  // of each cluster; its name is its smallest cluster
};

}  // namespace

ClusterGroups near_groups(const Machine& machine, const MachineCosts& costs) {
    if (machine.has_groups()) return machine.groups();
    constexpr double kLargeStep = 2;
    constexpr double kLeast = 1e-9;
    ClusterGroups outermost;
    double before = 0;
    Joined joined(costs.count());
    for (const Edge& edge : shortest_first(costs)) {
        if (joined.are_joined(edge.a, edge.b)) continue;
        if (before > 0 && edge.latency >= kLargeStep * before) outermost = joined.groups();
        joined.join(edge.a, edge.b);
        before = std::max(edge.latency, kLeast);
    }
    return outermost;
}

}  // namespace laple
