// SPDX-License-Identifier: BSD-3-Clause
// The topology file is gone after the first collective; communicators made later still know the clusters.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && remove(getenv("LAPLE_TOPOLOGY")) != 0) perror("WRONG: remove");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    int value = rank;
    MPI_Bcast(&value, 1, MPI_INT, 0, half);
    if (value != rank / 2 * 2) printf("WRONG value on rank %d\n", rank);
    MPI_Comm_free(&half);
    if (rank == 0) printf("right\n");
    MPI_Finalize();
    return 0;
}
