// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter and all-to-all: each block straight to its destination, or together with others between two
// hosts or two clusters, where a message costs more than what is in it.
//
//     direct[@SEGMENT]               P - 1 messages of each rank
//     host-aggregation[@SEGMENT]     one message between two hosts
//     cluster-aggregation[@SEGMENT]  one message between two clusters, one between two hosts of a cluster
//
// In segments, all peers get one before any gets its second. What is direct, or in segments, goes to other
// clusters at the pace of the busiest link. A root that scatters serves the farthest clusters first.
//
// (block_routes.hpp; docs/algorithms.md)
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "collectives/algorithms/block_memory.hpp"
#include "collectives/algorithms/block_routes.hpp"
#include "collectives/algorithms/block_times.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/pace.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/algorithms/root_order.hpp"

namespace laple {
namespace {

struct Variant {
    std::string_view name;
    std::string_view in_words;
    Aggregation aggregation;
    Bytes together;  ///< of blocks of different sizes, those of up to so many bytes go together
    Bytes largest;   ///< of blocks that are worth it between clusters
};
constexpr Variant kVariants[] = {
    {"direct", "each block goes straight to its rank", Aggregation::none, 0,
     std::numeric_limits<Bytes>::max()},
    {"host-aggregation", "blocks between two hosts go in one message", Aggregation::by_host, 1024, 16 * 1024},
    {"cluster-aggregation", "blocks between two clusters go in one message", Aggregation::by_cluster,
     16 * 1024, 16 * 1024},
};

/// Where a block begins in what its source has, and in what its destination gets.
std::uint64_t begin_at_source(const Request& request, Block block) {
    const bool is_one = row_of(request.collective).runs_to_root;
    return is_one ? 0 : request.units * static_cast<std::uint64_t>(block.dest);
}
std::uint64_t begin_at_dest(const Request& request, Block block) {
    const CollectiveRow& row = row_of(request.collective);
    const bool is_one = row.is_rooted && !row.runs_to_root;
    return is_one ? 0 : request.units * static_cast<std::uint64_t>(block.source);
}

/// The steps of one rank.
class BlockSteps {
  public:
    BlockSteps(const Part& part, ScheduleBuilder& builder, Aggregation aggregation,
               const std::vector<int>& order)
        : part_(part),
          builder_(builder),
          routes_(part.request, part.machine, aggregation),
          turns_(turns_in(order)) {}

    void write(Bytes segment_bytes) {
        if (part_.request.units == 0) return;
        keep_own();
        // Where blocks differ, long ones are paced, and they are none of these steps.
        if (!part_.request.is_varied) pace_sends(part_, builder_);
        std::vector<BlockRoutes::Message> messages = routes_.messages_of(part_.rank);
        if (!turns_.empty()) {
            std::stable_sort(messages.begin(), messages.end(), [this](const auto& a, const auto& b) {
                return std::pair(a.hop, turn_of(a.to)) < std::pair(b.hop, turn_of(b.to));
            });
        }
        for (auto begin = messages.begin(); begin != messages.end();) {
            const auto end = std::find_if(begin, messages.end(), [&](const BlockRoutes::Message& message) {
                return message.hop != begin->hop;
            });
            pass({begin, end}, begin->hop == BlockRoutes::kMiddle ? segment_bytes : 0);
            begin = end;
        }
    }

  private:
    bool is_rooted() const { return row_of(part_.request.collective).is_rooted; }
    int turn_of(Rank rank) const { return turns_[at(part_.machine.cluster_of_rank(rank))]; }

    bool is_sent(const BlockRoutes::Message& message) const { return message.from == part_.rank; }
    bool is_far(const BlockRoutes::Message& message) const {
        return part_.machine.cluster_of_rank(message.to) != part_.machine.cluster_of_rank(part_.rank);
    }

    bool is_on_host(Rank rank) const {
        return part_.machine.host_of(rank) == part_.machine.host_of(part_.rank);
    }
    /// A root sends alone: who is near it need not wait for others.
    bool has_turns() const { return builder_.paces_sends() && !is_rooted(); }

    /// What goes to other hosts of the cluster is between what goes to other clusters, which has a pace. Sent
    /// at once it would fill the NIC; what the pace let go meanwhile would come after it all together, and
    /// overrun the uplink's queue.
    ///
    ///     far     █   █   █   █
    ///     near      ▪   ▪   ▪
    std::vector<std::size_t> in_turns(std::span<const BlockRoutes::Message> messages) const {
        std::vector<std::size_t> near;
        std::vector<std::size_t> order;
        std::size_t far = 0;
        for (std::size_t m = 0; m < messages.size(); ++m) {
            const bool is_near =
                has_turns() && is_sent(messages[m]) && !is_far(messages[m]) && !is_on_host(messages[m].to);
            (is_near ? near : order).push_back(m);
            if (is_sent(messages[m]) && is_far(messages[m])) ++far;
        }
        if (near.empty()) return order;
        std::vector<std::size_t> turns;
        std::size_t passed = 0;
        std::size_t served = 0;
        const auto serve = [&](std::size_t until) {
            while (served < until) turns.push_back(near[served++]);
        };
        for (const std::size_t m : order) {
            turns.push_back(m);
            if (is_sent(messages[m]) && is_far(messages[m])) serve(near.size() * ++passed / far);
        }
        serve(near.size());
        return turns;
    }

    /// What a rank sends and gets in one hop. All peers get their first segment before one gets its second:
    /// each connection has as long as can be for it. A message is cut alike at both ends, whatever else they
    /// send.
    void pass(std::span<const BlockRoutes::Message> messages, Bytes segment_bytes) {
        const std::vector<std::size_t> turns = in_turns(messages);
        std::vector<Region> regions(messages.size());
        std::uint32_t longest = 1;
        for (std::uint32_t i = 0; i < longest; ++i) {
            for (const std::size_t m : turns) {
                if (i == 0) regions[m] = region_for(messages[m]);
                const Segments segments =
                    Segments::cut(regions[m].units, part_.request.unit_bytes, segment_bytes);
                longest = std::max(longest, segments.count());
                if (i < segments.count()) pass(messages[m], regions[m], segments.at(i));
                if (i + 1 == segments.count()) take_apart(messages[m], regions[m]);
            }
        }
        builder_.hold_sends(-1, -1);  // those of the next hop
    }
    void pass(const BlockRoutes::Message& message, Region region, Segment segment) {
        const Region part{region.buffer, region.offset + segment.offset, segment.units};
        if (is_sent(message)) {
            builder_.send(message.to, part);
            // A near one waits until MPI has taken this far one.
            if (has_turns() && is_far(message)) builder_.hold_sends(builder_.last_step(), -1);
        } else {
            builder_.recv(message.from, part);
        }
    }

    void keep_own() {
        const bool has_own = !is_rooted() || part_.rank == part_.request.root;
        const Block own{part_.rank, part_.rank};
        if (has_own)
            builder_.copy({kInput, begin_at_source(part_.request, own), part_.request.units},
                          {kResult, begin_at_dest(part_.request, own)});
    }

    Place place_of(Block block) const {
        if (block.source == part_.rank) return {kInput, begin_at_source(part_.request, block)};
        return passing_.at(key(block));
    }
    Place final_place(Block block) const { return {kResult, begin_at_dest(part_.request, block)}; }
    std::uint64_t key(Block block) const {
        return static_cast<std::uint64_t>(block.source) * at(part_.machine.rank_count()) + at(block.dest);
    }

    /// Where all blocks of a message lie, if they follow each other as in the message.
    template <typename PlaceOf>
    std::optional<Region> as_one(const std::vector<Block>& blocks, PlaceOf place_of) const {
        const Place first = place_of(blocks.front());
        for (std::size_t i = 1; i < blocks.size(); ++i) {
            if (place_of(blocks[i]) != Place{first.buffer, first.offset + i * part_.request.units})
                return std::nullopt;
        }
        return Region{first.buffer, first.offset, blocks.size() * part_.request.units};
    }

    Region temporary_for(const std::vector<Block>& blocks) {
        const std::uint64_t units = blocks.size() * part_.request.units;
        return {builder_.add_temporary(units), 0, units};
    }

    /// Copies blocks from some places to others; those that follow each other on both sides as one.
    template <typename From, typename To>
    void copy(const std::vector<Block>& blocks, From from, To to) {
        const std::uint64_t units = part_.request.units;
        for (std::size_t i = 0; i < blocks.size();) {
            const Place source = from(i);
            const Place dest = to(i);
            std::size_t next = i + 1;
            while (next < blocks.size() &&
                   from(next) == Place{source.buffer, source.offset + (next - i) * units} &&
                   to(next) == Place{dest.buffer, dest.offset + (next - i) * units})
                ++next;
            builder_.copy({source.buffer, source.offset, (next - i) * units}, dest);
            i = next;
        }
    }

    bool is_for_here(Block block) const { return block.dest == part_.rank; }

    /// Where the blocks of a message lie one after the other: those that are sent are put there.
    Region region_for(const BlockRoutes::Message& message) {
        const bool is_sent = this->is_sent(message);
        const bool ends_here = std::all_of(message.blocks.begin(), message.blocks.end(),
                                           [&](Block block) { return is_for_here(block); });
        const auto here = [&](Block block) { return is_sent ? place_of(block) : final_place(block); };
        if (is_sent || ends_here) {
            if (const auto region = as_one(message.blocks, here)) return *region;
        }
        const Region region = temporary_for(message.blocks);
        if (!is_sent) return region;
        copy(
            message.blocks, [&](std::size_t i) { return here(message.blocks[i]); },
            [&](std::size_t i) {
                return Place{region.buffer, region.offset + i * part_.request.units};
            });
        return region;
    }

    /// Of a message that has come: puts blocks where this rank has them in the end, and remembers those that
    /// are passed on.
    void take_apart(const BlockRoutes::Message& message, Region region) {
        if (is_sent(message) || region.buffer == kResult) return;
        const auto place = [&](std::size_t i) {
            return Place{region.buffer, region.offset + i * part_.request.units};
        };
        std::vector<Block> own;
        std::vector<Place> places;
        for (std::size_t i = 0; i < message.blocks.size(); ++i) {
            if (is_for_here(message.blocks[i])) {
                own.push_back(message.blocks[i]);
                places.push_back(place(i));
            } else {
                passing_[key(message.blocks[i])] = place(i);
            }
        }
        copy(
            own, [&](std::size_t i) { return places[i]; },
            [&](std::size_t i) { return final_place(own[i]); });
    }

    const Part& part_;
    ScheduleBuilder& builder_;
    BlockRoutes routes_;
    std::vector<int> turns_;  // of clusters, by root_order(); empty: as BlockRoutes has them
    std::unordered_map<std::uint64_t, Place> passing_;  // blocks of others
};

/// Of messages to other clusters; 0: they are not cut.
Bytes segment_for(const Pricing& pricing, Aggregation aggregation) {
    if (pricing.clusters() == 1 || aggregation == Aggregation::by_cluster) return 0;
    const Machine& machine = pricing.machine();
    const Bytes bytes = pricing.request().bytes();
    if (aggregation == Aggregation::none)
        return pricing.paced_segment(bytes, static_cast<Bytes>(machine.rank_count()));
    Bytes ranks = 1;
    for (int c = 0; c < machine.cluster_count(); ++c)
        ranks = std::max(ranks, static_cast<Bytes>(machine.most_ranks_on_a_host(c)));
    const bool is_rooted = row_of(pricing.request().collective).is_rooted;
    return pricing.paced_segment(bytes * ranks * (is_rooted ? 1 : ranks),
                                 static_cast<Bytes>(machine.host_count()));
}

/// The most that go together between two hosts, or clusters.
Bytes blocks_in_message(const Request& request, const Machine& machine, Aggregation aggregation) {
    std::vector<Bytes> ranks;  // of hosts, or clusters
    for (int c = 0; c < machine.cluster_count(); ++c) {
        if (aggregation == Aggregation::by_cluster) ranks.push_back(machine.ranks_in(c).size());
        if (aggregation == Aggregation::by_host)
            ranks.push_back(static_cast<Bytes>(machine.most_ranks_on_a_host(c)));
    }
    std::sort(ranks.rbegin(), ranks.rend());
    return row_of(request.collective).is_rooted ? ranks[0] : ranks[0] * ranks[1];
}

/// Of blocks that all have as much and make up one message between two hosts, or clusters, that is sent
/// without a handshake, and before its connection has grown its window. Longer ones are there sooner when
/// each goes by itself.
Bytes longest_in_message(const Request& request, const Machine& machine, Aggregation aggregation) {
    constexpr Bytes kMessage = 16 * 1024;
    constexpr Bytes kLeast = 64;
    if (machine.cluster_count() == 1) return kMessage;
    return std::max(kMessage / blocks_in_message(request, machine, aggregation), kLeast);
}

/// What goes between two clusters undivided comes at the rate of NICs: where all have as much for all others,
/// a queue at an uplink loses some of it. 16 KiB of 48 ranks on 6 far hosts took 545 to 800 ms so, in
/// segments between hosts 480, MPI's own 470.
bool fits_into_queues(const Request& request, const Machine& machine, Aggregation aggregation) {
    constexpr Bytes kMost = 128 * 1024;
    return aggregation != Aggregation::by_cluster || machine.cluster_count() == 1 ||
           row_of(request.collective).is_rooted ||
           request.bytes() * blocks_in_message(request, machine, aggregation) <= kMost;
}

class BlockAlgorithm final : public Algorithm {
  public:
    BlockAlgorithm(const Variant& variant, Bytes segment_bytes, std::vector<int> order = {})
        : variant_(variant), segment_bytes_(segment_bytes), order_(std::move(order)) {}

    std::string name() const override {
        return fmt::format("{}{}", variant_.name, name_suffix(segment_bytes_, 1));
    }
    std::string in_words() const override { return std::string(variant_.in_words); }
    std::string details() const override {
        return order_.empty() ? "" : fmt::format(" first to {}", fmt::join(order_, ">"));
    }
    Bytes segment_bytes() const override { return segment_bytes_; }
    std::string needs() const override {
        return variant_.aggregation == Aggregation::by_cluster
                   ? "needs several clusters, and blocks that fit into LAPLE_BLOCK_MEMORY of a rank together"
                   : "needs blocks that fit into LAPLE_BLOCK_MEMORY of a rank together";
    }
    bool can_do(const Request& request, const Machine& machine) const override {
        if (variant_.aggregation == Aggregation::by_cluster && machine.cluster_count() == 1) return false;
        const std::size_t most = BlockRoutes(request, machine, variant_.aggregation).most_blocks();
        return has_room_for(most, request, machine);
    }

    Bytes longest_together(const Request& request, const Machine& machine) const override {
        if (variant_.aggregation == Aggregation::none) return 0;
        const std::size_t most = BlockRoutes(request, machine, variant_.aggregation).most_blocks();
        return std::min({variant_.together, longest_in_message(request, machine, variant_.aggregation),
                         machine.block_memory() / std::max<std::size_t>(most, 1)});
    }

    std::optional<Candidate> price(Pricing& pricing) const override {
        Candidate candidate;
        candidate.algorithm = std::make_shared<BlockAlgorithm>(
            variant_, segment_bytes_, root_order(pricing.request(), pricing.machine(), pricing.costs()));
        candidate.time = block_time(pricing, variant_.aggregation, segment_bytes_);
        candidate.seconds = candidate.time.last;
        const bool is_direct = variant_.aggregation == Aggregation::none;
        candidate.hops = is_direct ? 1 : 3;
        candidate.crossings = messages_between_clusters(pricing);
        if (pricing.clusters() > 1) candidate.pace = pace(pricing);
        return candidate;
    }

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        // A message of blocks of different sizes begins with their lengths.
        BlockSteps(part, builder, variant_.aggregation, order_)
            .write(part.request.is_varied ? 0 : segment_bytes_);
    }

  private:
    /// Where blocks have different sizes, long ones go straight by all algorithms.
    std::vector<double> pace(Pricing& pricing) const {
        if (!pricing.request().is_varied) {
            const bool is_paced = variant_.aggregation == Aggregation::none || segment_bytes_ > 0;
            return is_paced ? pace_of_blocks(pricing, variant_.aggregation, segment_bytes_)
                            : std::vector<double>();
        }
        const Request request = of_long_blocks(pricing.request());
        Pricing long_blocks(request, pricing.machine(), pricing.costs());
        return pace_of_blocks(long_blocks, Aggregation::none, segment_for(long_blocks, Aggregation::none),
                              Blocks::of_unknown_sizes);
    }

    /// Of nearly equal ones, who sends fewer of them loads processors less, too: 4 KiB between 64 ranks on 16
    /// hosts of four sites took 236 ms straight, 151 in segments between hosts, MPI's own 186. What is longer
    /// than one message needs to be is no better together undivided: then each block counts, as 16 KiB took
    /// 525 ms straight, 560 and 980, and 64 KiB 2130 ms, 2270 and 4290.
    int messages_between_clusters(const Pricing& pricing) const {
        const Machine& machine = pricing.machine();
        const Bytes bytes = pricing.request().bytes();
        const CollectiveRow& row = row_of(pricing.request().collective);
        const auto hosts = [&](int c) { return static_cast<std::int64_t>(machine.hosts_in(c).size()); };
        const auto ranks = [&](int c) { return static_cast<std::int64_t>(machine.ranks_in(c).size()); };
        if (row.is_rooted) {
            return sum_over_pairs(machine, [&](int a, int b) -> std::int64_t {
                if ((row.runs_to_root ? b : a) != pricing.root_cluster()) return 0;
                const int other = row.runs_to_root ? a : b;
                if (variant_.aggregation == Aggregation::by_cluster) return 1;
                return variant_.aggregation == Aggregation::by_host ? hosts(other) : ranks(other);
            });
        }
        const bool are_short = variant_.aggregation != Aggregation::by_host || pricing.request().is_varied ||
                               bytes <= longest_in_message(pricing.request(), machine, variant_.aggregation);
        return sum_over_pairs(machine, [&](int a, int b) -> std::int64_t {
            if (variant_.aggregation == Aggregation::by_cluster) return 1;
            const std::int64_t blocks = ranks(a) * ranks(b);
            if (variant_.aggregation == Aggregation::none) return blocks;
            const std::int64_t pairs = hosts(a) * hosts(b);
            if (segment_bytes_ == 0) return are_short ? pairs : blocks;
            // As if all hosts of a cluster had as many ranks.
            const Bytes of_pair = (static_cast<Bytes>(blocks) * bytes) / static_cast<Bytes>(pairs);
            const auto segments = static_cast<std::int64_t>((of_pair + segment_bytes_ - 1) / segment_bytes_);
            return std::min(pairs * segments, blocks);
        });
    }

    const Variant& variant_;
    Bytes segment_bytes_;     // 0: blocks are not cut
    std::vector<int> order_;  // of clusters: root_order()
};

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    for (const Variant& variant : kVariants) {
        if (name.first() != variant.name) continue;
        if (name.levels.size() > 1 || name.lanes > 1) refuse_name(name, "it takes neither levels nor lanes");
        return std::make_shared<BlockAlgorithm>(variant, name.segment_bytes);
    }
    return nullptr;
}

/// With one rank on each host, and one cluster, all of them are the same. MPI's own is that, too, but for
/// blocks beyond 32 KiB, which it exchanges pair by pair: between eight hosts on a switch that is better
/// (64 KiB: 3.7 ms, straight ones 6.1). Larger blocks fill a message by themselves, and agents would wait for
/// all that goes together.
///
/// Where sizes differ most blocks may be empty, and agents would wait for all ranks even so: a call with
/// neighbours alone would take a far latency. There blocks go together by a rule only (LAPLE_ALGORITHM).
void propose(Pricing& pricing, std::vector<Candidate>& found) {
    const Machine& machine = pricing.machine();
    for (const Variant& variant : kVariants) {
        const bool is_direct = variant.aggregation == Aggregation::none;
        const Bytes largest = pricing.clusters() == 1 ? variant.together : variant.largest;
        if (pricing.request().bytes() > largest) continue;
        if (pricing.request().is_varied && !is_direct) continue;
        if (variant.aggregation == Aggregation::by_host && machine.has_single_ranks()) continue;
        if (!fits_into_queues(pricing.request(), machine, variant.aggregation)) continue;
        const BlockAlgorithm algorithm(variant, segment_for(pricing, variant.aggregation));
        if (algorithm.can_do(pricing.request(), machine)) found.push_back(*algorithm.price(pricing));
    }
}

}  // namespace

Family aggregation_family() {
    return {.name = "aggregation",
            .grammar = "direct[@SEGMENT], host-aggregation[@SEGMENT], cluster-aggregation[@SEGMENT]",
            .summary = "blocks go straight, or together between two hosts or two clusters",
            .source = "MagPIe, PPoPP'99; Bienz, Gropp and Olson, 2019",
            .is_for = is_personalized,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
