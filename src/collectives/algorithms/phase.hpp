// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/tree_steps.hpp"
#include "collectives/trees/hierarchy.hpp"

namespace laple {

struct AlgorithmName;

/// The leaders of one lane, one for each group of the outermost level, in the order of the groups.
using Leaders = std::vector<Rank>;

/// Where a rank stands in a lane.
struct LeaderPlace {
    /// Of a rank that leads no group: the root of a reduction, where it only gets results.
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    Leaders leaders;
    std::size_t self = 0;  ///< this rank's place among the leaders
    int lane = 0;
    Rank root = -1;  ///< who gets the results; -1: all
};

/// The part of a leader between the groups: combines the partial results of all leaders of a lane.
class LeaderSteps {
  public:
    LeaderSteps(LeaderPlace place, ReceiveSlots& slots, ScheduleBuilder& builder)
        : leaders_(std::move(place.leaders)),
          self_(place.self),
          lane_(place.lane),
          root_(place.root),
          slots_(slots),
          builder_(builder) {}
    virtual ~LeaderSteps() = default;
    LeaderSteps(const LeaderSteps&) = delete;
    LeaderSteps& operator=(const LeaderSteps&) = delete;

    /// Combines `partial` of this leader, the segment of that number, with all others' into `result`.
    virtual void combine(std::uint32_t number, Region partial, Region result) = 0;
    /// Where combine() leaves the result with one leader: the others get it. After combine() of the segment.
    virtual void deliver(std::uint32_t /*number*/, Region /*result*/) {}

  protected:
    /// Gets the partial results of all others and combines them with `partial`.
    void add_up(Region partial, Region result);

    Leaders leaders_;
    std::size_t self_;
    int lane_;
    Rank root_;
    ReceiveSlots& slots_;
    ScheduleBuilder& builder_;
};

/// Each sends to all others, and all evaluate the same expression (direct_exchange.cpp).
class DirectExchangeSteps final : public LeaderSteps {
  public:
    using LeaderSteps::LeaderSteps;
    void combine(std::uint32_t number, Region partial, Region result) override;
};

/// Who leads the groups in each lane, and who sends to whom inside a group.
class PhaseLayout {
  public:
    virtual ~PhaseLayout() = default;
    virtual Leaders leaders(int lane) const = 0;
    /// The group of a rank, as a place among the leaders.
    virtual std::size_t group_of(Rank rank) const = 0;
    /// The neighbours of `rank` in the tree of its group in that lane; nothing where MPI's own collective
    /// serves it.
    virtual std::optional<RankLinks> links(int lane, Rank rank) = 0;
};

struct PhaseParameters {
    std::vector<LevelShape> between;  ///< of the levels inside the outermost one
    Shape within;                     ///< of the hosts of a cluster
    bool native_within = false;       ///< MPI's own collective inside clusters
    Bytes segment_bytes = 0;
    int lanes = 1;
};

/// Allreduce, reduce and barrier with an inter-cluster phase: each outermost group reduces to its leader, the
/// leaders combine their partial results, each group broadcasts from its leader; in a reduction the results
/// go to the root alone. On one cluster its hosts are the groups.
///
/// With k lanes the segments are divided among k sets of leaders, on different hosts where a group has that
/// many: with a flat tree inside, that is a local reduce-scatter, k phases at once, and a local allgather
/// (GridMPI's latency-aware allreduce; docs/algorithms.md).
class PhaseAlgorithm : public Algorithm {
  public:
    explicit PhaseAlgorithm(PhaseParameters parameters) : parameters_(std::move(parameters)) {}

    std::string name() const override;
    bool is_native_in_clusters() const override { return parameters_.native_within; }
    Bytes segment_bytes() const override { return parameters_.segment_bytes; }
    int lanes() const override { return parameters_.lanes; }
    bool can_do(const Request& request, const Machine& machine) const override;
    void write_steps(const Part& part, ScheduleBuilder& builder) const override;

  protected:
    const PhaseParameters& parameters() const { return parameters_; }

    /// The first level of its name.
    virtual std::string_view keyword() const = 0;
    virtual std::unique_ptr<PhaseLayout> layout(const Machine& machine) const;
    virtual std::unique_ptr<LeaderSteps> leader_steps(LeaderPlace place, ReceiveSlots& slots,
                                                      ScheduleBuilder& builder) const = 0;
    /// So many segments that follow each other have different leaders to sum them up, one each, where there
    /// are `groups` groups.
    virtual std::size_t turn(std::size_t groups) const {
        (void)groups;
        return 1;
    }

  private:
    PhaseParameters parameters_;
};

/// Takes a name apart whose first level is `keyword`; nothing where it is another. Throws Error where the
/// rest makes no sense.
std::optional<PhaseParameters> parse_phase(const AlgorithmName& name, std::string_view keyword);

/// Which host of a group of `hosts` hosts leads in a lane, by its place: evenly where there are fewer lanes;
/// where there are more, hosts take turns.
int leading_place(int lane, int lanes, int hosts);

/// The lane by which ranks of a host take turns (leader_on): hosts of a group lead every so many lanes, with
/// another rank each time.
int rank_turn(int lane, int hosts);

/// An allreduce or a barrier.
bool is_for_phases(Collective collective);

}  // namespace laple
