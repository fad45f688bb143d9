/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators with ranks of two worlds, made by MPI_Comm_spawn and gone again, three times: their
 * collectives are MPI's own, those of each world LaPle's. */
#include <mpi.h>
#include <stdio.h>

static int wrong = 0;

static void check(MPI_Comm comm, const char* which) {
    int rank = 0, size = 0, sum = 0, at_root = -1, value = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Reduce(&rank, &at_root, 1, MPI_INT, MPI_SUM, 0, comm);
    if (rank == size - 1) value = 42;
    MPI_Bcast(&value, 1, MPI_INT, size - 1, comm);
    MPI_Barrier(comm);
    if (sum == size * (size - 1) / 2 && value == 42 && (rank != 0 || at_root == sum)) return;
    printf("WRONG, %s: sum %d, value %d\n", which, sum, value);
    ++wrong;
}

/* What parents and children do alike; the parents send the broadcast between the groups. */
static void meet(MPI_Comm between, int is_parent) {
    int rank = 0, value = is_parent ? 7 : 0;
    MPI_Comm merged, half;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Intercomm_merge(between, !is_parent, &merged);
    check(merged, "both worlds");
    check(merged, "both worlds again");
    MPI_Comm_split(merged, rank % 2, rank, &half);
    check(half, "half of both");
    MPI_Bcast(&value, 1, MPI_INT, !is_parent ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
    MPI_Barrier(between);
    if (value != 7) printf("WRONG between the worlds: %d\n", value), ++wrong;
    MPI_Comm_free(&half);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&between);
    check(MPI_COMM_WORLD, "one world afterwards");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm parents, children;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parents);
    check(MPI_COMM_WORLD, "one world");
    if (parents != MPI_COMM_NULL) {
        meet(parents, 0);
        MPI_Finalize();
        return wrong;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; ++i) {
        if (MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                           MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
            if (rank == 0) puts("skipped: this MPI cannot spawn processes");
            MPI_Finalize();
            return 0;
        }
        meet(children, 1);
    }
    if (rank == 0 && wrong == 0) puts("right");
    MPI_Finalize();
    return wrong;
}
