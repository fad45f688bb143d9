/* SPDX-License-Identifier: BSD-3-Clause */
/* A small profiler: counts the collectives it sees, hands them on to PMPI, and tells at the end. */
#include <mpi.h>
#include <stdio.h>

static int bcasts, reduces, allreduces, barriers;

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    ++bcasts;
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
    ++reduces;
    return PMPI_Reduce(sendbuf, recvbuf, count, type, op, root, comm);
}

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    ++allreduces;
    return PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
}

int MPI_Barrier(MPI_Comm comm) {
    ++barriers;
    return PMPI_Barrier(comm);
}

int MPI_Finalize(void) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("profiler saw %d bcast, %d reduce, %d allreduce, %d barrier\n", bcasts, reduces, allreduces,
               barriers);
        fflush(stdout);
    }
    return PMPI_Finalize();
}
