// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/block_trees.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/index.hpp"

namespace laple {

BlockTrees::BlockTrees(const Machine& machine, Aggregation aggregation, bool are_long, std::vector<int> ring)
    : machine_(machine),
      aggregation_(aggregation),
      are_long_(are_long),
      ring_(std::move(ring)),
      place_in_ring_(ring_.size()),
      turns_(machine),
      place_(at(machine.host_count())),
      place_on_host_(at(machine.rank_count())) {
    for (int cluster = 0; cluster < machine.cluster_count(); ++cluster) {
        int place = 0;
        for (const Host host : machine.hosts_in(cluster)) place_[at(host)] = place++;
    }
    for (Host host = 0; host < machine.host_count(); ++host) {
        int place = 0;
        for (const Rank rank : machine.ranks_on(host)) place_on_host_[at(rank)] = place++;
    }
    for (std::size_t place = 0; place < ring_.size(); ++place)
        place_in_ring_[at(ring_[place])] = static_cast<int>(place);
}

int BlockTrees::ring_neighbour(int cluster, int distance) const {
    const auto count = static_cast<int>(ring_.size());
    return ring_[at((place_in_ring_[at(cluster)] + distance + count) % count)];
}

int BlockTrees::round_between(int cluster, int dest) const {
    const auto count = static_cast<int>(ring_.size());
    return (place_in_ring_[at(cluster)] - place_in_ring_[at(dest)] - 1 + count) % count;
}

std::vector<int> BlockTrees::left_of(int cluster) const {
    std::vector<int> left;
    for (int distance = 1; distance < static_cast<int>(ring_.size()); ++distance)
        left.push_back(ring_neighbour(cluster, -distance));
    return left;
}

Rank BlockTrees::receiver(int cluster, Rank dest) const {
    const int next = ring_neighbour(cluster, 1);
    return next == machine_.cluster_of_rank(dest) ? dest : sender(next, dest);
}

Host BlockTrees::carrier(int cluster, Host dest) const {
    const auto hosts = machine_.hosts_in(cluster);
    // The first hosts of all clusters are not the same one's.
    return hosts[at(place_[at(dest)] + machine_.cluster_of(dest)) % hosts.size()];
}

Rank BlockTrees::sender(int cluster, Rank dest) const {
    return agent_out(carrier(cluster, machine_.host_of(dest)), dest);
}

Host BlockTrees::end_in(int cluster, Host dest) const {
    return machine_.cluster_of(dest) == cluster ? dest : carrier(cluster, dest);
}

Host BlockTrees::beside(Host host, int distance) const {
    const auto hosts = machine_.hosts_in(machine_.cluster_of(host));
    const auto count = static_cast<int>(hosts.size());
    return hosts[at((place_[at(host)] + distance + count) % count)];
}

int BlockTrees::round_of(Host host, Host end) const {
    const auto count = static_cast<int>(machine_.hosts_in(machine_.cluster_of(host)).size());
    return (place_[at(host)] - place_[at(end)] - 1 + count) % count;
}

Rank BlockTrees::agent_out(Host host, Rank dest) const {
    const auto ranks = machine_.ranks_on(host);
    return ranks[at(are_long_ ? place_on_host_[at(dest)] : machine_.host_of(dest)) % ranks.size()];
}

Rank BlockTrees::agent_in(Rank dest, Host from) const {
    const auto ranks = machine_.ranks_on(machine_.host_of(dest));
    return are_long_ ? dest : ranks[at(from) % ranks.size()];
}

BlockTrees::Neighbour BlockTrees::parent(Rank rank, Rank dest) const {
    if (aggregation_ == Aggregation::none) return {kToHost, 0, dest};
    const Host here = machine_.host_of(rank);
    const Host there = machine_.host_of(dest);
    if (here == there) return {kToDest, 0, dest};
    const Rank agent = agent_out(here, dest);
    if (rank != agent) return {kToAgent, 0, agent};
    const int cluster = machine_.cluster_of(here);
    if (const Host end = end_in(cluster, there); go_around() && here != end) {
        const Host next = beside(here, 1);
        return {cluster == machine_.cluster_of(there) ? kInside : kToCarrier, round_of(here, end),
                next == there ? dest : agent_out(next, dest)};
    }
    if (aggregation_ == Aggregation::by_cluster && cluster != machine_.cluster_of(there)) {
        const Host carrying = carrier(cluster, there);
        if (carrying != here) return {kToCarrier, 0, agent_out(carrying, dest)};
        if (is_ring())
            return {kToHost, round_between(cluster, machine_.cluster_of(there)), receiver(cluster, dest)};
    }
    return {kToHost, 0, agent_in(dest, here)};
}

std::vector<Host> BlockTrees::senders_to(Host dest) const {
    std::vector<Host> senders;
    for (int cluster = 0; cluster < machine_.cluster_count(); ++cluster) {
        if (aggregation_ == Aggregation::by_cluster && cluster != machine_.cluster_of(dest)) {
            if (!is_ring() || cluster == ring_neighbour(machine_.cluster_of(dest), -1))
                senders.push_back(carrier(cluster, dest));
            continue;
        }
        for (const Host host : machine_.hosts_in(cluster)) {
            if (host != dest && !go_around()) senders.push_back(host);
        }
    }
    return senders;
}

std::vector<BlockTrees::Neighbour> BlockTrees::children(Rank rank, Rank dest) const {
    std::vector<Neighbour> found;
    if (aggregation_ == Aggregation::none) {
        for (Rank other = 0; rank == dest && other < machine_.rank_count(); ++other) {
            if (other != dest) found.push_back({kToHost, 0, other});
        }
        return found;
    }
    const Host here = machine_.host_of(rank);
    const Host there = machine_.host_of(dest);
    const auto add_others_of_host = [&](int hop) {
        for (const Rank other : machine_.ranks_on(here)) {
            if (other != rank) found.push_back({hop, 0, other});
        }
    };
    const int cluster = machine_.cluster_of(here);
    const auto add_left_neighbour = [&] {
        const Host end = end_in(cluster, there);
        const Host left = beside(here, -1);
        if (!go_around() || left == here || beside(end, 1) == here) return;
        found.push_back({cluster == machine_.cluster_of(there) ? kInside : kToCarrier, round_of(left, end),
                         agent_out(left, dest)});
    };
    if (here == there) {
        for (const Host host : senders_to(here)) {
            const int round = is_ring() ? round_between(machine_.cluster_of(host), cluster) : 0;
            if (agent_in(dest, host) == rank) found.push_back({kToHost, round, agent_out(host, dest)});
        }
        if (rank == dest) {
            add_left_neighbour();
            add_others_of_host(kToDest);
        }
        return found;
    }
    if (agent_out(here, dest) != rank) return found;
    add_others_of_host(kToAgent);
    add_left_neighbour();
    if (!go_around() && aggregation_ == Aggregation::by_cluster && cluster != machine_.cluster_of(there) &&
        carrier(cluster, there) == here) {
        for (const Host host : machine_.hosts_in(cluster)) {
            if (host != here) found.push_back({kToCarrier, 0, agent_out(host, dest)});
        }
    }
    if (is_ring() && cluster != machine_.cluster_of(there) && carrier(cluster, there) == here) {
        const int left = ring_neighbour(cluster, -1);
        if (left != machine_.cluster_of(there))
            found.push_back({kToHost, round_between(left, machine_.cluster_of(there)), sender(left, dest)});
    }
    return found;
}

std::vector<BlockTrees::Message> BlockTrees::messages_of(Rank rank) const {
    std::map<std::tuple<int, int, Rank, Rank>, std::vector<Rank>> found;
    for (Rank dest = 0; dest < machine_.rank_count(); ++dest) {
        if (dest != rank) {
            const Neighbour to = parent(rank, dest);
            found[{to.hop, to.round, rank, to.rank}].push_back(dest);
        }
        for (const Neighbour from : children(rank, dest))
            found[{from.hop, from.round, from.rank, rank}].push_back(dest);
    }
    std::vector<Message> messages;
    for (auto& [way, dests] : found) {
        const auto [hop, round, from, to] = way;
        messages.push_back({hop, round, from, to, std::move(dests)});
    }
    std::stable_sort(messages.begin(), messages.end(), [this](const Message& a, const Message& b) {
        return std::make_tuple(a.hop, a.round, turns_.turn(a.from, a.to)) <
               std::make_tuple(b.hop, b.round, turns_.turn(b.from, b.to));
    });
    return messages;
}

}  // namespace laple
