// SPDX-License-Identifier: BSD-3-Clause
// Barrier over all hosts: in round r every host tells the one 2^r to the right that all it knows of have
// arrived.
//
//     dissemination     log2 P (g(0) + L)
//
// (Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", 1988)
#include <array>

#include "collectives/algorithms/parts.hpp"

namespace laple {
namespace {

template <typename Members>
void disseminate(Members& members) {
    members.combine_on_hosts();
    members.disseminate();
    members.spread_on_hosts();
}

constexpr std::array kVariants{
    PartsVariant{"dissemination", "hosts tell each other in log2 P rounds", Collective::barrier, false, false,
                 disseminate, disseminate},
};

}  // namespace

Family dissemination_family() {
    return parts_family<kVariants>("hosts tell each other in log2 P rounds", "Hensgen, Finkel, Manber, 1988");
}

}  // namespace laple
