// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace laple::grid {

using Nanoseconds = std::chrono::nanoseconds;

/// "100Mbit" → 1e8. Units: bit, kbit, Mbit, Gbit (powers of 1000), per second.
/// Throws Error for anything else, and for a negative number.
double parse_rate_bps(std::string_view text);

/// "10ms" → 10'000'000 ns. Units: ns, us, ms, s. Throws Error for anything else, and for a negative number.
Nanoseconds parse_duration(std::string_view text);

/// "0.01%" → 1e-4. Throws Error for anything else, and outside 0% … 100%.
double parse_percentage(std::string_view text);

/// 1e8 → "100Mbit".
std::string format_rate(double bits_per_second);

/// 10'000'000 ns → "10ms".
std::string format_duration(Nanoseconds time);

}  // namespace laple::grid
