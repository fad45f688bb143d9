// SPDX-License-Identifier: BSD-3-Clause
// Operations against MPI's own collectives, bit by bit: random topologies, algorithms, roots, sizes and
// datatypes. All ranks draw from the same seed, so they run the same cases.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>

#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/plan.hpp"
#include "mpi/comm/own_comms.hpp"
#include "mpi/comm/payload.hpp"
#include "mpi/comm/progress_engine.hpp"
#include "mpi/comm/stream_links.hpp"
#include "mpi/exec/block_exchange.hpp"
#include "mpi/exec/join_host.hpp"
#include "mpi/exec/join_streams.hpp"
#include "mpi/exec/native_call.hpp"
#include "mpi/exec/operation.hpp"
#include "mpi/probe/native_probe.hpp"
#include "mpi/probe/waiting.hpp"
#include "support/algorithms.hpp"
#include "support/random_topology.hpp"

using namespace laple;
using laple::mpi::Operands;
using laple::mpi::Operation;
using laple::mpi::Ways;

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

/// A machine of exactly this job's size, of which some hosts have several ranks.
Machine draw_machine(std::mt19937_64& random) {
    while (true) {
        const Machine machine = test::random_machine(random, 40);
        if (machine.rank_count() < world_size()) continue;
        std::vector<Rank> ranks;
        for (Rank rank = 0; rank < world_size(); ++rank) ranks.push_back(rank);
        return machine.restricted_to(ranks);
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

class Communicators {
  public:
    /// Ranks of one host share `memory` bytes each; 0: none.
    explicit Communicators(const Machine& machine, std::size_t memory = 0) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &ways_.comm);
        ways_.cluster_ranks = machine.ranks_in(machine.cluster_of_rank(world_rank()));
        PMPI_Comm_split(MPI_COMM_WORLD, ways_.cluster_ranks.front(), world_rank(), &ways_.cluster);
        const auto on_host = machine.ranks_on(machine.host_of(world_rank()));
        if (memory == 0 || on_host.size() < 2) return;
        host_ = laple::mpi::join_host(ways_.comm, on_host, memory);
#ifndef SMPI_H  // simulated ranks are one process
        REQUIRE(host_ != nullptr);
#endif
        if (host_ == nullptr) return;
        ways_.host = host_.get();
        ways_.place_on_host.assign(static_cast<std::size_t>(world_size()), -1);
        for (std::size_t i = 0; i < on_host.size(); ++i)
            ways_.place_on_host[static_cast<std::size_t>(on_host[i])] = static_cast<int>(i);
    }
    ~Communicators() {
        PMPI_Comm_free(&ways_.cluster);
        PMPI_Comm_free(&ways_.comm);
    }
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;
    /// For the next operation.
    const Ways& next_call() {
        ++ways_.call;
        return ways_;
    }

  private:
    Ways ways_;
    std::unique_ptr<laple::mpi::HostMemory> host_;
};

/// Enough for all, or so little that messages wait for room.
constexpr std::size_t kMemories[] = {0, 96u << 10, 2u << 20};

int execute(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
            laple::mpi::Scratch& scratch) {
    return Operation(prepared, operands, ways, nullptr, scratch).to_end();
}

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

/// The same for data that are only moved.
bool is_moved_right(const Case& c, const Machine& machine, const Ways& ways, laple::mpi::Scratch& scratch) {
    const Request& request = c.plan.request;
    const CollectiveRow& row = row_of(request.collective);
    const PreparedSchedule prepared(expand(c.plan, machine, world_rank()));
    const BufferSizes sizes = row.buffers(request, world_size(), world_rank());
    const std::uint64_t ints = std::max(sizes.input_units, request.units) / sizeof(unsigned);
    const std::vector<unsigned> own = contribution(ints, c.salt);
    std::vector<unsigned> ours(sizes.result_units / sizeof(unsigned), 0xABABABABu);
    auto* const result = reinterpret_cast<std::byte*>(ours.data());
    const bool is_source = !row.has_input && world_rank() == request.root;
    const bool in_place = c.in_place && row.has_input && sizes.input_in_result != BufferSizes::kApart;
    if (is_source || in_place) std::memcpy(result + sizes.input_in_result, own.data(), request.units);
    std::vector<unsigned> expected = ours;
    Operands operands;
    operands.result = result;
    operands.input =
        in_place ? result + sizes.input_in_result : reinterpret_cast<const std::byte*>(own.data());
    if (execute(prepared, operands, ways, scratch) != MPI_SUCCESS) return false;
    laple::mpi::call_native(request.collective, {own.data(), expected.data(), static_cast<int>(request.units),
                                                 MPI_BYTE, MPI_OP_NULL, request.root, MPI_COMM_WORLD});
    return ours == expected && own == contribution(ints, c.salt);
}

/// What ranks 0 ... `last` contribute, combined in their order: SimGrid's own scan keeps no order.
std::vector<unsigned> combined_up_to(int last, const std::vector<unsigned>& own, const Kind& kind,
                                     std::uint64_t units) {
    const int ints = static_cast<int>(own.size());
    std::vector<unsigned> all(own.size() * static_cast<std::size_t>(world_size()));
    PMPI_Allgather(own.data(), ints, MPI_UNSIGNED, all.data(), ints, MPI_UNSIGNED, MPI_COMM_WORLD);
    for (int rank = 1; rank <= last; ++rank)
        PMPI_Reduce_local(all.data() + (rank - 1) * ints, all.data() + rank * ints, static_cast<int>(units),
                          kind.type, kind.op);
    const auto begin = all.begin() + std::max(last, 0) * ints;
    return {begin, begin + ints};
}

/// Runs one case as an operation and by MPI. Returns whether this rank's results are equal.
bool is_right(const Case& c, const Machine& machine, const Ways& ways, laple::mpi::Scratch& scratch) {
    const Request& request = c.plan.request;
    const CollectiveRow& row = row_of(request.collective);
    if (!row.combines) return is_moved_right(c, machine, ways, scratch);
    const BufferSizes sizes = row.buffers(request, world_size(), world_rank());
    const std::size_t ints = request.units * c.kind.ints_per_element;
    const PreparedSchedule prepared(expand(c.plan, machine, world_rank()));
    std::vector<unsigned> own = contribution(sizes.input_units * c.kind.ints_per_element, c.salt);
    std::vector<unsigned> ours(ints, 0xABABABABu);
    std::vector<unsigned> expected(ints, 0xABABABABu);
    const laple::mpi::NativeArguments native{own.data(),    expected.data(), static_cast<int>(request.units),
                                             c.kind.type,   c.kind.op,       request.root,
                                             MPI_COMM_WORLD};
    const bool has_result = !row.after(request, world_size(), world_rank()).empty();
    const bool in_place = c.in_place && has_result && sizes.input_in_result != BufferSizes::kApart;
    if (in_place) ours = own;
    const std::vector<unsigned> before = own;
    const Operands operands =
        operands_of(c.kind, in_place ? ours.data() : own.data(), has_result ? ours.data() : nullptr);
    if (execute(prepared, operands, ways, scratch) != MPI_SUCCESS) return false;
    if (is_prefix(request.collective)) {
        expected = combined_up_to(world_rank() - (row.excludes_own ? 1 : 0), own, c.kind, request.units);
    } else {
        laple::mpi::call_native(request.collective, native);
    }
    return own == before && (!has_result || ours == expected);
}

Case draw_case(std::mt19937_64& random, const Kinds& kinds) {
    Case c;
    Collective collective = kAllCollectives[random() % kAllCollectives.size()];
    while (!row_of(collective).has_data) collective = kAllCollectives[random() % kAllCollectives.size()];
    c.kind = kinds.draw(random);
    const std::uint64_t elements[] = {1, 2, 3, 4, 5, 63, 64, 65, 1000};
    const std::uint64_t units = elements[random() % std::size(elements)];
    const bool is_moved = !row_of(collective).combines;
    const Bytes element_bytes = c.kind.ints_per_element * sizeof(unsigned);
    c.plan.request = {
        collective, is_moved ? units * sizeof(unsigned) : units, is_moved ? 1 : element_bytes,
        row_of(collective).is_rooted ? static_cast<Rank>(random() % static_cast<unsigned>(world_size())) : 0,
        is_moved || c.kind.commutative};
    const auto names = test::algorithm_names(collective);
    c.plan.algorithm = parse_algorithm(names[random() % names.size()], collective);
    c.in_place = random() % 2 == 0;
    c.salt = static_cast<int>(random() % 1000);
    return c;
}

}  // namespace

TEST_CASE("operations give MPI's own results for every algorithm") {
    std::mt19937_64 random(kSeed);
    const Kinds kinds;
    laple::mpi::Scratch scratch;
    int run = 0;
    for (int t = 0; t < kCases / 10; ++t) {
        const Machine machine = draw_machine(random);
        Communicators communicators(machine, kMemories[t % std::ssize(kMemories)]);
        for (int i = 0; i < 10; ++i) {
            Case c = draw_case(random, kinds);
            if (!c.plan.algorithm->can_do(c.plan.request, machine)) continue;
            c.plan.algorithm =
                test::draw_what_costs_decide(c.plan.algorithm, c.plan.request, machine, random);
            c.plan.windows = test::draw_windows(machine, random);
            INFO(fmt::format("{} {} root {} units {} of {} bytes{}, {}", name_of(c.plan.request.collective),
                             c.plan.algorithm->name(), c.plan.request.root, c.plan.request.units,
                             c.plan.request.unit_bytes, c.in_place ? " in place" : "", describe(machine)));
            CHECK(is_right(c, machine, communicators.next_call(), scratch));
            ++run;
        }
    }
    CHECK(run > kCases / 3);
}

TEST_CASE("large messages pass through windows and receive slots many times") {
    const int size = world_size();
    const std::size_t memory = GENERATE(std::size_t{0}, std::size_t{96} << 10, std::size_t{2} << 20);
    std::vector<int> labels;
    for (int rank = 0; rank < size; ++rank) labels.push_back(rank * 3 / size);
    const Machine machine = memory == 0 ? Machine(Topology::from_labels(size, {labels}))
                                        : Machine(Topology::from_labels(size, {labels}), labels);
    Communicators communicators(machine, memory);
    const Kinds kinds;
    laple::mpi::Scratch scratch;
    constexpr std::uint64_t kElements = 1 << 20;
    const auto check = [&](const char* name, const Request& request) {
        const Case c{
            {request, parse_algorithm(name, request.collective), ""}, {MPI_INT, MPI_SUM, true, 1}, false, 1};
        INFO(name);
        CHECK(is_right(c, machine, communicators.next_call(), scratch));
    };
    for (const char* name :
         {"multi-leader-chain/chain@8K", "multi-leader-flat/chain@8K", "flat/binary@64K"}) {
        check(name, {Collective::reduce, kElements, 4, size - 1, true});
        check(name, {Collective::allreduce, kElements, 4, 0, true});
    }
    check("direct-exchange/flat@8Kx4", {Collective::allreduce, kElements, 4, 0, true});
    if (machine.cluster_count() == 1) return;
    check("scatter-allgather/chain@8Kx6", {Collective::bcast, 4 * kElements, 1, size - 1, true});
}

TEST_CASE("an operation can be left and gone on with, and begun once more") {
    const int size = world_size();
    const std::vector<int> one_host(static_cast<std::size_t>(size), 0);
    const Machine machine(Topology::flat(size), one_host);
    Communicators communicators(machine, GENERATE(std::size_t{0}, std::size_t{2} << 20));
    laple::mpi::Scratch scratch;
    const Request request{Collective::allreduce, 5000, sizeof(int), 0, true};
    const Plan plan{request, parse_algorithm("chain@1K", request.collective), ""};
    const PreparedSchedule prepared(expand(plan, machine, world_rank()));
    std::vector<int> input(request.units);
    std::vector<int> result(request.units);
    Operation operation(prepared, operands_of({MPI_INT, MPI_SUM, true, 1}, input.data(), result.data()),
                        communicators.next_call(), nullptr, scratch);
    for (int run = 1; run <= 3; ++run) {
        for (std::size_t i = 0; i < input.size(); ++i) input[i] = run * (world_rank() + static_cast<int>(i));
        if (run > 1) {
            communicators.next_call();
            operation.restart();
        }
        int calls = 0;
        while (!operation.is_complete()) {
            operation.progress();
            ++calls;
        }
        CHECK(calls > 0);
        CHECK(operation.code() == MPI_SUCCESS);
        bool is_right = true;
        for (std::size_t i = 0; i < result.size(); ++i)
            is_right = is_right && result[i] == run * (size * (size - 1) / 2 + size * static_cast<int>(i));
        CHECK(is_right);
        PMPI_Barrier(MPI_COMM_WORLD);
    }
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
        const Machine machine{Topology::flat(2)};
        // Twenty messages, of which the first is twice as long as the receiver expects.
        const bool is_root = world_rank() == 0;
        const Plan plan{{Collective::bcast, 640, 1, 0, true},
                        parse_algorithm(is_root ? "chain@32" : "chain@16", Collective::bcast),
                        ""};
        const PreparedSchedule prepared(expand(plan, machine, world_rank()));
        std::vector<std::byte> data(640);
        Operands operands;
        operands.result = data.data();
        Ways ways;
        ways.comm = pair;
        laple::mpi::Scratch scratch;
        const int code = execute(prepared, operands, ways, scratch);
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

TEST_CASE("a barrier lets nobody out before everybody is in") {
    std::mt19937_64 random(kSeed);
    laple::mpi::Scratch scratch;
    for (const std::string& name : test::algorithm_names(Collective::barrier)) {
        const Machine machine = draw_machine(random);
        const AlgorithmPtr algorithm = parse_algorithm(name, Collective::barrier);
        const Request request = request_for(Collective::barrier, 0);
        if (!algorithm->can_do(request, machine)) continue;
        Communicators communicators(machine);
        const PreparedSchedule prepared(expand({request, algorithm, ""}, machine, world_rank()));
        // The last rank comes late; its clock reading must lie before everybody's exit. One machine, one
        // clock; that of MPI_Wtime may begin with each process.
        const int late = world_size() - 1;
        double entered = mpi::now().count();
        if (world_rank() == late) {
            while (mpi::now().count() - entered < 0.005) {
            }
            entered = mpi::now().count();
        }
        Operands operands;
        operands.has_result = false;
        CHECK(execute(prepared, operands, communicators.next_call(), scratch) == MPI_SUCCESS);
        const double left = mpi::now().count();
        double last_entry = 0;
        double first_exit = 0;
        PMPI_Allreduce(&entered, &last_entry, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        PMPI_Allreduce(&left, &first_exit, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        INFO(name << " on " << describe(machine));
        CHECK(first_exit >= last_entry);
    }
}

TEST_CASE("MPI's own calls are measured beside messages that the program waits for", "[beyond-simgrid]") {
    if (world_size() < 2) return;
    int received = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    const Seconds time(0.3);
    const JobTimes times = mpi::measure_natives(MPI_COMM_WORLD, mpi::NativeSizes::few, time,
                                                {mpi::now() + time, nullptr}, {}, true);
    int is_done = 1;
    PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    CHECK(is_done == 0);
    if (world_rank() == 0) CHECK(times.exchange > Seconds(0));
    const int rank = world_rank();
    PMPI_Barrier(MPI_COMM_WORLD);
    PMPI_Send(&rank, 1, MPI_INT, (rank + 1) % world_size(), 4, MPI_COMM_WORLD);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(received == (rank + world_size() - 1) % world_size());
}

TEST_CASE("where time is over no other call is measured", "[beyond-simgrid]") {
    if (world_size() < 2) return;
    const JobTimes times = mpi::measure_natives(MPI_COMM_WORLD, mpi::NativeSizes::few, Seconds(1e-6),
                                                {mpi::now() + Seconds(10), nullptr}, {}, true);
    if (world_rank() != 0) return;
    CHECK(times.times.empty());
    CHECK(times.is_unfinished);
}

TEST_CASE("what is agreed on arrives whole, in one message or two") {
    const int source = world_size() - 1;
    for (const int clusters : {1, 3, 40}) {
        std::mt19937_64 random(static_cast<unsigned>(clusters));
        MachineCosts costs(clusters);
        for (int a = 0; a < clusters; ++a) {
            for (int b = 0; b < clusters; ++b)
                costs.link(a, b).latency = static_cast<double>(random() % 1'000'000) * 1e-9;
        }
        mpi::Agreement agreement{Topology::flat(world_size()), "ring,-native", {0}, costs, {1, 2, 3}, {}};
        const bool is_source = world_rank() == source;
        const mpi::Payload mine{is_source ? mpi::Content::agreement : mpi::Content::nothing,
                                is_source ? std::optional(agreement) : std::nullopt};
        const mpi::Payload got = mpi::broadcast(MPI_COMM_WORLD, source, mine);
        REQUIRE(got.content == mpi::Content::agreement);
        REQUIRE(got.agreement);
        CHECK(got.agreement->topology == agreement.topology);
        CHECK(got.agreement->algorithm == agreement.algorithm);
        CHECK(got.agreement->ranks == agreement.ranks);
        CHECK(got.agreement->cluster_of == agreement.cluster_of);
        CHECK(got.agreement->host_of.empty());
        CHECK(got.agreement->costs.numbers() == costs.numbers());
    }
    const mpi::Payload none = mpi::broadcast(MPI_COMM_WORLD, 0, {mpi::Content::unknown, std::nullopt});
    CHECK(none.content == mpi::Content::unknown);
    CHECK_FALSE(none.agreement);
}

TEST_CASE("paced sends take the time of their bytes at least") {
    const int size = world_size();
    if (size < 2) return;
    std::vector<std::vector<Rank>> clusters(2);
    for (Rank rank = 0; rank < size; ++rank) clusters[rank < size / 2 ? 0 : 1].push_back(rank);
    const Machine machine(Topology::from_clusters(size, clusters));
    constexpr Bytes kBlock = 1000;
    constexpr Bytes kSegment = 100;
    constexpr double kSecondsPerByte = 2e-5;
    constexpr double kBurst = 5e-3;  // what is late may make up for
    Plan plan{request_for(Collective::alltoall, kBlock), parse_algorithm("direct@100", Collective::alltoall),
              ""};
    plan.windows.pace = {kSecondsPerByte, kSecondsPerByte};
    Communicators communicators(machine);
    const PreparedSchedule prepared(expand(plan, machine, world_rank()));
    const std::size_t all = kBlock * static_cast<std::size_t>(size);
    const std::vector<std::byte> input(all, static_cast<std::byte>(world_rank() + 1));
    std::vector<std::byte> result(all);
    Operands operands;
    operands.input = input.data();
    operands.result = result.data();
    laple::mpi::Scratch scratch;
    const double start = mpi::now().count();
    CHECK(execute(prepared, operands, communicators.next_call(), scratch) == MPI_SUCCESS);
    const double seconds = mpi::now().count() - start;
    const std::size_t others = clusters[world_rank() < size / 2 ? 1 : 0].size();
    CHECK(seconds >= kSecondsPerByte * static_cast<double>(others * kBlock - kSegment) - kBurst);
    for (std::size_t i = 0; i < all; ++i) REQUIRE(result[i] == static_cast<std::byte>(i / kBlock + 1));
}

namespace {

/// An all-to-all of long blocks, of which those of some pairs of ranks go by streams: all ranks are on this
/// host, but the connections are real ones.
class StreamedBlocks {
  public:
    static constexpr std::size_t kBytes = 3'000'000;  // several stripes

    explicit StreamedBlocks(const std::vector<Rank>& streamed)
        : machine_(Topology::flat(world_size())),
          prepared_(Schedule{}),
          routes_(world_size()),
          bytes_(2 * static_cast<std::size_t>(world_size()), kBytes) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &ways_.comm);
        Settings settings;
        settings.stream_interface = "lo";
        links_ = std::make_unique<mpi::StreamLinks>(settings);
        std::vector<mpi::StreamLinks::Peer> peers;
        for (const Rank peer : streamed) peers.push_back({peer, 2, Seconds(1e-4)});
        links_->join(ways_.comm, peers, routes_);
        plan_.straight = straight_blocks(varied_request(Collective::alltoall), machine_, world_rank(), {});
    }
    ~StreamedBlocks() {
        links_.reset();
        PMPI_Comm_free(&ways_.comm);
    }
    StreamedBlocks(const StreamedBlocks&) = delete;
    StreamedBlocks& operator=(const StreamedBlocks&) = delete;

    /// The route to `peer`, where it is to be of so many connections.
    const streams::Link* join_again(Rank peer, int connections) {
        mpi::StreamRoutes routes(world_size());
        const mpi::StreamLinks::Peer wanted{peer, connections, Seconds(1e-4)};
        links_->join(ways_.comm, {&wanted, 1}, routes);
        return routes.to(peer).link;
    }

    bool is_streamed(Rank peer) const { return routes_.to(peer).link != nullptr; }
    streams::Link& link(Rank peer) { return *routes_.to(peer).link; }
    /// As if this process had ended.
    void close() { links_.reset(); }

    std::size_t& bytes_for(Rank peer) { return bytes_[static_cast<std::size_t>(peer)]; }
    std::size_t& bytes_from(Rank peer) {
        return bytes_[static_cast<std::size_t>(world_size()) + static_cast<std::size_t>(peer)];
    }

    mpi::BlockExchange& start(mpi::StepTimes* times = nullptr) {
        ++ways_.call;
        operands_.input.clear();
        operands_.result.clear();
        memory_.clear();
        for (Rank peer = 0; peer < world_size(); ++peer) {
            add(operands_.input, bytes_for(peer), value(world_rank(), peer));
            add(operands_.result, bytes_from(peer), std::byte{0xEE});
        }
        return exchange_.emplace(prepared_, plan_, operands_, ways_, &routes_, times);
    }
    /// Its messages are none of anybody's any more.
    void forget() { exchange_.reset(); }

    /// Those of the block of `peer` that are as sent, from its beginning.
    std::size_t right_bytes_from(Rank peer) const {
        const mpi::BlockMemory& block = operands_.result[static_cast<std::size_t>(peer)];
        const auto is_wrong = [&](std::byte each) { return each != value(peer, world_rank()); };
        return static_cast<std::size_t>(std::find_if(block.data, block.data + block.bytes, is_wrong) -
                                        block.data);
    }

  private:
    static std::byte value(Rank from, Rank to) { return static_cast<std::byte>(1 + from * 11 + to); }
    void add(std::vector<mpi::BlockMemory>& blocks, std::size_t bytes, std::byte value) {
        memory_.emplace_back(bytes, value);
        blocks.push_back({memory_.back().data(), bytes});
    }

    Machine machine_;
    PreparedSchedule prepared_;
    mpi::BlockPlan plan_;
    Ways ways_;
    std::unique_ptr<mpi::StreamLinks> links_;
    mpi::StreamRoutes routes_;
    std::vector<std::size_t> bytes_;  // for each rank, and then from each
    std::list<std::vector<std::byte>> memory_;
    mpi::BlockOperands operands_;
    std::optional<mpi::BlockExchange> exchange_;
};

std::vector<Rank> others_than(Rank rank) {
    std::vector<Rank> others;
    for (Rank other = 0; other < world_size(); ++other) {
        if (other != rank) others.push_back(other);
    }
    return others;
}

}  // namespace

TEST_CASE("long blocks go by streams where there are some, and others by MPI", "[beyond-simgrid]") {
    if (world_size() < 2) return;
    // Only rank 0 has some.
    StreamedBlocks blocks(world_rank() == 0 ? others_than(0) : std::vector<Rank>{0});
    if (world_size() > 2) blocks.bytes_for((world_rank() + 1) % world_size()) = 0;
    if (world_size() > 2) blocks.bytes_from((world_rank() + world_size() - 1) % world_size()) = 0;
    for (int call = 0; call < 3; ++call) {
        mpi::StepTimes times;
        CHECK(blocks.start(&times).to_end() == MPI_SUCCESS);
        std::size_t messages = 0;
        for (const Rank peer : others_than(world_rank())) {
            CHECK(blocks.right_bytes_from(peer) == blocks.bytes_from(peer));
            for (const std::size_t bytes : {blocks.bytes_for(peer), blocks.bytes_from(peer)})
                messages += bytes > 0 ? 1U : 0U;
        }
        REQUIRE(times.steps().size() == messages);
        for (const mpi::StepTime& step : times.steps()) {
            CHECK(step.bytes == StreamedBlocks::kBytes);
            CHECK(step.end >= step.start);
        }
    }
    for (const Rank peer : others_than(world_rank())) {
        CHECK(blocks.is_streamed(peer) == (world_rank() == 0 || peer == 0));
        if (blocks.is_streamed(peer)) {
            CHECK(blocks.link(peer).account().sent == 3 * blocks.bytes_for(peer));
            CHECK(blocks.link(peer).account().received == 3 * blocks.bytes_from(peer));
        }
    }
    PMPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a link serves who wants as many connections as it has, or fewer", "[beyond-simgrid]") {
    if (world_size() < 2) return;
    const Rank peer = world_rank() ^ 1;
    const bool has_peer = peer < world_size();
    StreamedBlocks blocks(has_peer ? std::vector<Rank>{peer} : std::vector<Rank>{});
    if (has_peer) {
        const streams::Link* const first = &blocks.link(peer);
        CHECK(blocks.join_again(peer, 2) == first);
        CHECK(blocks.join_again(peer, 1) == first);
        const streams::Link* const second = blocks.join_again(peer, 3);
        REQUIRE(second != nullptr);
        CHECK(second != first);
        CHECK(second->account().lanes == 3);
        CHECK(blocks.join_again(peer, 3) == second);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("who waits for connections hears from the other end that there will be none", "[beyond-simgrid]") {
    const Rank peer = world_rank() ^ 1;
    std::vector<mpi::StreamJoin> joins(peer < world_size() ? 1 : 0);
    for (mpi::StreamJoin& join : joins) {
        join.peer = peer;
        join.connections = 2;
        join.listens = world_rank() < peer;
        join.mine.can = 2;
        join.mine.number = 1;
        join.mine.endpoint = *streams::address_of_interface("lo");
        join.mine.secret = streams::new_secret();
    }
    // The end that connects has no descriptors for it.
    rlimit usual{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    const rlimit none{0, usual.rlim_max};
    PMPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() > peer) setrlimit(RLIMIT_NOFILE, &none);
    const double start = mpi::now().count();
    mpi::join_streams(MPI_COMM_WORLD, joins, {});
    const double seconds = mpi::now().count() - start;
    setrlimit(RLIMIT_NOFILE, &usual);
    CHECK(seconds < 4);
    for (const mpi::StreamJoin& join : joins) CHECK(join.lanes.empty());
    PMPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("two ends have as many connections as both have descriptors for", "[beyond-simgrid]") {
    if (world_size() < 2) return;
    const Rank peer = world_rank() ^ 1;
    StreamedBlocks blocks({});
    rlimit usual{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    // One end is left half of it: a link, and two connections.
    const rlimit few{streams::open_descriptors().size() + 6, usual.rlim_max};
    if (world_rank() > peer) setrlimit(RLIMIT_NOFILE, &few);
    const streams::Link* const link = peer < world_size() ? blocks.join_again(peer, 5) : nullptr;
    setrlimit(RLIMIT_NOFILE, &usual);
    if (peer < world_size()) {
        REQUIRE(link != nullptr);
        CHECK(link->account().lanes == 2);
        CHECK(blocks.join_again(peer, 5) == link);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a block by streams that is too long, or too short, is an error at its rank alone",
          "[beyond-simgrid]") {
    if (world_size() < 2) return;
    StreamedBlocks blocks(others_than(world_rank()));
    constexpr std::size_t kWrong[] = {1, 2 * StreamedBlocks::kBytes, StreamedBlocks::kBytes - 1};
    for (const std::size_t bytes : kWrong) {
        if (world_rank() == 0) blocks.bytes_for(1) = bytes;
        const int code = blocks.start().to_end();
        CHECK(code == (world_rank() == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        for (const Rank peer : others_than(world_rank())) {
            const bool is_wrong = world_rank() == 1 && peer == 0;
            CHECK(blocks.right_bytes_from(peer) ==
                  (is_wrong ? std::min(bytes, blocks.bytes_from(peer)) : blocks.bytes_from(peer)));
        }
    }
    // The next call has nothing of it.
    if (world_rank() == 0) blocks.bytes_for(1) = StreamedBlocks::kBytes;
    CHECK(blocks.start().to_end() == MPI_SUCCESS);
    for (const Rank peer : others_than(world_rank()))
        CHECK(blocks.right_bytes_from(peer) == blocks.bytes_from(peer));
    PMPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("blocks of a link that is broken fail, all others come", "[beyond-simgrid]") {
    if (world_size() < 2) return;
    StreamedBlocks blocks(world_rank() == 0   ? std::vector<Rank>{1}
                          : world_rank() == 1 ? std::vector<Rank>{0}
                                              : std::vector<Rank>{});
    // Rank 1 has nothing for rank 0 any more, nor for anybody else.
    for (const Rank peer : others_than(1)) {
        if (world_rank() == 1) blocks.bytes_for(peer) = blocks.bytes_from(peer) = 0;
    }
    if (world_rank() > 1) blocks.bytes_for(1) = blocks.bytes_from(1) = 0;
    if (world_rank() == 1) blocks.close();
    PMPI_Barrier(MPI_COMM_WORLD);
    // Rank 0 has seen it when it begins, and what goes by MPI comes later.
    const auto moment = std::chrono::milliseconds(300);
    if (world_rank() != 1) std::this_thread::sleep_for(world_rank() == 0 ? moment : 2 * moment);
    if (world_rank() != 1)
        CHECK(blocks.start().to_end() == (world_rank() == 0 ? MPI_ERR_OTHER : MPI_SUCCESS));
    for (const Rank peer : others_than(world_rank())) {
        if (world_rank() != 1 && peer != 1) CHECK(blocks.right_bytes_from(peer) == StreamedBlocks::kBytes);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a call that is given up leaves its memory alone, and its blocks come as empty ones",
          "[beyond-simgrid]") {
    if (world_size() < 2) return;
    StreamedBlocks blocks(others_than(world_rank()));
    const bool gives_up = world_rank() == 0;
    mpi::BlockExchange& exchange = blocks.start();
    if (gives_up) {
        blocks.forget();
    } else {
        // The thread that looks after links may have begun with the block: then it comes.
        const int code = exchange.to_end();
        const std::size_t come = blocks.right_bytes_from(0);
        CHECK(code == (come > 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
        CHECK((come == 0 || come == StreamedBlocks::kBytes));
    }
    std::vector<std::size_t> come;
    for (const Rank peer : others_than(world_rank())) come.push_back(blocks.right_bytes_from(peer));
    PMPI_Barrier(MPI_COMM_WORLD);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // links are looked at 20 times a second
    std::size_t number = 0;
    for (const Rank peer : others_than(world_rank())) {
        const std::size_t before = come[number++];
        CHECK(blocks.right_bytes_from(peer) == before);
        if (!gives_up && peer != 0) CHECK(before == StreamedBlocks::kBytes);
    }
    // What the others have sent has come meanwhile, or comes now: nowhere.
    CHECK(blocks.start().to_end() == MPI_SUCCESS);
    for (const Rank peer : others_than(world_rank()))
        CHECK(blocks.right_bytes_from(peer) == StreamedBlocks::kBytes);
    PMPI_Barrier(MPI_COMM_WORLD);
}

namespace {

/// Of calls that go on until they may end.
struct Looks {
    bool may_end = false;
    std::size_t all = 0;
    std::vector<std::size_t> of_call;
};

class CountedCall final : public mpi::StartedCall {
  public:
    CountedCall(Looks& looks, std::size_t number) : looks_(looks), number_(number) {}
    bool progress() noexcept override {
        ++looks_.all;
        ++looks_.of_call[number_];
        return looks_.may_end;
    }

  private:
    Looks& looks_;
    std::size_t number_;
};

}  // namespace

TEST_CASE("each look lets some of many started calls go on, and all have their turn") {
    constexpr std::size_t kCalls = 200;
    constexpr std::size_t kMost = mpi::ProgressEngine::kCallsPerLook;
    mpi::ProgressEngine& engine = mpi::ProgressEngine::get();
    Looks looks;
    looks.of_call.resize(kCalls);
    for (std::size_t call = 0; call < kCalls; ++call) {
        engine.add(std::make_unique<CountedCall>(looks, call));
        CHECK(looks.of_call[call] == 1);
    }
    looks = {.of_call = std::vector<std::size_t>(kCalls)};
    engine.progress();
    CHECK(looks.all == kMost);
    for (std::size_t look = 1; look < (kCalls + kMost - 1) / kMost; ++look) engine.progress();
    CHECK(std::all_of(looks.of_call.begin(), looks.of_call.end(), [](std::size_t n) { return n > 0; }));
    looks.may_end = true;
    while (engine.count() > 0) engine.progress();
    CHECK(looks.all <= 3 * kCalls);
}

// Ranks that differ in this would start different calls: some LaPle's, some MPI's own.
TEST_CASE("whether calls can be started does not depend on a rank's host", "[comms]") {
    mpi::HostAllowance allowance(1 << 20);
    mpi::OwnComms comms(MPI_COMM_WORLD);
    // The last rank is alone on its host.
    const Rank last = world_size() - 1;
    std::vector<Rank> on_host;
    for (Rank rank = 0; rank < last; ++rank) on_host.push_back(rank);
    if (world_rank() == last) on_host = {last};
    comms.set_host(on_host, allowance);
    CHECK_FALSE(comms.is_ready());
    REQUIRE(comms.create());
    CHECK_FALSE(comms.is_ready());
    comms.join_host();
    CHECK(comms.is_ready());
}
