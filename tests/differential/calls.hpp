// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "differential/communicators.hpp"
#include "differential/paths.hpp"

namespace laple::test {

/// What is drawn alike on all ranks of a communicator.
struct CallSeed {
    std::uint64_t seed = 0;
    std::uint64_t call = 0;
    int rank = 0;                   ///< of the job: the rest is drawn from it as well
    std::size_t most_elements = 0;  ///< of a message
    bool is_told = false;           ///< each call is said before it is made
};

/// Makes one collective call on `one`, drawn at random, by MPI_* and by PMPI_*, and compares all memory that
/// either may have written, and the error classes. Empty when they agree; else what was called, and where the
/// first difference is.
///
/// Operations on numbers are exact: every order of a reduction has the same bits. User operations are
/// associative, and half of them not commutative. `paths`, where it is not nullptr, counts who did the call.
std::string differs(const Communicators::One& one, const CallSeed& seed, Paths* paths);

/// Operations and types that differs() uses; to be made once, and freed before MPI_Finalize.
class UserOperations {
  public:
    UserOperations();
    ~UserOperations();
    UserOperations(const UserOperations&) = delete;
    UserOperations& operator=(const UserOperations&) = delete;
};

}  // namespace laple::test
