// SPDX-License-Identifier: BSD-3-Clause
// The first collectives are on parts of MPI_COMM_WORLD: every second rank, then pairs, then all. Prints
// "good" when every sum is right.
#include <mpi.h>
#include <stdio.h>

static int sum_is_right(MPI_Comm comm) {
    int rank = 0;
    int size = 0;
    int world = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    int from_root = rank == size - 1 ? 1000 + size : 0;
    MPI_Bcast(&from_root, 1, MPI_INT, size - 1, comm);
    return sum == size * (size - 1) / 2 && from_root == 1000 + size;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int good = 1;
    for (int pass = 0; pass < 3; ++pass) {
        const int color = pass == 0 ? rank % 2 : pass == 1 ? rank / 2 : 0;
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, color, -rank, &part);  // in reverse order
        good = sum_is_right(part) && good;
        MPI_Comm_free(&part);
    }
    int all_good = 0;
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0 && all_good) printf("good\n");
    MPI_Finalize();
    return all_good ? 0 : 1;
}
