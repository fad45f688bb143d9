// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm × random machines × every root × sizes around the borders of segments, proved on symbols by
// the verifier and run on bytes by the simulator.
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/simulation/simulator.hpp"
#include "collectives/simulation/verifier.hpp"
#include "support/algorithms.hpp"
#include "support/random_topology.hpp"

using namespace laple;

namespace {

constexpr int kMachines = 40;
constexpr int kMaxRanks = 40;
constexpr int kMaxHosts = 10;  // of several ranks each

/// Bytes as a message, those of a unit packed into a number. The operation of a reduction is chosen so that
/// it is not commutative but associative: 2×2 matrices over the integers modulo 251, packed in 4 bytes. A
/// commutative one adds byte by byte.
class ByteMemory final : public SimulatedMemory {
  public:
    using Value = std::uint64_t;

    ByteMemory(std::span<const Schedule> schedules, const Request& request, bool in_place)
        : request_(request), size_(static_cast<int>(schedules.size())) {
        const CollectiveRow& row = row_of(request.collective);
        for (Rank rank = 0; rank < size_; ++rank) {
            const Schedule& schedule = schedules[static_cast<std::size_t>(rank)];
            const BufferSizes sizes = row.buffers(request, size_, rank);
            shift_.push_back(sizes.input_in_result);
            const bool is_shared =
                in_place && sizes.input_units > 0 && sizes.input_in_result != BufferSizes::kApart;
            auto& buffers = memory_.emplace_back();
            buffers.emplace_back(is_shared ? 0 : sizes.input_units);
            buffers.emplace_back(sizes.result_units);
            for (const std::uint64_t units : schedule.temporary_units) buffers.emplace_back(units);
            is_shared_.push_back(is_shared);
            for (const Piece& piece : row.before(request, size_, rank)) {
                for (std::uint64_t i = 0; i < piece.units; ++i)
                    cell(rank, piece.buffer, piece.offset + i) =
                        contribution(piece.source, piece.source_offset + i);
            }
        }
    }

    Values load(Rank rank, Region region) override {
        Values values;
        for (std::uint64_t i = 0; i < region.units; ++i)
            values.push_back(cell(rank, region.buffer, region.offset + i));
        return values;
    }

    void store(Rank rank, Region region, const Values& values) override {
        if (values.size() != region.units) throw std::runtime_error("a message of another length");
        for (std::uint64_t i = 0; i < region.units; ++i)
            cell(rank, region.buffer, region.offset + i) = values[i];
    }

    Values combine(const Values& left, const Values& right) override {
        Values values;
        for (std::size_t i = 0; i < left.size(); ++i) values.push_back(combine(left[i], right.at(i)));
        return values;
    }

    /// "" or the first unit that differs from a reduction (or copy) done by hand in rank order.
    std::string check() {
        for (Rank rank = 0; rank < size_; ++rank) {
            for (const Piece& piece : row_of(request_.collective).after(request_, size_, rank)) {
                for (std::uint64_t i = 0; i < piece.units; ++i) {
                    if (cell(rank, piece.buffer, piece.offset + i) != expected(piece, i))
                        return fmt::format("rank {} has wrong bytes in unit {}", rank, piece.offset + i);
                }
            }
        }
        return {};
    }

  private:
    Value contribution(Rank rank, std::uint64_t unit) const {
        Value value = 0;
        for (std::uint64_t i = 0; i < request_.unit_bytes; ++i) {
            const std::uint64_t at = unit * request_.unit_bytes + i;
            value |= (static_cast<std::uint64_t>(rank) * 37 + at * 11 + 5) % 251 << (8 * i);
        }
        return value;
    }

    static Value byte(Value value, unsigned i) { return value >> (8 * i) & 0xff; }

    Value combine(Value left, Value right) const {
        Value value = 0;
        if (request_.commutative) {
            for (unsigned i = 0; i < request_.unit_bytes; ++i)
                value |= ((byte(left, i) + byte(right, i)) & 0xff) << (8 * i);
            return value;
        }
        for (unsigned row = 0; row < 2; ++row) {
            for (unsigned column = 0; column < 2; ++column) {
                const Value sum = byte(left, 2 * row) * byte(right, column) +
                                  byte(left, 2 * row + 1) * byte(right, 2 + column);
                value |= sum % 251 << (8 * (2 * row + column));
            }
        }
        return value;
    }

    Value expected(const Piece& piece, std::uint64_t i) const {
        const std::uint64_t unit = piece.source_offset + i;
        if (piece.source != kCombined) return contribution(piece.source, unit);
        Value value = contribution(0, unit);
        for (Rank rank = 1; rank < piece.combined; ++rank) value = combine(value, contribution(rank, unit));
        return value;
    }

    Value& cell(Rank rank, Buffer buffer, std::uint64_t unit) {
        const auto r = static_cast<std::size_t>(rank);
        if (buffer == kInput && is_shared_[r]) return memory_[r][kResult].at(unit + shift_[r]);
        return memory_[r].at(buffer).at(unit);
    }

    const Request& request_;
    int size_;
    std::vector<std::vector<std::vector<Value>>> memory_;  // by rank, buffer and unit
    std::vector<std::uint64_t> shift_;                     // of each rank's input in its result
    std::vector<bool> is_shared_;                          // whether the two are one memory
};

std::string run_on_bytes(std::span<const Schedule> schedules, const Request& request, const Machine& machine,
                         std::uint64_t seed, bool in_place) {
    ByteMemory memory(schedules, request, in_place);
    SimulationOptions options;
    options.seed = seed;
    options.eager = seed % 2 == 1;
    const SimulationResult run = simulate(schedules, machine, &memory, options);
    return run.ok() ? memory.check() : run.failure;
}

/// At most so much from each of `ranks`, and from some of them nothing.
Counts draw_counts(std::uint64_t most, int ranks, std::mt19937_64& random) {
    std::vector<std::uint64_t> units(static_cast<std::size_t>(ranks));
    for (std::uint64_t& each : units) each = random() % 4 == 0 ? 0 : random() % (most + 1);
    units[random() % units.size()] = most;
    return Counts(units);
}

/// Unit counts around the borders of 16-byte segments.
Request draw_request(Collective collective, Rank root, int ranks, std::mt19937_64& random) {
    const CollectiveRow& row = row_of(collective);
    if (!row.has_data) return request_for(collective, 0);
    const Bytes sizes[] = {1, 15, 16, 17, 32, 33, 160, 200};
    const Bytes unit_bytes = row.combines ? 4 : 1;
    const Bytes bytes = sizes[random() % std::size(sizes)];
    Request request{collective, std::max<Bytes>(bytes / unit_bytes, 1), unit_bytes, root,
                    !row.combines || random() % 2 == 0};
    if ((is_gathered(collective) || is_combined_in_parts(collective)) && random() % 2 == 0)
        request.counts = draw_counts(request.units, ranks, random);
    return request;
}

/// Every algorithm from every root of `machine`. Returns how many cases that are.
int run_all(const Machine& machine, std::mt19937_64& random) {
    int cases = 0;
    for (const Collective collective : kAllCollectives) {
        std::vector<std::string> names = test::algorithm_names(collective);
        for (std::string& name : test::names_that_need_costs(collective)) names.push_back(std::move(name));
        for (const std::string& name : names) {
            const AlgorithmPtr plain = parse_algorithm(name, collective);
            const int roots = row_of(collective).is_rooted ? machine.rank_count() : 1;
            for (Rank root = 0; root < roots; ++root) {
                Plan plan{draw_request(collective, root, machine.rank_count(), random), plain, ""};
                const Request& request = plan.request;
                if (!plain->can_do(request, machine)) continue;
                if (plain->needs_costs() && !request.commutative) continue;
                if (plain->needs_costs() || random() % 2 == 0)
                    plan.algorithm = test::draw_what_costs_decide(plain, request, machine, random);
                if (random() % 2 == 0) plan.windows = test::draw_windows(machine, random);
                const auto schedules = expand_all(plan, machine);
                const std::uint64_t seed = random();
                const bool in_place = row_of(collective).has_input && random() % 2 == 0;
                std::string wrong = verify(schedules, request, machine, seed, in_place);
                if (wrong.empty()) wrong = run_on_bytes(schedules, request, machine, seed, in_place);
                ++cases;
                if (wrong.empty()) continue;
                FAIL(fmt::format("{} {}{} root {} units {} {}{}{}, {}: {}", name_of(collective), name,
                                 plan.algorithm->details(), root, request.units,
                                 request.counts.are_equal() ? "" : "at most ",
                                 request.commutative ? "" : "in order ", in_place ? "in place" : "",
                                 describe(machine), wrong));
            }
        }
    }
    return cases;
}

}  // namespace

TEST_CASE("every algorithm does what its collective means, on random topologies and for every root") {
    std::mt19937_64 random(20040601);
    int cases = 0;
    for (int m = 0; m < kMachines; ++m)
        cases += run_all(Machine(test::random_topology(random, kMaxRanks)), random);
    INFO(cases << " cases");
    CHECK(cases > 15000);
}

TEST_CASE("every algorithm does the same on hosts of several ranks, wherever these are") {
    std::mt19937_64 random(20270611);
    int cases = 0;
    int with_several = 0;
    int consecutive = 0;
    for (int m = 0; m < kMachines; ++m) {
        const Machine machine = test::random_machine(random, kMaxHosts);
        with_several += machine.has_single_ranks() ? 0 : 1;
        consecutive += machine.has_consecutive_ranks() ? 1 : 0;
        cases += run_all(machine, random);
    }
    INFO(cases << " cases");
    CHECK(cases > 15000);
    CHECK(with_several > kMachines / 2);
    CHECK(consecutive > 5);
    CHECK(consecutive < kMachines - 5);
}

TEST_CASE("a non-commutative reduction is possible on consecutive clusters, by every kind of tree") {
    const Machine machine(Topology::from_clusters(10, {{0, 1, 2}, {3, 4, 5, 6}, {7, 8, 9}}));
    const Request allreduce{Collective::allreduce, 10, 4, 0, false};
    for (const char* name :
         {"flat/binomial", "flat/native", "multi-leader-chain/chain@16", "direct-exchange/binomial"})
        CHECK(parse_algorithm(name, Collective::allreduce)->can_do(allreduce, machine));
    const Machine interleaved(Topology::from_clusters(4, {{0, 2}, {1, 3}}));
    const Request reduce{Collective::reduce, 10, 4, 0, false};
    CHECK_FALSE(parse_algorithm("flat/binomial", Collective::reduce)->can_do(reduce, interleaved));
}

TEST_CASE("a non-commutative reduction needs consecutive ranks on hosts, too") {
    const Topology topology = Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}});
    const Machine blocks(topology, {0, 0, 1, 1, 2, 2, 3, 3});
    const Machine round_robin(topology, {0, 1, 0, 1, 2, 3, 2, 3});
    for (const Collective collective : {Collective::reduce, Collective::allreduce}) {
        const Request request{collective, 10, 4, 0, false};
        for (const char* name : {"flat/binomial", "flat/chain@16"}) {
            CHECK(parse_algorithm(name, collective)->can_do(request, blocks));
            CHECK_FALSE(parse_algorithm(name, collective)->can_do(request, round_robin));
        }
    }
    const Request allreduce{Collective::allreduce, 10, 4, 0, false};
    const AlgorithmPtr exchange = parse_algorithm("direct-exchange/binomial", Collective::allreduce);
    CHECK(exchange->can_do(allreduce, blocks));
    CHECK_FALSE(exchange->can_do(allreduce, round_robin));
}
