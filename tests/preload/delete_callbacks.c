/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives inside the delete callbacks of attributes: of communicators that are being freed, one of which
 * leaves its handle to another on some ranks only, and of MPI_COMM_SELF in MPI_Finalize, set before the first
 * collective on one rank and after it on the others. */
#include <mpi.h>
#include <stdio.h>

static int check_sum(MPI_Comm comm) {
    int one = 1, sum = 0, size = 0;
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != size) printf("WRONG: %d instead of %d\n", sum, size);
    return sum == size;
}

static int sum_on_own(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)keyval, (void)value, (void)extra;
    check_sum(comm);
    return MPI_SUCCESS;
}

static int sum_on_world(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    check_sum(MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, of_comm = 0, of_self = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_on_own, &of_comm, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_on_world, &of_self, NULL);
    if (rank == 0) MPI_Comm_set_attr(MPI_COMM_SELF, of_self, NULL);
    check_sum(MPI_COMM_WORLD);
    if (rank != 0) MPI_Comm_set_attr(MPI_COMM_SELF, of_self, NULL);

    MPI_Comm half = MPI_COMM_NULL, again = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 == 0 ? MPI_UNDEFINED : 0, rank, &half);
    if (half != MPI_COMM_NULL) {
        MPI_Comm_set_attr(half, of_comm, NULL);
        check_sum(half);
        MPI_Comm_free(&half);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &again);
    check_sum(again);
    MPI_Comm_free(&again);

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_attr(copy, of_comm, NULL);
    check_sum(copy);
    MPI_Comm_disconnect(&copy);
    MPI_Finalize();
    if (rank == 0) printf("right\n");
    return 0;
}
