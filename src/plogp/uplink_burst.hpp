// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

namespace laple {

/// How many of `bytes` wait at an uplink at most, when NICs let `reserve` of them pass at once and the others
/// with `rate`, in bytes a second, while the uplink takes them with its own.
///
///     waiting │    ,─ grows while NICs are faster than the uplink
///             │ ,─'        ╲
///     reserve ├'            ╲ the uplink works off what is left
///             └───────────── time
inline double waiting_at_uplink(double bytes, double reserve, double rate, double uplink) {
    const double at_once = std::min(bytes, reserve);
    return rate > uplink ? at_once + (bytes - at_once) * (1 - uplink / rate) : at_once;
}

}  // namespace laple
