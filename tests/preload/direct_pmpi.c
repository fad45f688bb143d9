/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that calls PMPI for all that liblaple_deep stands before. */
#include <mpi.h>
#include <stdio.h>

static int wrong = 0;

static void check(int is_right, const char* what) {
    if (is_right) return;
    printf("WRONG: %s\n", what);
    ++wrong;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0, value = 0, sum = 0;
    MPI_Comm copy;
    MPI_Info info;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    const int total = size * (size - 1) / 2;

    MPI_Info_create(&info);
    MPI_Info_set(info, "laple_algorithm", "reduce:chain/chain");
    check(PMPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy) == MPI_SUCCESS, "dup_with_info");
    PMPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, copy);
    check(rank != 0 || sum == total, "reduce");
    MPI_Info_set(info, "laple_algorithm", "bcast:chain/binomial");
    check(PMPI_Comm_set_info(copy, info) == MPI_SUCCESS, "set_info");
    value = rank == 1 ? 5 : 0;
    PMPI_Bcast(&value, 1, MPI_INT, 1, copy);
    check(value == 5, "bcast");
    check(PMPI_Comm_disconnect(&copy) == MPI_SUCCESS && copy == MPI_COMM_NULL, "disconnect");
    MPI_Info_free(&info);

    PMPI_Pcontrol(0);
    PMPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == total, "allreduce");
    PMPI_Pcontrol(1);
    int all[4] = {-1, -1, -1, -1};
    PMPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    check(all[0] == 0 && all[1] == 1 && all[2] == 2 && all[3] == 3, "allgather");
#if MPI_VERSION >= 4
    value = rank == 0 ? 6 : 0;
    PMPI_Bcast_c(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    check(value == 6, "bcast_c");
    PMPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == total, "allreduce_c");
    PMPI_Reduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    check(rank != 0 || sum == total, "reduce_c");
#endif
    if (rank == 0 && wrong == 0) puts("right");
    PMPI_Finalize();
    return wrong;
}
