// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace laple::mpi {

/// The next definition of `name` behind LaPle's; where an interpreter has loaded MPI for itself alone, the
/// one that `caller`, a place in MPI's code, would have reached without LaPle. nullptr: there is none.
void* next_definition(const char* name, const void* caller);

/// The same, looked for once. Threads may look for it at the same time, and find the same.
template <typename Function>
Function next_definition(std::atomic<Function>& kept, const char* name, const void* caller) {
    Function next = kept.load(std::memory_order_relaxed);
    if (next == nullptr) {
        next = reinterpret_cast<Function>(next_definition(name, caller));
        kept.store(next, std::memory_order_relaxed);
    }
    return next;
}

}  // namespace laple::mpi
