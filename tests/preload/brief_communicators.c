// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are gone after a call, and one that stays.
#include <mpi.h>
#include <stdio.h>

static void wait_for_all(int calls, MPI_Comm comm) {
    for (int call = 0; call < calls; ++call) MPI_Barrier(comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int number = 0; number < 50; ++number) {
        MPI_Comm brief = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &brief);
        wait_for_all(1, brief);
        MPI_Comm_free(&brief);
    }
    MPI_Comm lasting = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &lasting);
    wait_for_all(200, lasting);
    MPI_Comm_free(&lasting);
    if (rank == 0) puts("right");
    MPI_Finalize();
    return 0;
}
