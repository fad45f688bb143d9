// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/block_trees.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/index.hpp"

namespace laple {
namespace {

constexpr int kToAgent = 0;
constexpr int kToCarrier = 1;
constexpr int kToHost = 2;
constexpr int kToDest = 3;

}  // namespace

BlockTrees::BlockTrees(const Machine& machine, Aggregation aggregation, bool are_long)
    : machine_(machine),
      aggregation_(aggregation),
      are_long_(are_long),
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
}

Host BlockTrees::carrier(int cluster, Host dest) const {
    const auto hosts = machine_.hosts_in(cluster);
    return hosts[at(place_[at(dest)]) % hosts.size()];
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
    if (aggregation_ == Aggregation::none) return {kToHost, dest};
    const Host here = machine_.host_of(rank);
    const Host there = machine_.host_of(dest);
    if (here == there) return {kToDest, dest};
    const Rank agent = agent_out(here, dest);
    if (rank != agent) return {kToAgent, agent};
    const int cluster = machine_.cluster_of(here);
    if (aggregation_ == Aggregation::by_cluster && cluster != machine_.cluster_of(there)) {
        const Host carrying = carrier(cluster, there);
        if (carrying != here) return {kToCarrier, agent_out(carrying, dest)};
    }
    return {kToHost, agent_in(dest, here)};
}

std::vector<Host> BlockTrees::senders_to(Host dest) const {
    std::vector<Host> senders;
    for (int cluster = 0; cluster < machine_.cluster_count(); ++cluster) {
        if (aggregation_ == Aggregation::by_cluster && cluster != machine_.cluster_of(dest)) {
            senders.push_back(carrier(cluster, dest));
            continue;
        }
        for (const Host host : machine_.hosts_in(cluster)) {
            if (host != dest) senders.push_back(host);
        }
    }
    return senders;
}

std::vector<BlockTrees::Neighbour> BlockTrees::children(Rank rank, Rank dest) const {
    std::vector<Neighbour> found;
    if (aggregation_ == Aggregation::none) {
        for (Rank other = 0; rank == dest && other < machine_.rank_count(); ++other) {
            if (other != dest) found.push_back({kToHost, other});
        }
        return found;
    }
    const Host here = machine_.host_of(rank);
    const Host there = machine_.host_of(dest);
    const auto add_others_of_host = [&](int hop) {
        for (const Rank other : machine_.ranks_on(here)) {
            if (other != rank) found.push_back({hop, other});
        }
    };
    if (here == there) {
        for (const Host host : senders_to(here)) {
            if (agent_in(dest, host) == rank) found.push_back({kToHost, agent_out(host, dest)});
        }
        if (rank == dest) add_others_of_host(kToDest);
        return found;
    }
    if (agent_out(here, dest) != rank) return found;
    add_others_of_host(kToAgent);
    const int cluster = machine_.cluster_of(here);
    if (aggregation_ == Aggregation::by_cluster && cluster != machine_.cluster_of(there) &&
        carrier(cluster, there) == here) {
        for (const Host host : machine_.hosts_in(cluster)) {
            if (host != here) found.push_back({kToCarrier, agent_out(host, dest)});
        }
    }
    return found;
}

std::vector<BlockTrees::Message> BlockTrees::messages_of(Rank rank) const {
    std::map<std::tuple<int, Rank, Rank>, std::vector<Rank>> found;
    for (Rank dest = 0; dest < machine_.rank_count(); ++dest) {
        if (dest != rank) {
            const Neighbour to = parent(rank, dest);
            found[{to.hop, rank, to.rank}].push_back(dest);
        }
        for (const Neighbour from : children(rank, dest)) found[{from.hop, from.rank, rank}].push_back(dest);
    }
    std::vector<Message> messages;
    for (auto& [way, dests] : found) {
        const auto [hop, from, to] = way;
        messages.push_back({hop, from, to, std::move(dests)});
    }
    std::stable_sort(messages.begin(), messages.end(), [this](const Message& a, const Message& b) {
        return std::make_tuple(a.hop, turns_.turn(a.from, a.to)) <
               std::make_tuple(b.hop, turns_.turn(b.from, b.to));
    });
    return messages;
}

}  // namespace laple
