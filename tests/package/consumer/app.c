/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>

int app_run(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    int value = 1;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return value - 1;
}
