// SPDX-License-Identifier: BSD-3-Clause
// Links that become slower while a program runs, between two sites, of as many ranks. Time passes when a
// message has come, as long as it would have taken; so spans are the same on any machine, however busy it is.
// Expects a model by which long sums go in many segments. LAPLE_DEBUG=1 says that links have changed.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <dlfcn.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mpi/drop_in.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace laple::test;

namespace {

std::atomic<long> nanoseconds{1'000'000'000};
std::atomic<double> slowness{1};  // of messages from site to site
std::mutex mutex;
std::set<MPI_Request> reductions;  // of what ranks have seen of links, that are under way

/// MPI's own function, not the one below.
template <typename Function>
Function* next_one(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

LAPLE_EXPORT int clock_gettime(clockid_t clock, timespec* time) noexcept {
    constexpr long kLook = 100'000;
    if (clock != CLOCK_MONOTONIC) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    const long now = nanoseconds += kLook;
    *time = {now / 1'000'000'000, now % 1'000'000'000};
    return 0;
}

/// LaPle asks for the length of each message that has come.
LAPLE_EXPORT int PMPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
    static auto* const next = next_one<decltype(PMPI_Get_count)>("PMPI_Get_count");
    constexpr double kNanosecondsAByte = 1000;
    const int code = next(status, type, count);
    int size = 0;
    PMPI_Type_size(type, &size);
    const int half = size_of(MPI_COMM_WORLD) / 2;
    const bool is_far = status->MPI_SOURCE / half != rank_in(MPI_COMM_WORLD) / half;
    if (is_far) nanoseconds += static_cast<long>(*count * size * kNanosecondsAByte * slowness);
    return code;
}

LAPLE_EXPORT int PMPI_Iallreduce(const void* input, void* result, int count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm, MPI_Request* request) {
    static auto* const next = next_one<decltype(PMPI_Iallreduce)>("PMPI_Iallreduce");
    const int code = next(input, result, count, type, op, comm, request);
    const std::lock_guard lock(mutex);
    if (type == MPI_DOUBLE) reductions.insert(*request);  // of times: settings are agreed on as integers
    return code;
}

LAPLE_EXPORT int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
    static auto* const next = next_one<decltype(PMPI_Wait)>("PMPI_Wait");
    {
        const std::lock_guard lock(mutex);
        reductions.erase(*request);
    }
    return next(request, status);
}

namespace {

constexpr int kLong = 64 * 1024;
constexpr int kUsual = 18;    // calls that show what is usual, after some that nothing is watched by
constexpr int kNoticed = 20;  // more show that this has changed
constexpr int kBegun = 8;     // after so many calls a reduction is under way

std::size_t count_of_reductions() {
    const std::lock_guard lock(mutex);
    return reductions.size();
}

/// Returns how many sums are wrong.
int add(int calls, MPI_Comm comm) {
    const int ranks = size_of(comm);
    int wrong = 0;
    for (int call = 0; call < calls; ++call) {
        const std::vector<long> mine(kLong, call + rank_in(comm));
        std::vector<long> sum(kLong);
        MPI_Allreduce(mine.data(), sum.data(), kLong, MPI_LONG, MPI_SUM, comm);
        const long right = static_cast<long>(ranks) * call + ranks * (ranks - 1) / 2;
        wrong += std::all_of(sum.begin(), sum.end(), [right](long found) { return found == right; }) ? 0 : 1;
    }
    return wrong;
}

/// Whether the last call on `comm` went by the same plan on all its ranks.
bool is_by_one_plan(MPI_Comm comm) {
    std::string first = used(comm);
    first.resize(LAPLE_MAX_ALGORITHM_NAME);
    PMPI_Bcast(first.data(), LAPLE_MAX_ALGORITHM_NAME, MPI_CHAR, 0, comm);
    int is_same = used(comm) == first.c_str() ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &is_same, 1, MPI_INT, MPI_MIN, comm);
    return is_same == 1;
}

}  // namespace

TEST_CASE("all ranks have the same plans for slower links, whatever blocks each has had") {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int ranks = size_of(comm);
    const int rank = rank_in(comm);
    const std::vector<int> sizes{8192, 12288, 16384, 20480};
    const int longest = sizes.back();
    std::vector<char> out(static_cast<std::size_t>(ranks * longest));
    std::vector<char> in(out.size());
    std::vector<int> places;
    for (int other = 0; other < ranks; ++other) places.push_back(other * longest);
    // On the average rank 0 has longer blocks than others: they are the only ones.
    const auto call_with_blocks = [&] {
        for (const int size : sizes) {
            std::vector<int> counts(static_cast<std::size_t>(ranks), rank == 0 ? size : 0);
            counts[0] = size;
            MPI_Alltoallv(out.data(), counts.data(), places.data(), MPI_CHAR, in.data(), counts.data(),
                          places.data(), MPI_CHAR, comm);
        }
    };
    slowness = 1;
    int wrong = add(kUsual, comm);
    call_with_blocks();
    slowness = 10;
    wrong += add(kNoticed, comm);
    CHECK(wrong == 0);
    for (const int size : sizes) {
        CAPTURE(size);
        MPI_Alltoall(out.data(), size, MPI_CHAR, in.data(), size, MPI_CHAR, comm);
        CHECK(is_by_one_plan(comm));
    }
    MPI_Comm_free(&comm);
    slowness = 1;
}

TEST_CASE("what links are watched by ends before their communicator does") {
    const std::size_t before = count_of_reductions();
    int wrong = 0;
    for (int number = 0; number < 20; ++number) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        wrong += add(kBegun, comm);
        CHECK(count_of_reductions() == before + 1);
        // Calls that are under way keep what is known of their communicator.
        MPI_Request request = MPI_REQUEST_NULL;
        std::vector<int> data(kLong, rank_in(comm) == 0 ? number : -1);
        MPI_Ibcast(data.data(), kLong, MPI_INT, 0, comm, &request);
        MPI_Comm_free(&comm);
        CHECK(count_of_reductions() == before);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += data.back() == number ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("limits do not stay where calls have become MPI's own") {
    constexpr int kBlock = 64 * 1024;
    constexpr int kMost = 600;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<char> out(static_cast<std::size_t>(size_of(comm)) * kBlock);
    std::vector<char> in(out.size());
    const auto call = [&] { MPI_Alltoall(out.data(), kBlock, MPI_CHAR, in.data(), kBlock, MPI_CHAR, comm); };
    slowness = 1;
    for (int i = 0; i < kUsual; ++i) call();
    CHECK(used(comm) != "native");
    // Other plans are tried now and then.
    const auto calls_until = [&](bool is_native) {
        constexpr int kInARow = 8;
        int calls = 0;
        for (int alike = 0; calls < kMost && alike < kInARow; ++calls) {
            call();
            alike = (used(comm) == "native") == is_native ? alike + 1 : 0;
        }
        return calls;
    };
    // Here MPI's own calls seem to take no time, for nobody asks how long their messages are.
    slowness = 10;
    CHECK(calls_until(true) < kMost);
    slowness = 1;
    CHECK(calls_until(false) < kMost);
    MPI_Comm_free(&comm);
}

TEST_CASE("nothing is watched where MPI has no communicator left") {
    constexpr std::size_t kMost = 5000;  // MPICH has some 2,000
    std::vector<MPI_Comm> comms;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm comm = MPI_COMM_NULL;
    while (comms.size() < kMost && PMPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS) comms.push_back(comm);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    const std::size_t before = count_of_reductions();
    CHECK(add(2 * kBegun, comms.back()) == 0);
    if (comms.size() < kMost) {
        CHECK(used(comms.back()) == "native");
        CHECK(count_of_reductions() == before);
    }
    for (MPI_Comm& one : comms) MPI_Comm_free(&one);
}

TEST_CASE("short calls tell nothing of links, and are not watched") {
    constexpr int kShort = 1024;  // of one segment
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const std::size_t before = count_of_reductions();
    for (int call = 0; call < kBegun; ++call) {
        std::vector<int> sum(kShort, 1);
        MPI_Allreduce(MPI_IN_PLACE, sum.data(), kShort, MPI_INT, MPI_SUM, comm);
        CHECK(sum.back() == size_of(comm));
    }
    CHECK(used(comm) != "native");
    CHECK(count_of_reductions() == before);
    MPI_Comm_free(&comm);
}

TEST_CASE("MPI_Finalize comes while links are looked at") {
    add(kBegun, MPI_COMM_WORLD);
    CHECK(count_of_reductions() > 0);
}
