// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "collectives/simulation/event_queue.hpp"
#include "collectives/simulation/simulated_ports.hpp"
#include "collectives/simulation/simulator.hpp"

namespace laple {

/// A message of a simulation, and how far it has come.
struct Message : SimulatedMessage {
    std::uint32_t send = 0;          ///< step of the sender
    std::uint32_t recv = 0;          ///< of the receiver, once it is known
    SimulatedMemory::Values values;  ///< of an eager send

    std::vector<SimulatedNetwork::SharedLink> links;
    std::size_t next_link = 0;
    Seconds full_gap{0};
    Seconds passed{0};  ///< is through the links so far
};

/// Messages on their way through a network, given by their numbers: out of the sender's port, along the links
/// that they share with others, into the receiver's port. What happens next to each of them goes to `events`:
/// port_is_free, pass_link and arrive, and complete where a send is so once its message has passed the links.
class Transit {
  public:
    /// The references must outlive this.
    Transit(const SimulatedNetwork& network, bool is_eager, std::deque<Message>& messages, EventQueue& events)
        : network_(network), is_eager_(is_eager), messages_(messages), events_(events), ports_(network) {}

    /// A message waits for its port.
    void send(std::uint32_t number);

    void port_is_free(std::uint32_t port);
    void pass_link(std::uint32_t number);
    void arrive(std::uint32_t number);

  private:
    void travel(const Message& message, std::uint32_t number);

    const SimulatedNetwork& network_;
    bool is_eager_;
    std::deque<Message>& messages_;
    EventQueue& events_;
    SimulatedPorts ports_;
    std::unordered_map<std::size_t, Seconds> link_busy_;  // by number of the shared link, until then
};

}  // namespace laple
