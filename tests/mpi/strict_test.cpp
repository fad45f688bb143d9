// SPDX-License-Identifier: BSD-3-Clause
// LAPLE_REPRODUCIBLE=strict: the bits of one tree over the ranks, under whatever map, algorithm and size.
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>
#include <mpi.h>

#include "mpi/drop_in.hpp"

using namespace laple::test;

namespace {

/// What rank `rank` of a binomial tree gets from itself and all below it, the nearest ranks first.
template <typename T, typename Combine>
T combined(const std::vector<T>& inputs, std::size_t rank, std::size_t below, Combine combine) {
    T result = inputs[rank];
    for (std::size_t distance = 1; distance < below; distance *= 2) {
        if (rank + distance >= inputs.size()) break;
        result = combine(result, combined(inputs, rank + distance, distance, combine));
    }
    return result;
}

/// Of all ranks of `comm`, element by element.
template <typename T, typename Combine>
std::vector<T> expected(const std::vector<T>& own, MPI_Comm comm, Combine combine) {
    const auto size = static_cast<std::size_t>(size_of(comm));
    std::vector<T> all(own.size() * size);
    const int bytes = static_cast<int>(own.size() * sizeof(T));
    PMPI_Allgather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm);
    std::vector<T> result(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
        std::vector<T> inputs(size);
        for (std::size_t rank = 0; rank < size; ++rank) inputs[rank] = all[rank * own.size() + i];
        std::size_t whole = 1;
        while (whole < size) whole *= 2;
        result[i] = combined(inputs, 0, whole, combine);
    }
    return result;
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

std::vector<double> fractions(std::size_t count, int rank) {
    std::vector<double> own(count);
    for (std::size_t i = 0; i < count; ++i)
        own[i] =
            1.0 / static_cast<double>(1 + (i * 7919 + static_cast<std::size_t>(rank) * 104729) % 1000003);
    return own;
}

/// Neither associative nor commutative: its bits tell every order from every other.
void halve_and_add(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto* left = static_cast<const double*>(in);
    auto* right = static_cast<double*>(inout);
    for (int i = 0; i < *count; ++i) right[i] = left[i] * 0.5 + right[i];
}

}  // namespace

TEST_CASE("strict: sums have the bits of one tree over the ranks") {
    const auto add = [](double a, double b) { return a + b; };
    for (const std::size_t count : {1U, 7U, 1000U, 20000U, 100000U}) {
        const int n = static_cast<int>(count);
        const auto own = fractions(count, rank_in(MPI_COMM_WORLD));
        const auto tree = expected(own, MPI_COMM_WORLD, add);
        std::vector<double> result(count);
        MPI_Allreduce(own.data(), result.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK(same_bits(result, tree));
        for (int root = 0; root < size_of(MPI_COMM_WORLD); ++root) {
            std::fill(result.begin(), result.end(), 0.0);
            MPI_Reduce(own.data(), result.data(), n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
            CHECK((rank_in(MPI_COMM_WORLD) != root || same_bits(result, tree)));
        }
    }
}

TEST_CASE("strict: a user's operation too, and on communicators of some ranks in another order") {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(halve_and_add, 1, &op);  // says that it commutes: MPI might take any order
    const int rank = rank_in(MPI_COMM_WORLD);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    for (const MPI_Comm comm : {MPI_COMM_WORLD, half}) {
        const auto own = fractions(500, rank);
        const auto tree = expected(own, comm, [](double a, double b) { return a * 0.5 + b; });
        std::vector<double> result(own.size());
        MPI_Allreduce(own.data(), result.data(), 500, MPI_DOUBLE, op, comm);
        CHECK(same_bits(result, tree));
    }
    MPI_Comm_free(&half);
    MPI_Op_free(&op);
}

#ifndef OPEN_MPI  // whose MPI_MAX of many numbers treats them otherwise than that of one
TEST_CASE("strict: the larger one of 0 and -0, and what NaN leaves") {
    const auto larger = [](double a, double b) {
        PMPI_Reduce_local(&a, &b, 1, MPI_DOUBLE, MPI_MAX);
        return b;
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> values{0.0, -0.0, nan, 1.0};
    std::vector<double> own;
    for (std::size_t i = 0; i < 64; ++i)
        own.push_back(values[(i * 7 + static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)) * (i + 3)) % 4]);
    const auto tree = expected(own, MPI_COMM_WORLD, larger);
    std::vector<double> result(own.size());
    MPI_Allreduce(own.data(), result.data(), 64, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CHECK(same_bits(result, tree));
}
#endif

TEST_CASE("strict: what is exact anyway goes its usual way") {
    const auto own = own_data<int>(1000);
    std::vector<int> ours(1000);
    std::vector<int> theirs(1000);
    MPI_Allreduce(own.data(), ours.data(), 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_path();
    PMPI_Allreduce(own.data(), theirs.data(), 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(ours == theirs);
}
