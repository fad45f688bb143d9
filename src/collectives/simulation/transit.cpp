// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/transit.hpp"

#include <algorithm>

namespace laple {

void Transit::send(std::uint32_t number) {
    const Message& m = messages_[number];
    const std::size_t port = network_.port_out(m.from, m.to);
    ports_.sending(port).wait(m.from, m.to, number, ports_.times(port, m.from, m.to, m.bytes));
    advance(static_cast<std::uint32_t>(port));
}

void Transit::port_changes(std::uint32_t port) {
    if (ports_.sending(port).is_due(events_.now())) advance(port);
}

void Transit::advance(std::uint32_t number) {
    SendingPort& port = ports_.sending(number);
    const auto begin = [&](std::uint32_t message) {
        Message& begun = messages_[message];
        begun.start = begun.passed = events_.now();
        if (network_.shared_links) begun.links = network_.shared_links(begun.from, begun.to, begun.bytes);
        events_.add(events_.now(), EventKind::pass_link, 0, message);
    };
    const auto left = [&](std::uint32_t message) {
        messages_[message].left = events_.now();
        messages_[message].has_left = true;
        go_on(message);
    };
    port.advance(events_.now(), begin, left);
    if (const auto next = port.next()) events_.add(*next, EventKind::port_changes, 0, number);
}

void Transit::pass_link(std::uint32_t number) {
    Message& m = messages_[number];
    if (m.next_link < m.links.size()) {
        const auto passage = ports_.pass(m.links[m.next_link++], events_.now());
        m.passed = std::max(m.passed, passage.last);
        return events_.add(passage.first, EventKind::pass_link, 0, number);
    }
    m.has_passed = true;
    events_.add(events_.now() + network_.latency(m.from, m.to), EventKind::arrive, 0, number);
    go_on(number);
}

/// A port takes messages as they come, not as they were sent.
void Transit::arrive(std::uint32_t number) {
    Message& m = messages_[number];
    m.arrived = ports_.receive(network_.port_in(m.from, m.to), m.from, m.to, m.bytes, events_.now()).last;
    m.has_come = true;
    go_on(number);
}

/// What depends on the last byte, once that is known.
void Transit::go_on(std::uint32_t number) {
    Message& m = messages_[number];
    if (!m.has_left || !m.has_passed) return;
    const Seconds passed = std::max(m.passed, m.left);
    if (!m.is_sent && is_eager_)
        events_.add(std::max(passed, events_.now()), EventKind::complete, m.from, m.send);
    m.is_sent = true;
    if (!m.has_come) return;
    m.arrived = std::max(m.arrived, passed + network_.latency(m.from, m.to));
    if (network_.handshake) m.arrived += network_.handshake(m.from, m.to, m.bytes);
    has_time_(number);
}

}  // namespace laple
