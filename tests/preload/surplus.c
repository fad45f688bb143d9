/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank wants a part of a broadcast only, which is wrong: far more is sent to it than there is room
 * for on the way, and those to whom it should pass that on get too little. Nobody waits for a rank that has
 * returned, which may itself wait for another. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { kLong = 400000 };
    int rank, size, sum = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char* data = malloc(kLong);
    for (int root = 0; root < size - 1; ++root) {
        for (int i = 0; i < kLong; ++i) data[i] = rank == root ? (char)(i + root) : 0;
        const int count = rank == size - 1 ? kLong / 4 : kLong;
        const int code = MPI_Bcast(data, count, MPI_CHAR, root, MPI_COMM_WORLD);
        for (int i = 0; i < count && code == MPI_SUCCESS; ++i) wrong |= data[i] != (char)(i + root);
        if (rank == size - 1)
            MPI_Recv(&sum, 1, MPI_INT, root, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == root)
            MPI_Send(&sum, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong |= sum != size * (size - 1) / 2;
    free(data);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &wrong, &wrong, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) puts(wrong ? "WRONG" : "right");
    MPI_Finalize();
    return 0;
}
