// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "collectives/trees/hierarchy.hpp"
#include "plogp/job_times.hpp"

namespace laple {

/// The name of an algorithm, taken apart: LEVEL/.../LEVEL[@SEGMENT][xLANES], outermost level first.
struct AlgorithmName {
    std::string text;
    std::vector<std::string> levels;
    Bytes segment_bytes = 0;  ///< 0: the message is not cut
    int lanes = 1;

    static constexpr int kMostLanes = 1024;

    const std::string& first() const { return levels.front(); }
    const std::string& last() const { return levels.back(); }
};

/// Throws Error where a segment or a number of lanes is none.
AlgorithmName parse_name(std::string_view text);

/// "@8Kx4" of a name; "" where the message is neither cut nor in lanes.
std::string name_suffix(Bytes segment_bytes, int lanes);

/// Throws an Error that says what is wrong with a name, and lists the grammar.
[[noreturn]] void refuse_name(const AlgorithmName& name, const std::string& reason);

inline constexpr std::string_view kNativeName = CallTime::kByMpi;
inline constexpr std::string_view kMultiLeader = "multi-leader-";

/// A level that is a tree: "flat", "multi-leader-chain". Throws Error for any other.
LevelShape parse_level(const AlgorithmName& name, std::string_view level);
std::string name_of(const LevelShape& level);

/// Names of an earlier release in what was written for it ("spread-flat", "exchange/", ...) become today's.
/// Returns the same text where there are none.
std::string with_current_names(std::string_view text);

}  // namespace laple
