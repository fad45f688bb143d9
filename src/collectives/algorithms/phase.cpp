// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/phase.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/phase_lanes.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/trees/host_tree.hpp"

namespace laple {
namespace {

/// The groups of the outermost level, each with one tree for each leader.
class GroupLayout final : public PhaseLayout {
  public:
    GroupLayout(const Machine& machine, const PhaseParameters& parameters)
        : machine_(machine),
          lanes_(parameters.lanes),
          shape_{parameters.between, parameters.within, shape_on_host(parameters.segment_bytes > 0),
                 parameters.native_within},
          groups_(outermost_hosts(machine)) {}

    /// Where there are more lanes than hosts, consecutive segments have other leaders in every group, and
    /// each leader exchanges with other partners the next time. The more flows, the less each carries, and
    /// idle TCP flows start slowly.
    Leaders leaders(int lane) const override {
        Leaders leaders;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const auto size = static_cast<int>(groups_[g].size());
            const int shift = lanes_ > size ? static_cast<int>(g) * (lane / size) : 0;
            const int place = (leading_place(lane, lanes_, size) + shift) % size;
            leaders.push_back(
                leader_on(machine_, groups_[g][static_cast<std::size_t>(place)], rank_turn(lane, size)));
        }
        return leaders;
    }

    std::size_t group_of(Rank rank) const override {
        const Host host = machine_.host_of(rank);
        return static_cast<std::size_t>(
            machine_.cluster_count() == 1 ? host : machine_.group_of(machine_.cluster_of(host)));
    }

    std::optional<RankLinks> links(int lane, Rank rank) override {
        const std::size_t group = group_of(rank);
        const int turn = rank_turn(lane, static_cast<int>(groups_[group].size()));
        const Rank leader = leaders(lane)[group];
        const int turns = machine_.has_single_ranks() ? 0 : turn;
        const auto [known, is_new] = known_.try_emplace({leader, turns});
        if (is_new) {
            const Tree tree = group_tree(machine_, shape_, leader, turns);
            if (tree.contains(rank)) known->second = links_in(tree, rank);
        }
        return known->second;
    }

  private:
    const Machine& machine_;
    int lanes_;
    TreeShape shape_;
    std::vector<std::vector<Host>> groups_;
    std::map<std::pair<Rank, int>, std::optional<RankLinks>> known_;  // of one rank, by leader and turn
};

}  // namespace

bool is_for_phases(Collective collective) {
    const CollectiveRow& row = row_of(collective);
    return row.combines && !row.is_rooted && is_one_message(collective);
}

int leading_place(int lane, int lanes, int hosts) {
    return lanes > hosts ? lane % hosts : lane * hosts / lanes;
}

int rank_turn(int lane, int hosts) {
    return lane + lane / hosts;
}

std::optional<PhaseParameters> parse_phase(const AlgorithmName& name, std::string_view keyword) {
    if (name.first() != keyword) return std::nullopt;
    if (name.levels.size() == 1) refuse_name(name, "the tree inside the clusters is missing");
    PhaseParameters parameters;
    parameters.segment_bytes = name.segment_bytes;
    parameters.lanes = name.lanes;
    for (std::size_t i = 1; i + 1 < name.levels.size(); ++i)
        parameters.between.push_back(parse_level(name, name.levels[i]));
    if (name.last() == kNativeName) {
        parameters.native_within = true;
        if (name.segment_bytes > 0) refuse_name(name, "native within takes no segments");
        if (name.lanes > 1) refuse_name(name, "native within takes no lanes");
        return parameters;
    }
    const LevelShape within = parse_level(name, name.last());
    if (within.multi_leader) refuse_name(name, "the innermost tree cannot have several leaders");
    parameters.within = within.shape;
    return parameters;
}

std::string PhaseAlgorithm::name() const {
    std::string name(keyword());
    for (const LevelShape& level : parameters_.between) name += "/" + name_of(level);
    name += "/";
    name += parameters_.native_within ? std::string(kNativeName) : name_of(parameters_.within);
    return name + name_suffix(parameters_.segment_bytes, parameters_.lanes);
}

bool PhaseAlgorithm::can_do(const Request& request, const Machine& machine) const {
    const bool is_rooted = row_of(request.collective).is_rooted;
    if (parameters_.native_within && (machine.cluster_count() == 1 || is_rooted)) return false;
    if (request.commutative) return true;
    // Lanes have other leaders than the smallest rank, and with them trees that wrap around.
    return machine.has_consecutive_ranks() && parameters_.lanes == 1 &&
           std::none_of(parameters_.between.begin(), parameters_.between.end(),
                        [](const LevelShape& level) { return level.multi_leader; });
}

std::unique_ptr<PhaseLayout> PhaseAlgorithm::layout(const Machine& machine) const {
    return std::make_unique<GroupLayout>(machine, parameters_);
}

void PhaseAlgorithm::write_steps(const Part& part, ScheduleBuilder& builder) const {
    const Segments segments = this->segments(part.request);
    const std::unique_ptr<PhaseLayout> layout = this->layout(part.machine);
    ReceiveSlots slots(segments, builder);
    std::optional<NativeSteps> native;
    Buffer own = kInput;
    if (parameters_.native_within) {
        const TreeShape shape{parameters_.between, parameters_.within, {}, true};
        const Rank leader = layout->leaders(0)[layout->group_of(part.rank)];
        native.emplace(part.request, part.machine, group_tree(part.machine, shape, leader, 0), part.rank,
                       builder);
        own = native->reduce();
    }
    PhaseLanes lanes(part, segments, own, builder);
    const bool is_rooted = row_of(part.request.collective).is_rooted;
    for (int lane = 0; lane < std::min(parameters_.lanes, static_cast<int>(segments.count())); ++lane) {
        auto links = layout->links(lane, part.rank);
        if (!links) break;  // in a cluster that MPI serves: its leader does the rest
        LeaderPlace place{layout->leaders(lane), layout->group_of(part.rank), lane,
                          is_rooted ? part.request.root : -1};
        if (place.leaders[place.self] != part.rank) place.self = LeaderPlace::kNone;
        const bool has_part = place.self != LeaderPlace::kNone || place.root == part.rank;
        lanes.add(TreeSteps(std::move(*links), part.rank, reduction_use(part.request), slots, builder, lane),
                  has_part ? leader_steps(std::move(place), slots, builder) : nullptr);
    }
    lanes.write(parameters_.lanes, static_cast<std::uint32_t>(turn(layout->leaders(0).size())));
    if (native) native->broadcast();
}

void DirectExchangeSteps::combine(std::uint32_t, Region partial, Region result) {
    const std::size_t count = leaders_.size();
    // Each starts with its right neighbour, so that not all send to the same leader first.
    for (std::size_t i = 1; i < count; ++i)
        builder_.send(leaders_[(self_ + i) % count], partial, contributions(lane_));
    add_up(partial, result);
}

void LeaderSteps::add_up(Region partial, Region result) {
    const std::size_t count = leaders_.size();
    std::vector<Region> partials(count, partial);
    for (std::size_t i = 1; i < count; ++i) {
        const std::size_t from = (self_ + count - i) % count;
        partials[from] = slots_.next(leaders_[from], partial.units);
        builder_.recv(leaders_[from], partials[from], contributions(lane_));
    }
    // From the right: each reduction takes the next operand on its left. The sum grows where the last
    // leader's value lies; our own value, which is being sent, is kept until then.
    Region sum = partials.back();
    if (self_ + 1 == count && partial != result) {
        builder_.copy(partial, result.place());
        sum = result;
    }
    for (std::size_t i = count - 1; i-- > 0;) builder_.reduce(partials[i], sum.place());
    if (sum != result) builder_.copy(sum, result.place());
}

}  // namespace laple
