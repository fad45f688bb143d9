/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 starts collectives that no other rank starts, and ends: which is wrong, and must be said. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 && rank == 0; ++i) MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]);
    MPI_Finalize();
    if (rank == 0) puts("ended");
    return 0;
}
