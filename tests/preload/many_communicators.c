/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators until MPI has none left: LaPle takes one more for each on which a collective is called, and
 * leaves to MPI those for which it gets none. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 5000, EXPECTED = 900 }; /* MPICH has some 2,000 */

static MPI_Comm comms[MOST];
static int wrong = 0;

static void check(MPI_Comm comm, int number) {
    int rank = 0, size = 0, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int mine = rank + number;
    if (MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS &&
        sum == size * (size - 1) / 2 + size * number) {
        return;
    }
    if (++wrong < 5) printf("WRONG on communicator %d: %d\n", number, sum);
}

/* The first call that is started may be one when nothing is left. */
static void check_started(MPI_Comm comm) {
    int size = 0, sum = 0;
    const int mine = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_size(comm, &size);
    if (MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request) == MPI_SUCCESS &&
        MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && sum == size)
        return;
    if (++wrong < 5) printf("WRONG: a started allreduce gave %d\n", sum);
}

static int use_all(int is_each_used_at_once) {
    int count = 0;
    while (count < MOST && MPI_Comm_dup(MPI_COMM_WORLD, &comms[count]) == MPI_SUCCESS) {
        if (is_each_used_at_once) check(comms[count], count);
        ++count;
    }
    check_started(MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) check(comms[i], i);
    for (int i = 0; i < count; ++i) MPI_Comm_free(&comms[i]);
    return count;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check(MPI_COMM_WORLD, 0);
    const int unused = use_all(0);
    const int first = use_all(1);
    const int second = use_all(1); /* all were given back */
    if (first < EXPECTED || first != second || unused < first) {
        printf("WRONG: %d communicators, then %d and %d\n", unused, first, second);
        ++wrong;
    }
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0) puts(unused < MOST ? "right" : "right, and MPI had more than were wanted");
    MPI_Finalize();
    return 0;
}
