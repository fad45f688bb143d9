// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/probe_rounds.hpp"
#include "base/units.hpp"
#include "topology/latency_matrix.hpp"

namespace laple {

/// A partition of the nodes: members in ascending order, clusters ordered by their smallest member.
using Clusters = std::vector<std::vector<int>>;

struct ClusteringOptions {
    /// ECO's ρ: by which part two latencies may differ and still be called the same (Barchet-Estefanel and
    /// Mounié, 2004: 30 %).
    double tolerance = 0.30;
    /// Groups are told apart only if latency between them is at least this many times the latency in them:
    /// below, one message between them costs hardly more than one inside, and a level would only add steps.
    /// A little below 3, so that networks three times apart are told apart by noisy measurements too.
    double level_ratio = 2.8;
    /// The same for groups of groups. A message that enters one through its leader takes one hop more,
    /// so the detour must be short against the direct path, or small messages lose.
    double outer_level_ratio = 10.0;
};

/// Plain ECO: joins nodes over their shortest edges, as long as each edge is within `tolerance` of the
/// shortest of both its nodes and of both their subnets. Sensitive to noise: a slow measurement splits a LAN.
/// (Lowekamp & Beguelin, "ECO: Efficient Collective Operations", IPPS 1996.)
Clusters eco_clusters(const LatencyMatrix& matrix, double tolerance);

/// The sites: the finest grouping that differs in latency from its surroundings by `level_ratio`.
///
/// ECO's subnets are joined further, nearest first (by the median of the latencies between them), into a tree
/// of groups; of these, the ones well apart from all others are the clusters. See clustering.cpp for the
/// rules. A pure function, invariant under renumbering of nodes except for ties. O(n³) at worst. When nothing
/// tells the nodes apart (one LAN, or two nodes), there is one cluster.
Clusters cluster_nodes(const LatencyMatrix& matrix, const ClusteringOptions& options = {});

/// From this latency on, one way, nodes are far from each other: on the way between them is more than TCP's
/// initial window, so that idle connections start slowly, and a message of a leader is worth saving.
inline constexpr Seconds kFarApart = std::chrono::milliseconds(1);

/// `clusters`, but those whose nodes are far from each other (by the median) as clusters of one node each:
/// hosts alone at their sites look like one cluster where all latencies are about the same.
Clusters split_where_far(const LatencyMatrix& matrix, const Clusters& clusters);

/// One node for each cluster, at the median latencies between them.
LatencyMatrix quotient(const LatencyMatrix& matrix, const Clusters& clusters);

/// Groups of clusters, groups of these, and so on, outermost first; `clusters` themselves come last.
/// `between` is their quotient; it is clustered with outer_level_ratio, and so are the quotients of what
/// comes out, until no groups come out.
///
///     cluster_nodes    [a b | c d | e f | g h]       zones
///     first quotient   [a b   c d | e f   g h]       regions        (ECO on the quotient)
std::vector<Clusters> cluster_levels(LatencyMatrix between, const Clusters& clusters,
                                     const ClusteringOptions& options = {});

/// The median latency between different nodes of `group`; 0 when it has one node only.
Seconds median_latency(const LatencyMatrix& matrix, const std::vector<int>& group);

/// The median latency between the nodes of `a` and those of `b`.
Seconds median_latency(const LatencyMatrix& matrix, const std::vector<int>& a, const std::vector<int>& b);

/// Pairs a < b to measure again, because their latency looks more like a disturbed measurement than like the
/// network, or because much depends on it:
/// - in a cluster: more than twice its median;
/// - between two clusters: all their pairs, when they are a close call, i.e. when the median between them is
///   that of a LAN, or less than ten times that in the wider of them: noise alone may have split one cluster;
/// - anywhere: more than 1.5 times the best detour over one other node.
/// All of these occur in real networks too; so this is a reason to look again, not to discard.
std::vector<NodePair> doubtful_pairs(const LatencyMatrix& matrix, const Clusters& clusters);

}  // namespace laple
