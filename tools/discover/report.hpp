// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "model/model.hpp"

namespace laple::discover {

/// A `magpie_clusters` file with a comment that says where it comes from.
std::string magpie_text(const Model& model);

/// For people: the latency matrix, the clusters, the latency in and between them, and if they were measured,
/// the parameters. `odd_pairs` are those that do not fit the clusters.
std::string summary_text(const Model& model, int odd_pairs);

}  // namespace laple::discover
