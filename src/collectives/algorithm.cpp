// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithm.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "collectives/order_rule.hpp"
#include "collectives/relayed.hpp"

namespace laple {
namespace {

constexpr std::string_view kSpread = "spread-";

std::optional<Meeting> meeting_named(std::string_view name) {
    if (name == "exchange") return Meeting::exchange;
    if (name == "doubling") return Meeting::doubling;
    if (name == "scatter") return Meeting::scatter;
    if (name == "regional") return Meeting::regional;
    return std::nullopt;
}

[[noreturn]] void refuse(std::string_view name, const std::string& reason) {
    throw Error(fmt::format("algorithm \"{}\": {}", name, reason), algorithm_grammar());
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// Takes "x4" and "@8K" off the end of `text`.
void take_suffixes(std::string_view name, std::string_view& text, Algorithm& algorithm) {
    const auto at = text.find('@');
    const auto x = text.find('x', at == std::string_view::npos ? text.rfind('/') + 1 : at);
    if (x != std::string_view::npos) {
        const std::string_view lanes = text.substr(x + 1);
        const auto [end, status] =
            std::from_chars(lanes.data(), lanes.data() + lanes.size(), algorithm.lanes);
        const bool is_whole = status == std::errc{} && end == lanes.data() + lanes.size();
        if (!is_whole || algorithm.lanes < 1 || algorithm.lanes > Algorithm::kMostLanes) {
            refuse(name, fmt::format("\"{}\" is not a number of lanes", lanes));
        }
        text = text.substr(0, x);
    }
    if (at != std::string_view::npos) {
        algorithm.segment_bytes = parse_bytes(text.substr(at + 1));
        text = text.substr(0, at);
    }
}

LevelShape parse_level(std::string_view name, std::string_view part) {
    LevelShape level;
    std::string_view shape = part;
    if (shape.starts_with(kSpread)) {
        level.spread = true;
        shape.remove_prefix(kSpread.size());
    }
    const auto known = shape_named(shape);
    if (!known) refuse(name, fmt::format("\"{}\" is no tree", part));
    level.shape = *known;
    return level;
}

/// Takes "ecef" or "spread-ecef"; false for anything else.
bool take_order(std::string_view part, Algorithm& algorithm) {
    const bool is_spread = part.starts_with(kSpread);
    const std::string_view rule = is_spread ? part.substr(kSpread.size()) : part;
    if (!is_order_rule(rule) && rule != kRelayedRule) return false;
    algorithm.order = rule;
    algorithm.between.push_back({Shape{Shape::Kind::flat}, is_spread});
    return true;
}

}  // namespace

std::string name_of(const Algorithm& algorithm) {
    if (algorithm.is_native) return "native";
    std::string name;
    if (algorithm.meeting == Meeting::exchange) name += "exchange/";
    if (algorithm.meeting == Meeting::doubling) name += "doubling/";
    if (algorithm.meeting == Meeting::scatter) name += "scatter/";
    if (algorithm.meeting == Meeting::regional) name += "regional/";
    for (const LevelShape& level : algorithm.between) {
        if (!algorithm.order.empty()) {
            name += fmt::format("{}{}/", level.spread ? kSpread : "", algorithm.order);
            continue;
        }
        name += fmt::format("{}{}/", level.spread ? kSpread : "", name_of(level.shape));
    }
    name += algorithm.native_within ? "native" : name_of(algorithm.within);
    if (algorithm.segment_bytes > 0) name += "@" + format_bytes(algorithm.segment_bytes);
    if (algorithm.lanes > 1) name += fmt::format("x{}", algorithm.lanes);
    return name;
}

Algorithm parse_algorithm(std::string_view name, Collective collective) {
    if (name == "native") return Algorithm::native();
    Algorithm algorithm;
    std::string_view text = name;
    take_suffixes(name, text, algorithm);
    std::vector<std::string_view> parts = split(text, '/');
    if (const auto meeting = meeting_named(parts.front())) {
        if (is_rooted(collective))
            refuse(name, fmt::format("{} cannot be done by exchange, doubling, scatter or regional; those "
                                     "are for allreduce and "
                                     "barrier",
                                     name_of(collective)));
        if (parts.size() == 1) refuse(name, "the tree inside the clusters is missing");
        algorithm.meeting = *meeting;
        parts.erase(parts.begin());
    }
    const std::string_view within = parts.back();
    parts.pop_back();
    for (const std::string_view part : parts) {
        if (!take_order(part, algorithm)) algorithm.between.push_back(parse_level(name, part));
    }
    if (!algorithm.order.empty() && (algorithm.between.size() > 1 || algorithm.meeting != Meeting::tree))
        refuse(name, fmt::format("\"{}\" orders all clusters: it stands for all levels but the innermost",
                                 algorithm.order));
    if (algorithm.order == kRelayedRule && collective != Collective::bcast)
        refuse(name, fmt::format("{} cannot be relayed; that is for bcast", name_of(collective)));
    if (within == "native") {
        algorithm.native_within = true;
        if (parts.empty() && algorithm.meeting == Meeting::tree)
            refuse(name, "a tree between clusters is missing");
    } else {
        const LevelShape level = parse_level(name, within);
        if (level.spread) refuse(name, "the innermost tree cannot be spread");
        algorithm.within = level.shape;
        if (parts.empty() && algorithm.meeting == Meeting::tree) algorithm.between.push_back(level);
    }
    if (algorithm.native_within && algorithm.segment_bytes > 0)
        refuse(name, "native within takes no segments");
    if (algorithm.lanes > 1 && algorithm.native_within) refuse(name, "native within takes no lanes");
    if (algorithm.meeting == Meeting::regional && (algorithm.native_within || !algorithm.between.empty()))
        refuse(name, "regional takes one LEVEL, inside the clusters, and not native");
    if (algorithm.lanes > 1 && algorithm.meeting == Meeting::tree &&
        (algorithm.segment_bytes == 0 || algorithm.between.size() != 1 || !algorithm.between.front().spread))
        refuse(name,
               "lanes need \"exchange\", \"doubling\", \"scatter\", \"regional\", or one spread- tree and "
               "segments");
    if (algorithm.order == kRelayedRule && algorithm.lanes == 1)
        refuse(name, "relayed needs segments and lanes, such as spread-relayed/chain@8Kx12");
    return algorithm;
}

std::string algorithm_grammar() {
    return "write \"native\", or LEVEL/.../LEVEL[@SEGMENT][xLANES] from the outermost level to the "
           "innermost; "
           "LEVEL is flat, binomial, binary, 3ary ... 64ary or chain, with spread- before it between "
           "clusters; one LEVEL between clusters may be a rule that orders them by cost: " +
           fmt::format("{}", fmt::join(order_rules(), ", ")) +
           ", or, in lanes, relayed (bcast); "
           "the first may be exchange, doubling, scatter or regional (allreduce, barrier), the last may be "
           "native, but in regional";
}

}  // namespace laple
