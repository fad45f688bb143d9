// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter and all-to-all: each block straight to its destination, or together with others between two
// hosts or two clusters, where a message costs more than what is in it.
//
//     direct                 P - 1 messages of each rank, some of them under way at a time
//     host-aggregation       one message between two hosts
//     cluster-aggregation    one message between two clusters, one between two hosts of a cluster
//
// (block_routes.hpp; docs/algorithms.md)
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/index.hpp"
#include "collectives/algorithms/block_routes.hpp"
#include "collectives/algorithms/block_times.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

/// What a rank may hold of other ranks' data, in bytes.
constexpr Bytes kMostHeld = 64U << 20;

struct Variant {
    std::string_view name;
    std::string_view in_words;
    Aggregation aggregation;
    Bytes largest;  ///< of blocks that are worth it
};
constexpr Variant kVariants[] = {
    {"direct", "each block goes straight to its rank", Aggregation::none, std::numeric_limits<Bytes>::max()},
    {"host-aggregation", "blocks between two hosts go in one message", Aggregation::by_host, 1024},
    {"cluster-aggregation", "blocks between two clusters go in one message", Aggregation::by_cluster,
     16 * 1024},
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
    BlockSteps(const Part& part, ScheduleBuilder& builder, Aggregation aggregation)
        : part_(part), builder_(builder), routes_(part.request, part.machine, aggregation) {
        // A send waits for a receive at a smaller distance (BlockRoutes::messages_of), whose send has waited
        // for one at a still smaller distance: nobody waits in a circle.
        const auto ranks = static_cast<Bytes>(part.machine.rank_count());
        if (aggregation == Aggregation::none && part.windows.global > 0 && !is_rooted())
            most_under_way_ = at_least_two(part.windows.global * ranks / part.request.bytes());
    }

    void write() {
        if (part_.request.units == 0) return;
        keep_own();
        for (const BlockRoutes::Message& message : routes_.messages_of(part_.rank)) {
            if (message.from == part_.rank) {
                send(message);
            } else {
                receive(message);
            }
        }
    }

  private:
    bool is_rooted() const { return row_of(part_.request.collective).is_rooted; }
    static std::size_t at_least_two(Bytes count) { return std::max<std::size_t>(2, count); }

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

    void send(const BlockRoutes::Message& message) {
        const auto here = [&](Block block) { return place_of(block); };
        std::optional<Region> region = as_one(message.blocks, here);
        if (!region) {
            region = temporary_for(message.blocks);
            copy(
                message.blocks, [&](std::size_t i) { return here(message.blocks[i]); },
                [&](std::size_t i) {
                    return Place{region->buffer, region->offset + i * part_.request.units};
                });
        }
        if (most_under_way_ > 0 && received_.size() >= most_under_way_)
            builder_.hold_sends(-1, builder_.writer_of(received_[received_.size() - most_under_way_]));
        builder_.send(message.to, *region);
    }

    void receive(const BlockRoutes::Message& message) {
        const auto is_for_here = [&](Block block) { return block.dest == part_.rank; };
        const auto there = [&](Block block) { return final_place(block); };
        const bool ends_here = std::all_of(message.blocks.begin(), message.blocks.end(), is_for_here);
        if (ends_here) {
            if (const auto region = as_one(message.blocks, there)) {
                builder_.recv(message.from, *region);
                received_.push_back(region->place());
                return;
            }
        }
        const Region region = temporary_for(message.blocks);
        builder_.recv(message.from, region);
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
            own, [&](std::size_t i) { return places[i]; }, [&](std::size_t i) { return there(own[i]); });
    }

    const Part& part_;
    ScheduleBuilder& builder_;
    BlockRoutes routes_;
    std::size_t most_under_way_ = 0;                    // messages of a rank; 0: no limit
    std::vector<Place> received_;                       // in their order
    std::unordered_map<std::uint64_t, Place> passing_;  // blocks of others
};

class BlockAlgorithm final : public Algorithm {
  public:
    explicit BlockAlgorithm(const Variant& variant) : variant_(variant) {}

    std::string name() const override { return std::string(variant_.name); }
    std::string in_words() const override { return std::string(variant_.in_words); }
    std::string needs() const override {
        return variant_.aggregation == Aggregation::by_cluster
                   ? "needs several clusters, and blocks that together take at most 64 MiB of a rank"
                   : "needs blocks that together take at most 64 MiB of a rank";
    }
    bool can_do(const Request& request, const Machine& machine) const override {
        if (variant_.aggregation == Aggregation::by_cluster && machine.cluster_count() == 1) return false;
        const std::size_t most = BlockRoutes(request, machine, variant_.aggregation).most_blocks();
        return most * request.bytes() <= kMostHeld;
    }

    std::optional<Candidate> price(Pricing& pricing) const override {
        Candidate candidate;
        candidate.algorithm = std::make_shared<BlockAlgorithm>(variant_);
        candidate.time = block_time(pricing, variant_.aggregation);
        candidate.seconds = candidate.time.last;
        candidate.hops = variant_.aggregation == Aggregation::none ? 1 : 3;
        return candidate;
    }

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        BlockSteps(part, builder, variant_.aggregation).write();
    }

  private:
    const Variant& variant_;
};

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    for (const Variant& variant : kVariants) {
        if (name.text == variant.name) return std::make_shared<BlockAlgorithm>(variant);
    }
    return nullptr;
}

/// With one rank on each host, and one cluster, all of them are the same. Larger blocks fill a message by
/// themselves, and agents would wait for all that goes together.
void propose(Pricing& pricing, std::vector<Candidate>& found) {
    const Machine& machine = pricing.machine();
    for (const Variant& variant : kVariants) {
        const BlockAlgorithm algorithm(variant);
        if (pricing.request().bytes() > variant.largest) continue;
        if (variant.aggregation == Aggregation::by_host && machine.has_single_ranks()) continue;
        if (algorithm.can_do(pricing.request(), machine)) found.push_back(*algorithm.price(pricing));
    }
}

}  // namespace

Family aggregation_family() {
    return {.name = "aggregation",
            .grammar = "direct, host-aggregation, cluster-aggregation",
            .summary = "blocks go straight, or together between two hosts or two clusters",
            .source = "MagPIe, PPoPP'99; Bienz, Gropp and Olson, 2019",
            .is_for = is_personalized,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
