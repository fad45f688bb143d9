// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "collectives/simulation/simulator.hpp"
#include "mpi/exec/step_times.hpp"

namespace laple::mpi {

/// A call of one rank that is traced (LAPLE_TRACE). Ranks are those of MPI_COMM_WORLD.
struct TracedCall {
    std::string function;  ///< MPI's name, without "MPI_"
    Bytes bytes = 0;
    std::string algorithm;
    Seconds predicted{0};            ///< 0: not known
    Seconds native{0};               ///< of MPI's own call; 0: not known
    std::uint64_t communicator = 0;  ///< equal on its ranks, as the next
    std::uint64_t number = 0;        ///< among the calls there, from 1; 0: its messages are not traced
    Seconds begin{0};
    Seconds end{0};
    std::vector<StepTime> steps;
    /// How connections to another rank are doing when the call is over.
    struct Connections {
        Rank peer = -1;
        Seconds round_trip{0};
        Bytes windows = 0;
        std::uint64_t sent_again = 0;
    };
    std::vector<Connections> connections;
    /// What the simulator says of all its messages, with times from 0 on; empty where it says nothing.
    std::function<std::vector<SimulatedMessage>()> simulate;

    /// What is the same in the calls of other ranks that belong together.
    std::pair<std::uint64_t, std::uint64_t> key() const { return {communicator, number}; }
};

}  // namespace laple::mpi
