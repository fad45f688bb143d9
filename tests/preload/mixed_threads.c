/* SPDX-License-Identifier: BSD-3-Clause */
/* Each process may ask for another level of threads: all must still take the same way through LaPle. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    const char* number = getenv("PMI_RANK"); /* before MPI_Init nothing else tells processes apart */
    if (number == NULL) number = getenv("OMPI_COMM_WORLD_RANK");
    const int wanted = number != NULL && atoi(number) == 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    const int is_mixed =
        (wanted == MPI_THREAD_MULTIPLE) == (rank == 1) && (provided < MPI_THREAD_MULTIPLE) == (rank != 1);
    int mixed = 0;
    MPI_Reduce(&is_mixed, &mixed, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && mixed != size) puts("WRONG: the levels are not what this test is about");

    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
    if (sum != size * (size - 1) / 2) printf("WRONG: %d on rank %d\n", sum, rank);
    MPI_Comm_free(&copy);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) puts("right");
    MPI_Finalize();
    return 0;
}
