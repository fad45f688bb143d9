// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "collectives/algorithms/candidate.hpp"
#include "collectives/collective/collective.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Programs broadcast or reduce one short message after the other, and no rank waits for the others: then a
/// call takes as long as its root has to do with messages, whatever the time until the last rank has it. In a
/// loop of reductions of 8 bytes between eight hosts on two cores MPI's binomial tree took 30 us a call, a
/// flat one 310.
///
/// Notes in the candidates for such a call how many messages their roots have with other hosts
/// (Candidate::root_messages), and drops those whose roots have more than twice as many as that of a binomial
/// tree for hardly any gain over MPI's own, unless that may not be used. Does nothing for other calls.
void look_at_roots(const Request& request, const Machine& machine,
                   const std::function<bool(const Algorithm&)>& may_use, std::vector<Candidate>& found);

}  // namespace laple
