// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "differential/twins.hpp"
#include "support/random.hpp"

namespace laple::test {

/// One of MPI_Allgatherv, Gatherv, Scatterv, Alltoallv and Alltoallw, drawn at random: counts from 0 to many
/// for each pair of ranks, blocks in any order with gaps between them, and types of its own on each rank (in
/// MPI_Alltoallw for each block).
class BlockCall {
  public:
    struct Drawn {
        Random& all;  ///< alike on all ranks
        Random& own;
        int root;
        bool is_large;  ///< the functions with _c
        std::size_t most_elements;
    };

    BlockCall(MPI_Comm comm, const Drawn& drawn);
    ~BlockCall();
    BlockCall(const BlockCall&) = delete;
    BlockCall& operator=(const BlockCall&) = delete;

    const std::string& what() const { return what_; }
    /// By LaPle and by MPI alone: both return codes.
    std::pair<int, int> run();
    /// Between all memory that either may have written; empty: there is none.
    std::string difference() const;

  private:
    enum Kind { kAllgatherv, kGatherv, kScatterv, kAlltoallv, kAlltoallw };

    /// The blocks of one end.
    struct End {
        std::vector<int> counts;
        std::vector<int> displacements;
        std::vector<MPI_Datatype> types;  // of each block
        std::size_t bytes = 0;
    };
    struct Shape {
        MPI_Datatype type;
        int elements;  // in one
        int extent;    // in elements
    };

    std::size_t elements(int source, int dest) const;
    void make_shapes();
    bool is_cut_by_extents() const;
    End draw_end(const std::vector<std::size_t>& elements, Random& own);
    int call(bool ours);

    MPI_Comm comm_;
    int kind_;
    int root_;
    bool is_large_;
    bool is_in_place_;
    std::uint64_t seed_;
    std::size_t most_;
    int rank_ = 0;
    int size_ = 0;
    MPI_Datatype element_ = MPI_BYTE;
    int element_bytes_ = 1;
    std::vector<Shape> shapes_;
    std::string what_;
    End input_;
    End result_;
    Twins sent_{{}};
    Twins got_{{}};
};

}  // namespace laple::test
