// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace laple {

/// The most ranks of a job that a file may describe: a bound for hostile ones, far above any MPI job.
inline constexpr int kMostRanks = 1 << 24;

/// Which ranks are near each other, at any number of levels.
///
/// A level is a partition of the ranks into groups; level 0 is the outermost (sites), and each level
/// refines the one before it (sites → nodes). The whole set of ranks is not a level, nor is the single rank.
///
///     level 0        [0 1 2 3 | 4 5 6 7]          two sites
///     level 1        [0 1|2 3 | 4 5|6 7]          two nodes in each
///
/// Groups of a level are numbered by their smallest rank; their members are in ascending order.
/// A value type: cheap to copy for the sizes at hand, comparable, without any MPI in it.
/// Levels that say nothing are dropped: one group only, or the same partition as the level outside it.
/// (MPICH-G2 numbers its levels the same way, WAN first: Karonis et al., 2000.)
class Topology {
  public:
    /// `size` ranks of which nothing is known.
    static Topology flat(int size);

    /// One level: `clusters` must hold each of 0 … size-1 exactly once. Throws Error otherwise.
    static Topology from_clusters(int size, const std::vector<std::vector<Rank>>& clusters);

    /// Any number of levels, outermost first: `labels[level][rank]` is any number that is equal for
    /// ranks of one group. Throws Error when a level has another length or does not refine the one before.
    static Topology from_labels(int size, const std::vector<std::vector<int>>& labels);

    int size() const { return size_; }
    int level_count() const { return static_cast<int>(levels_.size()); }
    bool is_flat() const { return levels_.empty(); }

    int group_count(int level) const;
    int group_of(int level, Rank rank) const;
    std::span<const Rank> members(int level, int group) const;

    /// Clusters are the groups of the innermost level; one of all ranks where there is none.
    int cluster_count() const { return is_flat() ? 1 : group_count(level_count() - 1); }
    int cluster_of(Rank rank) const { return is_flat() ? 0 : group_of(level_count() - 1, rank); }

    /// What a communicator sees that holds `ranks` only: `ranks[i]` is the rank here of its rank i.
    /// Throws Error when one is out of range.
    Topology restricted_to(std::span<const Rank> ranks) const;

    bool operator==(const Topology&) const = default;

  private:
    struct Level {
        std::vector<int> group_of;               // by rank
        std::vector<std::vector<Rank>> members;  // by group
        bool operator==(const Level&) const = default;
    };
    explicit Topology(int size) : size_(size) {}
    void add_level(const std::vector<int>& labels);

    int size_ = 0;
    std::vector<Level> levels_;
};

/// "16 ranks in 4 clusters (4 4 4 4)", and outwards: "... in 2 groups (8 8)". Sizes are numbers of ranks.
std::string describe(const Topology& topology);

}  // namespace laple
