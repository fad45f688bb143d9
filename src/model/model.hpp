// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "plogp/link_model.hpp"
#include "plogp/link_survey.hpp"
#include "topology/latency_matrix.hpp"
#include "topology/machine.hpp"
#include "topology/node.hpp"
#include "topology/survey.hpp"
#include "topology/topology.hpp"

namespace laple {

/// What is known about the machine of a job: who is near whom, how far it is, and how fast. Clusters are the
/// groups of the topology's innermost level, or one of all ranks when it has none.
struct Model {
    std::string date;     ///< of the measurement; ISO 8601, UTC
    std::string version;  ///< of the LaPle that measured
    std::string mpi;      ///< the MPI that was measured with
    double tolerance = 0;
    Topology topology = Topology::flat(1);
    std::vector<Node> nodes;  ///< the hosts, with the ranks of the job that measured; empty: not known
    /// Levels inside hosts. Not part of `topology`: the planner has no use for those below hosts yet.
    std::vector<NodeLevel> node_levels;
    std::vector<Seconds> inside;  ///< median latency in each cluster; 0 where it is not known
    LatencyMatrix between{0};     ///< median latencies between clusters; without nodes: not known
    LatencyMatrix matrix{0};      ///< between all nodes; without nodes: not known
    int pairs = 0;                ///< how many pairs of nodes were measured
    LinkModel links;              ///< empty: not measured

    bool operator==(const Model&) const = default;
};

/// The format of what laple-discover --json writes; "seconds", "bytes a second" throughout.
/// docs/model.schema.json describes it for programs.
///
///     "format": "laple-model-1",
///     "date", "version", "mpi", "tolerance"        where it comes from
///     "ranks": 4, "levels": [...]                  the topology (topology/topology_file.hpp)
///     "hosts": [{"name", "ranks", "id"}]           which ranks share a host; ids where hosts share a name
///     "node_levels": [{"kind", "groups"}]          levels inside hosts (topology/topology_file.hpp)
///     "inside", "between", "matrix"                latencies: of clusters, between them, between nodes
///     "pairs"                                      how many pairs of nodes were measured
///     "clusters", "links", "warnings"              parameters (plogp/link_model_json.hpp)
///
/// All but format, ranks and levels may be missing: a file may be written by hand.
std::string model_text(const Model& model);

/// Reads such a document. Throws Error, with file, line and JSON pointer, for whatever is missing or wrong.
Model parse_model(const JsonDocument& document);

/// The model for another job on the same hosts, or on some of them: `nodes` are its nodes, with its ranks.
/// Levels that divide a host are left out, unless nothing has changed; of the levels inside hosts "node"
/// remains. Throws Error, naming the difference, when it does not know all of the hosts.
Model adapted_to(const Model& model, const std::vector<Node>& nodes, const std::string& file);

/// What a survey of `nodes` has found, as a model without parameters, date and version.
Model model_of(const Findings& found, const std::vector<Node>& nodes, const ClusteringOptions& options,
               const std::string& mpi);

/// Its ranks on their hosts, as a job of these ranks would plan for them (host_of_ranks); each on one of its
/// own where the hosts are not known.
Machine machine_of(const Model& model);

/// "16 ranks on 8 hosts in 4 clusters (2 2 2 2 hosts)" (topology/machine.hpp). Takes little where a file
/// names no hosts, however many ranks it claims.
std::string describe(const Model& model);

/// What a survey of links begins with.
LinkSurveyInput link_survey_input(const Findings& found);

/// The same of a model with hosts; nodes are numbered as there. Empty where clusters divide hosts, or
/// latencies between clusters are not known.
LinkSurveyInput link_survey_input(const Model& model);

/// One-way latencies between any two clusters of `model`, inside on the diagonal; empty where none are known.
std::vector<std::vector<Seconds>> cluster_latencies(const Model& model);

/// The longest latency that is known, between clusters or in one.
Seconds farthest(const Model& model);

/// Whether there are several clusters, all within kNearClusters of each other.
bool has_near_clusters(const Model& model);

/// "a-1, a-2, b-1 and 5 more": names for people.
std::string list_names(const std::vector<std::string>& names);

}  // namespace laple
