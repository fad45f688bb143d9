/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages inside a host: on more communicators than there is shared memory for, from processes that fork,
 * and of every length around the sizes of cells and blocks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMMUNICATORS = 200, MOST = 1 << 18 };

static int rank, size;
static int *data, *sum;

static int check(MPI_Comm comm, int count, int root, int salt) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) data[i] = rank == root ? i + salt : -1;
    MPI_Bcast(data, count, MPI_INT, root, comm);
    for (int i = 0; i < count; ++i) wrong += data[i] != i + salt;
    for (int i = 0; i < count; ++i) data[i] = rank * (i % 1000) + salt;
    MPI_Allreduce(data, sum, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; ++i) wrong += sum[i] != size * (size - 1) / 2 * (i % 1000) + size * salt;
    return wrong;
}

/* The child has nothing to do with MPI, and ends; its parent goes on. */
static int forks(MPI_Comm comm) {
    const pid_t child = fork();
    if (child == 0) {
        free(malloc(1 << 20));
        _exit(0);
    }
    const int wrong = check(comm, MOST, 0, 5);
    int status = 1;
    return wrong + (child < 0 || waitpid(child, &status, 0) != child || status != 0);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    data = malloc(MOST * sizeof *data);
    sum = malloc(MOST * sizeof *sum);
    int wrong = 0;
    for (int count = 1; count <= MOST; count = count < 9 ? count + 1 : count * 2)
        for (int more = -1; more <= 1 && count + more <= MOST; ++more)
            wrong += check(MPI_COMM_WORLD, count + more, count % size, count);
    wrong += forks(MPI_COMM_WORLD);
    MPI_Comm comms[COMMUNICATORS];
    for (int i = 0; i < COMMUNICATORS; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        wrong += check(comms[i], 5000, i % size, i);
    }
    for (int i = 0; i < COMMUNICATORS; ++i) wrong += check(comms[i], 3000, i % size, i);
    for (int i = 0; i < COMMUNICATORS; ++i) MPI_Comm_free(&comms[i]);
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) puts(all == 0 ? "right" : "WRONG");
    MPI_Finalize();
    return 0;
}
