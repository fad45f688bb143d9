// SPDX-License-Identifier: BSD-3-Clause
// Calls collectives at random, on communicators of all kinds, by MPI_* (liblaple) and by PMPI_* (MPI alone),
// and compares all memory they may have written, bit by bit.
//
//     mpiexec -n 7 differential [--calls 1000] [--seed 1] [--threads 1] [--most 20000] [--tell 0]
//     mpiexec -n 7 differential --seconds 1800        as many as fit, and what memory and files they cost
//
// The cluster map and the algorithms come from LaPle's environment. Prints how many calls of each kind rank 0
// saw LaPle do, its seed, and the first difference. Exit status: 0 when there is none.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>

#include "differential/calls.hpp"
#include "differential/communicators.hpp"
#include "differential/paths.hpp"

namespace {

using namespace laple::test;

struct Options {
    std::uint64_t calls = 1000;
    std::uint64_t seed = 1;
    int threads = 1;
    std::size_t most = 20000;  // elements of a message
    bool is_told = false;
    double seconds = 0;  // in place of `calls`, when it is not 0
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i];
        const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
        if (name == "--calls") options.calls = value;
        if (name == "--seed") options.seed = value;
        if (name == "--threads") options.threads = static_cast<int>(value);
        if (name == "--most") options.most = value;
        if (name == "--tell") options.is_told = value != 0;
        if (name == "--seconds") options.seconds = static_cast<double>(value);
    }
    return options;
}

constexpr std::uint64_t kCallsOfCommunicator = 40;

/// What this process holds.
struct Holdings {
    long kib = 0;
    long files = 0;

    static Holdings now() {
        Holdings now;
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("VmRSS:")) now.kib = std::strtol(line.c_str() + 6, nullptr, 10);
        }
        const std::filesystem::directory_iterator files("/proc/self/fd");
        now.files = std::distance(begin(files), end(files));
        return now;
    }
};

/// Counts time for all ranks alike, and looks at what they hold after a tenth of it and at the end.
class Watch {
  public:
    Watch(MPI_Comm comm, double seconds) : comm_(comm), seconds_(seconds), start_(PMPI_Wtime()) {}

    /// Whether there is time for more. Collective.
    bool goes_on() {
        double part = (PMPI_Wtime() - start_) / seconds_;
        PMPI_Bcast(&part, 1, MPI_DOUBLE, 0, comm_);
        if (part > 0.1 && early_.files == 0) early_ = Holdings::now();
        return part < 1;
    }

    /// Collective.
    void report() const {
        const Holdings late = Holdings::now();
        const long mine[] = {early_.kib, late.kib, late.kib - early_.kib, early_.files, late.files};
        long most[] = {0, 0, 0, 0, 0};
        PMPI_Reduce(mine, most, 5, MPI_LONG, MPI_MAX, 0, comm_);
        int rank = 0;
        PMPI_Comm_rank(comm_, &rank);
        if (rank == 0)
            std::printf(
                "the largest rank held %ld KiB after a tenth of the time and %ld at the end (none grew by "
                "more "
                "than %ld), and %ld open files, then %ld\n",
                most[0], most[1], most[2], most[3], most[4]);
    }

  private:
    MPI_Comm comm_;
    double seconds_;
    double start_;
    Holdings early_;
};

/// All calls of one thread. A difference on one rank leaves the others waiting: it ends the job.
std::uint64_t run_thread(MPI_Comm base, const Options& options, int thread, Paths* paths) {
    int rank = 0;
    PMPI_Comm_rank(base, &rank);
    const std::uint64_t seed = options.seed + (static_cast<std::uint64_t>(thread) << 32);
    Random random(seed);
    Communicators communicators(base, random);
    std::uint64_t made = 0;
    Watch watch(base, options.seconds);
    const bool is_timed = options.seconds > 0;
    for (std::uint64_t call = 0; is_timed || call < options.calls; ++call) {
        if (is_timed && call % kCallsOfCommunicator == 0 && !watch.goes_on()) break;
        if (call % kCallsOfCommunicator == kCallsOfCommunicator - 1) communicators.replace_one(random);
        const Communicators::One& one = communicators.draw(random);
        if (one.comm == MPI_COMM_NULL) continue;
        const std::string difference = differs(one, {seed, call, rank, options.most, options.is_told}, paths);
        ++made;
        if (difference.empty()) continue;
        std::fprintf(stderr, "DIFFERENT: seed %llu, thread %d, call %llu: %s\n",
                     static_cast<unsigned long long>(options.seed), thread,
                     static_cast<unsigned long long>(call), difference.c_str());
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (is_timed) watch.report();
    return made;
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, options.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (options.threads > 1 && level != MPI_THREAD_MULTIPLE) {
        if (rank == 0) std::puts("skipped: MPI has no MPI_THREAD_MULTIPLE");
        MPI_Finalize();
        return 0;
    }
    std::uint64_t made = 0;
    Paths paths;
    {
        const UserOperations operations;
        std::vector<MPI_Comm> bases(static_cast<std::size_t>(options.threads), MPI_COMM_WORLD);
        for (std::size_t t = 1; t < bases.size(); ++t) MPI_Comm_dup(MPI_COMM_WORLD, &bases[t]);
        std::atomic<std::uint64_t> sum{0};
        std::vector<std::thread> threads;
        for (std::size_t t = 1; t < bases.size(); ++t)
            threads.emplace_back(
                [&, t] { sum += run_thread(bases[t], options, static_cast<int>(t), nullptr); });
        sum += run_thread(MPI_COMM_WORLD, options, 0, rank == 0 ? &paths : nullptr);
        for (std::thread& thread : threads) thread.join();
        for (std::size_t t = 1; t < bases.size(); ++t) MPI_Comm_free(&bases[t]);
        made = sum;
    }
    std::uint64_t most = 0;
    PMPI_Reduce(&made, &most, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        paths.print();
        std::printf("no difference in %llu collectives, seed %llu\n", static_cast<unsigned long long>(most),
                    static_cast<unsigned long long>(options.seed));
    }
    MPI_Finalize();
    return 0;
}
