// SPDX-License-Identifier: BSD-3-Clause
#include "grid/quantity.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"

namespace laple::grid {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};

constexpr Unit kRateUnits[] = {{"bit", 1}, {"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}};
constexpr Unit kTimeUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Unit kPercent[] = {{"%", 0.01}};

std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units) {
    double number = 0;
    const char* const text_end = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), text_end, number, std::chars_format::fixed);
    if (status != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
    const std::string_view unit(end, static_cast<std::size_t>(text_end - end));
    for (const Unit& known : units) {
        if (unit == known.name) return number * known.factor;
    }
    return std::nullopt;
}

std::string format_quantity(double value, std::span<const Unit> units) {
    const Unit* best = &units.front();
    for (const Unit& unit : units) {
        if (value >= unit.factor) best = &unit;
    }
    return fmt::format("{:.6g}{}", value / best->factor, best->name);
}

}  // namespace

double parse_rate_bps(std::string_view text) {
    if (const auto rate = parse_quantity(text, kRateUnits)) return *rate;
    throw Error(fmt::format("\"{}\" is not a rate", text),
                "write a number and bit, kbit, Mbit or Gbit (per second), for example \"100Mbit\"");
}

Nanoseconds parse_duration(std::string_view text) {
    const auto time = parse_quantity(text, kTimeUnits);
    if (time && *time < 1e18) return Nanoseconds(std::llround(*time));
    throw Error(fmt::format("\"{}\" is not a time", text),
                "write a number and us, ms or s, for example \"10ms\"");
}

double parse_percentage(std::string_view text) {
    const auto share = parse_quantity(text, kPercent);
    if (share && *share <= 1) return *share;
    throw Error(fmt::format("\"{}\" is not a percentage", text),
                "write a number from 0 to 100 and %, for example \"0.01%\"");
}

std::string format_rate(double bits_per_second) {
    return format_quantity(bits_per_second, kRateUnits);
}

std::string format_duration(Nanoseconds time) {
    return format_quantity(static_cast<double>(time.count()), kTimeUnits);
}

}  // namespace laple::grid
