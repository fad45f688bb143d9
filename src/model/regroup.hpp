// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "model/model.hpp"

namespace laple {

/// What a cluster is made of: a cluster of another model, or a part of it; or several, of which these are
/// two.
struct ClusterSource {
    int first = -1;
    int other = -1;  ///< as `first` where it is one
    void add(int cluster);
};

/// Gives `to`, whose clusters are made of those of `from`, the latencies and rates that `from` knows. A
/// cluster that joins several has the NICs of its first one, and inside it what is between two of them;
/// between two parts of one cluster is what is inside that. MPI's own collectives are left out.
void take_rates(const Model& from, const std::vector<ClusterSource>& sources, Model& to);

}  // namespace laple
