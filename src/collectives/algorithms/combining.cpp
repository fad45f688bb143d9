// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter: a reduction tree for the block of each rank, in which what goes between two hosts, or two
// clusters, has been combined there before.
//
//     direct[@SEGMENT]               P - 1 messages of each rank, which combines what it gets
//     host-combining[@SEGMENT]       one message between two hosts
//     cluster-combining[@SEGMENT]    one message between two hosts of a cluster, and one from a cluster to
//                                    each host elsewhere
//     cluster-ring@SEGMENT           the same, but from a cluster to the next one only, which
//                                    combines it with its own and sends it on
//
// With cluster-combining, each block needs one latency between clusters; ports and uplinks send what they
// would in a ring, but the uplink of a cluster gets as many copies of its blocks as there are other clusters:
//
//     (P - p) m / NIC out,  (P - P_c) m / uplink out,  (C - 1) P_c m / uplink in
//                           p ranks on the host, P_c in the cluster, C clusters, blocks of m
//
// In a ring of clusters it gets one copy of each block but those of its left neighbour; after as many
// latencies as there are other clusters.
//
// (block_trees.hpp; docs/algorithms.md)
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "collectives/algorithms/block_times.hpp"
#include "collectives/algorithms/block_trees.hpp"
#include "collectives/algorithms/cluster_ring.hpp"
#include "collectives/algorithms/combining_times.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/pace.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

struct Variant {
    std::string_view name;
    std::string_view in_words;
    Aggregation aggregation;
    bool is_ring = false;
};
constexpr Variant kVariants[] = {
    {"direct", "each rank sends its part of each block straight to the block's rank", Aggregation::none},
    {"host-combining", "hosts combine their parts of each block, and send them to the block's host",
     Aggregation::by_host},
    {"cluster-combining", "clusters combine their parts of each block, and send them to the block's host",
     Aggregation::by_cluster},
    {"cluster-ring", "clusters combine their parts of each block, and pass them around",
     Aggregation::by_cluster, true},
};

/// A segment of the block of a rank.
struct Piece {
    Rank dest;
    Segment segment;
};

/// The steps of one rank.
class CombiningSteps {
  public:
    CombiningSteps(const Part& part, ScheduleBuilder& builder, BlockTrees trees, Bytes segment_bytes)
        : part_(part),
          builder_(builder),
          trees_(std::move(trees)),
          messages_(trees_.messages_of(part.rank)),
          segment_bytes_(segment_bytes) {
        const auto is_received = [&](const BlockTrees::Message& m) { return m.to == part.rank; };
        // Of each hop and round: far ones are sent first; near ones come first, and are combined meanwhile.
        for (auto begin = messages_.begin(); begin != messages_.end();) {
            const auto end = std::find_if(begin, messages_.end(), [&](const BlockTrees::Message& m) {
                return m.hop != begin->hop || m.round != begin->round;
            });
            const auto received = std::stable_partition(
                begin, end, [&](const BlockTrees::Message& m) { return !is_received(m); });
            std::reverse(received, end);
            begin = end;
        }
        add_accumulators();
        const auto senders =
            static_cast<Bytes>(std::count_if(messages_.begin(), messages_.end(), is_received));
        // Of messages that have come, but are not combined yet.
        const Bytes most = part.machine.block_memory() / std::max<Bytes>(segment_bytes * senders, 1);
        slots_ = segment_bytes == 0 ? 1 : std::clamp<Bytes>(most, 1, builder.window());
    }

    void write() {
        pace_sends(part_, builder_);
        // Not of the longest block alone: a block is never cut into more than Segments::kMost.
        std::uint32_t count = 0;
        for (Rank dest = 0; dest < part_.machine.rank_count(); ++dest) {
            if (const std::uint64_t units = part_.request.block_units(dest); units > 0)
                count = std::max(count, segments_of(units).count());
        }
        // Where blocks go around, all those for other clusters do first; in a ring of clusters, first those
        // that come from the fewest.
        for (const int cluster : trees_.left_of(part_.machine.cluster_of_rank(part_.rank))) {
            for (std::uint32_t i = 0; i < count; ++i)
                pass_all(i, [&](Rank dest) { return part_.machine.cluster_of_rank(dest) == cluster; });
        }
        for (std::uint32_t i = 0; trees_.go_around() && !trees_.is_ring() && i < count; ++i)
            pass_all(i, [this](Rank dest) { return is_elsewhere(dest); });
        for (std::uint32_t i = 0; i < count; ++i) {
            pass_all(i, [this](Rank dest) { return !trees_.go_around() || !is_elsewhere(dest); });
            keep_own(i);
        }
    }

  private:
    Segments segments_of(std::uint64_t units) const {
        return Segments::cut(units, part_.request.unit_bytes, segment_bytes_);
    }
    std::optional<Piece> piece(Rank dest, std::uint32_t number) const {
        const std::uint64_t units = part_.request.block_units(dest);
        if (units == 0 || number >= segments_of(units).count()) return std::nullopt;
        return Piece{dest, segments_of(units).at(number)};
    }

    bool is_elsewhere(Rank dest) const {
        return part_.machine.cluster_of_rank(dest) != part_.machine.cluster_of_rank(part_.rank);
    }

    template <typename IsMeant>
    void pass_all(std::uint32_t segment, IsMeant is_meant) {
        begun_.clear();
        for (const BlockTrees::Message& message : messages_) pass(message, segment, is_meant);
    }

    /// Short blocks go together, segments alone.
    template <typename IsMeant>
    void pass(const BlockTrees::Message& message, std::uint32_t number, IsMeant is_meant) {
        std::vector<Piece> together;
        for (const Rank dest : message.dests) {
            const auto next = is_meant(dest) ? piece(dest, number) : std::nullopt;
            if (!next) continue;
            together.push_back(*next);
            if (segment_bytes_ > 0) pass(message, std::exchange(together, {}));
        }
        if (!together.empty()) pass(message, together);
    }
    void pass(const BlockTrees::Message& message, const std::vector<Piece>& pieces) {
        if (message.from == part_.rank) {
            send(message, pieces);
        } else {
            receive(message, pieces);
        }
    }

    /// The blocks that are combined here before they are sent in one message lie there one after the other.
    void add_accumulators() {
        accumulators_[part_.rank] = {kResult, 0};
        for (const BlockTrees::Message& message : messages_) {
            if (message.from != part_.rank) continue;
            std::uint64_t units = 0;
            std::vector<std::pair<Rank, std::uint64_t>> places;
            for (const Rank dest : message.dests) {
                if (trees_.children(part_.rank, dest).empty()) continue;
                places.emplace_back(dest, units);
                units += part_.request.block_units(dest);
            }
            if (units == 0) continue;
            const Buffer buffer = builder_.add_temporary(units);
            for (const auto& [dest, offset] : places) accumulators_[dest] = {buffer, offset};
        }
    }

    Place input(const Piece& piece) const {
        return {kInput, part_.request.block_begin(piece.dest) + piece.segment.offset};
    }
    /// Only of blocks that are combined here.
    Place accumulator(const Piece& piece) const {
        const Place place = accumulators_.at(piece.dest);
        return {place.buffer, place.offset + piece.segment.offset};
    }
    Place value(const Piece& piece) const {
        return accumulators_.contains(piece.dest) ? accumulator(piece) : input(piece);
    }

    /// Calls `use` with the place in a message and the places in `a` and `b` of pieces that follow each other
    /// in all three.
    template <typename A, typename B, typename Use>
    static void for_each_run(const std::vector<Piece>& pieces, A a, B b, Use use) {
        std::uint64_t offset = 0;
        for (std::size_t i = 0; i < pieces.size();) {
            const Place in_a = a(pieces[i]);
            const Place in_b = b(pieces[i]);
            std::uint64_t units = pieces[i].segment.units;
            for (++i; i < pieces.size() && a(pieces[i]) == Place{in_a.buffer, in_a.offset + units} &&
                      b(pieces[i]) == Place{in_b.buffer, in_b.offset + units};
                 ++i)
                units += pieces[i].segment.units;
            use(Segment{offset, units}, in_a, in_b);
            offset += units;
        }
    }
    static std::uint64_t units_of(const std::vector<Piece>& pieces) {
        std::uint64_t units = 0;
        for (const Piece& piece : pieces) units += piece.segment.units;
        return units;
    }
    /// Where pieces lie one after the other, if they do.
    template <typename PlaceOf>
    static std::optional<Region> as_one(const std::vector<Piece>& pieces, PlaceOf place_of) {
        const Place first = place_of(pieces.front());
        const std::uint64_t all = units_of(pieces);
        bool is_one = true;
        for_each_run(pieces, place_of, place_of,
                     [&](Segment run, Place, Place) { is_one = run.units == all; });
        return is_one ? std::optional(Region{first.buffer, first.offset, all}) : std::nullopt;
    }

    void send(const BlockTrees::Message& message, const std::vector<Piece>& pieces) {
        const auto here = [&](const Piece& piece) { return value(piece); };
        std::optional<Region> region = as_one(pieces, here);
        if (!region) {
            region = Region{builder_.add_temporary(units_of(pieces)), 0, units_of(pieces)};
            for_each_run(pieces, here, here, [&](Segment run, Place from, Place) {
                builder_.copy({from.buffer, from.offset, run.units}, {region->buffer, run.offset});
            });
        }
        builder_.send(message.to, *region, channel(message));
    }

    /// The first message for blocks takes the place of the result; those after it are combined with that.
    void receive(const BlockTrees::Message& message, const std::vector<Piece>& pieces) {
        const auto in_input = [&](const Piece& piece) { return input(piece); };
        const auto in_result = [&](const Piece& piece) { return accumulator(piece); };
        const auto is_first = [&](const Piece& piece) { return !begun_.contains(piece.dest); };
        const auto result = as_one(pieces, in_result);
        if (result && std::all_of(pieces.begin(), pieces.end(), is_first)) {
            builder_.recv(message.from, *result, channel(message));
            for_each_run(pieces, in_input, in_result, [&](Segment run, Place own, Place sum) {
                builder_.reduce({own.buffer, own.offset, run.units}, sum);
            });
        } else {
            const Region slot = next_slot(message, units_of(pieces));
            builder_.recv(message.from, slot, channel(message));
            for (const Piece& piece : pieces) {
                if (is_first(piece))
                    builder_.copy({kInput, input(piece).offset, piece.segment.units}, accumulator(piece));
            }
            for_each_run(pieces, in_result, in_result, [&](Segment run, Place sum, Place) {
                builder_.reduce({slot.buffer, slot.offset + run.offset, run.units}, sum);
            });
        }
        for (const Piece& piece : pieces) begun_.insert(piece.dest);
    }

    /// Of a rank to which nobody sends.
    void keep_own(std::uint32_t number) {
        const auto own = piece(part_.rank, number);
        if (own && !begun_.contains(part_.rank))
            builder_.copy({kInput, input(*own).offset, own->segment.units}, accumulator(*own));
    }

    Region next_slot(const BlockTrees::Message& message, std::uint64_t units) {
        Slots& slots = slots_of_[{message.from, message.hop}];
        if (slots.units == 0) {
            slots.units = segment_bytes_ > 0 ? longest_segment(message) : units;
            slots.buffer = builder_.add_temporary(slots.units * slots_);
        }
        return {slots.buffer, slots.units * (slots.used++ % slots_), units};
    }

    std::uint64_t longest_segment(const BlockTrees::Message& message) const {
        std::uint64_t longest = 0;
        for (const BlockTrees::Message& each : messages_) {
            if (each.from != message.from || each.hop != message.hop) continue;
            for (const Rank dest : each.dests) {
                const std::uint64_t units = part_.request.block_units(dest);
                if (units > 0) longest = std::max(longest, segments_of(units).units_per_segment);
            }
        }
        return longest;
    }

    /// What goes around for other clusters comes before the cluster's own.
    static Channel channel(const BlockTrees::Message& message) {
        return contributions(message.hop == BlockTrees::kInside ? BlockTrees::kToCarrier : message.hop);
    }

    struct Slots {
        Buffer buffer = 0;
        std::uint64_t units = 0;  // of each; 0: there are none yet
        std::uint64_t used = 0;
    };

    const Part& part_;
    ScheduleBuilder& builder_;
    BlockTrees trees_;
    std::vector<BlockTrees::Message> messages_;
    Bytes segment_bytes_;
    std::uint64_t slots_;                             // for each sender in each hop
    std::map<Rank, Place> accumulators_;              // of blocks that are combined here
    std::map<std::pair<Rank, int>, Slots> slots_of_;  // by sender and hop
    std::set<Rank> begun_;                            // blocks of which a message has come
};

class Combining final : public Algorithm {
  public:
    Combining(const Variant& variant, Bytes segment_bytes, RingOrder order = {})
        : variant_(variant), segment_bytes_(segment_bytes), order_(std::move(order)) {}

    std::string name() const override {
        return fmt::format("{}{}", variant_.name, name_suffix(segment_bytes_, 1));
    }
    std::string in_words() const override { return std::string(variant_.in_words); }
    std::string details() const override {
        return order_.empty() ? "" : fmt::format(" around {}", fmt::join(order_, ">"));
    }
    Bytes segment_bytes() const override { return segment_bytes_; }
    std::string needs() const override {
        if (variant_.is_ring) return "needs several clusters, and segments";
        return variant_.aggregation == Aggregation::by_cluster ? "needs several clusters, or segments" : "";
    }
    bool can_do(const Request& request, const Machine& machine) const override {
        const bool has_clusters = machine.cluster_count() > 1;
        const bool has_segments = segment_bytes_ > 0;
        if (!request.commutative) return false;
        if (variant_.is_ring) return has_clusters && has_segments;
        return variant_.aggregation != Aggregation::by_cluster || has_clusters || has_segments;
    }

    std::optional<Candidate> price(Pricing& pricing) const override {
        Candidate candidate;
        const RingOrder order = variant_.is_ring ? ring_order(pricing) : RingOrder();
        const BlockTrees trees = trees_of(pricing.request(), pricing.machine(), order);
        candidate.algorithm = std::make_shared<Combining>(variant_, segment_bytes_, order);
        candidate.time = combining_time(pricing, variant_.aggregation, trees, segment_bytes_);
        candidate.seconds = candidate.time.last;
        candidate.hops = variant_.aggregation == Aggregation::none ? 1 : 3;
        candidate.crossings = messages_between_clusters(pricing);
        // In a ring as many, but one after the other.
        candidate.relays = variant_.is_ring ? pricing.clusters() : 0;
        if (pricing.clusters() > 1) candidate.pace = pace(pricing, trees);
        return candidate;
    }

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        CombiningSteps(part, builder, trees_of(part.request, part.machine, order_), segment_bytes_).write();
    }

  private:
    BlockTrees trees_of(const Request& request, const Machine& machine, const RingOrder& order) const {
        return {machine, variant_.aggregation, segment_bytes_ > 0,
                variant_.is_ring ? in_ring(clusters_in_order(request, machine), order) : std::vector<int>()};
    }

    std::vector<double> pace(Pricing& pricing, const BlockTrees& trees) const {
        if (variant_.aggregation == Aggregation::none)
            return pace_of_blocks(pricing, Aggregation::none, segment_bytes_);
        if (variant_.aggregation == Aggregation::by_cluster && segment_bytes_ > 0)
            return pace_of_combined(pricing, trees, segment_bytes_);
        return {};
    }

    int messages_between_clusters(const Pricing& pricing) const {
        const Machine& machine = pricing.machine();
        const auto ends_in = [&](int cluster) {
            return static_cast<int>(variant_.aggregation == Aggregation::none
                                        ? machine.ranks_in(cluster).size()
                                        : machine.hosts_in(cluster).size());
        };
        const bool is_by_cluster = variant_.aggregation == Aggregation::by_cluster;
        return sum_over_pairs(machine,
                              [&](int a, int b) { return (is_by_cluster ? 1 : ends_in(a)) * ends_in(b); });
    }

    const Variant& variant_;
    Bytes segment_bytes_;  // 0: blocks are not cut
    RingOrder order_;
};

/// `direct` is also a way of blocks that are only moved.
AlgorithmPtr parse(const AlgorithmName& name, Collective collective) {
    for (const Variant& variant : kVariants) {
        if (name.first() != variant.name) continue;
        if (variant.aggregation == Aggregation::none && !is_combined_in_parts(collective)) return nullptr;
        if (name.levels.size() > 1 || name.lanes > 1) refuse_name(name, "it takes neither levels nor lanes");
        return std::make_shared<Combining>(variant, name.segment_bytes);
    }
    return nullptr;
}

constexpr Bytes kShort = 4 * 1024;

/// Whether blocks are so long that they go in segments where there are several clusters. As one message,
/// those of 24 KiB from 16 hosts at 4 sites took 84 ms, and in segments of 4 KiB 38; those of 8 KiB from four
/// ranks on each 120 and 77 ms, of 4 KiB 38 and 41.
bool are_long(const Pricing& pricing) {
    constexpr Bytes kLong = 8 * 1024;
    constexpr Bytes kLongTogether = 256 * 1024;
    const Bytes bytes = pricing.request().bytes();
    const Bytes all = bytes * static_cast<Bytes>(pricing.machine().rank_count());
    return pricing.clusters() > 1 && (bytes > kLong || (bytes > kShort && all > kLongTogether));
}

/// Whether short blocks for all ranks of a host fill a message that needs a handshake, so that each block is
/// better sent as soon as it is combined.
bool are_long_together(const Pricing& pricing) {
    int fullest = 1;
    for (int c = 0; c < pricing.clusters(); ++c)
        fullest = std::max(fullest, pricing.machine().most_ranks_on_a_host(c));
    return fullest > 1 && static_cast<Bytes>(fullest) * pricing.request().bytes() > pricing.longest_segment();
}

/// In one cluster, long blocks go around in segments that need no handshake.
std::vector<Bytes> segments_for(const Pricing& pricing, Aggregation aggregation) {
    constexpr Bytes kUsual = 16 * 1024;  // needs no handshake, and lets connections begin with one
    std::vector<Bytes> segments;
    if (pricing.clusters() == 1 && aggregation == Aggregation::by_cluster) {
        if (pricing.request().bytes() >= 4 * kUsual) segments.push_back(kUsual);
        return segments;
    }
    for (const Bytes size : pricing.segment_sizes()) {
        if (size <= kUsual || pricing.clusters() == 1 || segments.empty()) segments.push_back(size);
    }
    if (segments.empty() && aggregation == Aggregation::by_cluster && are_long_together(pricing))
        segments.push_back(kShort);
    if (!are_long(pricing) || segments.empty()) segments.insert(segments.begin(), 0);
    return segments;
}

/// The price of a ring takes time as clusters³; and of more of them, latencies count most.
constexpr int kMostInRing = 64;

/// With one rank on each host, `direct` and `host-combining` are the same, and in one cluster MPI's own is
/// that, too; of several clusters, `cluster-combining` has hosts that combine, too. Two hosts, or clusters,
/// have nobody else to pass anything to.
bool is_of_use(const Pricing& pricing, const Variant& variant) {
    const Machine& machine = pricing.machine();
    const bool is_one = pricing.clusters() == 1;
    switch (variant.aggregation) {
        case Aggregation::none:
            return !is_one;
        case Aggregation::by_host:
            return is_one && !machine.has_single_ranks();
        case Aggregation::by_cluster:
            if (variant.is_ring) return pricing.clusters() > 2 && pricing.clusters() <= kMostInRing;
            return !is_one || machine.host_count() > 2;
    }
    return false;
}

void propose(Pricing& pricing, std::vector<Candidate>& found) {
    for (const Variant& variant : kVariants) {
        if (!is_of_use(pricing, variant)) continue;
        for (const Bytes segment : segments_for(pricing, variant.aggregation)) {
            const Combining algorithm(variant, segment);
            if (algorithm.can_do(pricing.request(), pricing.machine()))
                found.push_back(*algorithm.price(pricing));
        }
    }
}

}  // namespace

Family combining_family() {
    return {.name = "combining",
            .grammar =
                "direct[@SEGMENT], host-combining[@SEGMENT], cluster-combining[@SEGMENT], "
                "cluster-ring@SEGMENT",
            .summary = "a reduction tree for each rank's block: hosts or clusters combine first",
            .source = "MagPIe, 1999; docs/algorithms.md",
            .is_for = is_combined_in_parts,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
