// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What the drop-in tests share.

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <mpi.h>

#include "laple/laple.h"

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

inline std::string used(MPI_Comm comm) {
    char name[LAPLE_MAX_ALGORITHM_NAME];
    laple_algorithm_used(comm, name);
    return name;
}

inline bool expects_clusters() {
    return std::getenv("TEST_EXPECTS_CLUSTERS") != nullptr;
}

inline bool is_on_one_host(MPI_Comm comm) {
    MPI_Comm host = MPI_COMM_NULL;
    PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    const bool is_whole = size_of(host) == size_of(comm);
    PMPI_Comm_free(&host);
    return is_whole;
}

/// LaPle's own path ran on MPI_COMM_WORLD where the run's map has several clusters, MPI's own where it is on
/// one host without one. On several hosts in one cluster, which simulations have, both are right.
inline void check_path(bool treatable = true) {
    INFO(used(MPI_COMM_WORLD));
    const bool was_ours = used(MPI_COMM_WORLD) != "native" && used(MPI_COMM_WORLD) != "none";
    if (!treatable) {
        CHECK_FALSE(was_ours);
    } else if (expects_clusters()) {
        CHECK(was_ours);
    } else if (is_on_one_host(MPI_COMM_WORLD)) {
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
