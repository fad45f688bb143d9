/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of MPI's sessions: in a program that never calls MPI_Init ("alone"), beside it ("beside"),
 * and when MPI_Finalize has come before the session's end ("after"). The collectives are right, whoever does
 * them. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong = 0;

static void check(MPI_Comm comm, const char* when) {
    int rank = 0, size = 0, sum = 0, value = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == size - 1) value = 42;
    MPI_Bcast(&value, 1, MPI_INT, size - 1, comm);
    MPI_Barrier(comm);
    if (sum == size * (size - 1) / 2 && value == 42) return;
    printf("WRONG %s: sum %d of %d ranks, value %d\n", when, sum, size, value);
    ++wrong;
}

static MPI_Comm communicator_of(MPI_Session session, const char* tag) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "alone";
    const int has_world = strcmp(mode, "alone") != 0;
    const int outlives_world = strcmp(mode, "after") == 0;
    int rank = 0;
    MPI_Session session;
    if (has_world) MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Comm first = communicator_of(session, "first");
    MPI_Comm_rank(first, &rank);
    check(first, "in a session");
    if (has_world) check(MPI_COMM_WORLD, "in the world");
    MPI_Comm second = communicator_of(session, "second");
    check(second, "in a session, again");
    if (has_world && outlives_world) MPI_Finalize();
    check(second, "before the session's end");
    MPI_Comm_free(&first);
    check(second, "with one communicator gone");
    MPI_Comm_free(&second);
    MPI_Session_finalize(&session);
    if (has_world && !outlives_world) MPI_Finalize();
    if (rank == 0 && wrong == 0) puts("right");
    return wrong;
}
