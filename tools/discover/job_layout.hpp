// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "topology/clustering.hpp"

namespace laple::discover {

/// A set of ranks that share memory: one point of the network.
struct Node {
    std::string host;
    std::vector<Rank> ranks;  // of MPI_COMM_WORLD, ascending; the first one measures for all
};

/// Who shares a node with whom, and the communicators to measure on. Owns them, so it ends before
/// MPI_Finalize.
class JobLayout {
  public:
    /// Collective over MPI_COMM_WORLD.
    JobLayout();
    ~JobLayout();
    JobLayout(const JobLayout&) = delete;
    JobLayout& operator=(const JobLayout&) = delete;

    /// The first ranks of all nodes, in the order of nodes(); MPI_COMM_NULL on other ranks.
    MPI_Comm probes() const { return probes_; }

    /// All nodes, ordered by their first rank; empty except on rank 0.
    const std::vector<Node>& nodes() const { return nodes_; }

    /// Blocks all ranks of a node until their first one gets here, without keeping the processor busy.
    void rest_until_measured() const;

  private:
    void gather_nodes();

    MPI_Comm world_ = MPI_COMM_NULL;
    MPI_Comm node_ = MPI_COMM_NULL;
    MPI_Comm probes_ = MPI_COMM_NULL;
    std::vector<Node> nodes_;
};

/// Clusters of nodes as clusters of ranks: ascending, ordered by their smallest rank.
std::vector<std::vector<Rank>> ranks_of(const Clusters& clusters, const std::vector<Node>& nodes);

}  // namespace laple::discover
