// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

#include "base/units.hpp"

namespace laple {

/// What NetPIPE measured between two processes: how long a message of so many bytes takes one way, half of a
/// round trip in which both messages have that size. What L + g(m) of a Plogp says of the same two.
using NetpipeTimes = std::map<Bytes, Seconds>;

/// Reads the text of NetPIPE's output (np.out). Each line is one size:
///
///     BYTES MBPS SECONDS        for example "    1024 901.871560   0.00000866"
///
/// A megabit is 2^20 bits here, and seconds have eight decimals. `file` is used in messages only. Throws
/// Error at the place of what is wrong: sizes that stand there twice, numbers that contradict each other or
/// nobody can have measured, or no size at all.
NetpipeTimes parse_netpipe(const std::string& text, const std::string& file);

/// Reads such a file. Throws Error, also when the file is larger than NetPIPE writes any.
NetpipeTimes load_netpipe(const std::string& file);

}  // namespace laple
