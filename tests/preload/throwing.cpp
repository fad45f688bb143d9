// SPDX-License-Identifier: BSD-3-Clause
// An error handler that throws, as those of MPI's old C++ interface did, and one that frees its communicator.
#include <cstdio>
#include <stdexcept>

#include <mpi.h>

namespace {

void throw_it(MPI_Comm*, int*, ...) {
    throw std::runtime_error("mine");
}

MPI_Comm doomed = MPI_COMM_NULL;

void free_it(MPI_Comm*, int*, ...) {
    MPI_Comm_free(&doomed);
}

template <typename Call>
bool is_caught(Call call) {
    try {
        call();
    } catch (const std::runtime_error&) {
        return true;
    }
    return false;
}

MPI_Comm world_with(MPI_Comm_errhandler_function* function) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    return comm;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int one = 1;
    int sum = 0;
    MPI_Comm comm = world_with(throw_it);
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    bool right = is_caught([&] { MPI_Bcast(&one, -1, MPI_INT, 0, comm); });
    right = is_caught([&] { MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, comm); }) && right;
    int size = 0;
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    right = right && sum == size;
    MPI_Comm_free(&comm);

    doomed = world_with(free_it);
    MPI_Barrier(doomed);
    MPI_Bcast(&one, -1, MPI_INT, 0, doomed);
    right = right && doomed == MPI_COMM_NULL;
    // Freed in a call that may be left to MPI: its report is still to come.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    doomed = world_with(free_it);
    MPI_Barrier(doomed);
    int numbers[4] = {1, 2, 3, 4};
    MPI_Bcast(numbers, rank == 0 ? 2 : 4, MPI_INT, 1, doomed);
    right = right && (rank != 0 || doomed == MPI_COMM_NULL);
    if (doomed != MPI_COMM_NULL) MPI_Comm_free(&doomed);
    int all = 0;
    const int mine = right ? 1 : 0;
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) std::puts(all == 1 ? "right" : "WRONG");
    MPI_Finalize();
    return 0;
}
