// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/member_times.hpp"

#include <algorithm>
#include <bit>

#include "base/index.hpp"
#include "collectives/algorithms/ring_times.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/trees/host_tree.hpp"

namespace laple {
namespace {

/// The slices of a message that are not empty, the first of which no other exceeds; one without slices.
Segments slices_of(const Request& request, const Machine& machine, MemberLayout layout) {
    const std::size_t ranks = layout.by_slices ? machine.ranks_on(0).size() : 1;
    return Segments::cut_into(request.units, request.unit_bytes, static_cast<int>(ranks));
}

/// Where each part begins in the message or in its first slice, in bytes, and where the last one ends.
std::vector<Bytes> begins_of_parts(const Request& request, const Machine& machine, MemberLayout layout) {
    std::vector<Bytes> begins{0};
    const int count = machine.host_count();
    if (is_gathered(request.collective)) {
        for (const Host host : hosts_in_order(request, machine, layout.order))
            begins.push_back(begins.back() + bytes_of_blocks(request, machine.ranks_on(host)));
        return begins;
    }
    const std::uint64_t units = slices_of(request, machine, layout).units_per_segment;
    const Segments parts = Segments::cut_into(units, request.unit_bytes, count);
    for (int part = 0; part < count; ++part)
        begins.push_back(begins.back() +
                         parts.at(static_cast<std::uint32_t>(part)).units * request.unit_bytes);
    return begins;
}

}  // namespace

MemberTimes::MemberTimes(Pricing& pricing, MemberLayout layout, Bytes segment_bytes)
    : pricing_(pricing),
      slices_(layout.by_slices ? slices_of(pricing.request(), pricing.machine(), layout).count() : 0),
      segment_bytes_(segment_bytes),
      clock_(clusters_of_members(pricing.request(), pricing.machine(), layout.order), pricing.machine(),
             pricing.costs()),
      begins_(begins_of_parts(pricing.request(), pricing.machine(), layout)),
      ready_(clock_.hosts(), 0),
      memory_(clock_.hosts(), 0),
      spread_(clock_.hosts(), 0) {
    for (const Host host : hosts_in_order(pricing.request(), pricing.machine(), layout.order))
        ranks_.push_back(static_cast<int>(pricing.machine().ranks_on(host).size()));
}

double MemberTimes::combining(int member, Bytes bytes) const {
    return pricing_.costs().cluster(clock_.cluster(at(member))).reduction * static_cast<double>(bytes);
}

HostTime MemberTimes::on_host(int member, Bytes bytes, HostWays ways) {
    if (ranks_[at(member)] == 1) return {};
    const MachineCosts::Link& memory = pricing_.costs().cluster(clock_.cluster(at(member))).memory;
    return host_time(pricing_.pricer().members(shape_on_host(false), ranks_[at(member)]),
                     memory.gap.at(bytes).count(), memory.latency, ways.up ? combining(member, bytes) : 0,
                     ways);
}

void MemberTimes::combine_on_hosts() {
    for (int i = 0; i < count(); ++i) {
        ready(i) += slices_ > 0 ? time_of_slices(i, true)
                                : on_host(i, pricing_.request().bytes(), {.up = true}).first;
    }
}

/// A rank copies as many slices in for others as it copies out, or combines.
double MemberTimes::time_of_slices(int member, bool combines) const {
    const Bytes slice = begins_.back();
    const MachineCosts::Link& memory = pricing_.costs().cluster(clock_.cluster(at(member))).memory;
    return memory.latency + (ranks_[at(member)] - 1) *
                                (memory.gap.at(slice).count() + (combines ? combining(member, slice) : 0));
}

void MemberTimes::spread_on_hosts() {
    for (int i = 0; i < count(); ++i) {
        ready(i) += slices_ > 0 ? time_of_slices(i, false)
                                : on_host(i, pricing_.request().bytes(), {.down = true}).first;
    }
}

HostTime MemberTimes::spread_in_segments(Bytes segment_bytes) {
    HostTime longest;
    const double segments = static_cast<double>(bytes(0, count())) / static_cast<double>(segment_bytes);
    for (int i = 0; i < count(); ++i) {
        const HostTime one = on_host(i, segment_bytes, {.down = true});
        longest.first = std::max(longest.first, one.first);
        longest.interval = std::max(longest.interval, segments * one.interval);
    }
    return longest;
}

void MemberTimes::collect_at_root() {
    if (slices_ > 0) ready(0) += time_of_slices(0, false);
}

/// Blocks of all ranks come to the leader's memory one after the other.
void MemberTimes::gather_on_hosts() {
    for (int i = 0; i < count(); ++i) {
        const int others = ranks_[at(i)] - 1;
        if (others == 0) continue;
        const MachineCosts::Link& memory = pricing_.costs().cluster(clock_.cluster(at(i))).memory;
        const Bytes of_rank = bytes(i, i + 1) / static_cast<Bytes>(ranks_[at(i)]);
        ready(i) += memory.latency + others * memory.gap.at(of_rank).count();
    }
}

void MemberTimes::scatter() {
    const ShapeLinks links = links_of(kBinomialShape, count());
    const std::vector<int> below = sizes_below(links);
    std::vector<NetworkClock::Sending> messages;
    for (int i = 0; i < count(); ++i) {
        messages.clear();
        for (const int child : links.children[at(i)]) {
            const Bytes size = bytes(child, child + below[at(child)]);
            if (size > 0) messages.push_back({at(child), size});
            largest_ = std::max(largest_, size);
        }
        sent_.clear();
        clock_.send(at(i), ready(i), messages, sent_);
        deliver();
    }
}

void MemberTimes::deliver() {
    clock_.deliver(sent_);
    for (const auto& message : sent_) ready_[message.to] = std::max(ready_[message.to], message.last);
}

void MemberTimes::send(int from, int to, Bytes bytes) {
    const Bytes piece = piece_of(bytes);
    largest_ = std::max(largest_, piece);
    const double count = piece > 0 ? static_cast<double>(bytes) / static_cast<double>(piece) : 1;
    const std::vector<NetworkClock::Sending> messages(std::max<std::size_t>(slices_, 1),
                                                      {at(to), piece, count});
    clock_.send(at(from), ready(from), messages, sent_);
}

/// Members have larger numbers than their parents.
void MemberTimes::gather() {
    const ShapeLinks links = links_of(kBinomialShape, count());
    const std::vector<int> below = sizes_below(links);
    for (int i = count(); i-- > 0;) {
        sent_.clear();
        for (const int child : links.children[at(i)]) {
            const Bytes size = bytes(child, child + below[at(child)]);
            if (size > 0) send(child, i, size);
        }
        deliver();
    }
}

void MemberTimes::swap(int distance, bool halves) {
    sent_.clear();
    for (int i = 0; i < count(); ++i) {
        const int first = (halves ? i ^ distance : i) / distance * distance;
        const Bytes size = bytes(first, first + distance);
        if (size > 0) send(i, i ^ distance, size);
    }
    const std::vector<double> before = ready_;
    deliver();
    for (int i = 0; i < count() && halves; ++i) {
        const int first = i / distance * distance;
        const Bytes all = bytes(first, first + distance);
        ready(i) = std::max(ready(i), before[at(i)] + combining(i, all - piece_of(all))) +
                   combining(i, piece_of(all));
    }
}

void MemberTimes::doubling_allgather() {
    for (int distance = 1; distance < count(); distance *= 2) swap(distance, false);
}

void MemberTimes::bruck_allgather() {
    for (int distance = 1; distance < count(); distance *= 2) {
        const int lacking = std::min(distance, count() - distance);
        sent_.clear();
        for (int i = 0; i < count(); ++i) {
            const int end = i + lacking;
            const Bytes size = bytes(i, std::min(end, count())) + bytes(0, std::max(end - count(), 0));
            if (size > 0) send(i, (i + count() - distance) % count(), size);
        }
        deliver();
    }
}

/// A gathered message, from the leader of each host.
void MemberTimes::spread_gathered() {
    for (int i = 0; i < count(); ++i) ready(i) += on_host(i, bytes(0, count()), {.down = true}).first;
}

void MemberTimes::halving_reduce_scatter() {
    for (int distance = count() / 2; distance >= 1; distance /= 2) swap(distance, true);
}

/// All at once: the ports queue.
void MemberTimes::pairwise_reduce_scatter() {
    sent_.clear();
    for (int distance = 1; distance < count(); ++distance) {
        for (int i = 0; i < count(); ++i) {
            const int to = (i + distance) % count();
            if (bytes(to, to + 1) > 0) send(i, to, bytes(to, to + 1));
        }
    }
    deliver_from_all();
    for (int i = 0; i < count(); ++i) ready(i) += (count() - 1) * combining(i, bytes(i, i + 1));
}

void MemberTimes::pairwise_allgather() {
    sent_.clear();
    for (int distance = 1; distance < count(); ++distance) {
        for (int i = 0; i < count(); ++i)
            if (bytes(i, i + 1) > 0) send(i, (i + distance) % count(), bytes(i, i + 1));
    }
    deliver_from_all();
}

/// Where ranks wait for processors, each message of a rank occupies one for a while, during which its port
/// serves the other ranks.
void MemberTimes::deliver_from_all() {
    std::vector<double> ready_at_work;
    for (int i = 0; i < count(); ++i) {
        const double at_work = pricing_.costs().time_at_work(clock_.cluster(at(i)));
        ready_at_work.push_back(ready(i) + (count() - 1) * at_work);
    }
    deliver();
    for (std::size_t i = 0; i < ready_.size(); ++i) ready_[i] = std::max(ready_[i], ready_at_work[i]);
}

void MemberTimes::combine_whole(std::span<const int> members) {
    for (const int i : members) ready(i) += combining(i, pricing_.request().bytes());
}

void MemberTimes::doubling_allreduce() {
    const Bytes bytes = pricing_.request().bytes();
    const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(count())));
    const int surplus = count() - power;
    std::vector<int> swapping;
    for (int i = 0; i < power; ++i) swapping.push_back(i < surplus ? 2 * i + 1 : i + surplus);
    const auto folding = std::span(swapping).first(at(surplus));
    const auto send_all = [&](const auto& send_each) {
        sent_.clear();
        send_each();
        deliver();
    };
    if (surplus > 0)
        send_all([&] {
            for (const int i : folding) send(i - 1, i, bytes);
        });
    combine_whole(folding);
    for (int distance = 1; distance < power; distance *= 2) {
        send_all([&] {
            for (int i = 0; i < power; ++i) send(swapping[at(i)], swapping[at(i ^ distance)], bytes);
        });
        combine_whole(swapping);
    }
    if (surplus > 0)
        send_all([&] {
            for (const int i : folding) send(i, i - 1, bytes);
        });
}

void MemberTimes::disseminate() {
    for (int distance = 1; distance < count(); distance *= 2) {
        sent_.clear();
        for (int i = 0; i < count(); ++i) send(i, (i + distance) % count(), 0);
        deliver();
    }
}

void MemberTimes::ring_allgather() {
    RingBlocks blocks;
    for (int i = 0; i < count(); ++i) blocks.push_back({{i, ready(i)}});
    pass_around({0, count()}, blocks, false);
}

/// The sum of a part begins with its owner's right neighbour.
void MemberTimes::ring_reduce_scatter() {
    RingBlocks blocks;
    for (int i = 0; i < count(); ++i) blocks.push_back({{(i + count() - 1) % count(), ready(i)}});
    pass_around({0, count()}, blocks, true);
}

void MemberTimes::pass_around(MemberRange range, const RingBlocks& blocks, bool combines) {
    for (int i = 0; i < count(); ++i) largest_ = std::max(largest_, bytes(i, i + 1));
    RingTimes(*this, range, blocks, combines).pass_all();
}

double MemberTimes::seconds() const {
    if (row_of(pricing_.request().collective).runs_to_root)
        return std::max(ready_.front(), clock_.sustained());
    return std::max({*std::max_element(ready_.begin(), ready_.end()),
                     *std::max_element(spread_.begin(), spread_.end()), clock_.sustained()});
}

}  // namespace laple
