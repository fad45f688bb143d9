// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter and all-to-all: each block straight to its destination, or together with others between two
// hosts or two clusters, where a message costs more than what is in it.
//
//     direct[@SEGMENT]       P - 1 messages of each rank, or a segment of each in turn; those to other
//                            clusters at the pace of the busiest link
//     host-aggregation       one message between two hosts
//     cluster-aggregation    one message between two clusters, one between two hosts of a cluster
//
// (block_routes.hpp; docs/algorithms.md)
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/index.hpp"
#include "collectives/algorithms/block_routes.hpp"
#include "collectives/algorithms/block_times.hpp"
#include "collectives/algorithms/name.hpp"
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
        : part_(part),
          builder_(builder),
          routes_(part.request, part.machine, aggregation),
          is_direct_(aggregation == Aggregation::none) {}

    void write(Bytes segment_bytes) {
        if (part_.request.units == 0) return;
        keep_own();
        if (is_direct_ && !part_.windows.pace.empty()) {
            const int cluster = part_.machine.cluster_of_rank(part_.rank);
            builder_.pace_sends(part_.windows.pace[at(cluster)] *
                                static_cast<double>(part_.request.unit_bytes));
        }
        if (segment_bytes > 0) return write_in_segments(segment_bytes);
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

    /// Of blocks that go straight. All peers get their first segment before one gets its second: each
    /// connection has as long as can be for it.
    void write_in_segments(Bytes segment_bytes) {
        const Request& request = part_.request;
        const Segments segments = Segments::cut(request.units, request.unit_bytes, segment_bytes);
        const std::vector<BlockRoutes::Message> messages = routes_.messages_of(part_.rank);
        for (std::uint32_t i = 0; i < segments.count(); ++i) {
            const auto [offset, units] = segments.at(i);
            for (const BlockRoutes::Message& message : messages) {
                const Block block = message.blocks.front();
                if (message.from == part_.rank) {
                    builder_.send(message.to, {kInput, begin_at_source(request, block) + offset, units});
                } else {
                    builder_.recv(message.from, {kResult, begin_at_dest(request, block) + offset, units});
                }
            }
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
        builder_.send(message.to, *region);
    }

    void receive(const BlockRoutes::Message& message) {
        const auto is_for_here = [&](Block block) { return block.dest == part_.rank; };
        const auto there = [&](Block block) { return final_place(block); };
        const bool ends_here = std::all_of(message.blocks.begin(), message.blocks.end(), is_for_here);
        if (ends_here) {
            if (const auto region = as_one(message.blocks, there))
                return builder_.recv(message.from, *region);
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
    bool is_direct_;
    std::unordered_map<std::uint64_t, Place> passing_;  // blocks of others
};

/// Of blocks that go straight to other clusters; 0: they are not cut. As long as needs no handshake and,
/// unless a rank would have too many steps, as lets connections begin with one of them.
Bytes segment_for(const Pricing& pricing) {
    constexpr Bytes kUsual = 16 * 1024;
    constexpr Bytes kMostMessages = 8192;
    const Bytes bytes = pricing.request().bytes();
    if (pricing.clusters() == 1 || bytes <= kUsual) return 0;
    Bytes segment = kUsual;
    for (const Bytes size : pricing.segment_sizes()) {
        if (size <= kUsual) segment = size;
    }
    const auto ranks = static_cast<Bytes>(pricing.machine().rank_count());
    while (segment < bytes && bytes / segment * ranks > kMostMessages) segment *= 2;
    return segment < bytes ? segment : 0;
}

class BlockAlgorithm final : public Algorithm {
  public:
    BlockAlgorithm(const Variant& variant, Bytes segment_bytes)
        : variant_(variant), segment_bytes_(segment_bytes) {}

    std::string name() const override {
        return fmt::format("{}{}", variant_.name, name_suffix(segment_bytes_, 1));
    }
    std::string in_words() const override { return std::string(variant_.in_words); }
    Bytes segment_bytes() const override { return segment_bytes_; }
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

    Bytes longest_together(const Request& request, const Machine& machine) const override {
        if (variant_.aggregation == Aggregation::none) return 0;
        const std::size_t most = BlockRoutes(request, machine, variant_.aggregation).most_blocks();
        return std::min(variant_.largest, kMostHeld / std::max<std::size_t>(most, 1));
    }

    std::optional<Candidate> price(Pricing& pricing) const override {
        Candidate candidate;
        candidate.algorithm = std::make_shared<BlockAlgorithm>(variant_, segment_bytes_);
        candidate.time = block_time(pricing, variant_.aggregation, segment_bytes_);
        candidate.seconds = candidate.time.last;
        const bool is_direct = variant_.aggregation == Aggregation::none;
        candidate.hops = is_direct ? 1 : 3;
        candidate.crossings = messages_between_clusters(pricing);
        if (pricing.clusters() > 1) candidate.pace = pace_of_what_goes_straight(pricing, is_direct);
        return candidate;
    }

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        BlockSteps(part, builder, variant_.aggregation).write(segment_bytes_);
    }

  private:
    /// Where blocks have different sizes, long ones go straight by all algorithms.
    std::vector<double> pace_of_what_goes_straight(Pricing& pricing, bool is_direct) const {
        constexpr Bytes kLongBlock = 64 * 1024;
        if (!pricing.request().is_varied)
            return is_direct ? pace_of_blocks(pricing, segment_bytes_) : std::vector<double>();
        const Request request = request_for(pricing.request().collective, kLongBlock, pricing.request().root);
        Pricing of_long_blocks(request, pricing.machine(), pricing.costs());
        return pace_of_blocks(of_long_blocks, segment_for(of_long_blocks));
    }

    /// Of nearly equal ones, who sends fewer of them loads processors less, too.
    int messages_between_clusters(const Pricing& pricing) const {
        const Machine& machine = pricing.machine();
        const CollectiveRow& row = row_of(pricing.request().collective);
        const auto ends_in = [&](int cluster) {
            if (variant_.aggregation == Aggregation::by_cluster) return 1;
            return static_cast<int>(variant_.aggregation == Aggregation::by_host
                                        ? machine.hosts_in(cluster).size()
                                        : machine.ranks_in(cluster).size());
        };
        int count = 0;
        for (int a = 0; a < machine.cluster_count(); ++a) {
            for (int b = 0; b < machine.cluster_count(); ++b) {
                if (a == b) continue;
                const int root = pricing.root_cluster();
                if (!row.is_rooted) count += ends_in(a) * ends_in(b);
                if (row.is_rooted && (row.runs_to_root ? b : a) == root)
                    count += ends_in(row.runs_to_root ? a : b);
            }
        }
        return count;
    }

    const Variant& variant_;
    Bytes segment_bytes_;  // 0: blocks are not cut
};

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    for (const Variant& variant : kVariants) {
        if (name.first() != variant.name) continue;
        if (name.levels.size() > 1 || name.lanes > 1) refuse_name(name, "it takes neither levels nor lanes");
        if (name.segment_bytes > 0 && variant.aggregation != Aggregation::none)
            refuse_name(name, "it takes no segments");
        return std::make_shared<BlockAlgorithm>(variant, name.segment_bytes);
    }
    return nullptr;
}

/// With one rank on each host, and one cluster, all of them are the same. Larger blocks fill a message by
/// themselves, and agents would wait for all that goes together.
void propose(Pricing& pricing, std::vector<Candidate>& found) {
    const Machine& machine = pricing.machine();
    for (const Variant& variant : kVariants) {
        const BlockAlgorithm algorithm(variant,
                                       variant.aggregation == Aggregation::none ? segment_for(pricing) : 0);
        if (pricing.request().bytes() > variant.largest) continue;
        if (variant.aggregation == Aggregation::by_host && machine.has_single_ranks()) continue;
        if (algorithm.can_do(pricing.request(), machine)) found.push_back(*algorithm.price(pricing));
    }
}

}  // namespace

Family aggregation_family() {
    return {.name = "aggregation",
            .grammar = "direct[@SEGMENT], host-aggregation, cluster-aggregation",
            .summary = "blocks go straight, or together between two hosts or two clusters",
            .source = "MagPIe, PPoPP'99; Bienz, Gropp and Olson, 2019",
            .is_for = is_personalized,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
