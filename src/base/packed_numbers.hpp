// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace laple {

/// Numbers as fewer bytes, the same on machines of every byte order, bit for bit: small whole numbers take a
/// byte or two, and a run that occurred before is named by its distance and its length (as in Ziv and Lempel,
/// "A universal algorithm for sequential data compression", 1977). What models hold is mostly such: links are
/// alike both ways, and of many curves half of the numbers are message sizes. O(numbers).
std::vector<std::uint8_t> pack_numbers(std::span<const double> numbers);

/// The numbers of which pack_numbers() made `bytes`. Throws Error where it did not.
std::vector<double> unpack_numbers(std::span<const std::uint8_t> bytes);

}  // namespace laple
