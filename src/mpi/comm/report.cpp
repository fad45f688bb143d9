// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/report.hpp"

#include <algorithm>
#include <bit>
#include <cctype>

#include <fmt/format.h>

namespace laple::mpi {

void Report::add(Collective collective, std::string_view function, Bytes bytes, const std::string& algorithm,
                 Seconds time) {
    const std::lock_guard lock(mutex_);
    Line& line = lines_[{collective, function, class_of(bytes), algorithm}];
    ++line.calls;
    line.total += time;
    line.longest = std::max(line.longest, time);
}

std::string Report::table() const {
    const std::lock_guard lock(mutex_);
    if (lines_.empty()) return {};
    std::size_t width = 28;
    for (const auto& [key, line] : lines_) width = std::max(width, std::get<3>(key).size());
    std::string text = "collectives of rank 0, times as it saw them\n";
    text += fmt::format("{:<20} {:>10}  {:<{}} {:>8} {:>10} {:>10} {:>10}\n", "collective", "bytes up to",
                        "algorithm", width, "calls", "total", "mean", "longest");
    for (const auto& [key, line] : lines_) {
        const auto& [collective, function, bytes, algorithm] = key;
        std::string name(function);
        name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
        const auto shown = [](Seconds time) { return time > Seconds(0) ? format_seconds(time) : "-"; };
        text += fmt::format("{:<20} {:>10}  {:<{}} {:>8} {:>10} {:>10} {:>10}\n", name, format_bytes(bytes),
                            algorithm, width, line.calls, shown(line.total),
                            shown(line.total / static_cast<double>(line.calls)), shown(line.longest));
    }
    return text;
}

Bytes Report::class_of(Bytes bytes) {
    return bytes == 0 ? 0 : std::bit_ceil(bytes);
}

}  // namespace laple::mpi
