// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "plogp/curve.hpp"
#include "plogp/plogp.hpp"

namespace laple {

/// What was measured with all ranks of a job: how long MPI's own collectives take, by the bytes of the
/// message, from the agreed start of a call until the last rank is out of it, with root 0; and messages
/// inside hosts.
struct NativeTimes {
    int ranks = 0;  ///< 0: not measured
    std::map<std::string, Curve, std::less<>>
        times;          ///< by the name of the collective; a barrier's of size 0
    Plogp memory = {};  ///< between two ranks of a host, while all are at work; without curves: not measured

    /// Empty where it was not measured.
    const Curve& of(std::string_view collective) const {
        static const Curve kNone;
        const auto found = times.find(collective);
        return found == times.end() ? kNone : found->second;
    }

    bool operator==(const NativeTimes&) const = default;
};

}  // namespace laple
