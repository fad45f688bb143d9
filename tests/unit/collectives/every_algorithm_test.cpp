// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm × random topologies × every root × sizes around the borders of segments, proved on symbols
// by the verifier and run on bytes by the simulator.
#include <random>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "collectives/algorithm.hpp"
#include "collectives/simulator.hpp"
#include "collectives/verifier.hpp"
#include "support/algorithms.hpp"
#include "support/random_topology.hpp"

using namespace laple;

namespace {

constexpr int kTopologies = 40;
constexpr int kMaxRanks = 40;

/// Bytes as a message; the operation of a reduction is chosen so that it is not commutative but associative:
/// 2×2 matrices over the integers modulo 251, packed in 4 bytes. A commutative one adds byte by byte.
class ByteMemory {
  public:
    using Value = std::vector<unsigned char>;

    ByteMemory(std::span<const Schedule> schedules, const Plan& plan, bool in_place)
        : plan_(plan), in_place_(in_place) {
        const Blocks blocks = plan.blocks();
        for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
            std::vector<std::vector<Value>> buffers(2, std::vector<Value>(blocks.count()));
            for (const auto slots : schedules[rank].temporary_slots) buffers.emplace_back(slots);
            for (std::uint32_t b = 0; b < blocks.count(); ++b) {
                const Value own = contribution(plan, static_cast<Rank>(rank), b);
                const bool is_bcast = plan.request.collective == Collective::bcast;
                if (is_bcast && static_cast<Rank>(rank) == plan.request.root) buffers[kResult][b] = own;
                if (!is_bcast) buffers[in_place ? kResult : kInput][b] = own;
            }
            memory_.push_back(std::move(buffers));
        }
    }

    static Value contribution(const Plan& plan, Rank rank, std::uint32_t block) {
        const Blocks blocks = plan.blocks();
        Value value(blocks.bytes_in(block));
        for (std::size_t i = 0; i < value.size(); ++i) {
            const auto byte = blocks.first_unit(block) * blocks.unit_bytes + i;
            value[i] =
                static_cast<unsigned char>((static_cast<std::size_t>(rank) * 37 + byte * 11 + 5) % 251);
        }
        return value;
    }

    Value load(Rank rank, Place place, std::uint32_t) { return cell(rank, place); }
    void store(Rank rank, Place place, std::uint32_t, Value value) { cell(rank, place) = std::move(value); }
    Value combine(const Value& left, const Value& right) const { return combine(plan_, left, right); }
    const Value& result(Rank rank, std::uint32_t block) { return cell(rank, {kResult, block}); }

    static Value combine(const Plan& plan, const Value& left, const Value& right) {
        Value value(left.size());
        if (plan.request.commutative) {
            for (std::size_t i = 0; i < left.size(); ++i)
                value[i] = static_cast<unsigned char>(left[i] + right[i]);
            return value;
        }
        for (std::size_t i = 0; i + 3 < left.size(); i += 4) {
            const auto cell_of = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
                return static_cast<unsigned char>((left[i + a] * right[i + b] + left[i + c] * right[i + d]) %
                                                  251);
            };
            value[i] = cell_of(0, 0, 1, 2);
            value[i + 1] = cell_of(0, 1, 1, 3);
            value[i + 2] = cell_of(2, 0, 3, 2);
            value[i + 3] = cell_of(2, 1, 3, 3);
        }
        return value;
    }

  private:
    Value& cell(Rank rank, Place place) {
        const std::size_t buffer = in_place_ && place.buffer == kInput ? std::size_t{kResult} : place.buffer;
        return memory_[static_cast<std::size_t>(rank)].at(buffer).at(place.slot);
    }

    const Plan& plan_;
    bool in_place_;
    std::vector<std::vector<std::vector<Value>>> memory_;
};

/// "" or the first rank and block that differ from a reduction (or copy) done by hand in rank order.
std::string run_on_bytes(std::span<const Schedule> schedules, const Plan& plan, const Topology& topology,
                         std::uint64_t seed, bool in_place) {
    ByteMemory memory(schedules, plan, in_place);
    SimulationOptions options;
    options.seed = seed;
    options.eager = seed % 2 == 1;
    const SimulationResult run = Simulator<ByteMemory>(schedules, topology, memory, options).run();
    if (!run.ok()) return run.failure;
    const int size = static_cast<int>(schedules.size());
    for (std::uint32_t block = 0; block < plan.blocks().count(); ++block) {
        const bool is_bcast = plan.request.collective == Collective::bcast;
        auto expected = ByteMemory::contribution(plan, is_bcast ? plan.request.root : 0, block);
        for (Rank rank = 1; !is_bcast && rank < size; ++rank) {
            expected = ByteMemory::combine(plan, expected, ByteMemory::contribution(plan, rank, block));
        }
        for (Rank rank = 0; rank < size; ++rank) {
            if (plan.request.collective == Collective::reduce && rank != plan.request.root) continue;
            if (memory.result(rank, block) != expected) {
                return fmt::format("rank {} has wrong bytes in block {}", rank, block);
            }
        }
    }
    return {};
}

/// Unit counts around the borders of 16-byte segments.
std::uint64_t draw_units(Collective collective, Bytes unit_bytes, std::mt19937_64& random) {
    if (collective == Collective::barrier) return 0;
    const Bytes sizes[] = {1, 15, 16, 17, 32, 33, 160, 200};
    return std::max<std::uint64_t>(sizes[random() % std::size(sizes)] / unit_bytes, 1);
}

}  // namespace

TEST_CASE("every algorithm does what its collective means, on random topologies and for every root") {
    std::mt19937_64 random(20040601);
    int cases = 0;
    for (int t = 0; t < kTopologies; ++t) {
        const Topology topology = test::random_topology(random, kMaxRanks);
        for (const Collective collective : kAllCollectives) {
            for (const std::string& name : test::algorithm_names(collective)) {
                const Algorithm algorithm = parse_algorithm(name, collective);
                const int roots = is_rooted(collective) ? topology.size() : 1;
                for (Rank root = 0; root < roots; ++root) {
                    const bool has_operation =
                        collective == Collective::reduce || collective == Collective::allreduce;
                    const bool commutative = !has_operation || random() % 2 == 0;
                    const Bytes unit = has_operation ? 4 : 1;
                    Plan plan{{collective, draw_units(collective, unit, random), unit, root, commutative},
                              algorithm,
                              ""};
                    if (!can_do(algorithm, plan.request, topology)) continue;
                    plan.relays = test::relays_for(algorithm, topology, root);
                    test::draw_what_costs_decide(plan, topology, random);
                    const auto schedules = expand_all(plan, topology);
                    const std::uint64_t seed = random();
                    const bool in_place = collective != Collective::bcast && random() % 2 == 0;
                    std::string wrong = verify(schedules, plan, topology, seed, in_place);
                    if (wrong.empty()) wrong = run_on_bytes(schedules, plan, topology, seed, in_place);
                    ++cases;
                    if (wrong.empty()) continue;
                    FAIL(fmt::format("{} {} root {} units {} {}{}, {}: {}", name_of(collective), name, root,
                                     plan.request.units, commutative ? "" : "in order ",
                                     in_place ? "in place" : "", describe(topology), wrong));
                }
            }
        }
    }
    CHECK(cases > 5000);
    SUCCEED(fmt::format("{} cases", cases));
}

TEST_CASE("a non-commutative reduction is possible on consecutive clusters, by every kind of tree") {
    const Topology topology = Topology::from_clusters(10, {{0, 1, 2}, {3, 4, 5, 6}, {7, 8, 9}});
    for (const char* name : {"flat/binomial", "flat/native", "spread-chain/chain@16", "exchange/binomial"}) {
        const Request request{Collective::allreduce, 10, 4, 0, false};
        CHECK(can_do(parse_algorithm(name, Collective::allreduce), request, topology));
    }
    const Topology interleaved = Topology::from_clusters(4, {{0, 2}, {1, 3}});
    const Request request{Collective::reduce, 10, 4, 0, false};
    CHECK_FALSE(can_do(parse_algorithm("flat/binomial", Collective::reduce), request, interleaved));
}
