// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "collectives/simulation/simulator.hpp"

namespace laple {

/// A port that sends the messages of several connections, those of a connection one after the other. Each
/// message has a start, for which it has the port alone, in turn; what is left then shares the port with all
/// others that are under way (processor sharing). With no such rest, messages take turns.
class SendingPort {
  public:
    struct Times {
        Seconds start{0};
        Seconds shared{0};
    };

    /// A message of the connection between two ranks waits for the port.
    void wait(Rank from, Rank to, std::uint32_t message, Times times) {
        auto found = std::find_if(
            connections_.begin(), connections_.end(),
            [&](const Connection& connection) { return connection.from == from && connection.to == to; });
        if (found == connections_.end()) found = connections_.insert(found, {from, to, {}});
        found->messages.push_back({message, times});
        if (found->messages.size() == 1)
            turns_.push_back(static_cast<std::size_t>(found - connections_.begin()));
    }

    /// Has the port work until `now`; no change (next()) may lie before. `begin(message)` is called for one
    /// whose start begins, `left(message)` for one that has left.
    template <typename Begin, typename Left>
    void advance(Seconds now, Begin begin, Left left) {
        if (starting_) {
            if (now < until_) return;
            share(*starting_);
            starting_.reset();
        } else if (!sharing_.empty()) {
            passed_ += (now - updated_) / static_cast<double>(sharing_.size());
        }
        updated_ = now;
        leave(left);
        if (turns_.empty() || starting_) return;
        starting_ = turns_.front();
        turns_.pop_front();
        const Waiting& next = connections_[*starting_].messages.front();
        until_ = now + next.times.start;
        begin(next.message);
    }

    /// When something changes next, unless a message comes before; nothing: never. Only then is_due().
    std::optional<Seconds> next() { return due_ = next_change(); }
    bool is_due(Seconds now) const { return due_ == now; }

  private:
    std::optional<Seconds> next_change() const {
        if (starting_) return until_;
        if (sharing_.empty()) return std::nullopt;
        return updated_ + (first_to_leave()->at - passed_) * static_cast<double>(sharing_.size());
    }

    struct Waiting {
        std::uint32_t message;
        Times times;
    };
    struct Connection {
        Rank from;
        Rank to;
        std::deque<Waiting> messages;
    };
    /// What has left when each of those that share has had so much of the port.
    struct Sharing {
        std::size_t connection;
        Seconds at;
    };

    void share(std::size_t connection) {
        sharing_.push_back({connection, passed_ + connections_[connection].messages.front().times.shared});
    }

    std::vector<Sharing>::const_iterator first_to_leave() const {
        return std::min_element(sharing_.begin(), sharing_.end(),
                                [](const Sharing& a, const Sharing& b) { return a.at < b.at; });
    }

    template <typename Left>
    void leave(Left left) {
        constexpr Seconds kRounding{1e-12};
        while (!sharing_.empty()) {
            const auto first = first_to_leave();
            if (first->at > passed_ + kRounding) return;
            const std::size_t number = first->connection;
            sharing_.erase(first);
            Connection& connection = connections_[number];
            const std::uint32_t message = connection.messages.front().message;
            connection.messages.pop_front();
            if (!connection.messages.empty()) turns_.push_back(number);
            left(message);
        }
    }

    std::vector<Connection> connections_;  // in the order of their first messages
    std::deque<std::size_t> turns_;        // connections whose next message may start
    std::optional<std::size_t> starting_;  // the connection that has the port alone
    Seconds until_{0};                     // then its start is over
    std::vector<Sharing> sharing_;
    Seconds passed_{0};   // what each of those that share has had of the port
    Seconds updated_{0};  // when that was so
    std::optional<Seconds> due_;
};

/// What messages of a simulated network pass one after the other: shared links and receivers' ports. It is
/// taken when the first byte is there, so that two that come at the same time, slowly, pass side by side.
class SimulatedQueue {
  public:
    explicit SimulatedQueue(Seconds credit = Seconds(0)) : credit_(credit) {}

    struct Passage {
        Seconds first{0};  ///< the first byte goes on
        Seconds last{0};   ///< the last one does, if all has come by then
    };
    /// `may_save`: the part of `each` that credit spares, while there is some.
    Passage pass(Seconds now, Seconds each, Seconds may_save) {
        const Seconds saved = std::min(credit_, may_save);
        credit_ -= saved;
        const Seconds first = std::max(free_, now);
        free_ = first + each - saved;
        return {first, free_};
    }

  private:
    Seconds free_{0};
    Seconds credit_;
};

/// The ports and links of a simulated network.
class SimulatedPorts {
  public:
    explicit SimulatedPorts(const SimulatedNetwork& network)
        : network_(network), sending_(network.port_count) {
        for (std::size_t port = 0; port < network.port_count; ++port) {
            send_credit_.push_back(network.credit ? network.credit(port) : Seconds(0));
            receiving_.emplace_back(send_credit_.back());
        }
    }

    SendingPort& sending(std::size_t port) { return sending_[port]; }

    /// What a message takes of its sender's port.
    SendingPort::Times times(std::size_t port, Rank from, Rank to, Bytes bytes) {
        const Seconds gap = network_.gap(from, to, bytes);
        const Seconds start = start_of(from, to, bytes, gap);
        const Seconds saved = std::min(send_credit_[port], gap - start);
        send_credit_[port] -= saved;
        return {start, gap - start - saved};
    }

    /// A message comes in whose first byte is there.
    SimulatedQueue::Passage receive(std::size_t port, Rank from, Rank to, Bytes bytes, Seconds now) {
        const Seconds gap =
            network_.gap_in ? network_.gap_in(from, to, bytes) : network_.gap(from, to, bytes);
        return receiving_[port].pass(now, gap, gap - start_of(from, to, bytes, gap));
    }

    /// The first byte of a message is at that link.
    SimulatedQueue::Passage pass(const SimulatedNetwork::SharedLink& link, Seconds now) {
        return links_.try_emplace(link.number, link.credit).first->second.pass(now, link.each, link.each);
    }

  private:
    Seconds start_of(Rank from, Rank to, Bytes bytes, Seconds gap) const {
        return network_.start ? std::min(network_.start(from, to, bytes), gap) : gap;
    }

    const SimulatedNetwork& network_;
    std::vector<SendingPort> sending_;
    std::vector<SimulatedQueue> receiving_;
    std::vector<Seconds> send_credit_;
    std::unordered_map<std::size_t, SimulatedQueue> links_;
};

}  // namespace laple
