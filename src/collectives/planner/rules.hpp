// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/collective/collective.hpp"

namespace laple {

/// One rule of the user: use this algorithm, or never use it, for one collective and a range of sizes.
struct Rule {
    Collective collective{};
    Bytes min_bytes = 0;
    Bytes max_bytes = std::numeric_limits<Bytes>::max();  ///< inclusive
    bool is_forbidden = false;
    AlgorithmPtr algorithm;

    bool applies_to(Collective which, Bytes bytes) const {
        return which == collective && bytes >= min_bytes && bytes <= max_bytes;
    }
};

/// What LAPLE_ALGORITHM says, in the order in which it says it.
struct Rules {
    std::vector<Rule> rules;
    /// What was written with former names: "exchange/flat is called direct-exchange/flat now".
    std::vector<std::string> renamed;

    /// The algorithms wanted for such a message, first wish first.
    std::vector<AlgorithmPtr> wanted(Collective collective, Bytes bytes) const;
    bool forbids(const Algorithm& algorithm, Collective collective, Bytes bytes) const;
};

/// Reads "RULE;RULE;…" with RULE = [COLLECTIVE[:MIN-MAX]:][^]ALGORITHM:
///
///     bcast:0-64K:flat/binomial;bcast:64K-inf:multi-leader-chain/chain@8K;^native
///
/// A rule without a collective holds for every collective that the algorithm can do; "^" forbids. Empty text:
/// no rules. Throws Error that says which rule is wrong and lists the names.
Rules parse_rules(std::string_view text);

}  // namespace laple
