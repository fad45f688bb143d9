// SPDX-License-Identifier: BSD-3-Clause
#include "topology/machine.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace laple {
namespace {

std::vector<int> one_each(int count) {
    std::vector<int> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

bool is_run(const std::vector<Rank>& ranks) {
    return ranks.back() - ranks.front() + 1 == static_cast<Rank>(ranks.size());
}

}  // namespace

Machine::Machine(Topology groups) : Machine(groups, one_each(groups.size())) {}

Machine::Machine(Topology groups, const std::vector<int>& host_of) : groups_(std::move(groups)) {
    if (static_cast<int>(host_of.size()) != groups_.size()) {
        throw Error(fmt::format("hosts are given for {} ranks of {}", host_of.size(), groups_.size()),
                    "put every rank on a host");
    }
    std::map<int, Host> known;
    for (Rank rank = 0; rank < groups_.size(); ++rank) {
        const auto [host, is_new] =
            known.try_emplace(host_of[static_cast<std::size_t>(rank)], static_cast<Host>(hosts_.size()));
        if (is_new) hosts_.emplace_back();
        hosts_[static_cast<std::size_t>(host->second)].push_back(rank);
        host_of_.push_back(host->second);
    }
    find_clusters();
    has_consecutive_ranks_ = are_runs();
}

void Machine::find_clusters() {
    const int innermost = groups_.level_count() - 1;
    clusters_.resize(innermost < 0 ? 1 : static_cast<std::size_t>(groups_.group_count(innermost)));
    for (Host host = 0; host < host_count(); ++host) {
        const auto ranks = ranks_on(host);
        const int cluster = innermost < 0 ? 0 : groups_.group_of(innermost, ranks.front());
        for (const Rank rank : ranks) {
            if (innermost >= 0 && groups_.group_of(innermost, rank) != cluster) {
                throw Error(
                    fmt::format("ranks {} and {} are on one host, but in two clusters", ranks.front(), rank),
                    "put all ranks of a host in one cluster");
            }
        }
        cluster_of_.push_back(cluster);
        clusters_[static_cast<std::size_t>(cluster)].push_back(host);
    }
    outermost_.resize(innermost < 0 ? 1 : static_cast<std::size_t>(groups_.group_count(0)));
    for (int cluster = 0; cluster < cluster_count(); ++cluster) {
        const Rank first = ranks_on(hosts_in(cluster).front()).front();
        group_of_.push_back(innermost < 0 ? 0 : groups_.group_of(0, first));
        outermost_[static_cast<std::size_t>(group_of_.back())].push_back(cluster);
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
    return {std::move(groups), hosts};
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
