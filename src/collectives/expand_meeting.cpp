// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/expand_meeting.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/expand_tree.hpp"
#include "collectives/hierarchy.hpp"
#include "collectives/regions.hpp"

namespace laple {
namespace {

/// Where the planner knows no NICs: 10 ms of 100 Mbit/s, 0.1 ms of 10 Gbit/s.
constexpr Bytes kUsualPace = 128 * 1024;

/// The coordinators of one lane, one for each outermost group, in the order of the groups.
using Coordinators = std::vector<Rank>;

/// Whose turn it is, of as many turns as the shares add up to: each has its share of them, evenly spaced. No
/// shares: all have one.
std::vector<std::size_t> turns(std::vector<int> shares, std::size_t count) {
    if (shares.empty()) shares.assign(count, 1);
    int common = 0;
    for (const int share : shares) common = std::gcd(common, share);
    for (int& share : shares) share /= common;
    const int all = std::accumulate(shares.begin(), shares.end(), 0);
    std::vector<int> due(shares.size(), 0);
    std::vector<std::size_t> owners;
    for (int turn = 0; turn < all; ++turn) {
        for (std::size_t i = 0; i < shares.size(); ++i) due[i] += shares[i];
        const auto next = std::max_element(due.begin(), due.end());
        *next -= all;
        owners.push_back(static_cast<std::size_t>(next - due.begin()));
    }
    return owners;
}

/// The coordinators' part: combines everybody's partial results.
class Meet {
  public:
    /// `self`: this rank's place among the coordinators.
    Meet(Coordinators coordinators, std::size_t self, int lane, Landings& landings, ScheduleBuilder& builder)
        : coordinators_(std::move(coordinators)),
          self_(self),
          lane_(lane),
          landings_(landings),
          builder_(builder) {}
    virtual ~Meet() = default;
    Meet(const Meet&) = delete;
    Meet& operator=(const Meet&) = delete;

    /// Combines `partial` of this coordinator with all others' into kResult.
    virtual void combine(std::uint32_t block, Place partial) = 0;
    /// Where combine() leaves the result with one coordinator: the others get it. After combine() of the
    /// block.
    virtual void deliver(std::uint32_t /*block*/) {}

  protected:
    /// Gets the partial results of all others and combines them with `partial` into kResult.
    void add_up(std::uint32_t block, Place partial) {
        const std::size_t count = coordinators_.size();
        std::vector<Place> partials(count, partial);
        for (std::size_t i = 1; i < count; ++i) {
            const std::size_t from = (self_ + count - i) % count;
            partials[from] = landings_.next(coordinators_[from]);
            builder_.recv(coordinators_[from], block, partials[from], 1, contributions(lane_));
        }
        // From the right: each reduction takes the next operand on its left. The sum grows where the last
        // coordinator's value lies; our own value, which is being sent, is kept until then.
        const Place result{kResult, block};
        Place sum = partials.back();
        if (self_ + 1 == count && partial != result) {
            builder_.copy(block, partial, result);
            sum = result;
        }
        for (std::size_t i = count - 1; i-- > 0;) builder_.reduce(block, partials[i], sum);
        if (sum != result) builder_.copy(block, sum, result);
    }

    Coordinators coordinators_;
    std::size_t self_;
    int lane_;
    Landings& landings_;
    ScheduleBuilder& builder_;
};

class Exchange final : public Meet {
  public:
    using Meet::Meet;

    void combine(std::uint32_t block, Place partial) override {
        const std::size_t count = coordinators_.size();
        // Each starts with its right neighbour, so that not all send to the same coordinator first.
        for (std::size_t i = 1; i < count; ++i)
            builder_.send(coordinators_[(self_ + i) % count], block, partial, 1, contributions(lane_));
        add_up(block, partial);
    }
};

/// Reduce-scatter and allgather of the coordinators, each directly: every block has an owner among them.
class Scatter final : public Meet {
  public:
    /// `owners`: turns() of the coordinators.
    Scatter(const Coordinators& coordinators, std::size_t self, int lane, int lanes,
            std::span<const std::size_t> owners, Landings& landings, ScheduleBuilder& builder)
        : Meet(coordinators, self, lane, landings, builder),
          lanes_(static_cast<std::uint32_t>(lanes)),
          owners_(owners) {}

    void combine(std::uint32_t block, Place partial) override {
        if (owner_of(block) == self_) {
            add_up(block, partial);
        } else {
            builder_.send(coordinators_[owner_of(block)], block, partial, 1, contributions(lane_));
        }
    }

    void deliver(std::uint32_t block) override {
        const Place result{kResult, block};
        if (owner_of(block) != self_)
            return builder_.recv(coordinators_[owner_of(block)], block, result, 1, results(lane_));
        const std::size_t count = coordinators_.size();
        for (std::size_t i = 1; i < count; ++i)
            builder_.send(coordinators_[(self_ + i) % count], block, result, 1, results(lane_));
    }

  private:
    /// Each lane begins elsewhere in the order of owners: else some coordinators would own more than others.
    std::size_t owner_of(std::uint32_t block) const {
        return owners_[(block / lanes_ + static_cast<std::uint32_t>(lane_)) % owners_.size()];
    }

    std::uint32_t lanes_;
    std::span<const std::size_t> owners_;  // of the blocks of a lane in turn; then they begin anew
};

class Doubling final : public Meet {
  public:
    Doubling(const Coordinators& coordinators, std::size_t self, int lane, Landings& landings,
             ScheduleBuilder& builder)
        : Meet(coordinators, self, lane, landings, builder) {
        while (power_ * 2 <= coordinators_.size()) power_ *= 2;
        const std::size_t surplus = coordinators_.size() - power_;
        // The first 2 × surplus coordinators meet in neighbouring pairs; the odd one of each goes on for
        // both.
        if (self_ < 2 * surplus) {
            is_folded_ = self_ % 2 == 0;
            fold_peer_ = coordinators_[self_ ^ 1u];
            index_ = self_ / 2;
        } else {
            index_ = self_ - surplus;
        }
        if (is_folded_) return;
        if (fold_peer_) fold_buffer_ = builder_.add_temporary(builder_.window());
        for (std::size_t bit = 1; bit < power_; bit *= 2) {
            const std::size_t peer = index_ ^ bit;
            const std::size_t place = peer < surplus ? 2 * peer + 1 : peer + surplus;
            rounds_.push_back({coordinators_[place], peer < index_, builder_.add_temporary(builder_.window()),
                               builder_.add_temporary(builder_.window())});
        }
    }

    void combine(std::uint32_t block, Place partial) override {
        const Place result{kResult, block};
        if (is_folded_) {
            builder_.send(*fold_peer_, block, partial);
            builder_.recv(*fold_peer_, block, result);
            return;
        }
        Place value = partial;
        if (fold_peer_) value = fold_in(block, value);
        for (const Round& round : rounds_) value = swap(block, value, round);
        if (value != result) builder_.copy(block, value, result);
        if (fold_peer_) builder_.send(*fold_peer_, block, result);
    }

  private:
    struct Round {
        Rank peer;
        bool is_left;  // the peer's value is the left operand
        std::uint32_t theirs;
        std::uint32_t ours;
    };

    /// The folded neighbour has the lower index: theirs ∘ own.
    Place fold_in(std::uint32_t block, Place own) {
        const Place theirs = builder_.at(fold_buffer_, block);
        builder_.recv(*fold_peer_, block, theirs);
        const Place sum{kResult, block};
        if (own != sum) builder_.copy(block, own, sum);
        builder_.reduce(block, theirs, sum);
        return sum;
    }

    /// Values that are being sent are not overwritten: the sum goes to a place of its own.
    Place swap(std::uint32_t block, Place own, const Round& round) {
        const Place theirs = builder_.at(round.theirs, block);
        builder_.send(round.peer, block, own);
        builder_.recv(round.peer, block, theirs);
        if (!round.is_left) {
            builder_.reduce(block, own, theirs);
            return theirs;
        }
        const Place sum = builder_.at(round.ours, block);
        builder_.copy(block, own, sum);
        builder_.reduce(block, theirs, sum);
        return sum;
    }

    std::size_t power_ = 1;
    std::size_t index_ = 0;
    bool is_folded_ = false;
    std::optional<Rank> fold_peer_;
    std::uint32_t fold_buffer_ = 0;
    std::vector<Round> rounds_;
};

std::unique_ptr<Meet> make_meet(const Plan& plan, std::span<const std::size_t> owners,
                                const Coordinators& coordinators, Rank self, int lane, Landings& landings,
                                ScheduleBuilder& builder) {
    const auto place = std::find(coordinators.begin(), coordinators.end(), self);
    const auto index = static_cast<std::size_t>(place - coordinators.begin());
    switch (plan.algorithm.meeting) {
        case Meeting::exchange:
        case Meeting::regional:
            return std::make_unique<Exchange>(coordinators, index, lane, landings, builder);
        case Meeting::scatter:
            return std::make_unique<Scatter>(coordinators, index, lane, plan.algorithm.lanes, owners,
                                             landings, builder);
        default:
            return std::make_unique<Doubling>(coordinators, index, lane, landings, builder);
    }
}

/// The coordinators of lane `lane` of `lanes`: where there are more lanes than members these take turns, so
/// that blocks that follow each other have other coordinators in every group, and meet others there the next
/// time: the more flows, the less each carries, which is what those that have rested begin with (TCP's slow
/// start). Not those of regions, whose turns are those of their deputies.
Coordinators coordinators_of(const std::vector<std::vector<Rank>>& groups, int lane, int lanes) {
    Coordinators coordinators;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const auto size = static_cast<int>(groups[g].size());
        const int shift = static_cast<int>(g) * (lane / size);
        const int member = lanes > size ? (lane + shift) % size : lane * size / lanes;
        coordinators.push_back(groups[g][static_cast<std::size_t>(member)]);
    }
    return coordinators;
}

/// Every so many blocks have the same coordinators.
struct Lane {
    TreeSteps steps;
    std::unique_ptr<Meet> meet;  // on its coordinators
};

/// As many blocks as hold so many bytes, but so many that all coordinators of a group have had their turns.
std::uint32_t blocks_ahead(const Plan& plan, Bytes bytes, std::size_t members) {
    const Blocks blocks = plan.blocks();
    const Bytes of_bytes = bytes / std::max<Bytes>(blocks.bytes_in(0), 1);
    const Bytes of_turns = std::min(static_cast<Bytes>(plan.algorithm.lanes), Bytes{members});
    return static_cast<std::uint32_t>(std::clamp<Bytes>(std::max(of_bytes, of_turns), 1, blocks.count()));
}

/// How many blocks a rank may be ahead with its contributions inside its cluster.
std::uint32_t pace_of(const Plan& plan, const Topology& topology, Rank rank, std::size_t members) {
    if (plan.pace_bytes.empty() || topology.is_flat()) return blocks_ahead(plan, kUsualPace, members);
    const int cluster = topology.group_of(topology.level_count() - 1, rank);
    return blocks_ahead(plan, plan.pace_bytes[static_cast<std::size_t>(cluster)], members);
}

/// How many blocks contributions may be ahead of results.
std::uint32_t lead_of(const Plan& plan, std::size_t members) {
    return plan.lead_bytes == 0 ? plan.blocks().count() : blocks_ahead(plan, plan.lead_bytes, members);
}

/// Block by block, each in its lane. What a rank contributes is there from the beginning: all at once it
/// would fill the NIC's queue, in which partial results, and then results, would wait for all contributions;
/// and a slow rank, which can take results at no more than its own rate, would get next to none in the first
/// half of the time. So it contributes to
///
///     block i    inside its group when contributions to block i - pace have come from there
///                at all when it has its result of block i - lead
class LanesRun {
  public:
    LanesRun(std::vector<Lane>& lanes, std::uint32_t own_buffer, ScheduleBuilder& builder)
        : lanes_(lanes), own_buffer_(own_buffer), builder_(builder) {}

    void run(std::uint32_t blocks, std::uint32_t pace, std::uint32_t lead) {
        for (std::uint32_t i = 0; i < blocks + lead; ++i) {
            if (i >= lead) spread(i - lead);
            if (i < blocks) contribute(i, pace);
        }
    }

  private:
    Lane& lane_of(std::uint32_t block) { return lanes_[block % lanes_.size()]; }

    void contribute(std::uint32_t block, std::uint32_t pace) {
        Lane& lane = lane_of(block);
        builder_.hold_sends(block >= pace ? contributions_[block - pace] : -1, result_);
        const std::int64_t before = builder_.last_near_receive();
        const Place value = lane.steps.reduce(block, {own_buffer_, block}, {kResult, block});
        const std::int64_t after = builder_.last_near_receive();
        const std::int64_t earlier = contributions_.empty() ? -1 : contributions_.back();
        contributions_.push_back(after != before ? after : earlier);
        if (lane.meet) lane.meet->combine(block, value);
    }

    /// Results are not held.
    void spread(std::uint32_t block) {
        Lane& lane = lane_of(block);
        builder_.hold_sends(-1, -1);
        if (lane.meet) lane.meet->deliver(block);
        lane.steps.broadcast(block, {kResult, block});
        result_ = builder_.writer_of({kResult, block});
    }

    std::vector<Lane>& lanes_;
    std::uint32_t own_buffer_;
    ScheduleBuilder& builder_;
    std::vector<std::int64_t> contributions_;  // by block: the last receive from near ranks, of it or before
    std::int64_t result_ = -1;                 // the step that completes the result of the last block spread
};

}  // namespace

void expand_meeting(const Plan& plan, const Topology& topology, Rank rank, ScheduleBuilder& builder) {
    const Algorithm& algorithm = plan.algorithm;
    std::optional<Regions> regions;
    if (algorithm.meeting == Meeting::regional) regions.emplace(topology, plan.regions, algorithm.within);
    const auto groups = regions ? regions->ranks() : outermost_groups(topology);
    const auto mine = static_cast<std::size_t>(regions              ? regions->region_of(rank)
                                               : topology.is_flat() ? rank
                                                                    : topology.group_of(0, rank));
    const std::uint32_t blocks = plan.blocks().count();
    const std::vector<std::size_t> owners = algorithm.meeting == Meeting::scatter
                                                ? turns(plan.shares, groups.size())
                                                : std::vector<std::size_t>();
    Landings landings(builder);
    std::optional<NativeSteps> native;
    Place own{kInput, 0};
    std::map<Rank, std::optional<RankLinks>> known;  // this rank's in the group's tree, by its coordinator
    const auto links_to = [&](Rank coordinator, int lane) -> std::optional<RankLinks> {
        if (regions) return regions->links(coordinator, lane, rank);
        const auto [links, is_new] = known.try_emplace(coordinator);
        if (is_new) {
            const Tree tree = cluster_tree(topology, algorithm, coordinator);
            if (tree.contains(rank)) links->second = links_in(tree, rank);
            if (lane == 0) {
                native.emplace(plan, topology, tree, rank, builder);
                own = native->reduce();
            }
        }
        return links->second;
    };
    std::vector<Lane> lanes;
    for (int lane = 0; lane < std::min(algorithm.lanes, static_cast<int>(blocks)); ++lane) {
        const Coordinators coordinators = regions ? regions->coordinators(lane, algorithm.lanes)
                                                  : coordinators_of(groups, lane, algorithm.lanes);
        auto links = links_to(coordinators[mine], lane);
        if (!links) break;  // inside a native group: its coordinator does the rest
        lanes.push_back(
            {TreeSteps(std::move(*links), rank, reduction_use(plan.request), landings, builder, lane),
             coordinators[mine] == rank ? make_meet(plan, owners, coordinators, rank, lane, landings, builder)
                                        : nullptr});
    }
    const std::size_t members = innermost_group(topology, rank).size();
    const std::uint32_t pace = pace_of(plan, topology, rank, members);
    if (!lanes.empty()) LanesRun(lanes, own.buffer, builder).run(blocks, pace, lead_of(plan, members));
    if (native) native->broadcast();
}

}  // namespace laple
