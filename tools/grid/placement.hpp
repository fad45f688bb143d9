// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace laple::grid {

/// Ranks that follow each other on one host.
struct RankRun {
    int host = 0;  ///< a place in the list of the job's hosts
    int ranks = 0;
    bool operator==(const RankRun&) const = default;
};

/// Where the ranks of a job are put, in their order.
class Placement {
  public:
    /// Blocks of ceil(ranks / hosts); the last host with ranks may have fewer, and those after it none:
    ///
    ///     5 ranks on 4 hosts    0 1 | 2 3 | 4 |
    static Placement block() { return Placement(Kind::block); }
    /// One rank on each host in turn:
    ///
    ///     5 ranks on 4 hosts    0 4 | 1 | 2 | 3
    static Placement cyclic() { return Placement(Kind::cyclic); }
    /// "block", "cyclic", or a file that names the host of each rank, one a line; "#" begins a comment.
    /// Throws Error where the file cannot be read or names none.
    static Placement parse(const std::string& text);

    bool is_cyclic() const { return kind_ == Kind::cyclic; }
    bool is_listed() const { return kind_ == Kind::listed; }

    /// How many ranks the job has: `wanted`, or where that is 0, as many as are listed, else one on each
    /// host. Throws Error where both differ.
    int ranks(int wanted, int hosts) const;

    /// The runs of `ranks` ranks on the hosts of these names. Throws Error for a listed host that is none of
    /// them.
    std::vector<RankRun> runs(int ranks, const std::vector<std::string>& hosts) const;

  private:
    enum class Kind { block, cyclic, listed };
    explicit Placement(Kind kind) : kind_(kind) {}

    Kind kind_;
    std::string file_;
    std::vector<std::string> listed_;  // hosts by rank
};

}  // namespace laple::grid
