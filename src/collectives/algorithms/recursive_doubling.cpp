// SPDX-License-Identifier: BSD-3-Clause
// Allreduce or barrier by recursive doubling of the leaders: in round r, those whose numbers differ in bit r
// swap what they have, and both evaluate low ∘ high: log2 C latencies. Where their number is no power of two,
// the first ones fold in pairs before and unfold after.
//
//     recursive-doubling/binomial
//
// In one cluster its hosts do that, for short messages: half as many latencies as a tree up and down.
//
// (Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", 2005)
#include "collectives/algorithms/member_times.hpp"
#include "collectives/algorithms/phase_price.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

constexpr std::string_view kName = "recursive-doubling";

class DoublingSteps final : public LeaderSteps {
  public:
    DoublingSteps(LeaderPlace place, ReceiveSlots& slots, ScheduleBuilder& builder)
        : LeaderSteps(std::move(place), slots, builder) {
        while (power_ * 2 <= leaders_.size()) power_ *= 2;
        const std::size_t surplus = leaders_.size() - power_;
        // The first 2 × surplus leaders fold in neighbouring pairs; the odd one of each goes on for both.
        if (self_ < 2 * surplus) {
            is_folded_ = self_ % 2 == 0;
            fold_peer_ = leaders_[self_ ^ 1u];
            index_ = self_ / 2;
        } else {
            index_ = self_ - surplus;
        }
        if (is_folded_) return;
        for (std::size_t bit = 1; bit < power_; bit *= 2) {
            const std::size_t peer = index_ ^ bit;
            const std::size_t leader = peer < surplus ? 2 * peer + 1 : peer + surplus;
            rounds_.push_back({leaders_[leader], peer < index_});
        }
    }

    void combine(std::uint32_t, Region partial, Region result) override {
        if (is_folded_) {
            builder_.send(*fold_peer_, partial);
            return builder_.recv(*fold_peer_, result);
        }
        Region value = partial;
        if (fold_peer_) value = fold_in(value, result);
        for (const Round& round : rounds_) value = swap(value, round);
        if (value != result) builder_.copy(value, result.place());
        if (fold_peer_) builder_.send(*fold_peer_, result);
    }

  private:
    struct Round {
        Rank peer;
        bool is_left;  // the peer's value is the left operand
    };

    /// The folded neighbour has the lower number: theirs ∘ own.
    Region fold_in(Region own, Region sum) {
        const Region theirs = slots_.next(*fold_peer_, own.units);
        builder_.recv(*fold_peer_, theirs);
        if (own != sum) builder_.copy(own, sum.place());
        builder_.reduce(theirs, sum.place());
        return sum;
    }

    /// Values that are being sent are not overwritten: the sum goes to a slot of its own.
    Region swap(Region own, const Round& round) {
        const Region theirs = slots_.next(round.peer, own.units);
        builder_.send(round.peer, own);
        builder_.recv(round.peer, theirs);
        if (!round.is_left) {
            builder_.reduce(own, theirs.place());
            return theirs;
        }
        const Region sum = slots_.next(sum_of(round.peer), own.units);
        builder_.copy(own, sum.place());
        builder_.reduce(theirs, sum.place());
        return sum;
    }

    /// No rank: the key of the slots for sums with that peer.
    static Rank sum_of(Rank peer) { return -1 - peer; }

    std::size_t power_ = 1;
    std::size_t index_ = 0;
    bool is_folded_ = false;
    std::optional<Rank> fold_peer_;
    std::vector<Round> rounds_;
};

class RecursiveDoubling final : public PhaseAlgorithm {
  public:
    using PhaseAlgorithm::PhaseAlgorithm;
    std::string in_words() const override {
        return "clusters combine inside, their leaders swap in rounds, clusters spread the result";
    }
    std::optional<Candidate> price(Pricing& pricing) const override {
        if (pricing.clusters() == 1) return price_among_hosts(pricing);
        return phase_price(pricing, std::make_shared<RecursiveDoubling>(parameters()), parameters(),
                           LeadersTalk::in_rounds, 1);
    }
    std::optional<Candidate> price_among_hosts(Pricing& pricing) const;

  protected:
    std::string_view keyword() const override { return kName; }
    std::unique_ptr<LeaderSteps> leader_steps(LeaderPlace place, ReceiveSlots& slots,
                                              ScheduleBuilder& builder) const override {
        return std::make_unique<DoublingSteps>(std::move(place), slots, builder);
    }
};

/// On one cluster its hosts are the groups.
std::optional<Candidate> RecursiveDoubling::price_among_hosts(Pricing& pricing) const {
    if (segment_bytes() > 0 || parameters().lanes > 1 || parameters().native_within ||
        !parameters().between.empty() || pricing.machine().host_count() == 1)
        return std::nullopt;
    MemberTimes times(pricing);
    times.combine_on_hosts();
    times.doubling_allreduce();
    times.spread_on_hosts();
    Candidate candidate;
    candidate.algorithm = std::make_shared<RecursiveDoubling>(parameters());
    candidate.time.first = candidate.time.last = candidate.seconds = times.seconds();
    return candidate;
}

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    const auto parameters = parse_phase(name, kName);
    return parameters ? std::make_shared<RecursiveDoubling>(*parameters) : nullptr;
}

void propose(Pricing& pricing, std::vector<Candidate>& found) {
    if (pricing.clusters() > 1) {
        const RecursiveDoubling algorithm({{}, pricing.best_local(), false, 0, 1});
        found.push_back(*algorithm.price(pricing));
        return;
    }
    // Longer messages are better cut into parts; and a barrier is better without folding.
    if (pricing.request().bytes() >= kLeastToCut || !row_of(pricing.request().collective).has_data) return;
    auto candidate = RecursiveDoubling({{}, kFlatShape, false, 0, 1}).price(pricing);
    if (candidate) found.push_back(std::move(*candidate));
}

}  // namespace

Family recursive_doubling_family() {
    return {kName,
            "recursive-doubling/LEVEL/...[@SEGMENT][xLANES]",
            "leaders of clusters swap in log2 C rounds",
            "Thakur, Rabenseifner, Gropp, 2005",
            is_for_phases,
            parse,
            propose,
            nullptr};
}

}  // namespace laple
