// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "collectives/schedule/schedule.hpp"
#include "topology/machine.hpp"

namespace laple {

/// The network of a simulation (pLogP without overheads). A message takes gap(m) of its sender's port. Of
/// that its start has the port alone; the rest shares it with the other messages that are under way, of which
/// each pair of ranks has one at a time, as the connections of a NIC share it. On the way it may pass links
/// that it shares with others, for `latency` it travels, and it takes gap_in(m) of the receiver's port. Links
/// and receivers serve messages in the order in which their first bytes come. A message is there when all
/// that it takes has been served, and its last byte has had the time to travel.
struct SimulatedNetwork {
    struct SharedLink {
        std::size_t number;  ///< 0 ...
        Seconds each;        ///< that the message takes of it
        Seconds credit{0};   ///< that it saves at its first messages
    };

    std::function<Seconds(Rank from, Rank to, Bytes)> gap;
    std::function<Seconds(Rank from, Rank to, Bytes)> start = {};   ///< all of the gap where empty
    std::function<Seconds(Rank from, Rank to, Bytes)> gap_in = {};  ///< as gap where empty
    std::function<Seconds(Rank from, Rank to)> latency;
    /// What a message waits for besides, on its way: handshakes. Nothing where empty.
    std::function<Seconds(Rank from, Rank to, Bytes)> handshake = {};
    /// The ports that a message between two ranks leaves by and comes in by, 0 ... port_count - 1.
    std::size_t port_count = 0;
    std::function<std::size_t(Rank from, Rank to)> port_out;
    std::function<std::size_t(Rank from, Rank to)> port_in;
    /// None where empty.
    std::function<std::vector<SharedLink>(Rank from, Rank to, Bytes)> shared_links = {};
    /// How long a rank's processor combines so many bytes, one reduction after the other. No time where
    /// empty.
    std::function<Seconds(Rank, Bytes)> combining = {};
    /// Time that an idle port saves at its first messages (token-bucket burst). None where empty.
    std::function<Seconds(std::size_t port)> credit = {};
};

/// One message of a simulation with a network.
struct SimulatedMessage {
    Rank from = 0;
    Rank to = 0;
    std::uint64_t offset = 0;  ///< in the message of the call, where one end is not in a temporary buffer
    Bytes bytes = 0;
    Seconds start{0};    ///< its first byte leaves
    Seconds left{0};     ///< the sender's port is free again
    Seconds arrived{0};  ///< its last byte is there
};

struct SimulationOptions {
    /// Without a network nothing takes time and events happen in an order drawn from `seed`: any order
    /// that the dependencies allow may be the one that a real network brings about.
    std::optional<SimulatedNetwork> network;
    std::uint64_t seed = 1;
    /// Whether a send is complete once its data are through the links that they share (else when its receiver
    /// takes them, and the data are read then: the latest moment that MPI allows).
    bool eager = true;
    std::function<void(const SimulatedMessage&)> observe;  ///< told of every message, where it is not empty
};

struct SimulationResult {
    std::string failure;  ///< empty when every rank did all its steps and no message was left over
    Seconds makespan{0};
    std::uint64_t messages = 0;
    bool ok() const { return failure.empty(); }
};

/// What the ranks' memories hold: a number for each unit, or several, as the implementation likes. All may
/// throw std::exception for an access that they know to be wrong, which becomes the failure.
class SimulatedMemory {
  public:
    using Values = std::vector<std::uint64_t>;

    virtual ~SimulatedMemory() = default;
    virtual Values load(Rank rank, Region region) = 0;
    virtual void store(Rank rank, Region region, const Values& values) = 0;
    /// left ∘ right, unit by unit.
    virtual Values combine(const Values& left, const Values& right) = 0;
};

/// Runs the schedules of all ranks of a communicator in one process. `machine` gives the clusters of native
/// steps; `memory` may be nullptr, where time alone is asked for.
SimulationResult simulate(std::span<const Schedule> schedules, const Machine& machine,
                          SimulatedMemory* memory, const SimulationOptions& options);

}  // namespace laple
