// SPDX-License-Identifier: BSD-3-Clause
// What LaPle adds to a call that it passes on: MPI_Bcast of nothing, through the interposer and directly,
// alternating.
//   laple-run mpiexec -n 1 call-overhead                   inside one cluster: nothing to plan
//   laple-run --topology MAP mpiexec -n 2 call-overhead    MAP has two clusters: the look-up of a plan too
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <mpi.h>

namespace {

constexpr int kCalls = 200000;
constexpr int kRounds = 31;

template <typename Call>
double nanoseconds_a_call(Call call) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    return time.count() / kCalls;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int value = 0;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);  // set-up
    std::vector<double> stock;
    std::vector<double> intercepted;
    for (int round = 0; round < kRounds; ++round) {
        stock.push_back(nanoseconds_a_call([&] { PMPI_Bcast(&value, 0, MPI_INT, 0, MPI_COMM_WORLD); }));
        intercepted.push_back(nanoseconds_a_call([&] { MPI_Bcast(&value, 0, MPI_INT, 0, MPI_COMM_WORLD); }));
    }
    if (rank == 0) {
        std::printf(
            "stock %.1f ns, through LaPle %.1f ns, added %.1f ns (medians of %d rounds of %d calls)\n",
            median(stock), median(intercepted), median(intercepted) - median(stock), kRounds, kCalls);
    }
    MPI_Finalize();
    return 0;
}
