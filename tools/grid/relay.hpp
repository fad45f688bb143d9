// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <string>
#include <vector>

#include "grid/fd.hpp"
#include "grid/layout.hpp"
#include "grid/link.hpp"

namespace laple::grid {

/// Carries packets between the sites' tun devices, each at its time. One thread, one epoll.
class Relay {
  public:
    /// Attaches to the sites' devices (none in a grid of one site). Throws MachineError.
    Relay(const Scenario& scenario, const GridLayout& layout);

    /// Also wake up when this descriptor is readable.
    void watch(int fd);

    /// Relays packets until a watched descriptor is readable; returns that.
    int run();

    const Wan& wan() const { return wan_; }
    Wan& wan() { return wan_; }

  private:
    struct Packet {
        std::size_t from = 0;
        std::size_t to = 0;
        Train train;
        bool has_arrived = false;          ///< at the uplink of its destination
        std::vector<unsigned char> bytes;  ///< vnet header and packet
    };
    struct Event {
        Instant at;
        std::uint64_t order;  ///< of two events at the same time the older one is first
        std::size_t packet;   ///< index into packets_
        bool operator>(const Event& other) const {
            return at != other.at ? at > other.at : order > other.order;
        }
    };

    void read_all(std::size_t site);
    void take(std::size_t from, const unsigned char* data, std::size_t length);
    void run_due_events();
    void handle(std::size_t packet);
    void schedule(Instant at, std::size_t packet);
    void set_timer();
    std::size_t new_packet();

    Wan wan_;
    Fd epoll_;
    Fd timer_;
    std::vector<Fd> tuns_;
    std::vector<Packet> packets_;
    std::vector<std::size_t> free_packets_;  ///< last in, first out: their memory is warm
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t next_order_ = 0;
    Instant timer_at_{};
    std::vector<unsigned char> read_buffer_;
};

}  // namespace laple::grid
