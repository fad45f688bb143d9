// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <mpi.h>

#include "mpi/exec/datatype.hpp"

namespace laple::mpi {

/// `count` elements of `type`, which has that `layout`, as plain bytes, of which there is room for all of
/// them; and back. However many bytes they have. Return MPI's error code.
int pack_all(const std::byte* from, int count, MPI_Datatype type, const TypeLayout& layout, std::byte* to,
             MPI_Comm comm);
int unpack_all(const std::byte* from, std::byte* to, int count, MPI_Datatype type, const TypeLayout& layout,
               MPI_Comm comm);

}  // namespace laple::mpi
