// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "collectives/simulation/simulator.hpp"

namespace laple {

/// The ports of a simulated network: what waits to leave, and how long it takes.
class SimulatedPorts {
  public:
    explicit SimulatedPorts(const SimulatedNetwork& network) : ports_(network.port_count) {
        for (std::size_t port = 0; network.credit && port < ports_.size(); ++port)
            ports_[port].send_credit = ports_[port].recv_credit = network.credit(port);
    }

    bool is_sending(std::size_t port) const { return ports_[port].is_sending; }

    /// A message between two ranks waits for the port.
    void wait(std::size_t port, Rank from, Rank to, std::uint32_t message) {
        std::vector<Connection>& waiting = ports_[port].waiting;
        auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Connection& connection) {
            return connection.from == from && connection.to == to;
        });
        if (found == waiting.end()) found = waiting.insert(found, {from, to, {}});
        found->messages.push(message);
    }

    /// The message whose turn it is, which has the port from now on; nothing: none waits.
    std::optional<std::uint32_t> next(std::size_t number) {
        Port& port = ports_[number];
        port.is_sending = false;
        for (std::size_t i = 0; i < port.waiting.size(); ++i) {
            auto& messages = port.waiting[(port.turn + i) % port.waiting.size()].messages;
            if (messages.empty()) continue;
            port.turn = (port.turn + i + 1) % port.waiting.size();
            port.is_sending = true;
            const std::uint32_t message = messages.front();
            messages.pop();
            return message;
        }
        return std::nullopt;
    }

    /// How long a message of that gap takes to leave.
    Seconds sending(std::size_t port, Seconds gap) { return rested(ports_[port].send_credit, gap); }

    /// When a message of that gap that has come by now is in.
    Seconds receiving(std::size_t number, Seconds gap, Seconds now) {
        Port& port = ports_[number];
        port.received = std::max(port.received + rested(port.recv_credit, gap), now);
        return port.received;
    }

  private:
    struct Connection {
        Rank from;
        Rank to;
        std::queue<std::uint32_t> messages;
    };
    struct Port {
        std::vector<Connection> waiting;  // in the order of their first messages
        std::size_t turn = 0;             // whose it is
        bool is_sending = false;
        Seconds received{0};  // until then
        Seconds send_credit{0};
        Seconds recv_credit{0};
    };

    static Seconds rested(Seconds& credit, Seconds gap) {
        const Seconds saved = std::min(credit, gap);
        credit -= saved;
        return gap - saved;
    }

    std::vector<Port> ports_;
};

}  // namespace laple
