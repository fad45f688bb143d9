// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "model/model.hpp"

namespace laple {

/// Reads what LAPLE_TOPOLOGY and LAPLE_MODEL may name: a magpie_clusters file, which gives a topology alone,
/// or the JSON of laple-discover. `file` is used in messages only. Throws Error with the place of what is
/// wrong.
Model parse_model_file(const std::string& text, const std::string& file);

/// Whether the names of its hosts tell the cluster of any rank: it has some, and none is in several clusters.
bool is_by_host(const Model& model);

/// The model of MPI_COMM_WORLD that a file's model gives for a communicator: its rank i is `in_world[i]`
/// of `world_size`, and sits on the node of `nodes` that holds i. A model of all hosts of this job holds
/// whatever the order of ranks is. Throws Error, naming the difference, when the model is of another job.
Model model_for(const Model& model, const std::vector<Node>& nodes, const std::vector<Rank>& in_world,
                int world_size, const std::string& file);

/// A model of the same ranks that says with `map` who is near whom, and with `rates` how fast links are. Each
/// cluster of the map has the rates of the cluster that its first rank is in there; where it joins several of
/// those, what is between them is inside it, and where it is a part of one, what is inside that is between.
Model with_rates(const Model& map, const Model& rates);

}  // namespace laple
