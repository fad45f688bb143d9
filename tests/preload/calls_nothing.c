// SPDX-License-Identifier: BSD-3-Clause
// A program without collectives.
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    return MPI_Finalize();
}
