// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.hpp"

namespace laple::streams {

/// How a connection is doing, as the kernel sees it from this end (TCP_INFO, tcp(7)).
struct TcpState {
    Seconds round_trip{0};         ///< smoothed
    Bytes window = 0;              ///< that may be under way (congestion window)
    std::uint32_t sent_again = 0;  ///< segments
    std::uint64_t received = 0;  ///< bytes that have come in order, read or not; 0: the kernel does not count
    Seconds quiet{0};            ///< since data came, in steps of the kernel's clock
};

/// Nothing where the kernel does not say.
std::optional<TcpState> tcp_state(int descriptor);

/// Bytes that the other end's kernel has said to have got, so far; 0 where this one does not count them.
std::uint64_t acknowledged_bytes(int descriptor);

}  // namespace laple::streams
