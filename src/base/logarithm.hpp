// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace laple {

/// The natural logarithm of `x`, which is more than 0 and finite. It has the same bits on all hosts, which
/// std::log does not promise: ranks that decide by it decide alike. Right to some 1e-15 of its value.
double log_alike(double x);

}  // namespace laple
