// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/name.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/cost/order_rule.hpp"

namespace laple {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFormerLevels{{
    {"exchange", "direct-exchange"},
    {"doubling", "recursive-doubling"},
    {"scatter", "rsag"},
    {"regional", "three-level"},
    {"spread-relayed", "scatter-allgather"},
    {"relayed", "scatter-allgather"},
}};
constexpr std::string_view kFormerMultiLeader = "spread-";

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        const auto end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string current_level(std::string_view level) {
    for (const auto& [former, current] : kFormerLevels) {
        if (level == former) return std::string(current);
    }
    if (!level.starts_with(kFormerMultiLeader)) return std::string(level);
    return fmt::format("{}{}", kMultiLeader, level.substr(kFormerMultiLeader.size()));
}

}  // namespace

AlgorithmName parse_name(std::string_view text) {
    AlgorithmName name;
    name.text = text;
    const auto at = text.find('@');
    const auto x = text.find('x', at == std::string_view::npos ? text.rfind('/') + 1 : at);
    // A level may have an "x" in it; lanes are digits.
    const bool has_lanes =
        x != std::string_view::npos && x + 1 < text.size() && text[x + 1] >= '0' && text[x + 1] <= '9';
    if (has_lanes || (at != std::string_view::npos && x != std::string_view::npos)) {
        const std::string_view lanes = text.substr(x + 1);
        const auto [end, status] = std::from_chars(lanes.data(), lanes.data() + lanes.size(), name.lanes);
        const bool is_whole = status == std::errc{} && end == lanes.data() + lanes.size();
        if (!is_whole || name.lanes < 1 || name.lanes > AlgorithmName::kMostLanes)
            refuse_name(name, fmt::format("\"{}\" is not a number of lanes", lanes));
        text = text.substr(0, x);
    }
    if (at != std::string_view::npos) {
        name.segment_bytes = parse_bytes(text.substr(at + 1));
        text = text.substr(0, at);
    }
    name.levels = split(text, '/');
    return name;
}

std::string name_suffix(Bytes segment_bytes, int lanes) {
    std::string suffix;
    if (segment_bytes > 0) suffix += "@" + format_bytes(segment_bytes);
    if (lanes > 1) suffix += fmt::format("x{}", lanes);
    return suffix;
}

void refuse_name(const AlgorithmName& name, const std::string& reason) {
    throw Error(fmt::format("algorithm \"{}\": {}", name.text, reason),
                "laple-plan algorithms lists them all");
}

namespace {

[[noreturn]] void refuse_level(const AlgorithmName& name, std::string_view level, std::string_view shape) {
    const std::vector<std::string_view> rules = order_rules();
    if (std::find(rules.begin(), rules.end(), shape) != rules.end()) {
        throw Error(
            fmt::format("algorithm \"{}\": {} is an order of clusters, and the tree inside them is missing",
                        name.text, shape),
            fmt::format("write {}/binomial", shape));
    }
    const std::string nearest = nearest_algorithm_word(shape);
    const std::string reason = fmt::format("\"{}\" is neither an algorithm nor a tree", level);
    if (nearest.empty()) refuse_name(name, reason);
    throw Error(fmt::format("algorithm \"{}\": {}", name.text, reason),
                fmt::format("did you mean {}?", nearest));
}

}  // namespace

LevelShape parse_level(const AlgorithmName& name, std::string_view level) {
    LevelShape parsed;
    std::string_view shape = level;
    if (shape.starts_with(kMultiLeader)) {
        parsed.multi_leader = true;
        shape.remove_prefix(kMultiLeader.size());
    }
    const auto known = shape_named(shape);
    if (!known) refuse_level(name, level, shape);
    parsed.shape = *known;
    return parsed;
}

std::string name_of(const LevelShape& level) {
    return fmt::format("{}{}", level.multi_leader ? kMultiLeader : "", name_of(level.shape));
}

std::string with_current_names(std::string_view text) {
    std::string current;
    while (!text.empty()) {
        const auto stop = text.find_first_of("/@;:^");
        current += current_level(text.substr(0, stop));
        if (stop == std::string_view::npos) break;
        current += text[stop];
        text.remove_prefix(stop + 1);
    }
    return current;
}

}  // namespace laple
