// SPDX-License-Identifier: BSD-3-Clause
#include "grid/link.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace laple::grid {
namespace {

constexpr unsigned kTcp = 6;
constexpr std::size_t kUdpHeader = 8;

std::size_t header_bytes(const unsigned char* packet, std::size_t length) {
    if (length < 20) return length;
    const std::size_t ip = std::size_t{packet[0] & 15u} * 4;
    if (packet[9] != kTcp) return std::min(length, ip + kUdpHeader);
    if (length < ip + 20) return length;
    return std::min(length, ip + static_cast<std::size_t>(packet[ip + 12] >> 4) * 4);
}

}  // namespace

WireSize wire_size(const unsigned char* packet, std::size_t length, std::size_t gso_bytes) {
    if (gso_bytes == 0) return {length, 1};
    const std::size_t headers = header_bytes(packet, length);
    const std::size_t packets = std::max<std::size_t>(1, (length - headers + gso_bytes - 1) / gso_bytes);
    return {length + (packets - 1) * headers, static_cast<std::uint32_t>(packets)};
}

Nanoseconds Transmitter::duration(Bytes bytes) const {
    return Nanoseconds(std::llround(static_cast<double>(bytes) * 8e9 / rate_bps_));
}

std::optional<Train> Transmitter::pass(const Train& train) {
    if (rate_bps_ <= 0) return train;
    if (queued_bps_ != rate_bps_ && queued_bps_ > 0 && busy_until_ > train.first) {
        const double queued = static_cast<double>((busy_until_ - train.first).count()) * queued_bps_;
        busy_until_ = train.first + Nanoseconds(std::llround(queued / rate_bps_));
    }
    queued_bps_ = rate_bps_;
    const Instant start = std::max(train.first, busy_until_);
    const double backlog_bytes = static_cast<double>((start - train.first).count()) * rate_bps_ / 8e9;
    if (backlog_bytes + static_cast<double>(train.size.bytes) > static_cast<double>(queue_bytes_)) {
        return std::nullopt;
    }
    const Nanoseconds one_packet = duration(train.size.bytes / train.size.packets);
    // The train cannot leave faster than it comes in: its last packet follows its own arrival.
    busy_until_ = std::max(start + duration(train.size.bytes), train.last + one_packet);
    return Train{start + one_packet, busy_until_, train.size};
}

Wan::Wan(const Scenario& scenario, std::uint64_t seed) : random_(seed) {
    const std::size_t count = scenario.sites.size();
    for (const Site& site : scenario.sites) {
        egress_.emplace_back(site.uplink_bps, site.uplink_queue_bytes);
        ingress_.emplace_back(site.uplink_bps, site.uplink_queue_bytes);
    }
    for (std::size_t from = 0; from < count; ++from) {
        for (std::size_t to = 0; to < count; ++to) {
            const SiteLink& link = scenario.links[from][to];
            paths_.push_back({link, Transmitter(link.rate_bps, link.queue_bytes), {}, {}});
        }
    }
}

std::optional<Train> Wan::depart(std::size_t from, std::size_t to, Instant now, WireSize size) {
    Path& way = path(from, to);
    way.counters.packets += size.packets;
    way.counters.bytes += size.bytes;
    auto train = egress_[from].pass({now, now, size});
    // Packets of one site leave its uplink in the order in which they came, so that the link's turn is known
    // now.
    if (train) train = way.transmitter.pass(*train);
    if (!train) {
        way.counters.overflowed += size.packets;
        return std::nullopt;
    }
    if (is_lost(way.link.loss, size.packets)) {
        way.counters.lost += size.packets;
        return std::nullopt;
    }
    const Instant first = std::max(train->first + way.link.delay + jitter(way.link.jitter), way.last_arrival);
    way.last_arrival = first;
    return Train{first, first + (train->last - train->first), size};
}

std::optional<Instant> Wan::arrive(std::size_t from, std::size_t to, const Train& train) {
    const auto passed = ingress_[to].pass(train);
    if (!passed) {
        path(from, to).counters.overflowed += train.size.packets;
        return std::nullopt;
    }
    return passed->last;
}

void Wan::apply(const Change& change) {
    if (change.a >= sites() || change.b >= sites() ||
        (change.what != Change::What::uplink && change.a == change.b))
        throw Error("there is no such link", "name two sites of the grid");
    if (change.what == Change::What::uplink) {
        egress_[change.a].set_rate(change.value);
        ingress_[change.a].set_rate(change.value);
        return;
    }
    for (Path* way : {&path(change.a, change.b), &path(change.b, change.a)}) {
        switch (change.what) {
            case Change::What::delay:
                way->link.delay = std::chrono::duration_cast<Nanoseconds>(Seconds(change.value));
                break;
            case Change::What::rate:
                way->transmitter.set_rate(change.value);
                break;
            case Change::What::loss:
                way->link.loss = change.value;
                break;
            case Change::What::uplink:
                break;
        }
    }
}

bool Wan::is_lost(double loss, std::uint32_t packets) {
    if (loss <= 0) return false;
    const double all_survive = std::pow(1 - loss, packets);
    return std::uniform_real_distribution<double>(0, 1)(random_) >= all_survive;
}

Nanoseconds Wan::jitter(Nanoseconds most) {
    if (most.count() == 0) return Nanoseconds(0);
    return Nanoseconds(std::uniform_int_distribution<std::int64_t>(-most.count(), most.count())(random_));
}

}  // namespace laple::grid
