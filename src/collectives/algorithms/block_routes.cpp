// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/block_routes.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/index.hpp"
#include "collectives/algorithms/root_order.hpp"

namespace laple {

BlockRoutes::BlockRoutes(const Request& request, const Machine& machine, Aggregation aggregation)
    : request_(request), machine_(machine), aggregation_(aggregation), turns_(machine) {
    if (row_of(request.collective).is_rooted) root_ = request.root;
}

bool BlockRoutes::exists(Block block) const {
    if (root_ < 0) return true;
    return root_ == (row_of(request_.collective).runs_to_root ? block.dest : block.source);
}

bool BlockRoutes::has_root_in(int cluster) const {
    return root_ >= 0 && machine_.cluster_of_rank(root_) == cluster;
}

/// The hosts of a cluster take turns at the other clusters, and when all have had theirs, the ranks of each.
Rank BlockRoutes::carrier(int cluster, int other) const {
    if (has_root_in(cluster)) return root_;
    const auto hosts = machine_.hosts_in(cluster);
    const auto turn = at(other < cluster ? other : other - 1);
    const auto ranks = machine_.ranks_on(hosts[turn % hosts.size()]);
    return ranks[turn / hosts.size() % ranks.size()];
}

Rank BlockRoutes::agent_for_host(Host host, Host other) const {
    if (root_ >= 0 && machine_.host_of(root_) == host) return root_;
    const auto ranks = machine_.ranks_on(host);
    return ranks[agent_index(host, other, ranks.size())];
}

Rank BlockRoutes::agent(Host host, Rank other) const {
    return machine_.host_of(other) == host ? other : agent_for_host(host, machine_.host_of(other));
}

BlockRoutes::Route BlockRoutes::route(Block block) const {
    const auto [source, dest] = block;
    const Host from = machine_.host_of(source);
    const Host to = machine_.host_of(dest);
    if (aggregation_ == Aggregation::none || from == to) return {source, source, source, dest, dest, dest};
    const int from_cluster = machine_.cluster_of(from);
    const int to_cluster = machine_.cluster_of(to);
    if (aggregation_ == Aggregation::by_host || from_cluster == to_cluster) {
        const Rank out = agent_for_host(from, to);
        const Rank in = agent_for_host(to, from);
        return {source, out, out, in, in, dest};
    }
    const Rank out = carrier(from_cluster, to_cluster);
    const Rank in = carrier(to_cluster, from_cluster);
    return {source, agent(from, out), out, in, agent(to, in), dest};
}

/// Calls `use` once with each block that may pass `rank`: those of its host, and those between its cluster
/// and the clusters that it is a carrier for.
template <typename Use>
void BlockRoutes::for_each_block_at(Rank rank, Use use) const {
    const Host here = machine_.host_of(rank);
    const int cluster = machine_.cluster_of(here);
    const auto use_if_it_exists = [&](Block block) {
        if (block.source != block.dest && exists(block)) use(block);
    };
    for (const Rank local : machine_.ranks_on(here)) {
        for (Rank other = 0; other < machine_.rank_count(); ++other) {
            use_if_it_exists({local, other});
            if (machine_.host_of(other) != here) use_if_it_exists({other, local});
        }
    }
    if (aggregation_ != Aggregation::by_cluster) return;
    for (int other = 0; other < machine_.cluster_count(); ++other) {
        if (other == cluster || carrier(cluster, other) != rank) continue;
        for (const Rank near : machine_.ranks_in(cluster)) {
            if (machine_.host_of(near) == here) continue;
            for (const Rank far : machine_.ranks_in(other)) {
                use_if_it_exists({near, far});
                use_if_it_exists({far, near});
            }
        }
    }
}

std::vector<BlockRoutes::Message> BlockRoutes::messages_of(Rank rank) const {
    std::map<std::tuple<int, Rank, Rank>, std::vector<Block>> found;
    for_each_block_at(rank, [&](Block block) {
        const Route way = route(block);
        for (int hop = 0; hop < kHops; ++hop) {
            const Rank from = way[at(hop)];
            const Rank to = way[at(hop + 1)];
            if (from != to && (from == rank || to == rank)) found[{hop, from, to}].push_back(block);
        }
    });
    std::vector<Message> messages;
    for (auto& [way, blocks] : found) {
        const auto [hop, from, to] = way;
        std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
            return std::tie(a.dest, a.source) < std::tie(b.dest, b.source);
        });
        messages.push_back({hop, from, to, std::move(blocks)});
    }
    std::stable_sort(messages.begin(), messages.end(), [this](const Message& a, const Message& b) {
        return std::make_tuple(a.hop, turns_.turn(a.from, a.to)) <
               std::make_tuple(b.hop, turns_.turn(b.from, b.to));
    });
    return messages;
}

/// That an agent of a host has for other hosts, in an all-to-all.
std::size_t BlockRoutes::most_blocks_of_agent(Host host) const {
    std::vector<std::size_t> blocks(machine_.ranks_on(host).size(), 0);
    for (Host other = 0; other < machine_.host_count(); ++other) {
        if (other != host)
            blocks[agent_index(host, other, blocks.size())] +=
                blocks.size() * machine_.ranks_on(other).size();
    }
    return *std::max_element(blocks.begin(), blocks.end());
}

std::size_t BlockRoutes::most_blocks() const {
    // They are there as they came, and as they go; of an all-to-all both ways.
    const std::size_t times = root_ >= 0 ? 2 : 4;
    std::size_t most = 0;
    const auto ranks = at(machine_.rank_count());
    for (Host host = 0; host < machine_.host_count() && aggregation_ != Aggregation::none; ++host)
        most = std::max(most, root_ >= 0 ? ranks : most_blocks_of_agent(host));
    if (aggregation_ != Aggregation::by_cluster) return times * most;
    for (int a = 0; a < machine_.cluster_count(); ++a) {
        const std::size_t near = machine_.ranks_in(a).size();
        const std::size_t hosts = machine_.hosts_in(a).size();
        std::size_t largest = 0;
        for (int b = 0; b < machine_.cluster_count(); ++b) {
            if (b != a) largest = std::max(largest, machine_.ranks_in(b).size());
        }
        const std::size_t turns = (at(machine_.cluster_count()) - 1 + hosts - 1) / hosts;
        most = std::max(most, root_ >= 0 ? std::max(near, largest) : near * largest * turns);
    }
    return times * most;
}

std::vector<StraightBlock> straight_blocks(const Request& request, const Machine& machine, Rank rank,
                                           const std::vector<int>& order) {
    const CollectiveRow& row = row_of(request.collective);
    const bool has_one_to_send = row.is_rooted && row.runs_to_root;
    const bool gets_one = row.is_rooted && !row.runs_to_root;
    std::vector<StraightBlock> blocks;
    for (const BlockRoutes::Message& message :
         BlockRoutes(request, machine, Aggregation::none).messages_of(rank)) {
        const bool is_sent = message.from == rank;
        const Rank peer = is_sent ? message.to : message.from;
        const bool is_only = is_sent ? has_one_to_send : gets_one;
        blocks.push_back({peer, is_sent, machine.cluster_of_rank(peer) != machine.cluster_of_rank(rank),
                          is_only ? 0 : at(peer)});
    }
    if (!order.empty()) {
        const std::vector<int> turns = turns_in(order);
        const auto turn = [&](const StraightBlock& block) {
            return turns[at(machine.cluster_of_rank(block.peer))];
        };
        std::stable_sort(blocks.begin(), blocks.end(),
                         [&](const auto& a, const auto& b) { return turn(a) < turn(b); });
    }
    return blocks;
}

}  // namespace laple
