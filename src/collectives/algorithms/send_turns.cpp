// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/send_turns.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace laple {

SendTurns::SendTurns(const Machine& machine) : position_(at(machine.rank_count())) {
    int position = 0;
    for (const auto& group : machine.groups()) {
        for (const int cluster : group) {
            const int first = position;
            for (const Host host : machine.hosts_in(cluster)) {
                for (const Rank rank : machine.ranks_on(host)) position_[at(rank)] = position++;
            }
            largest_cluster_ = std::max(largest_cluster_, position - first);
        }
    }
}

int SendTurns::turn(Rank from, Rank to) const {
    const int ranks = static_cast<int>(position_.size());
    const int right = position_[at(to)] - position_[at(from)] + ranks;
    return (right - largest_cluster_ + ranks) % ranks;
}

}  // namespace laple
