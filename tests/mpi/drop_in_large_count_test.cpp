// SPDX-License-Identifier: BSD-3-Clause
// What came with MPI 4, through liblaple against PMPI_*.
#include <vector>

#include <catch2/catch.hpp>
#include <mpi.h>

#include "mpi/drop_in.hpp"

using namespace laple::test;

TEST_CASE("types made by constructors with large counts") {
    MPI_Datatype four = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous_c(4, MPI_INT, &four);
    PMPI_Type_commit(&four);
    auto ours = own_data<int>(4000);
    auto theirs = ours;
    REQUIRE(MPI_Bcast(ours.data(), 1000, four, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    check_path();
    PMPI_Bcast(theirs.data(), 1000, four, 0, MPI_COMM_WORLD);
    CHECK(ours == theirs);
    PMPI_Type_free(&four);
}

TEST_CASE("large-count twins") {
    auto ours = own_data<int>(5000);
    auto theirs = ours;
    MPI_Bcast_c(ours.data(), 5000, MPI_INT, 0, MPI_COMM_WORLD);
    check_path();
    PMPI_Bcast_c(theirs.data(), 5000, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(ours == theirs);
    const auto own = own_data<int>(5000, 9);
    MPI_Allreduce_c(own.data(), ours.data(), 5000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_path();
    PMPI_Allreduce_c(own.data(), theirs.data(), 5000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(ours == theirs);
    MPI_Reduce_c(own.data(), ours.data(), 5000, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    check_path();
    PMPI_Reduce_c(own.data(), theirs.data(), 5000, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    CHECK(ours == theirs);
}
