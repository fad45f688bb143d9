// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"

namespace laple {
namespace {

constexpr std::string_view kPrefixes = "KMGT";

[[noreturn]] void bad_size(std::string_view text) {
    throw Error(fmt::format("\"{}\" is not a size", text),
                "write a number of bytes, or one with K, M or G: 8, 64K, 1M");
}

}  // namespace

Bytes parse_bytes(std::string_view text) {
    Bytes value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{}) bad_size(text);
    std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    if (unit.empty() || unit == "B") return value;
    const char prefix = static_cast<char>(unit[0] >= 'a' ? unit[0] - 'a' + 'A' : unit[0]);
    const auto power = kPrefixes.find(prefix);
    unit.remove_prefix(1);
    const bool known_unit = unit.empty() || unit == "iB" || unit == "B";
    if (power == std::string_view::npos || !known_unit) bad_size(text);
    const unsigned shift = 10u * static_cast<unsigned>(power + 1);
    if (value > (std::numeric_limits<Bytes>::max() >> shift)) bad_size(text);
    return value << shift;
}

std::string format_bytes(Bytes bytes) {
    std::size_t power = 0;
    while (bytes >= 1024 && bytes % 1024 == 0 && power < kPrefixes.size()) {
        bytes /= 1024;
        ++power;
    }
    return power == 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, kPrefixes[power - 1]);
}

std::string format_bytes_about(Bytes bytes) {
    auto value = static_cast<double>(bytes);
    std::size_t power = 0;
    while (value >= 1023.5 && power < kPrefixes.size()) {
        value /= 1024;
        ++power;
    }
    if (power == 0) return fmt::format("{}", bytes);
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f}{}", value, decimals, kPrefixes[power - 1]);
}

std::string format_seconds(Seconds time) {
    const double s = time.count();
    const double magnitude = s < 0 ? -s : s;
    const auto with_digits = [](double value, const char* unit) {
        const double size = value < 0 ? -value : value;
        const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
        return fmt::format("{:.{}f} {}", value, decimals, unit);
    };
    if (magnitude >= 1) return with_digits(s, "s");
    if (magnitude >= 1e-3) return with_digits(s * 1e3, "ms");
    return with_digits(s * 1e6, "us");
}

}  // namespace laple
