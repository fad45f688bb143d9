// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "topology/clustering.hpp"
#include "topology/node.hpp"
#include "topology/survey.hpp"

namespace laple::discover {

/// What a run has found.
struct Discovery {
    std::string date;  // ISO 8601, UTC
    double tolerance = 0;
    std::vector<Node> nodes;
    Findings findings;             // about nodes
    std::vector<Clusters> levels;  // of nodes, outermost first; the last ones are the clusters
};

/// A `magpie_clusters` file with a comment that says where it comes from.
std::string magpie_text(const Discovery& discovery);

/// One JSON document, format "laple-model-1":
///     date, version, tolerance
///     ranks, levels  the topology (topology/topology_json.hpp)
///     hosts          [{"name", "ranks"}], one for each node
///     matrix         one-way latencies between nodes in seconds, a list for each row; only if all pairs
///                    were measured
///     inside         median latency in each cluster (the innermost level)
///     between        median latencies between clusters, a list for each row
///     pairs          how many pairs of nodes were measured
std::string json_text(const Discovery& discovery);

/// For people: the latency matrix, the clusters, and the latency in and between them.
std::string summary_text(const Discovery& discovery);

}  // namespace laple::discover
