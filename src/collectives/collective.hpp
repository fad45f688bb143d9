// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>

namespace laple {

/// The operations that LaPle replaces.
enum class Collective { bcast, reduce, allreduce, barrier };

inline constexpr std::array kAllCollectives{Collective::bcast, Collective::reduce, Collective::allreduce,
                                            Collective::barrier};

/// "bcast", "reduce", …: the names in settings, reports and benchmarks.
constexpr std::string_view name_of(Collective collective) {
    switch (collective) {
        case Collective::bcast:
            return "bcast";
        case Collective::reduce:
            return "reduce";
        case Collective::allreduce:
            return "allreduce";
        case Collective::barrier:
            return "barrier";
    }
    return "";
}

/// Whether one rank is the source or the destination of all data.
constexpr bool is_rooted(Collective collective) {
    return collective == Collective::bcast || collective == Collective::reduce;
}

/// Whether contributions are combined. A barrier is an allreduce of nothing.
constexpr bool is_reduction(Collective collective) {
    return collective != Collective::bcast;
}

}  // namespace laple
