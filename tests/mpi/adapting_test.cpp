// SPDX-License-Identifier: BSD-3-Clause
// Plans that are tried between the calls of a program (LAPLE_ADAPT). TEST_TRIALS: whether there are any,
// "some" or "none"; not set, where that depends on what was measured.
#include <array>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <mpi.h>

#include "mpi/drop_in.hpp"

using namespace laple::test;

namespace {

constexpr int kCalls = 4000;
constexpr int kCount = 512;
constexpr int kLong = 2048;  // such calls are long enough to pay for trials soon

/// Whether as many algorithms were used as are expected.
bool is_expected(std::size_t algorithms) {
    const char* trials = std::getenv("TEST_TRIALS");
    return trials == nullptr || (std::string(trials) == "some") == (algorithms > 1);
}

/// What calls were done by, on all ranks alike.
class Algorithms {
  public:
    explicit Algorithms(MPI_Comm comm) : comm_(comm) {}

    void note() {
        const std::string name = used(comm_);
        names_.insert(name);
        for (const char letter : name) hash_ = hash_ * 31 + static_cast<unsigned char>(letter);
    }

    std::size_t count() const { return names_.size(); }
    bool are_alike() const {
        std::array<unsigned long long, 2> most{hash_, ~hash_};
        PMPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm_);
        return most[0] == hash_ && most[1] == ~hash_;
    }

  private:
    MPI_Comm comm_;
    std::set<std::string> names_;
    unsigned long long hash_ = 0;
};

}  // namespace

TEST_CASE("broadcasts are right while plans are tried, and all ranks try the same") {
    const int rank = rank_in(MPI_COMM_WORLD);
    const int root = size_of(MPI_COMM_WORLD) - 1;
    Algorithms algorithms(MPI_COMM_WORLD);
    std::vector<int> data(kLong);
    int wrong = 0;
    for (int call = 0; call < kCalls / 2; ++call) {
        for (int i = 0; i < kLong; ++i) data[static_cast<std::size_t>(i)] = rank == root ? call + i : -1;
        // Ranks may say the same in other terms.
        const bool says_bytes = rank % 2 == 1 && call % 2 == 1;
        MPI_Bcast(data.data(), says_bytes ? kLong * 4 : kLong, says_bytes ? MPI_BYTE : MPI_INT, root,
                  MPI_COMM_WORLD);
        algorithms.note();
        for (int i = 0; i < kLong; ++i) wrong += data[static_cast<std::size_t>(i)] != call + i ? 1 : 0;
    }
    CHECK(wrong == 0);
    CHECK(algorithms.are_alike());
    CHECK(is_expected(algorithms.count()));
}

TEST_CASE("ranks that call in other terms than others go on together") {
    // Once such calls are MPI's own for good, each rank passes on what it has seen before.
    const int calls = size_of(MPI_COMM_WORLD) <= 4 ? 500000 : kCalls;  // few microseconds each
    const int rank = rank_in(MPI_COMM_WORLD);
    int wrong = 0;
    for (int call = 0; call < calls; ++call) {
        int value = rank == 0 ? call : -1;
        const bool says_bytes = rank % 2 == 1 && call % 2 == 1;
        MPI_Bcast(&value, says_bytes ? 4 : 1, says_bytes ? MPI_BYTE : MPI_INT, 0, MPI_COMM_WORLD);
        wrong += value != call ? 1 : 0;
    }
    CHECK(wrong == 0);
}

TEST_CASE("so are sums that are exact, between other calls and in parts of the world") {
    MPI_Comm half = MPI_COMM_NULL;
    const int rank = rank_in(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    Algorithms algorithms(MPI_COMM_WORLD);
    std::vector<long> mine(kCount);
    std::vector<long> sum(kCount);
    int wrong = 0;
    for (int call = 0; call < kCalls; ++call) {
        for (int i = 0; i < kCount; ++i)
            mine[static_cast<std::size_t>(i)] = static_cast<long>(rank) * call + i;
        MPI_Comm comm = call % 8 == 0 ? half : MPI_COMM_WORLD;
        const int root = call % 3 == 0 ? 0 : size_of(comm) - 1;
        if (call % 4 == 3) {
            MPI_Reduce(mine.data(), sum.data(), kCount, MPI_LONG, MPI_SUM, root, comm);
        } else {
            MPI_Allreduce(mine.data(), sum.data(), kCount, MPI_LONG, MPI_SUM, comm);
        }
        if (comm == MPI_COMM_WORLD && call % 4 != 3) algorithms.note();
        if (call % 16 == 0) MPI_Barrier(comm);
        long ranks = 0;
        for (int other = comm == half ? rank % 2 : 0; other < size_of(MPI_COMM_WORLD);
             other += comm == half ? 2 : 1)
            ranks += other;
        if (call % 4 == 3 && rank_in(comm) != root) continue;
        for (int i = 0; i < kCount; ++i)
            wrong += sum[static_cast<std::size_t>(i)] != ranks * call + static_cast<long>(i) * size_of(comm)
                         ? 1
                         : 0;
    }
    CHECK(wrong == 0);
    CHECK(algorithms.are_alike());
    CHECK(is_expected(algorithms.count()));
    MPI_Comm_free(&half);
}

TEST_CASE("sums of the ranks before that round may be in place while plans are tried") {
    const int rank = rank_in(MPI_COMM_WORLD);
    const int size = size_of(MPI_COMM_WORLD);
    std::vector<double> parts(static_cast<std::size_t>(size));
    int wrong = 0;
    for (int call = 0; call < kCalls / 2; ++call) {
        std::vector<double> sum(kLong, rank + 0.5);
        MPI_Exscan(MPI_IN_PLACE, sum.data(), kLong, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum.back() != (rank > 0 ? 0.5 * rank * rank : 0.5) ? 1 : 0;
        // Where ranks have counts, some may be in place and others not.
        const std::vector<int> counts(parts.size(), 1);
        std::vector<double> part(parts.size(), 0.25);
        const bool is_in_place = (rank + call) % 2 == 0;
        MPI_Reduce_scatter(is_in_place ? MPI_IN_PLACE : parts.data(), part.data(), counts.data(), MPI_DOUBLE,
                           MPI_SUM, MPI_COMM_WORLD);
        int in_place = 0;
        for (int other = 0; other < size; ++other) in_place += (other + call) % 2 == 0 ? 1 : 0;
        wrong += part.front() != 0.25 * in_place ? 1 : 0;
    }
    CHECK(wrong == 0);
}

namespace {

/// Adds, and counts its calls.
int calls_of_mine = 0;
void add(void* in, void* inout, int* count, MPI_Datatype*) {
    ++calls_of_mine;
    for (int i = 0; i < *count; ++i) static_cast<double*>(inout)[i] += static_cast<double*>(in)[i];
}

}  // namespace

TEST_CASE("sums that round have the same bits in every call") {
    const int rank = rank_in(MPI_COMM_WORLD);
    std::vector<double> mine(kCount);
    for (int i = 0; i < kCount; ++i) mine[static_cast<std::size_t>(i)] = 1.0 / (3 + i + 7 * rank);
    const std::vector<double> kept = mine;
    std::vector<double> first(kCount);
    std::vector<double> sum(kCount);
    std::vector<double> first_of_root(kCount);
    Algorithms algorithms(MPI_COMM_WORLD);
    const auto differs = [](const std::vector<double>& a, const std::vector<double>& b) {
        return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) != 0 ? 1 : 0;
    };
    int different = 0;
    for (int call = 0; call < kCalls / 2; ++call) {
        if (call % 2 == 0) {
            MPI_Allreduce(mine.data(), sum.data(), kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        } else {
            sum = mine;
            MPI_Allreduce(MPI_IN_PLACE, sum.data(), kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
        algorithms.note();
        if (call == 0) first = sum;
        different += differs(sum, first);
        // At a root, and in its place there now and then. At rank 0: MPICH 4.0.2 itself, whose own call may
        // be chosen, crashes in place of any other root.
        sum = mine;
        const bool is_in_place = rank == 0 && call % 2 == 1;
        MPI_Reduce(is_in_place ? MPI_IN_PLACE : mine.data(), rank == 0 ? sum.data() : nullptr, kCount,
                   MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (call == 0) first_of_root = sum;
        different += differs(sum, first_of_root);
    }
    CHECK(different == 0);
    CHECK(mine == kept);
    CHECK(algorithms.count() == 1);
}

TEST_CASE("a program's own operations are called for its own calls alone") {
    constexpr int kFew = 1500;
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(&add, 1, &op);
    const double mine = rank_in(MPI_COMM_WORLD) + 0.1;
    double first = 0;
    int different = 0;
    std::set<int> steps;
    for (int call = 0; call < kFew; ++call) {
        double sum = 0;
        const int before = calls_of_mine;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
        steps.insert(calls_of_mine - before);
        if (call == 0) first = sum;
        different += std::memcmp(&sum, &first, sizeof sum) != 0 ? 1 : 0;
    }
    CHECK(different == 0);
    CHECK(steps.size() == 1);
    MPI_Op_free(&op);
}
