// SPDX-License-Identifier: BSD-3-Clause
// The executor against MPI's own collectives, bit by bit: random topologies, algorithms, roots, sizes and
// datatypes. All ranks draw from the same seed, so they run the same cases.
#include "mpi/executor.hpp"

#include <cstring>
#include <random>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "collectives/hierarchy.hpp"
#include "collectives/plan.hpp"
#include "collectives/strategy.hpp"
#include "mpi/probe/waiting.hpp"
#include "support/algorithms.hpp"
#include "support/random_topology.hpp"

using namespace laple;
using laple::mpi::Channels;
using laple::mpi::Operands;
using laple::mpi::PreparedSchedule;

namespace {

constexpr int kCases = 250;
constexpr std::uint64_t kSeed = 88;

int world_rank() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int world_size() {
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/// A topology of exactly this job's size.
Topology draw_topology(std::mt19937_64& random) {
    while (true) {
        const Topology topology = test::random_topology(random, 40);
        if (topology.size() < world_size()) continue;
        std::vector<Rank> ranks;
        for (Rank rank = 0; rank < world_size(); ++rank) ranks.push_back(rank);
        return topology.restricted_to(ranks);
    }
}

/// a ∘ b = 2×2 matrix product modulo 2^32: associative, not commutative. One element is four unsigned ints.
void multiply(void* in, void* inout, int* length, MPI_Datatype*) {
    auto* a = static_cast<unsigned*>(in);
    auto* b = static_cast<unsigned*>(inout);
    for (int i = 0; i < *length; ++i, a += 4, b += 4) {
        const unsigned product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                     a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        std::memcpy(b, product, sizeof product);
    }
}

struct Kind {
    MPI_Datatype type;
    MPI_Op op;
    bool commutative;
    std::size_t ints_per_element;  // extent in ints, gaps included
};

/// Element types of reductions: plain, with padding, of a user's own making, with gaps.
class Kinds {
  public:
    Kinds() {
        PMPI_Type_contiguous(4, MPI_UNSIGNED, &matrix_);
        PMPI_Type_commit(&matrix_);
        PMPI_Op_create(multiply, 0, &multiply_);
        kinds_ = {{MPI_INT, MPI_SUM, true, 1},
                  {MPI_UNSIGNED, MPI_BXOR, true, 1},
                  {MPI_2INT, MPI_MAXLOC, true, 2},
                  {matrix_, multiply_, false, 4}};
    }
    ~Kinds() {
        PMPI_Type_free(&matrix_);
        PMPI_Op_free(&multiply_);
    }
    Kinds(const Kinds&) = delete;
    Kinds& operator=(const Kinds&) = delete;
    const Kind& draw(std::mt19937_64& random) const { return kinds_[random() % kinds_.size()]; }

  private:
    MPI_Datatype matrix_ = MPI_DATATYPE_NULL;
    MPI_Op multiply_ = MPI_OP_NULL;
    std::vector<Kind> kinds_;
};

std::vector<unsigned> contribution(std::size_t ints, int salt) {
    std::vector<unsigned> data(ints);
    for (std::size_t i = 0; i < ints; ++i) {
        data[i] = static_cast<unsigned>(i * 2654435761u + static_cast<unsigned>(world_rank() * 7919 + salt));
    }
    return data;
}

class Shadow {
  public:
    explicit Shadow(const Topology& topology) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &channels_.shadow);
        channels_.group_ranks = innermost_group(topology, world_rank());
        PMPI_Comm_split(MPI_COMM_WORLD, channels_.group_ranks.front(), world_rank(), &channels_.group);
    }
    ~Shadow() {
        PMPI_Comm_free(&channels_.group);
        PMPI_Comm_free(&channels_.shadow);
    }
    Shadow(const Shadow&) = delete;
    Shadow& operator=(const Shadow&) = delete;
    const Channels& channels() const { return channels_; }

  private:
    Channels channels_;
};

Operands operands_of(const Kind& kind, const void* input, void* result) {
    Operands operands;
    operands.has_result = result != nullptr;
    operands.input = static_cast<const std::byte*>(input);
    operands.result = static_cast<std::byte*>(result);
    operands.type = kind.type;
    operands.layout = laple::mpi::layout_of(kind.type);
    operands.op = kind.op;
    return operands;
}

struct Case {
    Plan plan;
    Kind kind;
    bool in_place;
    int salt;
};

/// Runs one case with the executor and with MPI. Returns whether this rank's results are equal.
bool is_right(const Case& c, const Topology& topology, const Channels& channels,
              laple::mpi::Scratch& scratch) {
    const Request& request = c.plan.request;
    const std::size_t ints = request.collective == Collective::bcast
                                 ? request.units / sizeof(unsigned)
                                 : request.units * c.kind.ints_per_element;
    const PreparedSchedule prepared(expand(c.plan, topology, world_rank()));
    const bool is_root = world_rank() == request.root;
    std::vector<unsigned> own = contribution(ints, c.salt);
    std::vector<unsigned> ours(ints, 0xABABABABu);
    std::vector<unsigned> expected(ints, 0xABABABABu);
    const int count = static_cast<int>(request.units);

    if (request.collective == Collective::bcast) {
        if (is_root) ours = expected = own;
        Operands operands;
        operands.result = reinterpret_cast<std::byte*>(ours.data());
        if (execute(prepared, operands, channels, scratch) != MPI_SUCCESS) return false;
        PMPI_Bcast(expected.data(), count, MPI_BYTE, request.root, MPI_COMM_WORLD);
        return ours == expected;
    }
    const bool has_result = request.collective != Collective::reduce || is_root;
    const bool in_place = c.in_place && has_result;
    if (in_place) ours = own;
    const std::vector<unsigned> before = own;
    const Operands operands =
        operands_of(c.kind, in_place ? ours.data() : own.data(), has_result ? ours.data() : nullptr);
    if (execute(prepared, operands, channels, scratch) != MPI_SUCCESS) return false;
    if (request.collective == Collective::reduce) {
        PMPI_Reduce(own.data(), expected.data(), count, c.kind.type, c.kind.op, request.root, MPI_COMM_WORLD);
    } else {
        PMPI_Allreduce(own.data(), expected.data(), count, c.kind.type, c.kind.op, MPI_COMM_WORLD);
    }
    return own == before && (!has_result || ours == expected);
}

Case draw_case(std::mt19937_64& random, const Kinds& kinds) {
    Case c;
    constexpr Collective kWithData[] = {Collective::bcast, Collective::reduce, Collective::allreduce};
    const Collective collective = kWithData[random() % 3];
    c.kind = kinds.draw(random);
    const std::uint64_t elements[] = {1, 2, 3, 4, 5, 63, 64, 65, 1000};
    const std::uint64_t units = elements[random() % std::size(elements)];
    const bool is_bcast = collective == Collective::bcast;
    const Bytes element_bytes = c.kind.ints_per_element * sizeof(unsigned);
    c.plan.request = {
        collective, is_bcast ? units * sizeof(unsigned) : units, is_bcast ? 1 : element_bytes,
        is_rooted(collective) ? static_cast<Rank>(random() % static_cast<unsigned>(world_size())) : 0,
        is_bcast || c.kind.commutative};
    const auto names = test::algorithm_names(collective);
    c.plan.algorithm = parse_algorithm(names[random() % names.size()], collective);
    c.in_place = random() % 2 == 0;
    c.salt = static_cast<int>(random() % 1000);
    return c;
}

}  // namespace

TEST_CASE("the executor gives MPI's own results for every algorithm") {
    std::mt19937_64 random(kSeed);
    const Kinds kinds;
    laple::mpi::Scratch scratch;
    int run = 0;
    for (int t = 0; t < kCases / 10; ++t) {
        const Topology topology = draw_topology(random);
        const Shadow shadow(topology);
        for (int i = 0; i < 10; ++i) {
            Case c = draw_case(random, kinds);
            if (!can_do(c.plan.algorithm, c.plan.request, topology)) continue;
            c.plan.relays = test::relays_for(c.plan.algorithm, topology, tree_root(c.plan.request));
            test::draw_what_costs_decide(c.plan, topology, random);
            INFO(fmt::format("{} {} root {} units {} of {} bytes{}, {}", name_of(c.plan.request.collective),
                             name_of(c.plan.algorithm), c.plan.request.root, c.plan.request.units,
                             c.plan.request.unit_bytes, c.in_place ? " in place" : "", describe(topology)));
            CHECK(is_right(c, topology, shadow.channels(), scratch));
            ++run;
        }
    }
    CHECK(run > kCases / 3);
}

TEST_CASE("large messages pass through windows and temporary slots many times") {
    const int size = world_size();
    std::vector<int> labels;
    for (int rank = 0; rank < size; ++rank) labels.push_back(rank * 3 / size);
    const Topology topology = Topology::from_labels(size, {labels});
    const Shadow shadow(topology);
    const Kinds kinds;
    laple::mpi::Scratch scratch;
    constexpr std::uint64_t kElements = 1 << 20;
    for (const char* name :
         {"spread-chain/chain@8K", "spread-flat/chain@8K", "exchange/flat@8Kx4", "flat/binary@64K"}) {
        for (const Collective collective : {Collective::reduce, Collective::allreduce}) {
            if (is_rooted(collective) && std::string(name).starts_with("exchange")) continue;
            const Case c{{{collective, kElements, 4, is_rooted(collective) ? size - 1 : 0, true},
                          parse_algorithm(name, collective),
                          ""},
                         {MPI_INT, MPI_SUM, true, 1},
                         false,
                         1};
            INFO(name);
            CHECK(is_right(c, topology, shadow.channels(), scratch));
        }
    }
    if (topology.is_flat()) return;
    Case relayed{{{Collective::bcast, 4 * kElements, 1, size - 1, true},
                  parse_algorithm("spread-relayed/chain@8Kx6", Collective::bcast),
                  ""},
                 {MPI_INT, MPI_SUM, true, 1},
                 false,
                 1};
    relayed.plan.relays = test::relays_for(relayed.plan.algorithm, topology, size - 1);
    CHECK(is_right(relayed, topology, shadow.channels(), scratch));
}

TEST_CASE("an error ends a run with all that is under way, watched or not", "[beyond-simgrid]") {
    MPI_Comm pair = MPI_COMM_NULL;
    PMPI_Comm_split(MPI_COMM_WORLD, world_rank() < 2 ? 0 : MPI_UNDEFINED, world_rank(), &pair);
    if (pair == MPI_COMM_NULL) return;
    int size = 0;
    PMPI_Comm_size(pair, &size);
    if (size == 2) {
        // MPI_Testany, which looks at requests of any communicator, calls the world's.
        const MPI_Comm all[] = {pair, MPI_COMM_WORLD, MPI_COMM_SELF};
        for (const MPI_Comm comm : all) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        const Topology topology = Topology::from_clusters(2, {{0, 1}});
        // Twenty messages, of which the first is twice as long as the receiver expects.
        const bool is_root = world_rank() == 0;
        const Plan plan{{Collective::bcast, 640, 1, 0, true},
                        parse_algorithm(is_root ? "chain@32" : "chain@16", Collective::bcast),
                        ""};
        const PreparedSchedule prepared(expand(plan, topology, world_rank()));
        std::vector<std::byte> data(640);
        Operands operands;
        operands.result = data.data();
        Channels channels;
        channels.shadow = pair;
        laple::mpi::Scratch scratch;
        const int code = execute(prepared, operands, channels, scratch);
        int error_class = MPI_SUCCESS;
        PMPI_Error_class(code, &error_class);
        CHECK(error_class == (is_root ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
        // What was posted is no longer: these messages are none of the run's.
        std::vector<std::byte> before = data;
        PMPI_Barrier(pair);
        CHECK(data == before);
        // MPICH 5 finds it an error, and one of MPI_COMM_SELF, that nobody has received the rest.
        PMPI_Comm_free(&pair);
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        return;
    }
    PMPI_Comm_free(&pair);
}

TEST_CASE("strategies inside a cluster move runs of elements, also with gaps between them") {
    constexpr int kElements = 1000;
    constexpr std::size_t kStride = 3;  // in ints, of a type with gaps
    std::vector<Rank> everybody;
    for (Rank rank = 0; rank < world_size(); ++rank) everybody.push_back(rank);
    const Shadow shadow(Topology::from_clusters(world_size(), {everybody}));
    MPI_Op add = MPI_OP_NULL;
    PMPI_Op_create(
        [](void* in, void* inout, int* length, MPI_Datatype*) {
            for (int i = 0; i < *length; ++i)
                static_cast<int*>(inout)[static_cast<std::size_t>(i) * kStride] +=
                    static_cast<int*>(in)[static_cast<std::size_t>(i) * kStride];
        },
        1, &add);
    MPI_Datatype gapped = MPI_DATATYPE_NULL;
    PMPI_Type_create_resized(MPI_INT, 0, kStride * sizeof(int), &gapped);
    PMPI_Type_commit(&gapped);
    laple::mpi::Scratch scratch;
    const auto value_of = [](Rank rank, int element) { return rank * 10000 + element; };
    for (const Strategy& strategy : strategies()) {
        using enum LocalCollective;
        if (strategy.collective == barrier || !strategy.is_for(world_size())) continue;
        const bool combines = strategy.collective == reduce || strategy.collective == allreduce ||
                              strategy.collective == reduce_scatter;
        const std::size_t stride = kStride;
        const Kind kind{gapped, add, true, stride};
        const PreparedSchedule prepared(schedule_of(strategy, world_size(), world_rank(), kElements, 100));
        const Blocks blocks = prepared.schedule().blocks;
        std::vector<int> input(kElements * stride, -1);
        std::vector<int> result(kElements * stride, -1);
        const bool is_gathered = strategy.collective == gather || strategy.collective == allgather;
        const auto at = [stride](int element) { return static_cast<std::size_t>(element) * stride; };
        const auto owner_of = [&](int element) {
            return static_cast<Rank>(static_cast<std::uint64_t>(element) / blocks.units_per_block);
        };
        for (int i = 0; i < kElements; ++i) {
            input[at(i)] = value_of(world_rank(), i);
            const bool is_own = is_gathered ? owner_of(i) == world_rank() : world_rank() == 0;
            if (!combines && is_own) result[at(i)] = input[at(i)];
        }
        // Who gets no result of a reduction has no memory for it.
        const bool has_result = strategy.collective != reduce || world_rank() == 0;
        const Operands operands = operands_of(kind, input.data(), has_result ? result.data() : nullptr);
        INFO(name_of(strategy.collective) << " " << strategy.name);
        REQUIRE(execute(prepared, operands, shadow.channels(), scratch) == MPI_SUCCESS);
        int wrong = 0;
        for (int i = 0; i < kElements; ++i) {
            int expected = value_of(is_gathered ? owner_of(i) : 0, i);
            for (Rank rank = 1; combines && rank < world_size(); ++rank) expected += value_of(rank, i);
            const bool has_all = strategy.collective == bcast || strategy.collective == allreduce ||
                                 strategy.collective == allgather;
            const bool has_parts = strategy.collective == scatter || strategy.collective == reduce_scatter;
            const bool is_needed = has_all || (has_parts ? owner_of(i) == world_rank() : world_rank() == 0);
            if (is_needed && result[at(i)] != expected) ++wrong;
            for (std::size_t gap = 1; gap < stride; ++gap) {
                if (result[at(i) + gap] != -1) ++wrong;
            }
        }
        CHECK(wrong == 0);
    }
    PMPI_Type_free(&gapped);
    PMPI_Op_free(&add);
}

TEST_CASE("a barrier lets nobody out before everybody is in") {
    std::mt19937_64 random(kSeed);
    laple::mpi::Scratch scratch;
    for (const std::string& name : test::algorithm_names(Collective::barrier)) {
        const Topology topology = draw_topology(random);
        const Algorithm algorithm = parse_algorithm(name, Collective::barrier);
        const Request request{Collective::barrier, 0, 1, 0, true};
        if (!can_do(algorithm, request, topology)) continue;
        const Shadow shadow(topology);
        const PreparedSchedule prepared(expand({request, algorithm, ""}, topology, world_rank()));
        // The last rank comes late; its clock reading must lie before everybody's exit. One machine, one
        // clock; that of MPI_Wtime may begin with each process.
        const int late = world_size() - 1;
        double entered = mpi::now().count();
        if (world_rank() == late) {
            while (mpi::now().count() - entered < 0.005) {
            }
            entered = mpi::now().count();
        }
        CHECK(execute(prepared, Operands{}, shadow.channels(), scratch) == MPI_SUCCESS);
        const double left = mpi::now().count();
        double last_entry = 0;
        double first_exit = 0;
        PMPI_Allreduce(&entered, &last_entry, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        PMPI_Allreduce(&left, &first_exit, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        INFO(name << " on " << describe(topology));
        CHECK(first_exit >= last_entry);
    }
}
