// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/probe_rounds.hpp"
#include "base/units.hpp"
#include "topology/clustering.hpp"
#include "topology/latency_matrix.hpp"

namespace laple {

/// What one pair of nodes has measured: half its shortest round trip.
struct PairLatency {
    NodePair pair;
    Seconds latency{0};
};

/// By cluster (topology/typical_pair.hpp).
using TypicalPairs = std::map<int, std::vector<NodePair>>;

/// What a survey has found out.
struct Findings {
    Clusters clusters;
    LatencyMatrix between{0};     ///< median latencies between clusters, in their order
    std::vector<Seconds> inside;  ///< median latency in each cluster; 0 where it is not known
    TypicalPairs typical;
    LatencyMatrix matrix{0};  ///< between all nodes; without nodes when not all pairs were measured
    int pairs = 0;            ///< how many pairs were measured
    int odd_pairs = 0;        ///< of those looked at as a check, how many do not fit the clusters
};

/// Decides which pairs of nodes are measured, and tells clusters from the outcome. Knows nothing of how it is
/// done: whoever measures asks for rounds, measures them, adds what came out, and asks again.
///
///     while (true) {
///         const auto rounds = survey.next();
///         if (rounds.empty()) break;
///         ... measure; survey.add(latency) for every pair of them
///     }
///
/// One place decides for all nodes, so nothing here depends on who measures.
class Survey {
  public:
    virtual ~Survey() = default;

    /// The rounds to measure next; none when the survey is over.
    virtual std::vector<ProbeRound> next() = 0;
    /// One result of those rounds. Of several for one pair the least holds: disturbances only ever add.
    virtual void add(const PairLatency& measured) = 0;
    virtual Findings findings() const = 0;
    /// Whether findings() can be used although the survey is not over: what is left are second looks.
    virtual bool is_usable() const { return false; }
};

enum class Clustering { sites, plain_eco };

/// Measures all pairs, and those again that look disturbed (doubtful_pairs), a few times at most. Sites of
/// one host each are clusters of one (split_where_far). n (n-1) / 2 pairs in n rounds. (Barchet-Estefanel and
/// Mounié, 2004)
std::unique_ptr<Survey> survey_all_pairs(int nodes, Clustering kind, const ClusteringOptions& options = {});

/// Measures all pairs of a sample of some 3·log2(n) nodes, and finds the clusters among them. Each other node
/// then measures with a node of its expected cluster, and with nodes of others when it does not belong there.
/// Those that belong nowhere make up the next sample, together with two nodes of each cluster. At the end
/// each node measures with another of its cluster and one of another cluster, as a check; nodes that do not
/// fit are placed anew.
///
/// Where the expectations hold, some n + log² n pairs in 3·log2(n) rounds and a few more (who is placed meets
/// the next: NeighbourWalk); in any case n·C pairs for C clusters.
///
/// `order` lists the nodes so that neighbours are likely to be near each other: by host name, say. A bad
/// order costs time, not correctness. (docs/algorithms.md, "Finding clusters")
std::unique_ptr<Survey> survey_by_landmarks(std::span<const int> order,
                                            const ClusteringOptions& options = {});

/// From how many nodes on survey_by_landmarks is the better one.
inline constexpr int kManyNodes = 65;

/// The better one of both for the nodes in `order`.
std::unique_ptr<Survey> survey_sites(std::span<const int> order, const ClusteringOptions& options = {});

}  // namespace laple
