/* SPDX-License-Identifier: BSD-3-Clause */
/* A root broadcasts more than the others ask for, by mistake: whatever their communicator makes of that, it
 * can be freed, and the program goes on. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, sum = 0, size = 0;
    int data[160] = {0};
    MPI_Comm copy;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Bcast(data, rank == 0 ? 160 : 80, MPI_INT, 0, copy);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&copy);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) puts(sum == size * (size - 1) / 2 ? "right" : "WRONG");
    MPI_Finalize();
    return 0;
}
