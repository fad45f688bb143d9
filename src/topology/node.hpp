// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/units.hpp"
#include "topology/clustering.hpp"
#include "topology/topology.hpp"

namespace laple {

/// A set of ranks that share memory: one point of the network.
struct Node {
    std::string host;
    std::vector<Rank> ranks;  ///< ascending

    bool operator==(const Node&) const = default;
};

/// How many ranks there are on all of them.
int rank_count(const std::vector<Node>& nodes);

/// Levels of nodes as levels of ranks; `nodes` hold each rank from 0 once, `levels` are outermost first.
Topology topology_of(const std::vector<Clusters>& levels, const std::vector<Node>& nodes);

/// The host of each rank of `topology`, as Machine takes it: the number of its node. A host that the topology
/// divides between clusters is one that somebody has invented, to try LaPle on one machine: then each of its
/// ranks counts as a host. So does each rank that is on none of `nodes`.
std::vector<int> host_of_ranks(const Topology& topology, const std::vector<Node>& nodes);

/// Nodes by the names of their hosts: likely neighbours side by side, whatever the order of the ranks.
std::vector<int> by_name(const std::vector<Node>& nodes);

}  // namespace laple
