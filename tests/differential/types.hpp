// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <mpi.h>

#include "support/random.hpp"

namespace laple::test {

/// What a named type holds, which decides what operations it allows and which values are exact.
enum class Holds { integers, fortran_integers, floats, complexes, logicals, bytes, pairs };

struct NamedType {
    MPI_Datatype type;
    const char* name;
    Holds holds;
    std::size_t extent;
    std::size_t parts;       ///< values in it: 1; a complex number or a pair has 2
    std::size_t part_bytes;  ///< of the first of them; padding follows up to the next one
    std::size_t second;      ///< where the second one begins
    std::size_t second_bytes;
};

/// All that the tests use.
const std::vector<NamedType>& named_types();

/// The predefined operations that the standard allows on a type (MPI 4.0, 6.9.2 and 6.9.4).
std::vector<MPI_Op> operations_for(const NamedType& type);
std::string name_of_operation(MPI_Op op);

/// Elements whose reduction is exact in any order, for `op`.
std::vector<std::byte> values(const NamedType& type, std::size_t count, MPI_Op op, Random& random);

/// Zeroes what of each element is padding: nobody says what MPI leaves there.
void clear_padding(const NamedType& type, std::vector<std::byte>& elements);

}  // namespace laple::test
