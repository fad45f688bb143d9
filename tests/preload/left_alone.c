/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that LaPle leaves alone: between two groups, and after MPI_Pcontrol(0). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm between;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between); /* of the other group's ranks */
    int others = 0;
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int other = 1 - rank % 2; other < size; other += 2) others += other;
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) puts(sum == others ? "right" : "WRONG");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
