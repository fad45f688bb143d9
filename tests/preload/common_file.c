/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads a file together: MPI calls collectives of its own for that. Rank 0 prints "right", any
   rank "WRONG". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0, right = argc > 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File file;
    if (argc < 2 ||
        MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file) != MPI_SUCCESS) {
        printf("WRONG: no file\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    MPI_File_write_at_all(file, (MPI_Offset)sizeof(int) * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    int* all = malloc(sizeof(int) * (size_t)size);
    MPI_File_read_at_all(file, 0, all, size, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; ++i) right = right && all[i] == i;
    MPI_File_close(&file);
    free(all);
    if (!right) printf("WRONG\n");
    if (rank == 0 && right) printf("right\n");
    fflush(stdout);
    MPI_Finalize();
    return right ? 0 : 1;
}
