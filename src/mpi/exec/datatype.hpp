// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include "base/units.hpp"

namespace laple::mpi {

/// What must be known of a datatype to cut messages of it into blocks.
struct TypeLayout {
    MPI_Count size = 0;         ///< bytes of data in one element
    MPI_Count extent = 0;       ///< distance from one element to the next
    MPI_Count true_lb = 0;      ///< offset of the first byte of data
    MPI_Count true_extent = 0;  ///< from the first byte of data to the last
    /// Elements are plain bytes, one after the other, in the order of the signature.
    bool is_contiguous = false;

    /// Where elements that follow each other have their bytes, from the address of the first one.
    struct Span {
        std::ptrdiff_t low = 0;
        std::ptrdiff_t bytes = 0;
    };
    Span span_of(std::uint64_t elements) const;
};

/// `address` and so many bytes more, also where that is in no object: buffers of types with absolute
/// addresses begin at MPI_BOTTOM, and what stands for such a buffer begins so far before its first byte. (C++
/// knows no sum of pointer and offset that leaves its object.)
template <typename Byte>
Byte* moved(Byte* address, std::ptrdiff_t bytes) {
    return reinterpret_cast<Byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                   static_cast<std::uintptr_t>(bytes));
}

/// `type` must be a valid, committed datatype other than MPI_DATATYPE_NULL.
TypeLayout layout_of(MPI_Datatype type);

/// Whether `type` is one of MPI's own, not made by a constructor.
bool is_named(MPI_Datatype type);

/// Whether `op` is one of MPI's own reductions (MPI_SUM …; not MPI_REPLACE, MPI_NO_OP or a user's).
bool is_predefined(MPI_Op op);

/// Whether MPI's standard lets the predefined `op` work on `type` (MPI 4.0, 6.9.2 and 6.9.4). What it does
/// not allow is left to MPI, so that MPI's own error, or MPI's own extension, is what the user gets.
bool allows(MPI_Op op, MPI_Datatype type);

/// Whether every order of combining gives the same bits: `op` must be allowed on `type`, or be a user's, of
/// which nobody knows. Of floating-point numbers no operation is exact: sums round, and which of 0 and -0 is
/// the larger one, or what becomes of NaN, depends on the order.
bool is_exact(MPI_Op op, MPI_Datatype type);

/// Whether elements may hold padding, whose contents are undefined after a reduction: x86's
/// long double has ten bytes in sixteen. True also of types that MPI does not explain.
bool may_be_padded(MPI_Datatype type);

/// What rounds: numbers of so many bytes, and so many of them in an element; 0 where nothing does.
struct FloatLayout {
    std::size_t bytes = 0;
    std::size_t parts = 0;  ///< 2: a complex number
};
FloatLayout float_layout_of(MPI_Datatype type);

}  // namespace laple::mpi
