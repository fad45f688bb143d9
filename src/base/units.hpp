// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace laple {

/// Time in the models and in the simulator. Real clocks convert into it at once.
using Seconds = std::chrono::duration<double>;

/// A count of bytes; variables of this type say so in their names (`segment_bytes`).
using Bytes = std::uint64_t;

/// A rank of the communicator at hand, 0 … size-1.
using Rank = int;

/// Reads "8", "64K", "1M", "2G" (powers of 1024; "KiB" and "KB" are accepted too, all mean 1024).
/// Throws Error for anything else.
Bytes parse_bytes(std::string_view text);

/// The shortest exact form: 65536 → "64K", 100 → "100".
std::string format_bytes(Bytes bytes);

/// The same to three digits, four where they need no point, for people who want no more: "27.7M".
std::string format_bytes_about(Bytes bytes);

/// "12.1 us", "3.40 ms", "1.20 s": three significant digits and the unit that fits.
std::string format_seconds(Seconds time);

}  // namespace laple
