/* SPDX-License-Identifier: BSD-3-Clause */
/* steady ROUNDS [VICTIM]: collectives of several sizes, every result looked at. VICTIM kills itself half-way.
   Rank 0 prints "started" after the first round and "right" at the end; any rank prints "WRONG" and ends the
   job. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 50000

static int data[MOST], sums[MOST];

static void require(int holds, const char* what, int round) {
    if (holds) return;
    printf("WRONG: %s in round %d\n", what, round);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void do_round(int round, int rank, int size) {
    const int count = round % 3 == 0 ? MOST : 100;
    const int root = round % size;
    for (int i = 0; i < count; ++i) data[i] = rank == root ? round + i : -1;
    MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) require(data[i] == round + i, "bcast", round);
    MPI_Allreduce(data, sums, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) require(sums[i] == size * (round + i), "allreduce", round);
    MPI_Reduce(data, sums, count, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
    for (int i = 0; i < count && rank == root; ++i) require(sums[i] == round + i, "reduce", round);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    const int victim = argc > 2 ? atoi(argv[2]) : -1;
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < rounds; ++round) {
        if (rank == victim && round == rounds / 2) raise(SIGKILL);
        do_round(round, rank, size);
        if (rank == 0 && round == 0) {
            printf("started\n");
            fflush(stdout);
        }
    }
    if (rank == 0) printf("right\n");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
