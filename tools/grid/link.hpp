// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of the wide-area network: when a packet arrives, or that it is lost. No clock, no sockets.
//
//    site a --uplink a (rate, queue)--> link a-b (rate, queue, loss, delay) --> uplink b (rate, queue)-->
//    site b
//
// TCP hands down segments of up to 64 KB that a real network card would cut into packets of the MTU. They
// stay whole here (that is what makes the emulation fast), but are treated as the train of packets that they
// stand for: each packet has headers of its own, one lost packet loses the train, and a train of which the
// first packet has left one stage is already entering the next.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "grid/scenario.hpp"

namespace laple::grid {

/// A point of CLOCK_MONOTONIC, in nanoseconds.
using Instant = Nanoseconds;

/// What a segment looks like on the wire.
struct WireSize {
    Bytes bytes = 0;  ///< of all its packets with their IP and TCP headers
    std::uint32_t packets = 1;
};

/// The wire size of an IPv4 packet of `length` bytes of which each packet on the wire carries `gso_bytes` of
/// payload (0: it is one packet). Reads only the headers; needs min(length, 60) bytes at `packet`.
WireSize wire_size(const unsigned char* packet, std::size_t length, std::size_t gso_bytes);

/// A segment on its way: when its first packet and its last are there.
struct Train {
    Instant first{};
    Instant last{};
    WireSize size;
};

/// A transmitter with a finite queue: packets leave one after the other at `rate_bps`.
class Transmitter {
  public:
    /// A rate of 0 is no limit.
    Transmitter(double rate_bps, Bytes queue_bytes) : rate_bps_(rate_bps), queue_bytes_(queue_bytes) {}

    /// When the train has passed, or nothing when it does not fit into the queue. Call in order of
    /// train.first.
    std::optional<Train> pass(const Train& train);

    /// For what comes from now on, and what is in the queue then. One that had no limit, and so no queue,
    /// gets one of 1 MiB.
    void set_rate(double rate_bps) {
        rate_bps_ = rate_bps;
        if (queue_bytes_ == 0) queue_bytes_ = Bytes{1} << 20;
    }

  private:
    Nanoseconds duration(Bytes bytes) const;

    double rate_bps_;
    Bytes queue_bytes_;
    Instant busy_until_{};
    double queued_bps_ = rate_bps_;  ///< the rate by which busy_until_ was found
};

/// Packets and bytes of one direction between two sites.
struct LinkCounters {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;        ///< packets lost at random
    std::uint64_t overflowed = 0;  ///< packets that found a full queue
};

/// A figure of the network that becomes another one while the grid stands.
struct Change {
    enum class What { delay, rate, loss, uplink };
    What what = What::delay;
    std::size_t a = 0;  ///< the link between these two sites, both ways; of an uplink: its site, and the same
    std::size_t b = 0;
    double value = 0;  ///< seconds, bits a second, or a probability; a rate of 0 is no limit

    bool operator==(const Change&) const = default;
};

/// "LINK WHAT VALUE" as people write it: "north:south delay 20ms", "north uplink 25Mbit"; of sites with these
/// names. Throws Error for what is no such thing.
Change parse_change(const std::string& link, const std::string& what, const std::string& value,
                    const std::vector<std::string>& sites);

/// One line, for the process that has the network, and back. Throws Error when it is none.
std::string line_of(const Change& change);
Change change_of_line(const std::string& line);

/// The wide-area network between all sites of a scenario.
class Wan {
  public:
    Wan(const Scenario& scenario, std::uint64_t seed);

    /// A segment leaves site `from` at `now`: when it reaches the uplink of site `to`, or nothing when it is
    /// dropped. Call in order of `now`.
    std::optional<Train> depart(std::size_t from, std::size_t to, Instant now, WireSize size);

    /// The segment is there (train.first): when its last packet has come through the uplink of `to`, or
    /// nothing when it is dropped. Call in order of train.first.
    std::optional<Instant> arrive(std::size_t from, std::size_t to, const Train& train);

    /// Packets that are under way arrive as they would have. Throws Error where there is no such link.
    void apply(const Change& change);

    const LinkCounters& counters(std::size_t from, std::size_t to) const { return path(from, to).counters; }
    std::size_t sites() const { return egress_.size(); }

  private:
    struct Path {
        SiteLink link;
        Transmitter transmitter;
        Instant last_arrival{};
        LinkCounters counters;
    };
    Path& path(std::size_t from, std::size_t to) { return paths_[from * egress_.size() + to]; }
    const Path& path(std::size_t from, std::size_t to) const { return paths_[from * egress_.size() + to]; }
    bool is_lost(double loss, std::uint32_t packets);
    Nanoseconds jitter(Nanoseconds most);

    std::vector<Transmitter> egress_;
    std::vector<Transmitter> ingress_;
    std::vector<Path> paths_;
    std::mt19937_64 random_;
};

}  // namespace laple::grid
