// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace laple::bench {

std::string to_string(Collective collective) {
    return std::string(name_of(collective));
}

std::vector<std::string> collective_names() {
    std::vector<std::string> names;
    for (const Collective collective : kAllCollectives) names.push_back(to_string(collective));
    return names;
}

Collective parse_collective(std::string_view name) {
    for (const Collective collective : kAllCollectives) {
        if (to_string(collective) == name) return collective;
    }
    const std::vector<std::string> names = collective_names();
    const std::string nearest = nearest_name(std::string(name), names);
    throw Error(fmt::format("unknown collective \"{}\"", name),
                nearest.empty() ? fmt::format("name one of {}", fmt::join(names, ", "))
                                : fmt::format("did you mean {}?", nearest));
}

}  // namespace laple::bench
