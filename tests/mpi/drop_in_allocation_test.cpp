// SPDX-License-Identifier: BSD-3-Clause
// What a call costs that has been planned before: no memory is asked for on its way.
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include <catch2/catch.hpp>
#include <mpi.h>

#include "mpi/drop_in.hpp"

namespace {

std::atomic<long> allocations{0};

void* count_and_allocate(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}

}  // namespace

// All C++ code of the process comes here, liblaple's too. MPI's own is C.
void* operator new(std::size_t bytes) {
    return count_and_allocate(bytes);
}
void* operator new[](std::size_t bytes) {
    return count_and_allocate(bytes);
}
// By itself it would come to the first one; AddressSanitizer has its own, whose memory std::free may not get.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

using namespace laple::test;

TEST_CASE("a call that was planned before allocates nothing", "[.allocation]") {
    for (const int count : {5, 1001, 100003}) {  // which no other test plans
        const auto own = own_data<int>(static_cast<std::size_t>(count));
        std::vector<int> result(own);
        const int root = size_of(MPI_COMM_WORLD) - 1;
        const auto call_all = [&] {
            MPI_Bcast(result.data(), count, MPI_INT, root, MPI_COMM_WORLD);
            MPI_Reduce(own.data(), result.data(), count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
            MPI_Allreduce(own.data(), result.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
        };
        const long at_first = allocations;
        call_all();
        const long before = allocations;
        call_all();
        const long after = allocations;
        INFO(count << " elements");
        CHECK(before > at_first);  // planning does, so liblaple is counted
        CHECK(after == before);
    }
}
