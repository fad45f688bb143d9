// SPDX-License-Identifier: BSD-3-Clause
// Personalized collectives, and those with counts for each rank, through liblaple against PMPI_*.
#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <mpi.h>
#include <sys/resource.h>

#include "mpi/drop_in.hpp"

using namespace laple::test;

namespace {

const MPI_Comm kWorld = MPI_COMM_WORLD;

/// Of a block: none, short, and long enough to go straight in several segments.
int count_of(int source, int dest) {
    constexpr int kSome[] = {0, 1, 3, 200, 5000, 40'000};
    return kSome[(source * 7 + dest * 3) % 6];
}

/// One after the other, with one element between them.
struct Layout {
    std::vector<int> counts;
    std::vector<int> displacements;
    std::size_t elements = 0;

    template <typename CountOf>
    explicit Layout(CountOf count_of) {
        for (int other = 0; other < size_of(kWorld); ++other) {
            counts.push_back(count_of(other));
            displacements.push_back(static_cast<int>(elements));
            elements += static_cast<std::size_t>(counts.back()) + 1;
        }
    }
};

}  // namespace

TEST_CASE("MPI_Gather, MPI_Scatter and MPI_Alltoall") {
    const auto ranks = static_cast<std::size_t>(size_of(kWorld));
    for (const std::size_t count : kCounts) {
        const int n = static_cast<int>(count);
        const auto own = own_data<int>(count * ranks);
        std::vector<int> ours(count * ranks, -1);
        auto theirs = ours;
        REQUIRE(MPI_Alltoall(own.data(), n, MPI_INT, ours.data(), n, MPI_INT, kWorld) == MPI_SUCCESS);
        check_path();
        PMPI_Alltoall(own.data(), n, MPI_INT, theirs.data(), n, MPI_INT, kWorld);
        CHECK(ours == theirs);
        const int root = size_of(kWorld) / 2;
        REQUIRE(MPI_Gather(own.data(), n, MPI_INT, ours.data(), n, MPI_INT, root, kWorld) == MPI_SUCCESS);
        check_path();
        PMPI_Gather(own.data(), n, MPI_INT, theirs.data(), n, MPI_INT, root, kWorld);
        CHECK(ours == theirs);
        REQUIRE(MPI_Scatter(own.data(), n, MPI_INT, ours.data(), n, MPI_INT, root, kWorld) == MPI_SUCCESS);
        check_path();
        PMPI_Scatter(own.data(), n, MPI_INT, theirs.data(), n, MPI_INT, root, kWorld);
        CHECK(ours == theirs);
    }
}

namespace {

/// Three times; `check` is called after each. Returns what own_data() becomes.
std::vector<int> check_alltoallv(const Layout& out, const Layout& in, const std::function<void()>& check) {
    const auto own = own_data<int>(out.elements);
    std::vector<int> ours(in.elements, -1);
    auto theirs = ours;
    for (int i = 0; i < 3; ++i) {
        std::fill(ours.begin(), ours.end(), -1);
        REQUIRE(MPI_Alltoallv(own.data(), out.counts.data(), out.displacements.data(), MPI_INT, ours.data(),
                              in.counts.data(), in.displacements.data(), MPI_INT, kWorld) == MPI_SUCCESS);
        check();
        PMPI_Alltoallv(own.data(), out.counts.data(), out.displacements.data(), MPI_INT, theirs.data(),
                       in.counts.data(), in.displacements.data(), MPI_INT, kWorld);
        CHECK(ours == theirs);  // what is between blocks, too
    }
    return theirs;
}

}  // namespace

TEST_CASE("MPI_Alltoallv and MPI_Alltoallw: short and long blocks, and none") {
    const int rank = rank_in(kWorld);
    const Layout out([&](int dest) { return count_of(rank, dest); });
    const Layout in([&](int source) { return count_of(source, rank); });
    const std::vector<int> theirs = check_alltoallv(out, in, [] { check_path(); });
    const auto own = own_data<int>(out.elements);
    const auto in_bytes = [](std::vector<int> displacements) {
        for (int& each : displacements) each *= static_cast<int>(sizeof(int));
        return displacements;
    };
    // Those of odd ranks come as bytes.
    std::vector<MPI_Datatype> types(out.counts.size(), MPI_INT);
    auto counts = in.counts;
    for (std::size_t source = 1; source < types.size(); source += 2) {
        types[source] = MPI_BYTE;
        counts[source] *= static_cast<int>(sizeof(int));
    }
    const std::vector<MPI_Datatype> ints(types.size(), MPI_INT);
    const auto from = in_bytes(out.displacements);
    const auto to = in_bytes(in.displacements);
    std::vector<int> ours(in.elements, -1);
    REQUIRE(MPI_Alltoallw(own.data(), out.counts.data(), from.data(), ints.data(), ours.data(), counts.data(),
                          to.data(), types.data(), kWorld) == MPI_SUCCESS);
    check_path();
    CHECK(ours == theirs);
}

TEST_CASE("MPI_Gatherv, MPI_Scatterv and MPI_Allgatherv") {
    const int rank = rank_in(kWorld);
    for (int root = 0; root < size_of(kWorld); ++root) {
        const Layout blocks([&](int other) { return count_of(root, other); });
        const int own_count = blocks.counts[static_cast<std::size_t>(rank)];
        const auto own = own_data<int>(blocks.elements);
        std::vector<int> ours(blocks.elements, -1);
        auto theirs = ours;
        const int* const counts = rank == root ? blocks.counts.data() : nullptr;  // of no meaning elsewhere
        const int* const places = rank == root ? blocks.displacements.data() : nullptr;
        REQUIRE(MPI_Gatherv(own.data(), own_count, MPI_INT, ours.data(), counts, places, MPI_INT, root,
                            kWorld) == MPI_SUCCESS);
        check_path();
        PMPI_Gatherv(own.data(), own_count, MPI_INT, theirs.data(), counts, places, MPI_INT, root, kWorld);
        CHECK(ours == theirs);
        REQUIRE(MPI_Scatterv(own.data(), counts, places, MPI_INT, ours.data(), own_count, MPI_INT, root,
                             kWorld) == MPI_SUCCESS);
        check_path();
        PMPI_Scatterv(own.data(), counts, places, MPI_INT, theirs.data(), own_count, MPI_INT, root, kWorld);
        CHECK(ours == theirs);
        REQUIRE(MPI_Allgatherv(own.data(), own_count, MPI_INT, ours.data(), blocks.counts.data(),
                               blocks.displacements.data(), MPI_INT, kWorld) == MPI_SUCCESS);
        check_path();
        PMPI_Allgatherv(own.data(), own_count, MPI_INT, theirs.data(), blocks.counts.data(),
                        blocks.displacements.data(), MPI_INT, kWorld);
        CHECK(ours == theirs);
    }
}

TEST_CASE("MPI_Reduce_scatter and MPI_Reduce_scatter_block, also in place") {
    const auto rank = static_cast<std::size_t>(rank_in(kWorld));
    const int ranks = size_of(kWorld);
    for (const int block : {1, 7, 500, 20'000}) {
        std::vector<int> counts;
        for (int r = 0; r < ranks; ++r) counts.push_back(r % 3 == 1 ? 0 : block + r % 3);
        for (const bool are_equal : {true, false}) {
            if (are_equal) std::fill(counts.begin(), counts.end(), block);
            const auto all = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
            const auto mine = static_cast<std::size_t>(counts[rank]);
            const auto own = own_data<int>(all);
            const auto reduce_scatter = [&](auto of_counts, auto of_block, const void* from, void* to) {
                return are_equal ? of_block(from, to, block, MPI_INT, MPI_SUM, kWorld)
                                 : of_counts(from, to, counts.data(), MPI_INT, MPI_SUM, kWorld);
            };
            std::vector<int> ours(mine + 1, -1);
            auto theirs = ours;
            REQUIRE(reduce_scatter(MPI_Reduce_scatter, MPI_Reduce_scatter_block, own.data(), ours.data()) ==
                    MPI_SUCCESS);
            check_path();
            reduce_scatter(PMPI_Reduce_scatter, PMPI_Reduce_scatter_block, own.data(), theirs.data());
            CHECK(ours == theirs);
            auto in_place = own;
            REQUIRE(reduce_scatter(MPI_Reduce_scatter, MPI_Reduce_scatter_block, MPI_IN_PLACE,
                                   in_place.data()) == MPI_SUCCESS);
            check_path();
            CHECK(std::equal(theirs.begin(), theirs.end() - 1, in_place.begin()));
        }
    }
}

TEST_CASE("MPI_Scan and MPI_Exscan, also in place") {
    for (const std::size_t count : kCounts) {
        const int n = static_cast<int>(count);
        const auto own = own_data<int>(count);
        for (const bool is_exclusive : {false, true}) {
            std::vector<int> ours(count, -1);
            auto theirs = ours;
            auto in_place = own;
            const auto ours_of = is_exclusive ? MPI_Exscan : MPI_Scan;
            REQUIRE(ours_of(own.data(), ours.data(), n, MPI_INT, MPI_SUM, kWorld) == MPI_SUCCESS);
            check_path();
            (is_exclusive ? PMPI_Exscan : PMPI_Scan)(own.data(), theirs.data(), n, MPI_INT, MPI_SUM, kWorld);
            CHECK(ours == theirs);
            REQUIRE(ours_of(MPI_IN_PLACE, in_place.data(), n, MPI_INT, MPI_SUM, kWorld) == MPI_SUCCESS);
            check_path();
            CHECK(in_place == (is_exclusive && rank_in(kWorld) == 0 ? own : theirs));
        }
    }
}

TEST_CASE("an exscan or a reduce-scatter of one buffer is MPI's own error, on all ranks",
          "[beyond-simgrid]") {
    std::vector<int> data(static_cast<std::size_t>(size_of(kWorld)), 1);
    const auto class_of = [](int code) {
        int result = MPI_SUCCESS;
        PMPI_Error_class(code, &result);
        return result;
    };
    PMPI_Comm_set_errhandler(kWorld, MPI_ERRORS_RETURN);
    for (const auto& [ours, theirs] : {std::pair{&MPI_Exscan, &PMPI_Exscan}, std::pair{&MPI_Scan, &PMPI_Scan},
                                       std::pair{&MPI_Reduce_scatter_block, &PMPI_Reduce_scatter_block}}) {
        const int code = ours(data.data(), data.data(), 1, MPI_INT, MPI_SUM, kWorld);
        CHECK(class_of(code) == class_of(theirs(data.data(), data.data(), 1, MPI_INT, MPI_SUM, kWorld)));
    }
    PMPI_Comm_set_errhandler(kWorld, MPI_ERRORS_ARE_FATAL);
}

TEST_CASE("ranks that run ahead do not fill the memory of those that wait", "[.running-ahead]") {
    if (size_of(kWorld) < 3) return;
    constexpr int kBlock = 1 << 20;
    constexpr int kCalls = 48;
    const int last = size_of(kWorld) - 1;
    const std::vector<char> mine(kBlock, 'a');
    std::vector<char> all(static_cast<std::size_t>(rank_in(kWorld) == 0 ? kBlock * size_of(kWorld) : 1));
    const auto most_kilobytes = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
    };
    const auto gather = [&] {
        MPI_Gather(mine.data(), kBlock, MPI_CHAR, all.data(), kBlock, MPI_CHAR, 0, kWorld);
    };
    for (int call = 0; call < 3; ++call) gather();
    const long before = most_kilobytes();
    for (int call = 0; call < kCalls; ++call) {
        if (rank_in(kWorld) == last) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        gather();
    }
    CHECK(most_kilobytes() - before < kCalls * (kBlock >> 10) / 2);
    const auto others = std::count_if(all.begin(), all.end(), [](char letter) { return letter != 'a'; });
    CHECK((rank_in(kWorld) > 0 || others == 0));
}

TEST_CASE("a call without bytes is not taken for one of another type later") {
    // On even ranks a type is freed, and its handle given to the next one; on odd ranks handles differ.
    const auto ranks = static_cast<std::size_t>(size_of(kWorld));
    const auto own = own_data<int>(4 * ranks);
    std::vector<MPI_Datatype> types;
    for (int i = 0; i < 6; ++i) {
        const int length = i % 2 == 0 ? 0 : 4;
        MPI_Datatype& type = types.emplace_back(MPI_DATATYPE_NULL);
        PMPI_Type_contiguous(length, MPI_INT, &type);
        PMPI_Type_commit(&type);
        std::vector<int> ours(4 * ranks, -1);
        auto theirs = ours;
        REQUIRE(MPI_Alltoall(own.data(), 1, type, ours.data(), 1, type, kWorld) == MPI_SUCCESS);
        check_path(length > 0);
        PMPI_Alltoall(own.data(), 1, type, theirs.data(), 1, type, kWorld);
        CHECK(ours == theirs);
        if (rank_in(kWorld) % 2 == 0) PMPI_Type_free(&type);
    }
    for (MPI_Datatype& type : types) {
        if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
    }
}

TEST_CASE("a block that is longer than its rank expects is an error there") {
    if (!expects_clusters()) return;
    MPI_Comm copy = MPI_COMM_NULL;
    PMPI_Comm_dup(kWorld, &copy);
    PMPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    // Where blocks go straight, MPICH calls that handler for a message that is too long (docs/limits.md).
    PMPI_Comm_set_errhandler(kWorld, MPI_ERRORS_RETURN);
    const int rank = rank_in(kWorld);
    // Rank 0 has one more for all others.
    const Layout out([&](int dest) { return rank == 0 && dest != 0 ? 4 : 3; });
    const Layout in([](int) { return 3; });
    const auto own = own_data<int>(out.elements);
    std::vector<int> got(in.elements, -1);
    const int code = MPI_Alltoallv(own.data(), out.counts.data(), out.displacements.data(), MPI_INT,
                                   got.data(), in.counts.data(), in.displacements.data(), MPI_INT, copy);
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(code, &error_class);
    CHECK(error_class == (rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    // What came from others is there all the same: of each the block at the same place.
    for (std::size_t source = 1; source < in.counts.size(); ++source)
        CHECK(got[static_cast<std::size_t>(in.displacements[source])] ==
              (rank * 4 * 31 + static_cast<int>(source) * 17) % 1000);
    PMPI_Comm_set_errhandler(kWorld, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&copy);
}

TEST_CASE("blocks without elements need neither types nor displacements") {
    const auto ranks = static_cast<std::size_t>(size_of(kWorld));
    const int rank = rank_in(kWorld);
    // Rank 0 has one number for all; the others have nothing for anybody.
    const auto own = own_data<int>(1);
    std::vector<int> got(1, -1);
    const std::vector<int> zeros(ranks, 0);
    const std::vector<MPI_Datatype> none(ranks, MPI_DATATYPE_NULL);
    const std::vector<MPI_Datatype> ints(ranks, MPI_INT);
    const std::vector<int> ones(ranks, 1);
    auto from_0 = zeros;
    from_0[0] = 1;
    auto type_of_0 = none;
    type_of_0[0] = MPI_INT;
    REQUIRE(MPI_Alltoallw(own.data(), rank == 0 ? ones.data() : zeros.data(), zeros.data(),
                          rank == 0 ? ints.data() : none.data(), got.data(), from_0.data(), zeros.data(),
                          type_of_0.data(), kWorld) == MPI_SUCCESS);
    check_path();
    CHECK(got[0] == 0);
}

TEST_CASE("elements of no bytes need no memory") {
    const auto ranks = static_cast<std::size_t>(size_of(kWorld));
    const int rank = rank_in(kWorld);
    MPI_Datatype empty = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(0, MPI_INT, &empty);
    PMPI_Type_commit(&empty);
    // Rank 0 sends nothing, as elements without bytes from nowhere.
    const auto own = own_data<int>(ranks);
    const std::vector<int> ones(ranks, 1);
    std::vector<int> places(ranks);
    std::iota(places.begin(), places.end(), 0);
    auto counts = ones;
    counts[0] = 0;
    std::vector<int> got(ranks, -1);
    REQUIRE(MPI_Alltoallv(rank == 0 ? nullptr : own.data(), ones.data(), places.data(),
                          rank == 0 ? empty : MPI_INT, got.data(), counts.data(), places.data(), MPI_INT,
                          kWorld) == MPI_SUCCESS);
    check_path();
    for (std::size_t source = 0; source < ranks; ++source)
        CHECK(got[source] == (source == 0 ? -1 : (rank * 31 + static_cast<int>(source) * 17) % 1000));
    PMPI_Type_free(&empty);
}

TEST_CASE("MPI_IN_PLACE where it is not allowed is MPI's own error") {
    MPI_Comm copy = MPI_COMM_NULL;
    PMPI_Comm_dup(kWorld, &copy);
    PMPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    const std::vector<int> counts(static_cast<std::size_t>(size_of(kWorld)), 1);
    const std::vector<int> places(counts.size(), 0);
    const int own = 1;
    const auto class_of = [](int code) {
        int error_class = MPI_SUCCESS;
        PMPI_Error_class(code, &error_class);
        return error_class;
    };
    CHECK(class_of(MPI_Allgatherv(&own, 1, MPI_INT, MPI_IN_PLACE, counts.data(), places.data(), MPI_INT,
                                  copy)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Alltoallv(&own, counts.data(), places.data(), MPI_INT, MPI_IN_PLACE, counts.data(),
                                 places.data(), MPI_INT, copy)) == MPI_ERR_BUFFER);
    MPI_Comm_free(&copy);
}

// Hidden: for runs in which streams carry what goes straight between clusters.

namespace {

/// Long enough to go straight, and in several stripes; every fifth block is empty.
int long_count_of(int source, int dest) {
    return (source + 2 * dest) % 5 == 4 ? 0 : 200'000 + 1000 * source + 10 * dest;
}

void check_streams() {
    INFO(used(kWorld));
    CHECK_THAT(used(kWorld), Catch::EndsWith("+streams"));
}

int class_of(int code) {
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(code, &error_class);
    return error_class;
}

}  // namespace

TEST_CASE("long blocks for all ranks, by streams", "[.streams]") {
    const int rank = rank_in(kWorld);
    const Layout out([&](int dest) { return long_count_of(rank, dest); });
    const Layout in([&](int source) { return long_count_of(source, rank); });
    check_alltoallv(out, in, check_streams);
    // In place, what two ranks have for each other has one length.
    const Layout both([&](int other) { return 200'000 + 1000 * (rank + other); });
    std::vector<int> ours = own_data<int>(both.elements);
    std::vector<int> theirs = ours;
    REQUIRE(MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_INT, ours.data(), both.counts.data(),
                          both.displacements.data(), MPI_INT, kWorld) == MPI_SUCCESS);
    check_streams();
    PMPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_INT, theirs.data(), both.counts.data(),
                   both.displacements.data(), MPI_INT, kWorld);
    CHECK(ours == theirs);
}

TEST_CASE("long blocks for a root, and of one, by streams", "[.streams]") {
    const int rank = rank_in(kWorld);
    for (int root = 0; root < size_of(kWorld); ++root) {
        const Layout blocks([&](int other) { return long_count_of(root, other); });
        const int own_count = blocks.counts[static_cast<std::size_t>(rank)];
        const auto own = own_data<int>(blocks.elements);
        std::vector<int> ours(blocks.elements, -1);
        auto theirs = ours;
        REQUIRE(MPI_Gatherv(own.data(), own_count, MPI_INT, ours.data(), blocks.counts.data(),
                            blocks.displacements.data(), MPI_INT, root, kWorld) == MPI_SUCCESS);
        check_streams();
        PMPI_Gatherv(own.data(), own_count, MPI_INT, theirs.data(), blocks.counts.data(),
                     blocks.displacements.data(), MPI_INT, root, kWorld);
        CHECK(ours == theirs);
        REQUIRE(MPI_Scatterv(own.data(), blocks.counts.data(), blocks.displacements.data(), MPI_INT,
                             ours.data(), own_count, MPI_INT, root, kWorld) == MPI_SUCCESS);
        check_streams();
        PMPI_Scatterv(own.data(), blocks.counts.data(), blocks.displacements.data(), MPI_INT, theirs.data(),
                      own_count, MPI_INT, root, kWorld);
        CHECK(ours == theirs);
    }
}

TEST_CASE("the program's own messages go on while a rank waits for streams", "[.streams]") {
    constexpr int kTag = 5;
    const int rank = rank_in(kWorld);
    const int last = size_of(kWorld) - 1;
    const Layout out([&](int dest) { return long_count_of(rank, dest); });
    const Layout in([&](int source) { return long_count_of(source, rank); });
    const auto own = own_data<int>(out.elements);
    std::vector<int> got(in.elements, -1);
    std::vector<int> message(1'000'000, rank);
    const auto count = static_cast<int>(message.size());
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) PMPI_Irecv(message.data(), count, MPI_INT, last, kTag, kWorld, &request);
    // The last rank comes when rank 0, which waits for it, has taken this.
    if (rank == last) PMPI_Ssend(message.data(), count, MPI_INT, 0, kTag, kWorld);
    REQUIRE(MPI_Alltoallv(own.data(), out.counts.data(), out.displacements.data(), MPI_INT, got.data(),
                          in.counts.data(), in.displacements.data(), MPI_INT, kWorld) == MPI_SUCCESS);
    check_streams();
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK((rank != 0 || message == std::vector<int>(message.size(), last)));
}

// Of ranks that are all in different clusters: what goes by MPI, and is too long, ends the job
// (little_memory).
TEST_CASE("a long block that has not the length that its rank expects is an error there", "[.streams]") {
    MPI_Comm copy = MPI_COMM_NULL;
    PMPI_Comm_dup(kWorld, &copy);
    PMPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    const int rank = rank_in(kWorld);
    constexpr int kCount = 300'000;
    for (const int wrong : {2 * kCount, kCount + 1, kCount - 1, kCount / 2}) {
        const Layout out([&](int dest) { return rank == 0 && dest != 0 ? wrong : kCount; });
        const Layout in([&](int) { return kCount; });
        const auto own = own_data<int>(out.elements);
        std::vector<int> got(in.elements, -1);
        const int code = MPI_Alltoallv(own.data(), out.counts.data(), out.displacements.data(), MPI_INT,
                                       got.data(), in.counts.data(), in.displacements.data(), MPI_INT, copy);
        INFO(wrong << " for " << kCount);
        CHECK(class_of(code) == (rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
        // What came from others is there all the same, and nothing beyond the end of a block.
        bool is_right = true;
        for (std::size_t source = 1; source < in.counts.size(); ++source) {
            const auto begin = static_cast<std::size_t>(in.displacements[source]);
            for (std::size_t i = 0; i < kCount; ++i) {
                const std::size_t at_source = static_cast<std::size_t>(rank) * (kCount + 1) + i;
                is_right =
                    is_right && got[begin + i] == static_cast<int>((at_source * 31 + source * 17) % 1000);
            }
            is_right = is_right && got[begin + kCount] == -1;
        }
        CHECK(is_right);
        CHECK(got[kCount] == -1);
    }
    MPI_Comm_free(&copy);
}
