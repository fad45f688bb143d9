// SPDX-License-Identifier: BSD-3-Clause
/* A program of point-to-point calls of all kinds: each rank sends to the next one, the last one to the first.
 * What profile_test.py expects of them stands there. "messages alone": without a collective;
 * "messages together": with three for which the last rank is late. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, size, next, prev, is_wrong;
static char sent[2000], received[2000];

static void expect(int bytes) {
    for (int i = 0; i < bytes; ++i) is_wrong |= received[i] != (char)(prev + i);
    memset(received, -1, sizeof received);
}

static void blocking(void) {
    MPI_Request request;
    MPI_Status status;
    MPI_Sendrecv(sent, 100, MPI_CHAR, next, 1, received, 100, MPI_CHAR, prev, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect(100);
    MPI_Isend(sent, 10, MPI_CHAR, next, 2, MPI_COMM_WORLD, &request);
    MPI_Recv(received, 10, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
    is_wrong |= status.MPI_SOURCE != prev;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(10);
    MPI_Irecv(received, 8, MPI_CHAR, prev, 3, MPI_COMM_WORLD, &request);
    MPI_Ssend(sent, 8, MPI_CHAR, next, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(8);
    MPI_Send(sent, 50, MPI_CHAR, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
}

static void persistent(void) {
    MPI_Request requests[2];
    MPI_Send_init(sent, 200, MPI_CHAR, next, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(received, 200, MPI_CHAR, prev, 5, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect(200);
    }
    MPI_Start(&requests[1]);
    MPI_Start(&requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(200);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void probed(void) {
    MPI_Request request;
    MPI_Message message;
    int flag = 0;
    MPI_Isend(sent, 5, MPI_CHAR, next, 6, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(received, 5, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(5);
    MPI_Isend(sent, 5, MPI_CHAR, next, 7, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Iprobe(prev, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(received, 5, MPI_CHAR, prev, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(5);
}

static void of_several(void) {
    MPI_Request requests[12];
    int index, count, indices[12], flag = 0;
    for (int i = 0; i < 12; ++i) {  // more than a call keeps without memory of its own
        if (i % 2 == 0) MPI_Irecv(received + i, 1, MPI_CHAR, prev, 8 + i / 2, MPI_COMM_WORLD, &requests[i]);
        if (i % 2 == 1) MPI_Isend(sent + i - 1, 1, MPI_CHAR, next, 8 + i / 2, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitany(12, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(12, requests, &count, indices, MPI_STATUSES_IGNORE);
    while (!flag) MPI_Testall(12, requests, &flag, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 12; i += 2) is_wrong |= received[i] != (char)(prev + i);
    MPI_Testany(12, requests, &index, &flag, MPI_STATUS_IGNORE);
    is_wrong |= !flag || index != MPI_UNDEFINED;
}

/* Ranks in the opposite order: the next one is the one before. Its handle may then be that of a communicator
 * in the order of MPI_COMM_WORLD. */
static void on_others(void) {
    for (int round = 0; round < 2; ++round) {
        MPI_Comm comm;
        int own;
        MPI_Comm_split(MPI_COMM_WORLD, 0, round == 0 ? -rank : rank, &comm);
        MPI_Comm_rank(comm, &own);
        MPI_Sendrecv_replace(memcpy(received, sent, 7), 7, MPI_CHAR, (own + 1) % size, 1,
                             (own + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
        is_wrong |= received[0] != (char)(round == 0 ? next : prev);
        MPI_Comm_free(&comm);
    }
}

#if MPI_VERSION >= 4
static void of_mpi_4(void) {
    MPI_Request request;
    MPI_Isendrecv(sent, 4, MPI_CHAR, next, 9, received, 4, MPI_CHAR, prev, 9, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(4);
    MPI_Isend_c(sent, 6, MPI_CHAR, next, 10, MPI_COMM_WORLD, &request);
    MPI_Recv_c(received, 6, MPI_CHAR, prev, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(6);
}
#endif

/* All wait for the last rank. */
static void late(void) {
    MPI_Request requests[2];
    MPI_Irecv(received, 1000, MPI_CHAR, prev, 11, MPI_COMM_WORLD, &requests[0]);
    if (rank == size - 1) usleep(300000);
    MPI_Isend(sent, 1000, MPI_CHAR, next, 11, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(1000);
}

/* No rank can leave such a call before all have come. */
static void together(void) {
    int sum = 0;
    for (int call = 0; call < 3; ++call) {
        if (rank == size - 1) usleep(100000);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        is_wrong |= sum != size * (size - 1) / 2;
    }
}

int main(int argc, char** argv) {
    const int is_alone = argc > 1 && strcmp(argv[1], "alone") == 0;
    const int is_together = argc > 1 && strcmp(argv[1], "together") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    for (int i = 0; i < (int)sizeof sent; ++i) sent[i] = (char)(rank + i);
    if (!is_alone) MPI_Barrier(MPI_COMM_WORLD);
    blocking();
    if (!is_alone) {
        persistent();
        probed();
        of_several();
        on_others();
#if MPI_VERSION >= 4
        of_mpi_4();
#endif
        late();
    }
    if (is_together) together();
    if (is_wrong) printf("WRONG on rank %d\n", rank);
    if (rank == 0) printf("done\n");
    MPI_Finalize();
    return is_wrong;
}
