/* SPDX-License-Identifier: BSD-3-Clause */
/* Once all ranks have met, LaPle needs no message to set up a communicator that lies in one cluster: a root's
 * small broadcast returns before the others have called it, as MPICH's does. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Comm half; /* 0 2 and 1 3: the clusters of the map */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    int value = rank < 2 ? 40 + rank : 0;
    if (rank < 2) {
        MPI_Bcast(&value, 1, MPI_INT, 0, half);
        MPI_Send(NULL, 0, MPI_INT, 1, 0, half);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, half, MPI_STATUS_IGNORE); /* for ever, if the root waits for us */
        MPI_Bcast(&value, 1, MPI_INT, 0, half);
    }
    const int is_wrong = value != 40 + rank % 2;
    int wrong = 0;
    MPI_Reduce(&is_wrong, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) puts(wrong == 0 ? "right" : "WRONG");
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
