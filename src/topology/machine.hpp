// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "topology/topology.hpp"

namespace laple {

/// Machine::block_memory() where nobody has said anything else.
constexpr Bytes kUsualBlockMemory = 64U << 20;

/// A host of a machine, 0 ... hosts-1.
using Host = int;

/// Where the ranks of a communicator are: on hosts, which share memory and one port to the network; hosts in
/// clusters, with low latency inside; clusters in groups, at any number of levels.
///
///     groups       [0 ................. | 1 ...]      sites: any number of levels, or none
///     clusters     [0 ....... | 1 ..... | 2 ...]      the innermost level; one where nothing is known
///     hosts        [0 | 1 | 2 | 3 | 4   | 5 | 6]      always there
///     ranks         0   1   2   3   4     5   6       one on each host, or several: in blocks, round-robin
///                   7   8   9  10  11    12  13
///
/// Hosts, clusters and groups are numbered by their smallest ranks, members are in ascending order of these.
/// A value, without any MPI in it, and the same on all ranks of the communicator.
class Machine {
  public:
    /// Every rank on a host of its own; the innermost level of `groups` are the clusters.
    explicit Machine(Topology groups);

    /// `host_of[rank]` is any number that is equal for ranks of one host. Throws Error where a host has ranks
    /// in two clusters, or not every rank has a number.
    Machine(Topology groups, const std::vector<int>& host_of);

    int rank_count() const { return groups_.size(); }
    int host_count() const { return static_cast<int>(hosts_.size()); }
    int cluster_count() const { return static_cast<int>(clusters_.size()); }
    /// The groups of the outermost level, as lists of clusters; of one cluster each where there is one level
    /// only.
    const std::vector<std::vector<int>>& groups() const { return outermost_; }
    /// Whether some group of the outermost level has several clusters.
    bool has_groups() const { return outermost_.size() < clusters_.size(); }
    /// Levels of groups, outermost first; may have none.
    const Topology& topology() const { return groups_; }

    Host host_of(Rank rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
    int cluster_of(Host host) const { return cluster_of_[static_cast<std::size_t>(host)]; }
    int cluster_of_rank(Rank rank) const { return cluster_of(host_of(rank)); }
    int group_of(int cluster) const { return group_of_[static_cast<std::size_t>(cluster)]; }

    std::span<const Rank> ranks_on(Host host) const { return hosts_[static_cast<std::size_t>(host)]; }
    std::span<const Host> hosts_in(int cluster) const { return clusters_[static_cast<std::size_t>(cluster)]; }
    /// Ascending.
    std::vector<Rank> ranks_in(int cluster) const;
    /// The most ranks that a host of a cluster has.
    int most_ranks_on_a_host(int cluster) const;
    /// Whether every host has one rank.
    bool has_single_ranks() const { return host_count() == rank_count(); }

    /// Whether hosts, clusters and groups are runs of consecutive ranks: then a hierarchy can keep their
    /// order.
    bool has_consecutive_ranks() const { return has_consecutive_ranks_; }

    /// How many bytes each rank may take for blocks of others that it passes on, beside its own buffers.
    Bytes block_memory() const { return block_memory_; }
    void set_block_memory(Bytes bytes) { block_memory_ = bytes; }

    /// The machine of a communicator that holds `ranks` only: `ranks[i]` is the rank here of its rank i.
    /// Throws Error when one is out of range.
    Machine restricted_to(std::span<const Rank> ranks) const;

    bool operator==(const Machine&) const = default;

  private:
    void find_clusters();
    bool are_runs() const;

    Topology groups_;
    std::vector<Host> host_of_;             // by rank
    std::vector<std::vector<Rank>> hosts_;  // ranks of each
    std::vector<int> cluster_of_;           // by host
    std::vector<std::vector<Host>> clusters_;
    std::vector<int> group_of_;  // by cluster: of the outermost level
    std::vector<std::vector<int>> outermost_;
    bool has_consecutive_ranks_ = true;
    Bytes block_memory_ = kUsualBlockMemory;
};

/// "16 ranks in 4 clusters (4 4 4 4)", and where hosts have several ranks "16 ranks on 8 hosts in 4 clusters
/// (2 2 2 2 hosts)"; outwards "... in 2 groups (8 8)", or "(4 4 hosts)".
std::string describe(const Machine& machine);

}  // namespace laple
