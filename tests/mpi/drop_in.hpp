// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What the drop-in tests share.

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <mpi.h>

#include "support/path.hpp"

namespace laple::test {

inline int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

inline bool expects_clusters() {
    return std::getenv("TEST_EXPECTS_CLUSTERS") != nullptr;
}

/// LaPle's own path ran on MPI_COMM_WORLD since the last check where the run's map has several clusters,
/// MPI's own where LaPle is turned off. Without a map both are right: what was measured decides. Collective.
inline void check_path(bool treatable = true) {
    INFO(used(MPI_COMM_WORLD));
    const bool was_ours = is_ours(MPI_COMM_WORLD);
    forget_path(MPI_COMM_WORLD);
    if (!treatable) {
        CHECK_FALSE(was_ours);
    } else if (expects_clusters()) {
        CHECK(was_ours);
    } else if (std::getenv("LAPLE_DISABLE") != nullptr) {
        CHECK_FALSE(was_ours);
    }
}

template <typename T>
std::vector<T> own_data(std::size_t count, int salt = 0) {
    std::vector<T> data(count);
    for (std::size_t i = 0; i < count; ++i) {
        data[i] =
            static_cast<T>((i * 31 + static_cast<std::size_t>(rank_in(MPI_COMM_WORLD) * 17 + salt)) % 1000);
    }
    return data;
}

inline constexpr std::size_t kCounts[] = {1, 2, 7, 1024, 1025, 5000, 100000};

}  // namespace laple::test
