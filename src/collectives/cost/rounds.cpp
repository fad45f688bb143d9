// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plogp/uplink_burst.hpp"

namespace laple {

Rounds::Rounds(Rank root, const Machine& machine, const MachineCosts& costs, Members members)
    : costs_(costs), port_free_(static_cast<std::size_t>(machine.host_count()), 0) {
    const int size = machine.rank_count();
    for (Host host = 0; host < machine.host_count(); ++host) {
        const MachineCosts::Cluster& cluster = costs.cluster(machine.cluster_of(host));
        credit_.push_back(costs.shares_ports ? cluster.credit() : 0);
        usual_credit_.push_back(costs.shares_ports ? cluster.usual_credit() : 0);
    }
    std::vector<bool> has_leader(port_free_.size(), false);
    for (int i = 0; i < size; ++i) {
        const Host host = machine.host_of((root + i) % size);
        const bool is_leader = !has_leader[static_cast<std::size_t>(host)];
        has_leader[static_cast<std::size_t>(host)] = true;
        if (members == Members::leaders && !is_leader) continue;
        host_of_.push_back(static_cast<std::size_t>(host));
        cluster_of_.push_back(machine.cluster_of(host));
    }
    ready_.assign(cluster_of_.size(), 0);
    busy_.assign(port_free_.size(), 0);
    receives_ = busy_;
    out_ = uplinks(&MachineCosts::likely_uplink_out, machine);
    in_ = uplinks(&MachineCosts::likely_uplink_in, machine);
    for (int a = 0; a < costs.count(); ++a) {
        for (int b = 0; b < costs.count(); ++b)
            between_.push_back({a == b || costs.link(a, b).carries_more ? 0 : costs.link(a, b).all, 0});
    }
}

std::vector<Rounds::Uplink> Rounds::uplinks(double (MachineCosts::*rate)(int c, int hosts) const,
                                            const Machine& machine) const {
    std::vector<int> hosts(static_cast<std::size_t>(costs_.count()), 0);
    for (Host host = 0; host < machine.host_count(); ++host)
        ++hosts[static_cast<std::size_t>(machine.cluster_of(host))];
    std::vector<Uplink> found(hosts.size());
    for (int c = 0; c < costs_.count(); ++c)
        found[static_cast<std::size_t>(c)].rate = (costs_.*rate)(c, hosts[static_cast<std::size_t>(c)]);
    return found;
}

std::size_t Rounds::half() const {
    std::size_t half = 1;
    while (half * 2 < members()) half *= 2;
    return half;
}

void Rounds::begin(Bytes bytes, bool combines) {
    if (combines != combines_) known_.clear();
    combines_ = combines;
    go_on_with(bytes);
    next_ = ready_;
}

void Rounds::go_on_with(Bytes bytes) {
    if (bytes == bytes_ && !known_.empty()) return;
    bytes_ = bytes;
    const auto clusters = static_cast<std::size_t>(costs_.count());
    known_.assign(clusters * (clusters + 1), -1);
}

void Rounds::send(std::size_t from, std::size_t to) {
    const bool is_local = this->is_local(from, to);
    const double busy = gap_of(from, to);
    const double gap = is_local ? busy : rested(from, busy);
    double left = ready_[from] + gap;
    if (!is_local) {
        double& free = port_free_[host_of_[from]];
        left = free = std::max(free, ready_[from]) + gap;
        left = past_links(from, to, left);
        receive(from, to);
    }
    next_[from] = std::max(next_[from], left);
    next_[to] = std::max(next_[to], left + handshake(from, to) + latency_of(from, to) + ramp(from, to, busy));
}

void Rounds::receive(std::size_t from, std::size_t to) {
    const double nic = costs_.cluster(cluster(to)).nic_in;
    receives_[host_of_[to]] +=
        nic > 0 ? std::min(static_cast<double>(bytes_) / nic, gap_of(from, to)) : gap_of(from, to);
}

double Rounds::past_links(std::size_t from, std::size_t to, double left) {
    if (cluster(from) == cluster(to)) return left;
    const auto a = static_cast<std::size_t>(cluster(from));
    const auto b = static_cast<std::size_t>(cluster(to));
    for (Uplink* const link : {&out_[a], &between_[a * out_.size() + b], &in_[b]})
        left = link->free = std::max(left, link->free + link->time_of(static_cast<double>(bytes_)));
    return left;
}

double Rounds::last() const {
    return std::max(*std::max_element(ready_.begin(), ready_.end()), busiest());
}

double Rounds::at_root() const {
    return std::max(ready_.front(), busiest());
}

void Rounds::binomial_down(Bytes bytes) {
    for (std::size_t distance = half(); distance >= 1; distance /= 2) {
        begin(bytes, false);
        for (std::size_t i = 0; i + distance < members(); i += 2 * distance) send(i, i + distance);
        end();
    }
}

void Rounds::binomial_up(Bytes bytes, bool combines) {
    for (std::size_t distance = 1; distance <= half(); distance *= 2) {
        begin(bytes, combines);
        for (std::size_t i = 0; i + distance < members(); i += 2 * distance) send(i + distance, i);
        end();
    }
}

/// The last subtree may be smaller than the others.
void Rounds::blocks_down(Bytes block) {
    for (std::size_t distance = half(); distance >= 1; distance /= 2) {
        begin(distance * block, false);
        for (std::size_t i = 0; i + distance < members(); i += 2 * distance) {
            if (below(i, distance) < distance) go_on_with(below(i, distance) * block);
            send(i, i + distance);
        }
        end();
    }
}

void Rounds::blocks_up(Bytes block) {
    for (std::size_t distance = 1; distance <= half(); distance *= 2) {
        begin(distance * block, false);
        for (std::size_t i = 0; i + distance < members(); i += 2 * distance) {
            if (below(i, distance) < distance) go_on_with(below(i, distance) * block);
            send(i + distance, i);
        }
        end();
    }
}

void Rounds::swap_all(std::size_t distance, Bytes bytes, bool combines) {
    begin(bytes, combines);
    for (std::size_t i = 0; i < members(); ++i) {
        const std::size_t partner = i ^ distance;
        if (partner < members()) send(i, partner);
    }
    end();
}

void Rounds::fold(Bytes bytes) {
    if (2 * half() == members()) return;
    begin(bytes, true);
    for (std::size_t i = 0; i < members() - half(); ++i) send(2 * i, 2 * i + 1);
    end();
}

void Rounds::unfold(Bytes bytes) {
    if (2 * half() == members()) return;
    begin(bytes, false);
    for (std::size_t i = 0; i < members() - half(); ++i) send(2 * i + 1, 2 * i);
    end();
}

std::size_t Rounds::folded(std::size_t i) const {
    const std::size_t surplus = members() - folded_members();
    return i < surplus ? 2 * i + 1 : i + surplus;
}

void Rounds::swap_folded(std::size_t distance, Bytes bytes, bool combines) {
    begin(bytes, combines);
    for (std::size_t i = 0; i < folded_members(); ++i) send(folded(i), folded(i ^ distance));
    end();
}

void Rounds::swap_folded(Bytes bytes) {
    for (std::size_t distance = 1; distance < folded_members(); distance *= 2)
        swap_folded(distance, bytes, true);
}

void Rounds::halving(Bytes bytes) {
    for (std::size_t distance = folded_members() / 2; distance >= 1; distance /= 2)
        swap_folded(distance, bytes /= 2, true);
}

void Rounds::halving_near_first(Bytes bytes) {
    for (std::size_t distance = 1; distance < folded_members(); distance *= 2)
        swap_folded(distance, bytes /= 2, true);
}

void Rounds::doubling_far_first(Bytes bytes) {
    for (std::size_t distance = folded_members() / 2; distance >= 1; distance /= 2) {
        swap_folded(distance, bytes, false);
        bytes *= 2;
    }
}

/// A root that has given its part away takes the place of the one that has it.
void Rounds::gathering_far_first(Bytes bytes) {
    begin(bytes, false);
    if (folded(0) != 0) send(folded(0), 0);
    end();
    for (std::size_t distance = folded_members() / 2; distance >= 1; distance /= 2) {
        begin(bytes, false);
        for (std::size_t i = 0; i < distance; ++i) send(folded(i + distance), i == 0 ? 0 : folded(i));
        end();
        bytes *= 2;
    }
}

void Rounds::doubling(Bytes bytes) {
    for (std::size_t distance = 1; distance <= half(); distance *= 2) {
        swap_all(distance, bytes, false);
        bytes *= 2;
    }
}

void Rounds::allgather_by_index(Bytes bytes) {
    for (std::size_t distance = 1; distance < members(); distance *= 2) {
        begin(bytes * std::min(distance, members() - distance), false);
        for (std::size_t i = 0; i < members(); ++i) send(i, (i + members() - distance) % members());
        end();
    }
}

void Rounds::ring(Bytes bytes, bool combines) {
    begin(bytes, combines);
    double gaps = 0;
    double latencies = 0;
    double longest = 0;  // of a round: who sends a long message goes on when the receiver has answered
    std::vector<double> of_port(port_free_.size(), 0);  // in a round
    std::vector<double> of_uplink(out_.size(), 0);      // likewise: as many messages come in
    std::vector<double> of_link(between_.size(), 0);    // likewise
    for (std::size_t i = 0; i < members(); ++i) {
        const std::size_t next = (i + 1) % members();
        gaps += gap_of(i, next);
        latencies += handshake(i, next) + latency_of(i, next);
        longest = std::max(longest, gap_of(i, next) + handshake(i, next));
        if (!is_local(i, next)) of_port[host_of_[i]] += gap_of(i, next);
        const auto c = static_cast<std::size_t>(cluster(i));
        const auto bytes_of_message = static_cast<double>(bytes_);
        if (cluster(i) == cluster(next)) continue;
        of_uplink[c] += std::max(out_[c].time_of(bytes_of_message), in_[c].time_of(bytes_of_message));
        const std::size_t link = c * out_.size() + static_cast<std::size_t>(cluster(next));
        of_link[link] += between_[link].time_of(bytes_of_message);
    }
    double slowest = 0;
    for (const auto* times : {&of_port, &of_uplink, &of_link})
        slowest = std::max(slowest, *std::max_element(times->begin(), times->end()));
    const double saved = *std::min_element(credit_.begin(), credit_.end());
    const double all_of_longest = std::max(longest, slowest) * static_cast<double>(members() - 1);
    const double time = std::max(latencies + std::max(gaps - saved, 0.0), all_of_longest - saved);
    for (double& ready : ready_) ready += time;
    for (double& busy : busy_) busy += slowest * static_cast<double>(members() - 1);
}

void Rounds::index(Bytes bytes) {
    for (std::size_t distance = 1; distance <= half(); distance *= 2) {
        begin(bytes * members() / 2, false);
        for (std::size_t i = 0; i < members(); ++i) send(i, (i + distance) % members());
        end();
    }
}

/// Of many rounds some are looked at, which stand for the others. Multiples of the golden ratio are spread
/// evenly, and keep no step with ranks that are dealt round.
void Rounds::pairwise(Bytes bytes, bool combines) {
    constexpr std::size_t kMostRounds = 256;
    constexpr double kGoldenRatio = 0.6180339887498949;
    const bool are_all = members() <= kMostRounds;
    const std::size_t rounds = are_all ? members() - 1 : kMostRounds;
    for (std::size_t round = 0; round < rounds; ++round) {
        const double multiple = static_cast<double>(round) * kGoldenRatio;
        const double part = multiple - std::floor(multiple);
        const std::size_t other =
            are_all ? round : static_cast<std::size_t>(part * static_cast<double>(members() - 1));
        begin(bytes, combines);
        for (std::size_t i = 0; i < members(); ++i) send(i, (i + other + 1) % members());
        end();
    }
    if (are_all) return;
    const double scale = static_cast<double>(members() - 1) / static_cast<double>(rounds);
    for (std::vector<double>* const times : {&ready_, &busy_, &receives_}) {
        for (double& time : *times) time *= scale;
    }
}

/// Of each cluster, for its first member: how long the ways of its messages are if it waits for so many at a
/// time.
std::vector<double> Rounds::longest_ways(std::size_t together) const {
    std::vector<double> ways(out_.size(), -1);
    for (std::size_t i = 0; i < members(); ++i) {
        double& all = ways[static_cast<std::size_t>(cluster(i))];
        if (all >= 0) continue;
        all = 0;
        for (std::size_t first = 1; first < members(); first += together) {
            double longest = 0;
            for (std::size_t k = first; k < std::min(first + together, members()); ++k) {
                const std::size_t to = (i + k) % members();
                longest = std::max(longest, handshake(i, to) + latency_of(i, to));
            }
            all += longest;
        }
    }
    return ways;
}

void Rounds::shift(Bytes bytes) {
    begin(bytes, false);
    for (std::size_t i = 0; i + 1 < members(); ++i) send(i, i + 1);
    end();
}

void Rounds::all_to_all(Bytes bytes, std::size_t together) {
    begin(bytes, false);
    const std::vector<double> ways = longest_ways(together);
    std::vector<double> in_cluster(out_.size(), 0);
    std::vector<double> on_host(port_free_.size(), 0);
    for (std::size_t i = 0; i < members(); ++i) {
        ++in_cluster[static_cast<std::size_t>(cluster(i))];
        ++on_host[host_of_[i]];
    }
    double last = 0;
    for (std::size_t i = 0; i < members(); ++i) {
        const int own = cluster(i);
        const double here = on_host[host_of_[i]];
        double sent = 0;  // to other hosts
        for (int c = 0; c < costs_.count(); ++c) {
            const double others = in_cluster[static_cast<std::size_t>(c)] - (c == own ? here : 0);
            if (others <= 0) continue;
            sent += others * gap_between(own, c);
        }
        last = std::max(last, sent + (here - 1) * gap_inside(own) + ways[static_cast<std::size_t>(own)]);
        busy_[host_of_[i]] += sent;
        port_free_[host_of_[i]] += sent;
    }
    last = std::max(
        {last, *std::max_element(port_free_.begin(), port_free_.end()), busiest_uplink(), busiest_link()});
    for (double& ready : ready_) ready += last;
}

/// The latency between a cluster and the nearest other one; 0 where there is none.
double Rounds::nearest_cluster(int c) const {
    double nearest = costs_.count() > 1 ? std::numeric_limits<double>::infinity() : 0;
    for (int other = 0; other < costs_.count(); ++other) {
        if (other != c)
            nearest = std::min({nearest, costs_.link(c, other).latency, costs_.link(other, c).latency});
    }
    return nearest;
}

std::vector<double> Rounds::members_of_clusters() const {
    std::vector<double> ranks(out_.size(), 0);
    for (std::size_t i = 0; i < members(); ++i) ++ranks[static_cast<std::size_t>(cluster(i))];
    return ranks;
}

/// Of each cluster, when all send `bytes_` to all others.
std::vector<Rounds::Leaving> Rounds::all_that_leaves() const {
    const std::vector<double> ranks = members_of_clusters();
    std::vector<Leaving> leaving(out_.size());
    std::vector<bool> is_counted(port_free_.size(), false);
    for (std::size_t i = 0; i < members(); ++i) {
        const auto c = static_cast<std::size_t>(cluster(i));
        if (!is_counted[host_of_[i]]) leaving[c].ports += costs_.cluster(cluster(i)).nic_out;
        is_counted[host_of_[i]] = true;
    }
    for (std::size_t c = 0; c < ranks.size(); ++c)
        leaving[c].bytes =
            ranks[c] * (static_cast<double>(members()) - ranks[c]) * static_cast<double>(bytes_);
    return leaving;
}

/// Senders have something for all clusters at the same time, each its part of their NICs.
std::vector<Rounds::Leaving> Rounds::all_between() const {
    const std::vector<double> ranks = members_of_clusters();
    const std::vector<Leaving> leaving = all_that_leaves();
    std::vector<Leaving> between(between_.size());
    for (std::size_t a = 0; a < ranks.size(); ++a) {
        for (std::size_t b = 0; b < ranks.size(); ++b) {
            if (a == b) continue;
            const double bytes = ranks[a] * ranks[b] * static_cast<double>(bytes_);
            const double part = leaving[a].bytes > 0 ? bytes / leaving[a].bytes : 0;
            between[a * ranks.size() + b] = {bytes, part * leaving[a].ports};
        }
    }
    return between;
}

double Rounds::most_waiting(Bytes bytes) {
    begin(bytes, false);
    double most = 0;
    const auto look_at = [&](const std::vector<Leaving>& leaving, const std::vector<Uplink>& links) {
        for (std::size_t i = 0; i < links.size(); ++i) {
            if (links[i].rate > 0)
                most =
                    std::max(most, waiting_at_uplink(leaving[i].bytes, 0, leaving[i].ports, links[i].rate));
        }
    };
    look_at(all_that_leaves(), out_);
    look_at(all_between(), between_);
    return most;
}

/// What passes it last has its latency before it.
double Rounds::busiest_link() const {
    const std::vector<Leaving> between = all_between();
    double longest = 0;
    for (int a = 0; a < costs_.count(); ++a) {
        for (int b = 0; b < costs_.count(); ++b) {
            const auto i = static_cast<std::size_t>(a * costs_.count() + b);
            const double time = between_[i].time_of(between[i].bytes);
            if (time > 0) longest = std::max(longest, time + costs_.link(a, b).latency);
        }
    }
    return longest;
}

/// When all have sent `bytes_` to all others. What waits at an uplink beyond its queue is lost: so overrun,
/// all blocks of 64 KiB between 16 hosts at 4 sites took 5 times as long as the uplinks need, of 512 KiB 2.4.
double Rounds::busiest_uplink() const {
    constexpr double kUsualQueue = 512 * 1024;
    constexpr double kOverrun = 2;
    const std::vector<Leaving> leaving = all_that_leaves();
    double longest = 0;
    for (int c = 0; c < costs_.count(); ++c) {
        const auto& [all, port] = leaving[static_cast<std::size_t>(c)];
        const double out = out_[static_cast<std::size_t>(c)].rate;
        const double in = in_[static_cast<std::size_t>(c)].rate;
        const double latency = nearest_cluster(c);  // what passes the uplink last has that way before it
        if (in > 0) longest = std::max(longest, all / in + latency);
        if (out <= 0) continue;
        const double queue = costs_.cluster(c).burst > 0 ? costs_.cluster(c).burst : kUsualQueue;
        const bool overruns = waiting_at_uplink(all, 0, port, out) > queue;
        longest = std::max(longest, (overruns ? kOverrun : 1) * all / out + latency);
    }
    return longest;
}

std::vector<std::size_t> Rounds::leaders() const {
    std::vector<std::size_t> leaders;
    std::vector<bool> has_leader(port_free_.size(), false);
    for (std::size_t i = 0; i < members(); ++i) {
        if (!has_leader[host_of_[i]]) leaders.push_back(i);
        has_leader[host_of_[i]] = true;
    }
    return leaders;
}

int Rounds::rounds_of_barrier() const {
    return static_cast<int>(std::bit_width(leaders().size() - 1));
}

/// By a binomial tree.
void Rounds::tell_on_host() {
    std::vector<unsigned> ranks(port_free_.size(), 0);
    std::vector<double> last(port_free_.size(), 0);
    for (std::size_t i = 0; i < members(); ++i) {
        ++ranks[host_of_[i]];
        last[host_of_[i]] = std::max(last[host_of_[i]], ready_[i]);
    }
    for (std::size_t i = 0; i < members(); ++i) {
        const MachineCosts::Link& memory = costs_.cluster(cluster(i)).memory;
        const auto steps = static_cast<double>(std::bit_width(ranks[host_of_[i]] - 1));
        ready_[i] = last[host_of_[i]] + steps * (memory.gap.at(0).count() + memory.latency);
    }
}

void Rounds::barrier() {
    const std::vector<std::size_t> leaders = this->leaders();
    tell_on_host();
    for (std::size_t distance = 1; distance < leaders.size(); distance *= 2) {
        begin(0, false);
        for (std::size_t i = 0; i < leaders.size(); ++i)
            send(leaders[i], leaders[(i + distance) % leaders.size()]);
        end();
    }
    tell_on_host();
}

double Rounds::busiest() const {
    double most = 0;
    for (std::size_t host = 0; host < busy_.size(); ++host)
        most = std::max(most, std::max(busy_[host], receives_[host]) - usual_credit_[host]);
    return most;
}

double Rounds::rested(std::size_t from, double gap) {
    const std::size_t host = host_of_[from];
    busy_[host] += gap;
    const double saved = std::min(credit_[host], gap);
    credit_[host] -= saved;
    return gap - saved;
}

double Rounds::latency_of(std::size_t from, std::size_t to) const {
    return link(from, to).latency;
}

double Rounds::handshake(std::size_t from, std::size_t to) const {
    return is_local(from, to) ? 0 : handshake_between(cluster(from), cluster(to));
}

double Rounds::handshake_between(int a, int b) const {
    constexpr double kUsualLimit = 16 * 1024;  // of MPICH over TCP, in bytes
    // The curves of links between clusters have it from the least limit on (MachineCosts::handshake).
    const double known = a == b ? costs_.cluster(a).eager_limit : costs_.eager_limit();
    const bool is_long = static_cast<double>(bytes_) > (known > 0 ? known : kUsualLimit);
    return is_long ? costs_.link(a, b).latency + costs_.link(b, a).latency : 0;
}

double Rounds::ramp(std::size_t from, std::size_t to, double gap) const {
    if (cluster(from) == cluster(to) || bytes_ == 0) return 0;
    const auto bytes = static_cast<double>(bytes_);
    return costs_.ramp(latency_of(from, to), bytes, gap / bytes);
}

double Rounds::gap_of(std::size_t from, std::size_t to) {
    return is_local(from, to) ? gap_inside(cluster(from)) : gap_between(cluster(from), cluster(to));
}

double Rounds::gap_between(int a, int b) {
    double& known = known_[static_cast<std::size_t>(a * costs_.count() + b)];
    if (known >= 0) return known;
    // What the curve has of a handshake is no work of the port's.
    return known = gap_by(costs_.link(a, b), b, known) - costs_.handshake(a, b, bytes_);
}

double Rounds::gap_inside(int c) {
    return gap_by(costs_.cluster(c).memory, c,
                  known_[static_cast<std::size_t>(costs_.count() * costs_.count() + c)]);
}

double Rounds::gap_by(const MachineCosts::Link& link, int to, double& known) const {
    if (known < 0) {
        const double combining = combines_ ? costs_.cluster(to).reduction * static_cast<double>(bytes_) : 0;
        known = link.gap.at(bytes_).count() + combining;
    }
    return known;
}

}  // namespace laple
