// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/leader_exchange_times.hpp"

#include <algorithm>
#include <utility>

namespace laple {

ExchangeTimes::ExchangeTimes(Pricing& pricing) : times_(pricing) {
    times_.gather_on_hosts();
    for (const MemberRange range : member_ranges(clusters_of_members(pricing.request(), pricing.machine()))) {
        const Bytes bytes = times_.bytes(range.first, range.end);
        clusters_.push_back({range, {}, bytes, 1, bytes});
        clusters_.back().gathered = gather(range);
    }
}

ExchangeTimes::ExchangeTimes(ExchangeTimes begun, Shape within, Bytes segment_bytes, const RingOrder& order)
    : ExchangeTimes(std::move(begun)) {
    clusters_ = in_ring(clusters_, order);
    cluster_of_.resize(at(times_.count()));
    got_.resize(cluster_of_.size());
    for (std::size_t number = 0; number < clusters_.size(); ++number) {
        Cluster& c = clusters_[number];
        for (int member = c.range.first; member < c.range.end; ++member) cluster_of_[at(member)] = number;
        const Segments pieces = Segments::cut(std::max<Bytes>(c.bytes, 1), 1, segment_bytes);
        c.links = links_of(within, c.range.count());
        c.pieces = static_cast<double>(pieces.count());
        c.piece = pieces.segment_bytes();
    }
}

double ExchangeTimes::seconds(ExchangeWay way) {
    if (way == ExchangeWay::ring) {
        go_around();
    } else {
        for (std::size_t c = 0; c < clusters_.size(); ++c) send_from(c);
        times_.clock().deliver(sent_);
        for (std::size_t i = 0; i < sent_.size(); ++i) got_[sent_[i].to].push_back(i);
    }
    double last = times_.seconds();
    for (std::size_t c = 0; c < clusters_.size(); ++c) last = std::max(last, last_in(c));
    return last;
}

double ExchangeTimes::gather(const MemberRange& range) {
    std::vector<NetworkClock::Message> sent;
    for (int member = range.first + 1; member < range.end; ++member) {
        const NetworkClock::Sending block{at(range.first), times_.bytes(member, member + 1)};
        if (block.bytes > 0) times_.clock().send(at(member), times_.ready(member), {&block, 1}, sent);
    }
    times_.clock().deliver(sent);
    double last = times_.ready(range.first);
    for (const auto& message : sent) last = std::max(last, message.last);
    return last;
}

void ExchangeTimes::send_from(std::size_t number) {
    Cluster& c = clusters_[number];
    const std::size_t leader = at(c.range.first);
    const double own = times_.ready(c.range.first);
    const double all = c.gathered;
    const double ready = c.pieces > 1 ? own : all;
    c.has = {ready, all};
    std::vector<NetworkClock::Sending> messages;
    for (std::size_t i = 1; i < clusters_.size(); ++i)
        messages.push_back({at(clusters_[(number + i) % clusters_.size()].range.first), c.piece, c.pieces});
    for (const int child : c.links.children.front())
        messages.push_back({leader + at(child), c.piece, c.pieces});
    if (c.bytes == 0) messages.clear();
    times_.clock().send(leader, ready, messages, sent_);
    double together = 0;  // the first pieces of all
    for (const auto& message : messages) together += piece_of(c, leader, message.to).port_out;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        NetworkClock::Message& message = sent_[sent_.size() - messages.size() + i];
        const MessageTimes piece = piece_of(c, leader, message.to);
        message.last = std::max(message.last, all + piece.interval());
        ahead_.push_back(std::max(together, piece.interval()) + piece.latency);
    }
    c.free = std::max(all, times_.clock().out_free(leader));
}

void ExchangeTimes::go_around() {
    const std::size_t count = clusters_.size();
    around_.assign(count, std::vector<Train>(count));
    std::vector<double> free(count, 0);
    for (std::size_t c = 0; c < count; ++c) {
        const double own = times_.ready(clusters_[c].range.first);
        around_[c][0] = {clusters_[c].pieces > 1 ? own : clusters_[c].gathered, clusters_[c].gathered};
    }
    for (std::size_t i = 0; i + 1 < count; ++i) {
        for (std::size_t c = 0; c < count; ++c) {
            const std::size_t right = (c + 1) % count;
            const Cluster& source = clusters_[sender(c, i)];
            if (source.bytes > 0)
                around_[right][i + 1] =
                    passed(source, at(clusters_[c].range.first), at(clusters_[right].range.first),
                           clusters_[c].links.children.front().size(), around_[c][i], free[c]);
        }
    }
}

ExchangeTimes::Train ExchangeTimes::passed(const Cluster& source, std::size_t from, std::size_t to,
                                           std::size_t children, const Train& train, double& free) {
    const MessageTimes piece = piece_of(source, from, to);
    const double inside = static_cast<double>(children) * piece_of(source, from, from).port_out;
    const double each = std::max(piece.interval(), piece.port_out + inside);
    const double begin = std::max(free, train.first);
    free = std::max(begin + source.pieces * each, train.last + each);
    return {begin + each + piece.latency, free + piece.latency};
}

std::vector<ExchangeTimes::Train> ExchangeTimes::trains_at(std::size_t number, int member) {
    std::vector<Train> trains(clusters_.size());
    for (const std::size_t i : got_[at(member)]) {
        const std::size_t from = cluster_of_[sent_[i].from];
        const double first = sent_[i].first + ahead_[i] - sent_[i].times.latency;
        trains[(number + clusters_.size() - from) % clusters_.size()] = {
            clusters_[from].pieces > 1 ? std::min(first, sent_[i].last) : sent_[i].last, sent_[i].last};
    }
    return trains;
}

std::size_t ExchangeTimes::sender(std::size_t number, std::size_t i) const {
    return (number + clusters_.size() - i) % clusters_.size();
}

void ExchangeTimes::pass_on(std::size_t number, int node, int child, std::size_t children, double free,
                            std::size_t already, std::vector<Train>& trains) {
    const std::size_t from = at(clusters_[number].range.first + node);
    const std::size_t to = at(clusters_[number].range.first + child);
    for (std::size_t i = already; i < trains.size(); ++i) {
        const Cluster& c = clusters_[sender(number, i)];
        if (c.bytes == 0) continue;
        const MessageTimes piece = piece_of(c, from, to);
        const double each = std::max(piece.flow, static_cast<double>(children) * piece.port_out);
        const double begin = std::max(free, trains[i].first);
        free = std::max(begin + c.pieces * each, trains[i].last + each);
        trains[i] = {begin + each + piece.latency, free + piece.latency};
    }
}

double ExchangeTimes::spread(std::size_t number, int fullest, const std::vector<Train>& trains) {
    double memory = 0;
    double last = 0;
    for (std::size_t i = 0; i < trains.size(); ++i) {
        const Cluster& c = clusters_[sender(number, i)];
        if (c.bytes == 0) continue;
        const HostTime piece = times_.on_host(fullest, c.piece, {.down = true});
        memory =
            std::max(std::max(memory, trains[i].first) + (c.pieces - 1) * piece.interval, trains[i].last);
        last = std::max(last, memory + piece.first);
        memory += piece.interval;
    }
    return last;
}

double ExchangeTimes::last_in(std::size_t number) {
    const Cluster& c = clusters_[number];
    int fullest = c.range.first;
    for (int member = c.range.first; member < c.range.end; ++member) {
        if (times_.ranks_on_host(member) > times_.ranks_on_host(fullest)) fullest = member;
    }
    const bool is_ring = !around_.empty();
    std::vector<Train> trains = is_ring ? around_[number] : trains_at(number, c.range.first);
    if (!is_ring) trains.front() = c.has;
    double last = spread(number, fullest, trains);
    for (int node = 0; !c.links.children[at(node)].empty(); node = c.links.children[at(node)].front()) {
        const auto& children = c.links.children[at(node)];
        const bool has_sent_own = node == 0 && !is_ring;
        const std::size_t others = node == 0 && is_ring ? 1 : 0;  // the next leader
        pass_on(number, node, children.front(), children.size() + others, node == 0 ? c.free : 0,
                has_sent_own ? 1 : 0, trains);
        if (has_sent_own) trains.front() = trains_at(number, c.range.first + children.front()).front();
        last = std::max(last, spread(number, fullest, trains));
    }
    return last;
}

}  // namespace laple
