// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

#include "base/units.hpp"

namespace laple {

/// The buffers of a rank in a collective. Temporary buffers follow, numbered from kFirstTemporary.
///
///     kInput    what the rank contributes, where that is not in kResult; read only
///     kResult   what it gets; scratch memory of the same size on ranks that get nothing
using Buffer = std::uint32_t;
inline constexpr Buffer kInput = 0;
inline constexpr Buffer kResult = 1;
inline constexpr Buffer kFirstTemporary = 2;

/// How large they are.
struct BufferSizes {
    /// For `input_in_result`: nowhere.
    static constexpr std::uint64_t kApart = std::numeric_limits<std::uint64_t>::max();

    Bytes unit_bytes = 1;
    std::uint64_t result_units = 0;
    /// Where kInput lies in kResult, if MPI_IN_PLACE makes the two one memory. A schedule is the same with
    /// and without, so it counts as one memory always. kApart: the two are never one, and what a user has in
    /// one place is copied before.
    std::uint64_t input_in_result = 0;
    std::uint64_t input_units = 0;  ///< 0: the rank contributes nothing, or what is in kResult (bcast)
};

/// The source of data that combine what several ranks have contributed, each once.
inline constexpr Rank kCombined = -1;

/// Units of a rank's buffer, and whose data they hold, before a collective or after it.
struct Piece {
    Buffer buffer = kResult;
    std::uint64_t offset = 0;
    std::uint64_t units = 0;
    Rank source = 0;                  ///< the rank that contributed them, or kCombined
    std::uint64_t source_offset = 0;  ///< in what each source contributes
    int combined = 0;                 ///< of kCombined: the contributions of so many ranks, from 0 on
};

}  // namespace laple
