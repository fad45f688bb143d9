// SPDX-License-Identifier: BSD-3-Clause
#include "topology/machine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/index.hpp"

namespace laple {
namespace {

bool is_run(const std::vector<Rank>& ranks) {
    return ranks.back() - ranks.front() + 1 == static_cast<Rank>(ranks.size());
}

}  // namespace

Machine::Machine(Topology groups) : Machine(groups, all_below(at(groups.size()))) {}

Machine::Machine(Topology groups, const std::vector<int>& host_of) : groups_(std::move(groups)) {
    if (static_cast<int>(host_of.size()) != groups_.size()) {
        throw Error(fmt::format("hosts are given for {} ranks of {}", host_of.size(), groups_.size()),
                    "put every rank on a host");
    }
    hosts_ = grouped(host_of);
    host_of_ = group_of_each(hosts_, host_of.size());
    find_clusters();
    has_consecutive_ranks_ = are_runs();
}

void Machine::find_clusters() {
    clusters_.resize(at(groups_.cluster_count()));
    for (Host host = 0; host < host_count(); ++host) {
        const auto ranks = ranks_on(host);
        const int cluster = groups_.cluster_of(ranks.front());
        for (const Rank rank : ranks) {
            if (groups_.cluster_of(rank) != cluster) {
                throw Error(
                    fmt::format("ranks {} and {} are on one host, but in two clusters", ranks.front(), rank),
                    "put all ranks of a host in one cluster");
            }
        }
        cluster_of_.push_back(cluster);
        clusters_[at(cluster)].push_back(host);
    }
    outermost_.resize(groups_.is_flat() ? 1 : at(groups_.group_count(0)));
    // A flat one may have no ranks at all.
    const auto group_of = [&](int cluster) {
        return groups_.is_flat() ? 0 : groups_.group_of(0, ranks_on(hosts_in(cluster).front()).front());
    };
    for (int cluster = 0; cluster < cluster_count(); ++cluster) {
        group_of_.push_back(group_of(cluster));
        outermost_[at(group_of_.back())].push_back(cluster);
    }
}

bool Machine::are_runs() const {
    if (!std::all_of(hosts_.begin(), hosts_.end(), is_run)) return false;
    for (int level = 0; level < groups_.level_count(); ++level) {
        for (int group = 0; group < groups_.group_count(level); ++group) {
            const auto members = groups_.members(level, group);
            if (!is_run({members.begin(), members.end()})) return false;
        }
    }
    return true;
}

std::vector<Rank> Machine::ranks_in(int cluster) const {
    std::vector<Rank> ranks;
    for (const Host host : hosts_in(cluster)) {
        const auto here = ranks_on(host);
        ranks.insert(ranks.end(), here.begin(), here.end());
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

int Machine::most_ranks_on_a_host(int cluster) const {
    std::size_t most = 0;
    for (const Host host : hosts_in(cluster)) most = std::max(most, ranks_on(host).size());
    return static_cast<int>(most);
}

Machine Machine::restricted_to(std::span<const Rank> ranks) const {
    Topology groups = groups_.restricted_to(ranks);
    std::vector<int> hosts;
    for (const Rank rank : ranks) hosts.push_back(host_of(rank));
    Machine machine(std::move(groups), hosts);
    machine.set_block_memory(block_memory_);
    return machine;
}

std::string describe(const Machine& machine) {
    const Topology& topology = machine.topology();
    if (machine.has_single_ranks()) return describe(topology);
    std::string text = fmt::format("{} ranks on {} {}", machine.rank_count(), machine.host_count(),
                                   machine.host_count() == 1 ? "host" : "hosts");
    if (topology.is_flat()) return text + " in one cluster";
    const int innermost = topology.level_count() - 1;
    for (int level = innermost; level >= 0; --level) {
        std::vector<int> hosts(static_cast<std::size_t>(topology.group_count(level)), 0);
        for (Host host = 0; host < machine.host_count(); ++host)
            ++hosts[static_cast<std::size_t>(topology.group_of(level, machine.ranks_on(host).front()))];
        text += fmt::format(" in {} {} ({} hosts)", hosts.size(), level == innermost ? "clusters" : "groups",
                            fmt::join(hosts, " "));
    }
    return text;
}

}  // namespace laple
