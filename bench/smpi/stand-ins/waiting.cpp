// SPDX-License-Identifier: BSD-3-Clause
// Stands in for src/mpi/probe/waiting.cpp: in simulation nobody shares a processor.
#include "mpi/probe/waiting.hpp"

#include <chrono>
#include <cmath>
#include <ctime>

#include <smpi/smpi_helpers_internal.h>

namespace laple::mpi {

Seconds now() {
    return Seconds(PMPI_Wtime());
}

void rest(Seconds time) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const timespec left{static_cast<std::time_t>(seconds.count()),
                        static_cast<long>((time - seconds).count() * 1e9)};
    smpi_nanosleep(&left, nullptr);
}

int wait_quietly(MPI_Request& request, Seconds) {
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// SimGrid's MPI_Iallreduce sends a message from each rank to each other: too many to be simulated.
int allreduce_quietly(const void* mine, void* all, MPI_Datatype type, MPI_Op op, MPI_Comm comm, Seconds,
                      const std::function<void()>&) {
    return PMPI_Allreduce(mine, all, 1, type, op, comm);
}

std::size_t wait_for_any_quietly(std::vector<MPI_Request>& requests) {
    int index = 0;
    PMPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE);
    return static_cast<std::size_t>(index);
}

void send_quietly(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    PMPI_Send(data, count, type, to, tag, comm);
}

void receive_quietly(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, Seconds) {
    PMPI_Recv(data, count, type, from, tag, comm, MPI_STATUS_IGNORE);
}

void connect(MPI_Comm, const std::vector<int>&) {}  // there are no connections to make

/// Simulated time, the same on all ranks.
std::int64_t local_now_ns() {
    return std::llround(PMPI_Wtime() * 1e9);
}

std::string local_clock_name() {
    return "simulated time";
}

void wait_until_local(std::int64_t time_ns) {
    const std::int64_t left_ns = time_ns - local_now_ns();
    if (left_ns <= 0) return;
    const timespec left{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    smpi_nanosleep(&left, nullptr);
}

}  // namespace laple::mpi
