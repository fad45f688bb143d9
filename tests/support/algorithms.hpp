// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "collectives/collective.hpp"

namespace laple::test {

/// Names that reach every tree, meeting, segment and lane; `@16` makes many blocks of small messages.
inline std::vector<std::string> algorithm_names(Collective collective) {
    std::vector<std::string> names{
        "flat/flat",
        "flat/binomial",
        "binomial/chain@16",
        "chain/binary@16",
        "3ary/flat@16",
        "spread-flat/chain@16",
        "spread-chain/chain@16",
        "spread-binomial/binomial",
        "flat/native",
        "chain/native",
        "spread-binary/native",
        "binomial",
        "chain/flat/binomial",
        "binary@16",
        "spread-chain/chain@16x3",
        "spread-flat/binary@16x2",
        "spread-binomial/flat@16x7",
    };
    if (!is_rooted(collective)) {
        names.insert(names.end(),
                     {"exchange/flat", "exchange/binomial@16", "exchange/chain/binomial@16",
                      "exchange/flat@16x4", "exchange/native", "doubling/chain@16", "doubling/flat@16x3",
                      "doubling/native", "exchange/spread-flat/chain@16", "scatter/flat@16x4",
                      "scatter/flat@16x7", "scatter/binomial@16", "scatter/chain/flat@16", "scatter/native",
                      "regional/flat@16x4", "regional/binary@16x7", "regional/flat", "regional/chain@16"});
    }
    return names;
}

}  // namespace laple::test
