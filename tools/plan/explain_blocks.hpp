// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "block_table.hpp"
#include "collectives/planner/rules.hpp"
#include "situation.hpp"

namespace laple::plan {

/// What a call of MPI_Alltoallv, Gatherv or Scatterv moves, and how: which blocks go together, which
/// straight, and what no algorithm can avoid.
struct BlockExplanation {
    std::string function;  ///< as the user calls it: "alltoallv"
    std::string algorithm;
    bool is_native = false;
    std::string reason;
    Bytes longest_together = 0;

    struct Share {
        std::size_t blocks = 0;
        Bytes bytes = 0;
    };
    Share together;
    Share straight;
    std::size_t empty = 0;
    std::size_t kept = 0;  ///< for the rank that has them
    Bytes far = 0;         ///< bytes between clusters
    double least = 0;      ///< seconds: what the busiest port or uplink takes
    std::string busiest;   ///< which that is, for people
};

/// Of a personalized collective; `root` counts where it has one.
BlockExplanation explain_blocks(const std::string& function, Collective collective, const BlockTable& table,
                                Rank root, const Situation& situation, const Rules& rules);

std::string text_of(const BlockExplanation& explanation, const Situation& situation);
std::string json_of(const BlockExplanation& explanation, const Situation& situation);

}  // namespace laple::plan
