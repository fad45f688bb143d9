// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/ring_times.hpp"

#include <algorithm>
#include <utility>

#include "base/index.hpp"

namespace laple {
namespace {

/// The fewest rounds that are looked at, and in how many messages there may be more.
constexpr std::size_t kLeastRounds = 16;
constexpr std::size_t kMostMessages = 1 << 16;

/// The number of `value` among those that are known, of which it becomes one.
template <typename Value>
std::size_t number_of(const Value& value, std::vector<Value>& known) {
    const auto found = std::find(known.begin(), known.end(), value);
    if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
    known.push_back(value);
    return known.size() - 1;
}

}  // namespace

RingTimes::RingTimes(MemberTimes& times, MemberRange range, const RingBlocks& blocks, bool combines)
    : times_(times), range_(range), blocks_(blocks), combines_(combines), places_(blocks.size()) {
    find_sizes();
    find_links();
}

void RingTimes::find_sizes() {
    size_of_.resize(places_);
    for (std::size_t i = 0; i < places_; ++i) {
        for (const RingBlock& block : blocks_[i])
            size_of_[i].push_back(number_of(times_.bytes(block.member, block.member + 1), sizes_));
        most_ = std::max(most_, blocks_[i].size());
    }
}

/// Few kinds of them: between two clusters, or inside one, and of hosts with so many ranks.
void RingTimes::find_links() {
    std::vector<std::pair<int, int>> ways;
    std::vector<std::pair<int, int>> kinds;
    for (std::size_t i = 0; i < places_; ++i) {
        const std::size_t from = at(member(i));
        const int to = member(i + 1);
        const int cluster = times_.clock().cluster(at(to));
        link_of_.push_back(number_of({times_.clock().cluster(from), cluster}, ways) * sizes_.size());
        host_of_.push_back(number_of({cluster, times_.ranks_on_host(to)}, kinds) * sizes_.size());
        for (std::size_t s = links_.size(); s < ways.size() * sizes_.size(); ++s) {
            const Bytes size = sizes_[s % sizes_.size()];
            const MessageTimes& message = times_.clock().times(from, at(to), size);
            links_.push_back({message.interval(), message.alone(), message.port_out - message.start,
                              combines_ ? times_.combining(to, size) : 0});
        }
        for (std::size_t s = hosts_.size(); s < kinds.size() * sizes_.size(); ++s)
            hosts_.push_back(times_.on_host(to, sizes_[s % sizes_.size()], {.down = !combines_}));
    }
}

void RingTimes::pass_all() {
    begin();
    const std::size_t in_round = places_ * std::max<std::size_t>(most_, 1);
    const std::size_t rounds = std::min(places_ - 1, std::max(kLeastRounds, kMostMessages / in_round));
    for (std::size_t round = 0; round < rounds; ++round) {
        if (round == rounds / 2) half_way_ = free_;
        pass(round);
    }
    end(rounds);
}

/// Owners have their blocks.
void RingTimes::begin() {
    combined_.assign(places_, 0);
    there_.assign(places_ * most_, 0);
    next_there_.assign(places_ * most_, 0);
    for (std::size_t i = 0; i < places_; ++i) {
        free_.push_back(times_.clock().out_free(at(member(i))));
        credit_.push_back(times_.clock().credit(at(member(i))));
        for (std::size_t b = 0; b < blocks_[i].size(); ++b) {
            there_[i * most_ + b] = blocks_[i][b].ready;
            const Bytes size = sizes_[size_of_[i][b]];
            if (!combines_ && size > 0)
                times_.spread(member(i), times_.on_host(member(i), size, {.down = true}),
                              blocks_[i][b].ready);
        }
    }
}

void RingTimes::pass(std::size_t round) {
    for (std::size_t i = 0; i < places_; ++i) {
        const std::size_t owner = i >= round ? i - round : i + places_ - round;
        const std::size_t next = i + 1 < places_ ? i + 1 : 0;
        for (std::size_t b = 0; b < size_of_[owner].size(); ++b) {
            const std::size_t size = size_of_[owner][b];
            if (sizes_[size] == 0) continue;
            const Link& link = links_[link_of_[i] + size];
            const double saved = std::min(credit_[i], link.may_save);
            credit_[i] -= saved;
            const double starts = std::max(there_[i * most_ + b], free_[i]);
            free_[i] = starts + link.interval - saved;
            double there = starts + link.until_there - saved;
            if (combines_) {
                there = std::max(there, combined_[next]) + link.combining;
                combined_[next] = there;
            } else {
                times_.spread(member(next), hosts_[host_of_[i] + size], there);
            }
            next_there_[next * most_ + b] = there;
        }
    }
    std::swap(there_, next_there_);
}

void RingTimes::end(std::size_t rounds) {
    const auto left_out = static_cast<double>(places_ - 1 - rounds);
    const auto largest =
        static_cast<std::size_t>(std::max_element(sizes_.begin(), sizes_.end()) - sizes_.begin());
    std::vector<double> blocks_of_size(sizes_.size(), 0);
    for (const auto& sizes : size_of_) {
        for (const std::size_t size : sizes) blocks_of_size[size] += 1;
    }
    for (std::size_t i = 0; i < places_; ++i) {
        const int here = member(i);
        double later = 0;
        if (left_out > 0)
            later = left_out * (free_[i] - half_way_[i]) / static_cast<double>(rounds - rounds / 2);
        double busy = 0;
        for (std::size_t size = 0; size < sizes_.size(); ++size)
            busy += blocks_of_size[size] * links_[link_of_[i] + size].interval;
        // Those of its right neighbour end here.
        for (const std::size_t size : size_of_[(i + 1) % places_])
            busy -= links_[link_of_[i] + size].interval;
        times_.clock().set_sent(at(here), free_[i] + later, credit_[i], busy);
        for (std::size_t b = 0; b < most_; ++b)
            times_.ready(here) = std::max(times_.ready(here), there_[i * most_ + b] + later);
        if (later > 0 && !combines_)
            times_.spread(here, hosts_[host_of_[(i + places_ - 1) % places_] + largest], times_.ready(here));
    }
}

}  // namespace laple
