// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace laple::streams {
class Link;
}

namespace laple::mpi {

/// Which ranks of a communicator are reached by streams, for the messages of one plan. Two ranks have each
/// other here, or neither has: a message is sent by the way by which it is expected.
class StreamRoutes {
  public:
    struct Route {
        streams::Link* link = nullptr;  ///< nullptr: messages go by MPI
        std::uint64_t context = 0;      ///< of the communicator (streams::MessageKey), equal at both ends
    };

    explicit StreamRoutes(int ranks) : routes_(static_cast<std::size_t>(ranks)) {}

    const Route& to(Rank rank) const { return routes_[static_cast<std::size_t>(rank)]; }
    Route& to(Rank rank) { return routes_[static_cast<std::size_t>(rank)]; }

  private:
    std::vector<Route> routes_;
};

}  // namespace laple::mpi
