// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "collectives/simulation/event_queue.hpp"
#include "collectives/simulation/simulated_ports.hpp"
#include "collectives/simulation/simulator.hpp"

namespace laple {

/// A message of a simulation, and how far it has come. It is there (`arrived`) when all that it passes has
/// served it.
struct Message : SimulatedMessage {
    std::uint32_t send = 0;          ///< step of the sender
    std::uint32_t recv = 0;          ///< of the receiver, once it is known
    SimulatedMemory::Values values;  ///< of an eager send

    std::vector<SimulatedNetwork::SharedLink> links;
    std::size_t next_link = 0;
    bool has_left = false;    ///< its port
    bool is_sent = false;     ///< has left and passed
    bool has_passed = false;  ///< its first byte is through the links
    bool has_come = false;    ///< its first byte is at the receiver's port
    bool is_there = false;    ///< it is known when it is there, or nothing takes time
    Seconds passed{0};        ///< is through the links, if it has left by then
};

/// Messages on their way through a network, given by their numbers: out of the sender's port, along the links
/// that they share with others, into the receiver's port. What happens next to each of them goes to `events`:
/// port_changes, pass_link and arrive, and complete where a send is so once its message has passed the links.
class Transit {
  public:
    /// `has_time` is called with each message once it is known when it is there. The references must outlive
    /// this.
    Transit(const SimulatedNetwork& network, bool is_eager, std::deque<Message>& messages, EventQueue& events,
            std::function<void(std::uint32_t)> has_time)
        : network_(network),
          is_eager_(is_eager),
          messages_(messages),
          events_(events),
          has_time_(std::move(has_time)),
          ports_(network) {}

    /// A message waits for its port.
    void send(std::uint32_t number);

    void port_changes(std::uint32_t port);
    /// The first byte of a message is at the next link that it shares, or through all of them.
    void pass_link(std::uint32_t number);
    /// It is at the receiver's port.
    void arrive(std::uint32_t number);

  private:
    void advance(std::uint32_t port);
    void go_on(std::uint32_t number);

    const SimulatedNetwork& network_;
    bool is_eager_;
    std::deque<Message>& messages_;
    EventQueue& events_;
    std::function<void(std::uint32_t)> has_time_;
    SimulatedPorts ports_;
};

}  // namespace laple
