// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topology/machine.hpp"

namespace laple {

/// In which order a rank serves its peers where all send to all: at any time to ranks at the same distance to
/// the right of their senders, all around, in the order of groups, clusters and hosts. It begins behind the
/// largest cluster: what is near comes last.
class SendTurns {
  public:
    explicit SendTurns(const Machine& machine);

    /// Messages with a smaller number are sent, and received, earlier.
    int turn(Rank from, Rank to) const;

  private:
    std::vector<int> position_;  // of each rank
    int largest_cluster_ = 1;    // its ranks
};

}  // namespace laple
