// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/transit.hpp"

#include <algorithm>
#include <optional>

namespace laple {

void Transit::send(std::uint32_t number) {
    const Message& message = messages_[number];
    const std::size_t port = network_.port_out(message.from, message.to);
    ports_.wait(port, message.from, message.to, number);
    if (!ports_.is_sending(port)) port_is_free(static_cast<std::uint32_t>(port));
}

void Transit::port_is_free(std::uint32_t port) {
    const std::optional<std::uint32_t> next = ports_.next(port);
    if (!next) return;
    Message& message = messages_[*next];
    message.full_gap = network_.gap(message.from, message.to, message.bytes);
    message.start = events_.now();
    message.left = message.passed = events_.now() + ports_.sending(port, message.full_gap);
    if (network_.shared_links) message.links = network_.shared_links(message.from, message.to);
    events_.add(message.left, EventKind::port_is_free, 0, port);
    pass_link(*next);
}

/// Each link when the first byte is there: before, others may come that have been sent later. What a port
/// has saved up is left out of that: a message would be overtaken by the next one, which has less of it.
void Transit::pass_link(std::uint32_t number) {
    Message& message = messages_[number];
    if (message.next_link == message.links.size()) return travel(message, number);
    const Seconds now = events_.now();
    const auto& link = message.links[message.next_link++];
    Seconds& busy = link_busy_[link.number];
    busy = std::max(busy, now) + Seconds(static_cast<double>(message.bytes) / link.bytes_per_second);
    busy = message.passed = std::max(busy, message.passed);
    events_.add(std::max(message.passed - message.full_gap, now), EventKind::pass_link, 0, number);
}

/// Through all links: the way is left, and the receiver's port.
void Transit::travel(const Message& message, std::uint32_t number) {
    if (is_eager_) events_.add(message.passed, EventKind::complete, message.from, message.send);
    const Seconds latency = network_.latency(message.from, message.to);
    events_.add(message.passed + latency, EventKind::arrive, 0, number);
}

/// A port takes messages as they come, not as they were sent.
void Transit::arrive(std::uint32_t number) {
    Message& message = messages_[number];
    const std::size_t port = network_.port_in(message.from, message.to);
    message.arrived = ports_.receiving(port, message.full_gap, events_.now());
}

}  // namespace laple
