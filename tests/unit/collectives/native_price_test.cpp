// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/native_price.hpp"

#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/planner.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;
using test::machine_of;
using test::plan_of;
using test::price_of;
using test::simulated_seconds;

namespace {

constexpr double kFar = 10e-3;

/// How many far latencies MPI's own call of so many bytes takes between them.
double far_latencies(Collective collective, Bytes bytes, const Machine& machine) {
    const MachineCosts costs = test::uniform_costs(machine.cluster_count(), Seconds(kFar), 1e9);
    return native_time(request_for(collective, bytes), machine, costs) / kFar;
}

/// Of doubles.
Request sum_of(std::uint64_t count) {
    Request request = request_for(Collective::allreduce, 8);
    request.units = count;
    request.unit_bytes = 8;
    return request;
}

std::string choice(const Request& request, const Machine& machine, const MachineCosts& costs) {
    return choose_plan(request, machine, {}, costs).algorithm->name();
}

}  // namespace

TEST_CASE("MPI combines parts beyond 8 bytes, where each rank gets an element", "[native]") {
    const Machine pair = machine_of({1, 1});
    const MachineCosts costs = test::uniform_costs(2, Seconds(kFar), 1e9);
    const auto trips = [&](std::uint64_t count) { return native_time(sum_of(count), pair, costs) / kFar; };
    CHECK(trips(1) == Approx(1).epsilon(0.05));
    CHECK(trips(2) == Approx(2).epsilon(0.05));
    CHECK(trips(128) == Approx(2).epsilon(0.05));
    const Machine four = machine_of({2, 2});
    CHECK(native_time(sum_of(3), four, costs) / kFar == Approx(1).epsilon(0.05));
    CHECK(native_time(sum_of(4), four, costs) / kFar == Approx(2).epsilon(0.05));
    // So it is not left to MPI.
    CHECK(choice(sum_of(128), pair, costs) != "native");
}

TEST_CASE("ranks beyond a power of two fold, and everybody gets all", "[native]") {
    CHECK(far_latencies(Collective::allreduce, 8, machine_of({8, 8})) == Approx(1).epsilon(0.05));
    CHECK(far_latencies(Collective::allreduce, 8, machine_of({8, 1})) == Approx(2).epsilon(0.05));
    CHECK(far_latencies(Collective::allreduce, 8, machine_of({4, 1})) == Approx(2).epsilon(0.05));
}

TEST_CASE("an allgather of ranks that are no power of two goes by index", "[native]") {
    CHECK(far_latencies(Collective::allgather, 8, machine_of({8, 8})) == Approx(1).epsilon(0.05));
    CHECK(far_latencies(Collective::allgather, 8, machine_of({2, 1})) == Approx(2).epsilon(0.05));
    CHECK(far_latencies(Collective::allgather, 8, machine_of({8, 4})) == Approx(3).epsilon(0.05));
    const MachineCosts costs = test::uniform_costs(2, Seconds(kFar), 1e9);
    CHECK(choice(request_for(Collective::allgather, 8), machine_of({8, 4}), costs) != "native");
    CHECK(choice(request_for(Collective::allreduce, 8), machine_of({8, 1}), costs) != "native");
}

TEST_CASE("a root sends no blocks for ranks that are not there", "[native]") {
    const double rate = 1e6;
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), rate);
    const Bytes block = 1 << 20;
    // 8 to 15, of which there is one: a block; then 4, 2 and 1.
    const double blocks =
        native_time(request_for(Collective::scatter, block), machine_of({9}), costs) * rate / block;
    CHECK(blocks == Approx(8).epsilon(0.02));
    CHECK(native_time(request_for(Collective::gather, block), machine_of({9}), costs) * rate / block < 8.1);
}

TEST_CASE("between two measured sizes MPI's call takes as much longer than estimated as there", "[native]") {
    const Machine eight = machine_of({8});
    MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    const auto estimate = [&](std::uint64_t count) { return native_time(sum_of(count), eight, costs); };
    const double short_one = estimate(1);
    const double long_one = estimate(512);
    costs.job.ranks = 8;
    costs.job.times["allreduce"] = Curve({{8, Seconds(2 * short_one)}, {4096, Seconds(2 * long_one)}});
    const auto price = [&](std::uint64_t count) { return native_price(sum_of(count), eight, costs); };
    CHECK(price(1).seconds == Approx(2 * short_one));
    CHECK(price(512).seconds == Approx(2 * long_one));
    // Eight elements make two phases of it: a line between both sizes would not know.
    CHECK(price(16).seconds == Approx(2 * estimate(16)));
    CHECK(price(16).seconds > 1.5 * price(1).seconds);
    CHECK(price(16).is_measured);
    // An element may be larger than what was measured.
    Request large = request_for(Collective::allreduce, 2048);
    large.units = 1;
    large.unit_bytes = 2048;
    const double of_large = native_time(large, eight, costs);
    CHECK(native_price(large, eight, costs).seconds > of_large);
    CHECK_FALSE(price(1024).is_measured);
}

TEST_CASE("a barrier of many ranks on few hosts crosses the network between hosts alone", "[native]") {
    std::vector<Host> host_of;
    for (Rank rank = 0; rank < 64; ++rank) host_of.push_back(rank / 8);
    const Machine machine(Topology::flat(64), host_of);
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    const double round = costs.link(0, 0).latency + costs.link(0, 0).gap.at(0).count();
    const double time = native_time(request_for(Collective::barrier, 0), machine, costs);
    CHECK(time > 3 * round);
    CHECK(time < 3 * round + 10e-6);
}

TEST_CASE("a long call of short blocks is not left to MPI where nothing was measured", "[native]") {
    // 16 hosts of 16 ranks: MPI's pairwise exchange takes 256 rounds.
    std::vector<Host> host_of;
    for (Rank rank = 0; rank < 256; ++rank) host_of.push_back(rank / 16);
    const Machine machine(Topology::flat(256), host_of);
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    CHECK(choice(request_for(Collective::reduce_scatter, 8 * 1024), machine, costs) != "native");
    CHECK(choice(request_for(Collective::reduce_scatter, 8), machine, costs) == "native");
}

TEST_CASE("in one cluster short sums go by recursive doubling of hosts", "[native]") {
    const Machine machine = machine_of({32});
    MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    const Request request = sum_of(128);
    // Five rounds, where MPI takes ten.
    const MachineCosts::Link& link = costs.link(0, 0);
    const double round = link.latency + link.gap.at(1024).count();
    costs.job.ranks = 32;
    costs.job.times["allreduce"] = Curve({{1024, Seconds(10 * round)}});
    const auto doubling = price_of("recursive-doubling/flat", request, machine, costs);
    REQUIRE(doubling);
    CHECK(doubling->seconds == Approx(5 * round));
    CHECK(doubling->seconds ==
          Approx(simulated_seconds(plan_of(request, *doubling), machine, costs)).epsilon(0.02));
    CHECK(choice(request, machine, costs) == "recursive-doubling/flat");
    // With ranks that fold.
    const Machine more = machine_of({37});
    const auto folding = price_of("recursive-doubling/flat", request, more, costs);
    CHECK(folding->seconds ==
          Approx(simulated_seconds(plan_of(request, *folding), more, costs)).epsilon(0.02));
}

TEST_CASE("long blocks go pair by pair from all to all", "[native]") {
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), 1.25e9);
    const Machine machine = machine_of({16});
    const double latency = costs.link(0, 0).latency;
    const auto native = [&](Bytes bytes) {
        return native_time(request_for(Collective::alltoall, bytes), machine, costs);
    };
    const auto gaps = [&](Bytes bytes) { return 15 * costs.link(0, 0).gap.at(bytes).count(); };
    CHECK(native(32 * 1024) < gaps(32 * 1024) + 4 * latency);
    // Fifteen rounds, of which each waits for the one before.
    CHECK(native(64 * 1024) > gaps(64 * 1024) + 15 * latency);
}

TEST_CASE("where hosts have several ranks, MPI combines on hosts and then between one rank of each",
          "[native]") {
    // Two sites of four hosts, of four ranks each: 16 elements are enough for parts of 8 leaders, not of 32
    // ranks.
    const Machine machine = test::machine_of_hosts(2, 4, 4);
    const MachineCosts costs = test::uniform_costs(2, Seconds(kFar), 1e9);
    const auto trips = [&](const Request& request) { return native_time(request, machine, costs) / kFar; };
    CHECK(trips(sum_of(4)) == Approx(1).epsilon(0.1));
    CHECK(trips(sum_of(16)) == Approx(2).epsilon(0.1));
    Request in_order = sum_of(16);
    in_order.commutative = false;
    CHECK(trips(in_order) == Approx(1).epsilon(0.1));  // of all ranks
    // The prefix of the hosts before goes to the next host once more.
    CHECK(trips(request_for(Collective::scan, 64)) == Approx(2).epsilon(0.1));
    CHECK(trips(request_for(Collective::bcast, 1024)) == Approx(1).epsilon(0.1));
    CHECK(trips(request_for(Collective::reduce, 1024)) == Approx(1).epsilon(0.1));
    const Machine round = test::machine_of_hosts(2, 4, 4, true);
    CHECK(native_time(request_for(Collective::scan, 64), round, costs) / kFar ==
          Approx(1).epsilon(0.1));  // all ranks
}

TEST_CASE("MPI exchanges medium blocks with 32 ranks at a time", "[native]") {
    const Request alltoall = request_for(Collective::alltoall, 1024);
    for (const int hosts : {8, 16, 32}) {
        const Machine machine = machine_of({hosts, hosts, hosts, hosts});
        const MachineCosts costs = test::uniform_costs(4, Seconds(kFar), 1e9);
        CHECK(native_time(alltoall, machine, costs) / kFar == Approx(hosts / 8.0).epsilon(0.15));
    }
}

TEST_CASE("in a ring of long messages each step waits for the receiver's answer", "[native]") {
    const Machine machine = machine_of({4, 4});
    MachineCosts costs = test::uniform_costs(2, Seconds(kFar), 12.5e6);
    const Request allgather = request_for(Collective::allgather, 64 * 1024);
    // Seven steps of a round trip and the time of the block, where the ways to other sites are.
    const double block = 64 * 1024 / 12.5e6;
    CHECK(native_time(allgather, machine, costs) > 7 * (2 * kFar + block));
    CHECK(native_time(allgather, machine, costs) < 9 * (2 * kFar + block));
}

TEST_CASE("of blocks of different sizes MPI passes on as much as they are together", "[native]") {
    const Machine machine = machine_of({8});
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    Request request = request_for(Collective::allgather, 1 << 20);
    std::vector<std::uint64_t> units(8, 16 * 1024);
    units[5] = 1 << 20;
    request.counts = Counts(units);
    const Bytes all = (1 << 20) + 7 * 16 * 1024;
    const Request equal = request_for(Collective::allgather, all / 8);
    CHECK(native_price(request, machine, costs).seconds == Approx(native_time(equal, machine, costs)));
    CHECK(native_price(request, machine, costs).seconds < 2 * static_cast<double>(all) / 125e6);
    // Also where calls were measured, of blocks that are all as long.
    MachineCosts measured = costs;
    measured.job.ranks = 8;
    for (const Bytes bytes : {Bytes{8}, Bytes{64 * 1024}, Bytes{1 << 20}}) {
        measured.job.times["allgather"].set(
            bytes, Seconds(native_time(request_for(Collective::allgather, bytes), machine, costs)));
    }
    CHECK(native_price(request, machine, measured).seconds ==
          Approx(native_price(equal, machine, measured).seconds));
}

TEST_CASE("a handshake delays a message, and does not occupy the port that sends it", "[native]") {
    const Machine machine = machine_of({4, 4});
    MachineCosts costs = test::uniform_costs(2, Seconds(kFar), 12.5e6);
    const Request alltoall = request_for(Collective::alltoall, 32 * 1024);
    const double without_step = native_time(alltoall, machine, costs);
    // As it is measured: beyond the limit a message takes a round trip more.
    const Bytes limit = 16 * 1024;
    for (int a = 0; a < 2; ++a) {
        costs.cluster(a).eager_limit = static_cast<double>(limit);
        MachineCosts::Link& link = costs.link(a, 1 - a);
        const Curve line = link.gap;
        link.gap.set(limit, line.at(limit));
        for (const Bytes bytes : {limit + 1, Bytes{1} << 20})
            link.gap.set(bytes, line.at(bytes) + Seconds(2 * kFar));
    }
    CHECK(native_time(alltoall, machine, costs) == Approx(without_step).epsilon(0.02));
    // Between clusters the curves have it from the least limit on, whatever the others are.
    const Machine few = machine_of({2, 2});  // to which it broadcasts the whole message
    const Request bcast = request_for(Collective::bcast, 24 * 1024);
    const double with_step = native_time(bcast, few, costs);
    for (const double other : {64.0 * 1024, 0.0}) {
        costs.cluster(0).eager_limit = other;
        CHECK(native_time(bcast, few, costs) > with_step - kFar);
    }
}

TEST_CASE("MPI's own messages between two clusters share what is between them", "[native]") {
    constexpr double kThin = 1e6;
    constexpr Bytes kBlock = 64 * 1024;
    const Machine machine = machine_of({4, 4, 4});
    MachineCosts costs = test::uniform_costs(3, Seconds(kFar), 12.5e6);
    const auto seconds = [&](Collective collective) {
        return native_time(request_for(collective, kBlock), machine, costs);
    };
    const double alltoall = seconds(Collective::alltoall);
    const double allgather = seconds(Collective::allgather);
    costs.link(0, 1).all = kThin;
    // Each rank of one has a block for each of the other; around a ring all blocks but one pass.
    CHECK(alltoall < 16 * kBlock / kThin);
    CHECK(allgather < 11 * kBlock / kThin);
    CHECK(seconds(Collective::alltoall) == Approx(16 * kBlock / kThin).epsilon(0.2));
    CHECK(seconds(Collective::allgather) == Approx(11 * kBlock / kThin).epsilon(0.2));
    // TCP had not found its rate.
    costs.link(0, 1).carries_more = true;
    CHECK(seconds(Collective::alltoall) == Approx(alltoall));
    CHECK(seconds(Collective::allgather) == Approx(allgather));
}

TEST_CASE("the ranks of a host spend together what its NIC has saved up, and share it as they receive",
          "[native]") {
    constexpr double kNic = 12.5e6;
    constexpr Bytes kBlock = 64 * 1024;
    const Machine machine = test::machine_of_hosts(1, 4, 8, true);
    MachineCosts costs = test::uniform_costs(1, Seconds(1e-4), kNic);
    costs.shares_ports = true;
    costs.cluster(0).nic_out = costs.cluster(0).nic_in = kNic;
    costs.cluster(0).reserve = 2 * kBlock;
    const auto seconds = [&](Collective collective) {
        return native_time(request_for(collective, kBlock), machine, costs);
    };
    // Partners 1 and 2 ranks away are on other hosts: in two rounds eight ranks send.
    CHECK(seconds(Collective::scan) > 14 * kBlock / kNic);
    // The root's host gets what the 24 ranks of other hosts have.
    CHECK(seconds(Collective::gather) > 22 * kBlock / kNic);
}
