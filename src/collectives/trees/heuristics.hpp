// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

#include "collectives/trees/send_order.hpp"

namespace laple {

/// A rule by which leaders are served one after the other.
struct Heuristic {
    std::string_view name;
    std::string_view rule;  ///< in one line; R_i: when i can send next, A: those who have it, B: the others
    std::string_view source;
    SendOrder (*build)(const ClusterTimes& times, int root);
};

/// All that there are. Each decides from `times` alone, lowest numbers first where it does not matter, and
/// takes O(C²) for C clusters, on average.
///
///     flat         the root sends to all, in order                 MagPIe
///     jackson      the root sends to all, max L_j + T_j first      Jackson's rule, optimal among flat ones
///     fef          min L_ij                                        Bhat et al. 1999
///     ecef         min R_i + g_ij + L_ij                           Bhat et al. 1999
///     ecef-la      ... + F_j, F_j = min g_jk + L_jk                Bhat et al. 1999
///     ecef-la-min  ... + F_j, F_j = min g_jk + L_jk + T_k          Barchet-Estefanel and Mounié 2006
///     ecef-la-max  ... + F_j, F_j = max g_jk + L_jk + T_k          Barchet-Estefanel and Mounié 2006
///     bottom-up    max over j of min g_ij + L_ij + T_j             Barchet-Estefanel and Mounié 2006
///
/// where i is in A, j and k are in B, and F_j is 0 for the last j. (docs/algorithms.md)
std::span<const Heuristic> heuristics();

/// nullptr when there is none of that name.
const Heuristic* heuristic_named(std::string_view name);

}  // namespace laple
