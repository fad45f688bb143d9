// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "topology/node.hpp"
#include "topology/topology.hpp"

namespace laple {

/// Reads the `magpie_clusters` format (Barchet-Estefanel, LaPIe, 2005):
///
///     # a comment
///     cluster 0 process 0 48 49 50
///     cluster 1 process 1 2 3
///
/// One stream of groups `cluster N process R...`: line ends are white space like any other. Every rank of
/// MPI_COMM_WORLD stands in exactly one cluster. `file` is used in messages only.
/// Throws Error with line and column: a rank twice, missing or out of range, an empty cluster, a cluster
/// number given twice, or any other word.
Topology parse_magpie(const std::string& text, const std::string& file);

/// The innermost level of `topology`: the format knows no others. One cluster a line, ended by a newline.
/// A flat topology is one cluster.
std::string format_magpie(const Topology& topology);

/// Comments that say which ranks were on which host when the map was made, a line for each of `nodes`:
///
///     # host a-1: 0 1
std::string format_magpie_hosts(const std::vector<Node>& nodes);

/// The hosts that such comments in `text` name, for a map of so many ranks. None where they do not hold each
/// rank once (somebody has changed the map by hand), or where names do not tell all hosts apart.
std::vector<Node> parse_magpie_hosts(const std::string& text, int ranks);

}  // namespace laple
