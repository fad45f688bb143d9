// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "base/units.hpp"

namespace laple {

enum class EventKind : std::uint8_t {
    start,
    start_paced,
    complete,
    port_changes,
    pass_link,
    arrive,
    deliver
};

struct Event {
    Seconds time;
    std::uint64_t order;  ///< among events of the same time
    EventKind kind;
    Rank rank;             ///< of those of steps
    std::uint32_t number;  ///< a step, a message or a port
    bool operator>(const Event& other) const {
        return time != other.time ? time > other.time : order > other.order;
    }
};

/// The events of a simulation that are still to come, and its time.
class EventQueue {
  public:
    /// Events of the same time happen as they were added, or, where `is_random`, in an order drawn from
    /// `seed`.
    EventQueue(bool is_random, std::uint64_t seed) : is_random_(is_random), random_(seed) {}

    Seconds now() const { return now_; }
    bool is_empty() const { return events_.empty(); }
    void add(Seconds time, EventKind kind, Rank rank, std::uint32_t number) {
        events_.push({time, is_random_ ? random_() : serial_++, kind, rank, number});
    }
    /// Takes the next event out; it is now.
    Event next() {
        const Event event = events_.top();
        events_.pop();
        now_ = event.time;
        return event;
    }

  private:
    bool is_random_;
    std::mt19937_64 random_;
    std::uint64_t serial_ = 0;
    Seconds now_{0};
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace laple
