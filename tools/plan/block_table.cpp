// SPDX-License-Identifier: BSD-3-Clause
#include "block_table.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace laple::plan {

std::optional<Collective> collective_with_counts(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, Collective>, 6> kKnown{
        {{"allgatherv", Collective::allgather},
         {"gatherv", Collective::gather},
         {"scatterv", Collective::scatter},
         {"alltoallv", Collective::alltoall},
         {"alltoallw", Collective::alltoall},
         {"reduce_scatter", Collective::reduce_scatter}}};
    for (const auto& [known, collective] : kKnown) {
        if (known == name) return collective;
    }
    return std::nullopt;
}

BlockTable parse_block_table(const std::string& text, const std::string& file, Collective collective,
                             int ranks) {
    constexpr Bytes kMostOfAll = Bytes{1} << 60U;  // sums of them stay exact
    BlockTable table{ranks, {}};
    Bytes all = 0;
    const bool is_square = collective == Collective::alltoall;
    const auto of_each = static_cast<std::size_t>(ranks);
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        const std::size_t before = table.bytes.size();
        for (std::string word; words >> word;) {
            try {
                table.bytes.push_back(parse_bytes(word));
            } catch (const Error&) {
                throw Error({file, number, 0}, fmt::format("\"{}\" is no number of bytes", word),
                            "write for example 8 or 64K");
            }
            all += std::min(table.bytes.back(), kMostOfAll);
            if (all >= kMostOfAll)
                throw Error({file, number, 0}, "all blocks together have more than an exabyte",
                            "see whether these are bytes");
        }
        const std::size_t here = table.bytes.size() - before;
        if (is_square && here != 0 && here != of_each)
            throw Error({file, number, 0}, fmt::format("has {} numbers for {} ranks", here, ranks),
                        "write a line for each rank that sends, with one number for each that gets");
    }
    const std::size_t expected = is_square ? of_each * of_each : of_each;
    if (table.bytes.size() != expected)
        throw Error({file, 0, 0}, fmt::format("has {} numbers instead of {}", table.bytes.size(), expected),
                    fmt::format("write {} for each of the {} ranks", is_square ? "a line" : "one", ranks));
    return table;
}

void add_counts(const BlockTable& table, Request& request) {
    std::vector<std::uint64_t> units;
    for (const Bytes bytes : table.bytes)
        units.push_back((bytes + request.unit_bytes - 1) / request.unit_bytes);
    request.counts = Counts(units);
}

}  // namespace laple::plan
