// SPDX-License-Identifier: BSD-3-Clause
// streams-load SECONDS BYTES: broadcasts from each rank in turn, reductions and allreduces of BYTES for about
// SECONDS. streams-load --communicators N BYTES: N duplicates of MPI_COMM_WORLD, each used for a broadcast
// and freed. Every byte of every result is looked at. Rank 0 prints "started", and the number of the last
// rank's process, after the first calls, and at the end a line of JSON: rounds, the longest one in seconds,
// and the descriptors that any rank has open after the first round and after the last. A wrong result ends
// the job.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include <mpi.h>
#include <unistd.h>

namespace {

struct Ranks {
    int rank = 0;
    int size = 0;
};

struct Buffers {
    std::vector<int> data;
    std::vector<int> sums;

    explicit Buffers(std::size_t bytes)
        : data(std::max<std::size_t>(bytes / sizeof(int), 1)), sums(data.size()) {}
    int count() const { return static_cast<int>(data.size()); }
};

void require(bool holds, const char* what, int round) {
    if (holds) return;
    std::fprintf(stderr, "WRONG: %s in round %d\n", what, round);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int open_descriptors() {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        static_cast<void>(entry);
        ++count;
    }
    return count;
}

int most_of_all(int value) {
    int most = 0;
    MPI_Allreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/// With the last rank's process.
void say_started(Ranks self) {
    const int mine = self.rank == self.size - 1 ? static_cast<int>(getpid()) : 0;
    const int last = most_of_all(mine);
    if (self.rank == 0) std::printf("started %d\n", last);
    std::fflush(stdout);
}

/// Element i of a round.
int element(int round, int i) {
    return static_cast<int>((static_cast<unsigned>(round) * 7919U + static_cast<unsigned>(i)) & 0xffffU);
}

void check_bcast(MPI_Comm comm, Ranks self, Buffers& buffers, int root, int round) {
    for (int i = 0; i < buffers.count(); ++i) {
        buffers.data[static_cast<std::size_t>(i)] = self.rank == root ? element(round, i) : -1;
    }
    MPI_Bcast(buffers.data.data(), buffers.count(), MPI_INT, root, comm);
    bool is_right = true;
    for (int i = 0; i < buffers.count(); ++i) {
        is_right = is_right && buffers.data[static_cast<std::size_t>(i)] == element(round, i);
    }
    require(is_right, "bcast", round);
}

/// Of what the broadcast before has left in `data`.
void check_sums(MPI_Comm comm, Ranks self, Buffers& buffers, int root, int round) {
    const auto are_sums = [&] {
        for (int i = 0; i < buffers.count(); ++i) {
            if (buffers.sums[static_cast<std::size_t>(i)] != self.size * element(round, i)) return false;
        }
        return true;
    };
    std::fill(buffers.sums.begin(), buffers.sums.end(), -1);
    MPI_Allreduce(buffers.data.data(), buffers.sums.data(), buffers.count(), MPI_INT, MPI_SUM, comm);
    require(are_sums(), "allreduce", round);
    std::fill(buffers.sums.begin(), buffers.sums.end(), -1);
    MPI_Reduce(buffers.data.data(), buffers.sums.data(), buffers.count(), MPI_INT, MPI_SUM, root, comm);
    require(self.rank != root || are_sums(), "reduce", round);
}

double do_round(Ranks self, Buffers& buffers, int round) {
    const double started = MPI_Wtime();
    const int root = round % self.size;
    check_bcast(MPI_COMM_WORLD, self, buffers, root, round);
    check_sums(MPI_COMM_WORLD, self, buffers, root, round);
    return MPI_Wtime() - started;
}

double do_communicator(Ranks self, Buffers& buffers, int round) {
    const double started = MPI_Wtime();
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_bcast(comm, self, buffers, round % self.size, round);
    MPI_Comm_free(&comm);
    return MPI_Wtime() - started;
}

/// Rank 0 says whether there is to be one more.
bool goes_on(bool wanted) {
    int answer = wanted ? 1 : 0;
    MPI_Bcast(&answer, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return answer != 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const bool duplicates = argc == 4 && std::string_view(argv[1]) == "--communicators";
    if (argc != 3 && !duplicates) {
        std::fprintf(stderr, "usage: streams-load SECONDS BYTES | streams-load --communicators N BYTES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    Ranks self;
    MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self.size);
    const double limit = std::atof(argv[argc - 2]);
    Buffers buffers(std::strtoull(argv[argc - 1], nullptr, 10));

    double longest = 0;
    int rounds = 0;
    int descriptors = 0;
    const double started = MPI_Wtime();
    while (goes_on(duplicates ? rounds < limit : MPI_Wtime() - started < limit)) {
        const double time =
            duplicates ? do_communicator(self, buffers, rounds) : do_round(self, buffers, rounds);
        longest = std::max(longest, time);
        if (rounds++ > 0) continue;
        descriptors = most_of_all(open_descriptors());
        say_started(self);
    }
    const int in_the_end = most_of_all(open_descriptors());
    if (self.rank == 0) {
        std::printf(R"({"rounds": %d, "longest": %.3f, "descriptors": [%d, %d]})"
                    "\n",
                    rounds, longest, descriptors, in_the_end);
    }
    MPI_Finalize();
    return 0;
}
