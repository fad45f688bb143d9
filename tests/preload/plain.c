/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that knows nothing of LaPle. Rank 0 prints "right", any rank "WRONG". */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int data[10], sum[10], total[10];
    for (int i = 0; i < 10; ++i) data[i] = rank == 1 ? i : -1;
    MPI_Bcast(data, 10, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allreduce(data, total, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(data, sum, 10, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    int right = 1;
    for (int i = 0; i < 10; ++i) {
        right = right && data[i] == i && total[i] == i * size && (rank != 0 || sum[i] == i * size);
    }
    if (!right) printf("WRONG\n");
    if (rank == 0 && right) printf("right\n");
    fflush(stdout);
    MPI_Finalize();
    return right ? 0 : 1;
}
