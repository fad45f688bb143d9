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

void write(MemberSteps& steps) {
    steps.combine_on_hosts();
    steps.disseminate();
    steps.spread_on_hosts();
}
double time(Rounds rounds, Bytes) {
    rounds.dissemination();
    return rounds.last();
}

constexpr std::array kVariants{
    PartsVariant{"dissemination", "hosts tell each other in log2 P rounds", Collective::barrier, false, false,
                 write, time},
};

}  // namespace

Family dissemination_family() {
    return parts_family<kVariants>("hosts tell each other in log2 P rounds", "Hensgen, Finkel, Manber, 1988");
}

}  // namespace laple
