// SPDX-License-Identifier: BSD-3-Clause
// An operation that says it commutes and is associative, and is neither: LaPle's order and MPI's give
// different results. Tells whether they do.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1000 };

static void mix(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) ((int*)inout)[i] = ((int*)in)[i] * 31 + ((int*)inout)[i];
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op op;
    MPI_Op_create(mix, 1, &op);
    int own[COUNT];
    int ours[COUNT];
    int theirs[COUNT];
    for (int i = 0; i < COUNT; ++i) own[i] = rank * 7 + i % 5 + 1;
    MPI_Allreduce(own, ours, COUNT, MPI_INT, op, MPI_COMM_WORLD);
    PMPI_Allreduce(own, theirs, COUNT, MPI_INT, op, MPI_COMM_WORLD);
    const int differ = memcmp(ours, theirs, sizeof(ours)) != 0;
    if (rank == 0) puts(differ ? "another result than MPI's" : "MPI's result");
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
