// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "topology/clustering.hpp"
#include "topology/topology.hpp"

namespace laple {

/// A set of ranks that share memory: one point of the network.
struct Node {
    std::string host;         ///< its name, or a label of its own where several have one name
    std::vector<Rank> ranks;  ///< ascending
    /// What tells hosts of one name apart (label_hosts); empty where the name does, or nothing is known.
    std::string id = {};

    /// What stands for this host and no other: its name, and its id where it has one.
    std::string key() const { return id.empty() ? host : host + " " + id; }

    bool operator==(const Node&) const = default;
};

/// How many ranks there are on all of them.
int rank_count(const std::vector<Node>& nodes);

/// Levels of nodes as levels of ranks; `nodes` hold each rank from 0 once, `levels` are outermost first.
Topology topology_of(const std::vector<Clusters>& levels, const std::vector<Node>& nodes);

/// The keys of their hosts, sorted.
std::vector<std::string> sorted_hosts(const std::vector<Node>& nodes);

/// Gives nodes whose hosts have one name labels of their own: "node", "node (2)", "node (3)", in the order of
/// their ids, so that a later job on the same hosts gives the same ones. Hosts with names of their own lose
/// their ids.
void label_hosts(std::vector<Node>& nodes);

/// "hosts that share a name are called node, node (2), node (3)"; "" where there are none.
std::string describe_labels(const std::vector<Node>& nodes);

/// Whether `topology` has ranks of that host in different clusters.
bool is_divided(const Node& host, const Topology& topology);

/// The host of each rank of `topology`, as Machine takes it: the number of its node. A host that the topology
/// divides between clusters is one that somebody has invented, to try LaPle on one machine: then each of its
/// ranks counts as a host. So does each rank that is on none of `nodes`.
std::vector<int> host_of_ranks(const Topology& topology, const std::vector<Node>& nodes);

/// Nodes by the names of their hosts: likely neighbours side by side, whatever the order of the ranks.
std::vector<int> by_name(const std::vector<Node>& nodes);

/// Ranks that share a host, or a part of one. The groups hold every rank of the job once; they stand in the
/// order of their smallest ranks, their members in ascending order.
struct NodeLevel {
    std::string kind;  ///< of kNodeLevelKinds
    std::vector<std::vector<Rank>> groups;

    bool operator==(const NodeLevel&) const = default;
};

/// Outermost first.
inline constexpr std::array<const char*, 4> kNodeLevelKinds{"node", "package", "numa", "l3"};

constexpr int kNoPart = -1;

/// Where in its host a rank may run: the numbers of the package, of the NUMA node and of the L3 cache that
/// have all its processors; kNoPart where it has some of several, or where there is none. They mean something
/// only beside other ranks of the same host.
struct Placement {
    int package = kNoPart;
    int numa = kNoPart;
    int l3 = kNoPart;

    bool operator==(const Placement&) const = default;
};

/// The levels of a job, outermost first; each refines the one before. `nodes` hold each rank from 0 once;
/// `placements` are by rank, or empty when nothing is known.
///
/// "node" is there when some host has several ranks, and there is more than one host. Of a finer kind, a host
/// is divided unless the part of one of its ranks is kNoPart; a kind that divides no host further is left
/// out.
std::vector<NodeLevel> node_levels_of(const std::vector<Node>& nodes,
                                      const std::vector<Placement>& placements);

/// "2 levels inside hosts: package (32 groups), l3 (64)\n", or "" when there are none; "node" is the hosts.
std::string describe(const std::vector<NodeLevel>& levels);

}  // namespace laple
