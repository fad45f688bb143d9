/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are wrong, where errors are returned: nobody waits for ever, nobody takes what is missing for
 * data, and what comes after is right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm copy;
static int rank, size, wrong;

static void expect(int is_right, const char* what) {
    if (is_right) return;
    printf("WRONG: %s on rank %d\n", what, rank);
    wrong = 1;
}

static void expect_next_ones_right(const char* after) {
    int data[200], sum = 0;
    for (int i = 0; i < 200; ++i) data[i] = rank == 1 ? 7 * i : -1;
    MPI_Bcast(data, 200, MPI_INT, 1, copy);
    for (int i = 0; i < 200; ++i) expect(data[i] == 7 * i, after);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
    expect(sum == size * (size - 1) / 2, after);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int data[160] = {0};
    int code = MPI_Bcast(data, rank == 0 ? 3 : 4, MPI_INT, 0, copy);
    expect(rank == 0 || code != MPI_SUCCESS, "no error where the root's message is shorter");
    expect_next_ones_right("after a message that was too short");
    MPI_Barrier(MPI_COMM_WORLD);

    code = MPI_Bcast(data, rank == 0 ? 160 : 80, MPI_INT, 0, copy);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_next_ones_right("after a message that was too long");

    MPI_Datatype uncommitted;
    MPI_Type_vector(10, 1, 2, MPI_INT, &uncommitted);
    code = MPI_Bcast(data, 1, uncommitted, 0, copy);
    MPI_Type_free(&uncommitted);
    expect_next_ones_right("after a type that was not committed");

    int* all = malloc((size_t)size * 10 * sizeof(int));
    code = MPI_Allgather(data, rank == 1 ? 9 : 10, MPI_INT, all, 10, MPI_INT, copy);
    expect(code != MPI_SUCCESS, "no error where a rank contributes too little");
    expect_next_ones_right("after a contribution that was too short");
    free(all);

    /* The root's own block is too short; MPI's own may let that pass. */
    const int many = 1 << 18;
    int* block = calloc((size_t)many, sizeof(int));
    int* blocks = malloc((size_t)size * (size_t)many * sizeof(int));
    for (int i = 0; i < many; ++i) block[i] = rank;
    MPI_Gather(block, rank == 0 ? many - 1 : many, MPI_INT, blocks, many, MPI_INT, 0, copy);
    expect_next_ones_right("after a root's own block that was too short");
    free(block);
    free(blocks);

    MPI_Comm_free(&copy);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &wrong, &wrong, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && !wrong) puts("right");
    MPI_Finalize();
    return 0;
}
