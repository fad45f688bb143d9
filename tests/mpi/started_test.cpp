// SPDX-License-Identifier: BSD-3-Clause
// What only calls can do that are started and completed later: overtake each other, outlive their
// communicator, their types and their operation, and go on while the program waits for something else. That
// their results are right, drop_in_test shows with started.cpp before it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <mpi.h>

#include "mpi/drop_in.hpp"

using namespace laple::test;

namespace {

/// Of MPI_COMM_WORLD, and set up for LaPle by its first collectives, of which the last one was MPI's own.
class Duplicate {
  public:
    Duplicate() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Barrier(comm);
        forget_path(comm);
    }
    ~Duplicate() {
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
    Duplicate(const Duplicate&) = delete;
    Duplicate& operator=(const Duplicate&) = delete;

    MPI_Comm comm = MPI_COMM_NULL;
};

/// While one lives, errors that MPI raises on MPI_COMM_WORLD are returned: those of requests, whatever their
/// communicator.
class ReturnErrors {
  public:
    ReturnErrors() {
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler_);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    ~ReturnErrors() {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler_);
        MPI_Errhandler_free(&handler_);
    }
    ReturnErrors(const ReturnErrors&) = delete;
    ReturnErrors& operator=(const ReturnErrors&) = delete;

  private:
    MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// Of what all ranks contribute, if that is `start` plus their rank.
int sum_of(int start) {
    const int size = size_of(MPI_COMM_WORLD);
    return size * start + size * (size - 1) / 2;
}

int rank_of_world() {
    return rank_in(MPI_COMM_WORLD);
}

}  // namespace

TEST_CASE("many calls of one communicator are under way, blocking ones among them") {
    constexpr std::size_t kCalls = 200;
    const Duplicate duplicate;
    std::vector<MPI_Request> requests(3 * kCalls, MPI_REQUEST_NULL);
    std::vector<int> own(kCalls);
    std::vector<int> sums(kCalls, -1);
    std::vector<int> messages(kCalls, -1);
    int most = -1;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const int number = static_cast<int>(i);
        const int root = number % size_of(MPI_COMM_WORLD);
        own[i] = number + rank_of_world();
        if (rank_of_world() == root) messages[i] = number;
        REQUIRE(MPI_Iallreduce(&own[i], &sums[i], 1, MPI_INT, MPI_SUM, duplicate.comm, &requests[i]) ==
                MPI_SUCCESS);
        if (expects_clusters()) CHECK(is_ours(duplicate.comm));
        REQUIRE(MPI_Ibcast(&messages[i], 1, MPI_INT, root, duplicate.comm, &requests[kCalls + i]) ==
                MPI_SUCCESS);
        REQUIRE(MPI_Ibarrier(duplicate.comm, &requests[2 * kCalls + i]) == MPI_SUCCESS);
        if (i % 50 == 7) {
            const int mine = rank_of_world();
            MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, duplicate.comm);
            CHECK(most == size_of(MPI_COMM_WORLD) - 1);
        }
    }
    // The last ones first, and each rank in another order.
    for (std::size_t i = requests.size(); i-- > 0;) {
        const std::size_t shifted = (i + 17 * static_cast<std::size_t>(rank_of_world())) % requests.size();
        REQUIRE(MPI_Wait(&requests[shifted], MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(requests[shifted] == MPI_REQUEST_NULL);
    }
    for (std::size_t i = 0; i < kCalls; ++i) {
        CHECK(sums[i] == sum_of(static_cast<int>(i)));
        CHECK(messages[i] == static_cast<int>(i));
    }
}

TEST_CASE("a rank that waits in another call of MPI lets started calls go on") {
    const Duplicate duplicate;
    const bool is_first = rank_of_world() == 0;
    const int others = size_of(MPI_COMM_WORLD) - 1;
    for (int round = 0; round < 20; ++round) {
        MPI_Request request = MPI_REQUEST_NULL;
        REQUIRE(MPI_Ibarrier(duplicate.comm, &request) == MPI_SUCCESS);
        if (expects_clusters()) CHECK(is_ours(duplicate.comm));
        int token = rank_of_world();
        if (!is_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
        // Rank 0 waits for messages that the others send after the barrier.
        if (!is_first) PMPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        for (int other = 1; is_first && other <= others; ++other)
            PMPI_Recv(&token, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (is_first) MPI_Wait(&request, MPI_STATUS_IGNORE);

        REQUIRE(MPI_Ibarrier(duplicate.comm, &request) == MPI_SUCCESS);
        MPI_Comm part = MPI_COMM_NULL;
        if (!is_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
        PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &part);
        if (is_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
        PMPI_Comm_free(&part);
    }
}

TEST_CASE("a communicator is freed while calls on it are under way") {
    for (int round = 0; round < 50; ++round) {
        Duplicate duplicate;
        std::vector<int> own(1000, rank_of_world());
        std::vector<int> sums(own.size(), -1);
        std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        REQUIRE(MPI_Iallreduce(own.data(), sums.data(), static_cast<int>(own.size()), MPI_INT, MPI_SUM,
                               duplicate.comm, &requests[0]) == MPI_SUCCESS);
        if (expects_clusters()) CHECK(is_ours(duplicate.comm));
        REQUIRE(MPI_Ibarrier(duplicate.comm, &requests[1]) == MPI_SUCCESS);
        REQUIRE(MPI_Comm_free(&duplicate.comm) == MPI_SUCCESS);
        REQUIRE(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        CHECK(sums == std::vector<int>(own.size(), sum_of(0)));
    }
}

TEST_CASE("types and operations are freed while calls use them") {
    const Duplicate duplicate;
    MPI_Datatype every_second = MPI_DATATYPE_NULL;
    MPI_Type_vector(100, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Op add = MPI_OP_NULL;
    const auto add_ints = [](void* in, void* inout, int* count, MPI_Datatype*) {
        for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
    };
    MPI_Op_create(add_ints, 1, &add);
    std::vector<int> message(200, rank_of_world() == 0 ? 7 : -1);
    const int own = rank_of_world();
    int sum = -1;
    std::array<MPI_Request, 3> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    // Rank 0 starts when all others have freed what they use, and they wait for it.
    if (rank_of_world() == 0) PMPI_Barrier(MPI_COMM_WORLD);
    REQUIRE(MPI_Ibcast(message.data(), 1, every_second, 0, duplicate.comm, &requests[0]) == MPI_SUCCESS);
    REQUIRE(MPI_Iallreduce(&own, &sum, 1, MPI_INT, add, duplicate.comm, &requests[1]) == MPI_SUCCESS);
    // No thread of LaPle's calls the program's operations.
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (expects_clusters()) CHECK(is_ours(duplicate.comm) == (level < MPI_THREAD_MULTIPLE));
    REQUIRE(MPI_Type_free(&every_second) == MPI_SUCCESS);
    REQUIRE(MPI_Op_free(&add) == MPI_SUCCESS);
    if (rank_of_world() > 0) PMPI_Barrier(MPI_COMM_WORLD);
    CHECK(every_second == MPI_DATATYPE_NULL);
    CHECK(add == MPI_OP_NULL);
    REQUIRE(MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(sum == sum_of(0));
    for (std::size_t i = 0; i < 199; ++i) CHECK(message[i] == (i % 2 == 0 || rank_of_world() == 0 ? 7 : -1));
}

TEST_CASE("an unset communicator: MPI's own, and right") {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int own = rank_of_world();
    int sum = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    REQUIRE(MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm, &request) == MPI_SUCCESS);
    CHECK_FALSE(is_ours(comm));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == sum_of(0));
    MPI_Comm_free(&comm);
}

TEST_CASE("a message that is too long is an error of the call that completes") {
    if (size_of(MPI_COMM_WORLD) < 2) return;
    const Duplicate duplicate;
    if (!expects_clusters()) return;
    const ReturnErrors guard;
    MPI_Comm_set_errhandler(duplicate.comm, MPI_ERRORS_RETURN);
    std::vector<int> message(10);
    const int count = rank_of_world() == 0 ? 10 : 4;
    MPI_Request request = MPI_REQUEST_NULL;
    REQUIRE(MPI_Ibcast(message.data(), count, MPI_INT, 0, duplicate.comm, &request) == MPI_SUCCESS);
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    CHECK(error_class == (rank_of_world() == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    MPI_Barrier(duplicate.comm);
}

TEST_CASE("MPI_IN_PLACE at the wrong end is refused at the root") {
    const Duplicate duplicate;
    MPI_Comm const comm = duplicate.comm;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    // Without the others: MPI finds it before it sends anything. On other ranks MPICH 4.0.2 crashes itself.
    int own = 1;
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    const std::vector<int> counts(static_cast<std::size_t>(ranks), 1);
    const std::vector<int> places(counts.size(), 0);
    if (rank_of_world() == 0) {
        CHECK(MPI_Gather(&own, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, comm) != MPI_SUCCESS);
        CHECK(MPI_Scatter(MPI_IN_PLACE, 1, MPI_INT, &own, 1, MPI_INT, 0, comm) != MPI_SUCCESS);
        CHECK(MPI_Gatherv(&own, 1, MPI_INT, MPI_IN_PLACE, counts.data(), places.data(), MPI_INT, 0, comm) !=
              MPI_SUCCESS);
        CHECK(MPI_Scatterv(MPI_IN_PLACE, counts.data(), places.data(), MPI_INT, &own, 1, MPI_INT, 0, comm) !=
              MPI_SUCCESS);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a non-blocking collective is neither cancelled nor freed") {
    if (!expects_clusters()) return;
    const Duplicate duplicate;
    const ReturnErrors guard;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank_of_world() > 0) PMPI_Barrier(MPI_COMM_WORLD);
    REQUIRE(MPI_Ibarrier(duplicate.comm, &request) == MPI_SUCCESS);
    if (rank_of_world() == 0) {
        // Under way: the others have not begun.
        CHECK(MPI_Cancel(&request) != MPI_SUCCESS);
        CHECK(MPI_Request_free(&request) != MPI_SUCCESS);
        CHECK(request != MPI_REQUEST_NULL);
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

namespace {

/// What all ranks have for each other: blocks of unequal lengths, each of which tells who sends it to whom.
struct LongBlocks {
    explicit LongBlocks(int salt) : salt_(salt) {
        const int rank = rank_of_world();
        for (int other = 0; other < size_of(MPI_COMM_WORLD); ++other) {
            add(count(rank, other), number(rank, other), sent, sent_counts, sent_places);
            add(count(other, rank), -1, got, got_counts, got_places);
        }
    }
    void forget() { std::fill(got.begin(), got.end(), -1); }
    bool are_right() const {
        for (std::size_t source = 0; source < got_counts.size(); ++source) {
            const auto begin = got.begin() + got_places[source];
            const int value = number(static_cast<int>(source), rank_of_world());
            if (std::count(begin, begin + got_counts[source], value) != got_counts[source]) return false;
        }
        return true;
    }

    std::vector<int> sent, sent_counts, sent_places;
    std::vector<int> got, got_counts, got_places;

  private:
    int count(int source, int dest) const { return 50'000 + 1000 * source + 10 * dest + salt_; }
    int number(int source, int dest) const { return (salt_ * 100 + source) * 100 + dest; }
    static void add(int count, int value, std::vector<int>& all, std::vector<int>& counts,
                    std::vector<int>& places) {
        counts.push_back(count);
        places.push_back(static_cast<int>(all.size()));
        all.insert(all.end(), static_cast<std::size_t>(count), value);
    }

    int salt_;
};

/// A blocking call of the same kind, of one element for each rank. Where there are to be streams, it makes
/// them.
void exchange_short_blocks(MPI_Comm comm) {
    const auto ranks = static_cast<std::size_t>(size_of(comm));
    const std::vector<int> own(ranks, rank_in(comm));
    const std::vector<int> ones(ranks, 1);
    std::vector<int> places(ranks);
    std::iota(places.begin(), places.end(), 0);
    std::vector<int> got(ranks, -1);
    REQUIRE(MPI_Alltoallv(own.data(), ones.data(), places.data(), MPI_INT, got.data(), ones.data(),
                          places.data(), MPI_INT, comm) == MPI_SUCCESS);
    CHECK(got == places);
}

}  // namespace

TEST_CASE("started calls of long blocks are under way together, before a blocking one and after it") {
    constexpr std::size_t kCalls = 8;
    const Duplicate duplicate;
    std::vector<LongBlocks> blocks;
    std::vector<MPI_Request> requests(kCalls, MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < kCalls; ++i) blocks.emplace_back(static_cast<int>(i));
    for (std::size_t i = 0; i < kCalls; ++i) {
        if (i == 2) exchange_short_blocks(duplicate.comm);
        LongBlocks& b = blocks[i];
        REQUIRE(MPI_Ialltoallv(b.sent.data(), b.sent_counts.data(), b.sent_places.data(), MPI_INT,
                               b.got.data(), b.got_counts.data(), b.got_places.data(), MPI_INT,
                               duplicate.comm, &requests[i]) == MPI_SUCCESS);
        if (expects_clusters()) CHECK(is_ours(duplicate.comm));
    }
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::size_t shifted = (i + 3 * static_cast<std::size_t>(rank_of_world())) % kCalls;
        REQUIRE(MPI_Wait(&requests[shifted], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    for (const LongBlocks& b : blocks) CHECK(b.are_right());
}

#if MPI_VERSION >= 4
TEST_CASE("a persistent call is freed while it is under way") {
    const Duplicate duplicate;
    if (!expects_clusters()) return;  // MPICH 4.0.2 itself crashes
    constexpr std::size_t kRounds = 20;
    // Theirs until the calls are complete, which nothing tells: a rank may pass its sum on after it has come.
    static const int own = rank_of_world();
    static std::array<int, kRounds> sums;
    sums.fill(-1);
    for (int& sum : sums) {
        MPI_Request request = MPI_REQUEST_NULL;
        REQUIRE(MPI_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_SUM, duplicate.comm, MPI_INFO_NULL,
                                   &request) == MPI_SUCCESS);
        REQUIRE(MPI_Start(&request) == MPI_SUCCESS);
        REQUIRE(MPI_Request_free(&request) == MPI_SUCCESS);
        CHECK(request == MPI_REQUEST_NULL);
        MPI_Barrier(duplicate.comm);  // complete on no rank for certain: the next round goes on beside it
        const int message = rank_of_world();
        int other = -1;
        PMPI_Sendrecv(&message, 1, MPI_INT, 0, 3, &other, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        CHECK(other == message);
        MPI_Request last = MPI_REQUEST_NULL;
        MPI_Ibarrier(duplicate.comm, &last);
        MPI_Wait(&last, MPI_STATUS_IGNORE);
        // The result must come in the end.
        const volatile int& seen = sum;
        while (seen != sum_of(0)) {
            int is_there = 0;
            PMPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        }
    }
}

TEST_CASE("persistent calls: started again and again, each rank in another order") {
    constexpr std::size_t kCalls = 6;
    constexpr int kRounds = 30;
    const Duplicate duplicate;
    std::vector<int> own(kCalls);
    std::vector<int> sums(kCalls);
    std::vector<MPI_Request> requests(kCalls, MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < kCalls; ++i) {
        REQUIRE(MPI_Allreduce_init(&own[i], &sums[i], 1, MPI_INT, MPI_SUM, duplicate.comm, MPI_INFO_NULL,
                                   &requests[i]) == MPI_SUCCESS);
        if (expects_clusters()) CHECK(is_ours(duplicate.comm));
    }
    // One that is not active is complete; MPICH 4.0.2's own is not.
    int is_done = 0;
    MPI_Test(&requests[0], &is_done, MPI_STATUS_IGNORE);
    if (expects_clusters()) CHECK(is_done == 1);
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < kCalls; ++i) {
            own[i] = round * 10 + static_cast<int>(i) + rank_of_world();
            sums[i] = -1;
        }
        if (round % 3 == 0) {
            REQUIRE(MPI_Startall(static_cast<int>(kCalls), requests.data()) == MPI_SUCCESS);
        } else {
            for (std::size_t i = 0; i < kCalls; ++i) {
                const std::size_t shifted = (i + static_cast<std::size_t>(rank_of_world())) % kCalls;
                REQUIRE(MPI_Start(&requests[shifted]) == MPI_SUCCESS);
            }
        }
        REQUIRE(MPI_Waitall(static_cast<int>(kCalls), requests.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        for (std::size_t i = 0; i < kCalls; ++i) {
            CHECK(sums[i] == sum_of(round * 10 + static_cast<int>(i)));
            CHECK(requests[i] != MPI_REQUEST_NULL);
        }
    }
    for (MPI_Request& request : requests) REQUIRE(MPI_Request_free(&request) == MPI_SUCCESS);
}

TEST_CASE("persistent calls of a communicator that is not set up, and is freed") {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int own = 0;
    int sum = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    REQUIRE(MPI_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request) ==
            MPI_SUCCESS);
    if (expects_clusters()) CHECK(is_ours(comm));
    MPI_Comm_free(&comm);
    for (int round = 0; round < 5; ++round) {
        own = round + rank_of_world();
        REQUIRE(MPI_Start(&request) == MPI_SUCCESS);
        REQUIRE(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(sum == sum_of(round));
    }
    REQUIRE(MPI_Request_free(&request) == MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
}

TEST_CASE("started calls of blocks with counts in 64 bits") {
    const Duplicate duplicate;
    const auto ranks = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
    std::vector<MPI_Count> counts(ranks);
    std::vector<MPI_Aint> displacements(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
        counts[i] = static_cast<MPI_Count>(i + 1);
        displacements[i] = static_cast<MPI_Aint>(i * (i + 1) / 2 + i);  // with a hole between blocks
    }
    const std::vector<int> own(static_cast<std::size_t>(rank_of_world()) + 1, rank_of_world());
    std::vector<int> all(ranks * (ranks + 3) / 2, -1);
    MPI_Request request = MPI_REQUEST_NULL;
    if (!expects_clusters()) return;  // MPICH 4.0.2's own goes wrong
    REQUIRE(MPI_Iallgatherv_c(own.data(), static_cast<MPI_Count>(own.size()), MPI_INT, all.data(),
                              counts.data(), displacements.data(), MPI_INT, duplicate.comm,
                              &request) == MPI_SUCCESS);
    CHECK(is_ours(duplicate.comm));
    REQUIRE(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (std::size_t i = 0; i < ranks; ++i) {
        for (std::size_t j = 0; j <= i; ++j)
            CHECK(all[static_cast<std::size_t>(displacements[i]) + j] == static_cast<int>(i));
    }
}

TEST_CASE("persistent calls of long blocks: one rank is ahead of the others") {
    constexpr int kRounds = 5;
    const Duplicate duplicate;
    if (!expects_clusters()) return;
    LongBlocks blocks(1);
    const auto rank = static_cast<std::size_t>(rank_of_world());
    const int root = size_of(MPI_COMM_WORLD) - 1;
    MPI_Request all_to_all = MPI_REQUEST_NULL;
    MPI_Request scatter = MPI_REQUEST_NULL;
    REQUIRE(MPI_Alltoallv_init(blocks.sent.data(), blocks.sent_counts.data(), blocks.sent_places.data(),
                               MPI_INT, blocks.got.data(), blocks.got_counts.data(), blocks.got_places.data(),
                               MPI_INT, duplicate.comm, MPI_INFO_NULL, &all_to_all) == MPI_SUCCESS);
    CHECK(is_ours(duplicate.comm));
    const auto last = static_cast<std::size_t>(root);
    const int count = blocks.got_counts[last];
    std::vector<int> part(static_cast<std::size_t>(count));
    REQUIRE(MPI_Scatterv_init(blocks.sent.data(), blocks.sent_counts.data(), blocks.sent_places.data(),
                              MPI_INT, part.data(), count, MPI_INT, root, duplicate.comm, MPI_INFO_NULL,
                              &scatter) == MPI_SUCCESS);
    for (int round = 0; round < kRounds; ++round) {
        blocks.forget();
        REQUIRE(MPI_Start(&all_to_all) == MPI_SUCCESS);
        REQUIRE(MPI_Wait(&all_to_all, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(blocks.are_right());
    }
    // The root may not wait for others: then what they are to get comes before they begin.
    if (rank_of_world() != root) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int round = 0; round < kRounds; ++round) {
        std::fill(part.begin(), part.end(), -1);
        REQUIRE(MPI_Start(&scatter) == MPI_SUCCESS);
        REQUIRE(MPI_Wait(&scatter, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(part == std::vector<int>(part.size(), (100 + root) * 100 + static_cast<int>(rank)));
    }
    REQUIRE(MPI_Request_free(&all_to_all) == MPI_SUCCESS);
    REQUIRE(MPI_Request_free(&scatter) == MPI_SUCCESS);
}
#endif
