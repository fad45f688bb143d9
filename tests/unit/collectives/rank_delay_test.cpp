// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/rank_delay.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/cost/segment_times.hpp"
#include "collectives/planner/planner.hpp"
#include "unit/collectives/simulated.hpp"
#include "unit/collectives/some_costs.hpp"

using namespace laple;

namespace {

constexpr double kLatency = 20e-6;
constexpr double kGap = 5e-6;

/// Eight hosts on one switch, whose barrier takes `barrier` seconds, and whose broadcast of 8 bytes `bcast`.
MachineCosts costs_with(double barrier, double bcast, int ranks = 8) {
    MachineCosts costs(1);
    costs.cluster(0).nic_out = costs.cluster(0).nic_in = 125e6;
    const Curve gap({{0, Seconds(kGap)}, {1 << 20, Seconds(kGap + 8.4e-3)}});
    costs.link(0, 0) = {kLatency, gap, gap, 0};
    costs.job.ranks = ranks;
    costs.job.times["barrier"] = Curve({{0, Seconds(barrier)}});
    costs.job.times["bcast"] = Curve({{8, Seconds(bcast)}, {1024, Seconds(bcast)}});
    return costs;
}

const Machine kEight(Topology::flat(8));

}  // namespace

TEST_CASE("what a barrier takes longer than by latencies is a delay of each message", "[rank-delay]") {
    MachineCosts costs = costs_with(225e-6, 1e-3);
    add_rank_delay(kEight, costs);
    CHECK(costs.rank_delay == Approx(225e-6 / 3 - kLatency - kGap));
    CHECK(costs.link(0, 0).latency == Approx(kLatency + costs.rank_delay));
    CHECK(MachineCosts::from_numbers(costs.numbers()).rank_delay == costs.rank_delay);
}

TEST_CASE("a barrier as fast as latencies say, or of other ranks, tells of no delay", "[rank-delay]") {
    for (MachineCosts costs : {costs_with(3 * (kLatency + kGap), 1e-3), costs_with(10e-6, 1e-3),
                               costs_with(225e-6, 1e-3, 16), MachineCosts(1)}) {
        add_rank_delay(kEight, costs);
        CHECK(costs.rank_delay == Approx(0).margin(1e-12));
    }
}

TEST_CASE("messages that were not measured alone take some time each", "[rank-delay]") {
    LinkModel swept;
    swept.clusters.resize(1);
    swept.clusters[0].nic_out = swept.clusters[0].nic_in = 125e6;
    swept.clusters[0].inside.latency = Seconds(35e-6);
    swept.clusters[0].inside.gap = Curve({{0, Seconds(0)}, {16384, Seconds(131e-6)}});
    MachineCosts costs = costs_of(swept, {{Seconds(35e-6)}});
    CHECK(costs.link(0, 0).gap.at(0) == kLikelyGap);
    CHECK(costs.link(0, 0).stream.at(0) == kLikelyGap);
    CHECK(costs.link(0, 0).gap.at(16384) == Seconds(131e-6));
    // So a root does not send to 63 others as if to one.
    const Machine machine(Topology::flat(64));
    costs.job.ranks = 64;
    costs.job.times["barrier"] = Curve({{0, Seconds(246e-6)}});
    costs.job.times["allreduce"] = Curve({{8, Seconds(246e-6)}});
    add_rank_delay(machine, costs);
    const Request request = request_for(Collective::allreduce, 8);
    const auto plan = choose_plan(request, machine, {}, costs);
    CHECK(plan.algorithm->name().find("flat/flat") == std::string::npos);
    Pricing pricing(request, machine, costs);
    CHECK(parse_algorithm("flat/flat", Collective::allreduce)->price(pricing)->seconds > 600e-6);
}

TEST_CASE("while all ranks are at work no short segment and no handshake is for nothing", "[rank-delay]") {
    MachineCosts costs = costs_with(225e-6, 1e-3);
    costs.cluster(0).eager_limit = 16384;
    add_rank_delay(kEight, costs);
    CHECK(MachineCosts::from_numbers(costs.numbers()).cluster(0).eager_limit == 16384);
    const auto gap = [&](Bytes bytes, SegmentTimes::Use use) {
        return SegmentTimes(costs, {{0}}, bytes, use, SegmentTimes::Direction::broadcast).gap(0, 0);
    };
    const auto measured = [&](Bytes bytes) { return costs.link(0, 0).gap.at(bytes).count(); };
    CHECK(gap(1024, SegmentTimes::Use::stream) == Approx(costs.rank_delay));
    CHECK(gap(1024, SegmentTimes::Use::single) == Approx(measured(1024)));
    CHECK(gap(16384, SegmentTimes::Use::stream) == Approx(measured(16384)));
    CHECK(gap(16385, SegmentTimes::Use::stream) == Approx(measured(16385) + 2 * costs.rank_delay));
    CHECK(gap(16385, SegmentTimes::Use::single) == Approx(measured(16385) + 2 * costs.rank_delay));
}

TEST_CASE("the burst of an idle NIC saves nothing of what processors take", "[rank-delay]") {
    MachineCosts costs = costs_with(225e-6, 1e-3);
    costs.cluster(0).eager_limit = 16384;
    costs.cluster(0).reserve = 128 << 10;
    add_rank_delay(kEight, costs);
    const auto seconds = [&](Collective collective, const char* name) {
        const Request request = request_for(collective, 64 << 10);
        Pricing pricing(request, kEight, costs);
        return parse_algorithm(name, collective)->price(pricing)->seconds;
    };
    const double of_16 = seconds(Collective::bcast, "multi-leader-binary/binary@16Kx8");
    const double of_4 = seconds(Collective::bcast, "multi-leader-binary/binary@4Kx8");
    CHECK(of_4 - of_16 >= 10 * costs.rank_delay);  // 12 segments more
    // Seven hops for the first of sixteen segments, then the others.
    CHECK(seconds(Collective::reduce, "chain/chain@4K") >= (7 + 15) * costs.rank_delay);
    CHECK(seconds(Collective::allreduce, "rsag/flat@4K") >= 2 * 14 * costs.rank_delay);
    CHECK(seconds(Collective::allreduce, "pairwise") >= 2 * 7 * costs.rank_delay);
    // Undivided, beyond the eager limit: on each hop a message and its handshake.
    const double undivided = seconds(Collective::bcast, "chain/chain");
    CHECK(undivided >= 7 * 3 * costs.rank_delay);
    CHECK(seconds(Collective::bcast, "chain/chain@32K") - undivided >= 0.99 * 3 * costs.rank_delay);
}

TEST_CASE("partners that swap wait for no handshake where parts go in eager segments", "[rank-delay]") {
    MachineCosts costs = costs_with(225e-6, 1e-3);
    add_rank_delay(kEight, costs);
    const auto seconds = [&](const char* name, double limit) {
        costs.cluster(0).eager_limit = limit;
        const Request request = request_for(Collective::allreduce, 64 << 10);
        Pricing pricing(request, kEight, costs);
        return parse_algorithm(name, Collective::allreduce)->price(pricing)->seconds;
    };
    // 32K there and back: of the other rounds all parts are eager.
    CHECK(seconds("halving-doubling", 16384) - seconds("halving-doubling", 0) ==
          Approx(4 * costs.rank_delay));
    CHECK(seconds("halving-doubling@16K", 16384) == seconds("halving-doubling@16K", 0));
}

TEST_CASE("segments are as long as the eager limit where ranks wait for their cores", "[rank-delay]") {
    MachineCosts costs = costs_with(225e-6, 1e-3);
    costs.cluster(0).eager_limit = 16384;
    costs.job.times["bcast"] = Curve({{8, Seconds(1)}, {1 << 20, Seconds(2)}});
    add_rank_delay(kEight, costs);
    const Plan plan = choose_plan({Collective::bcast, 8 << 20, 1, 0, true}, kEight, {}, costs);
    CHECK(plan.algorithm->name().ends_with("@16K"));
}

TEST_CASE("a short call that is faster by less than a delay is left to MPI", "[rank-delay]") {
    const auto algorithm = [](double barrier, double bcast) {
        MachineCosts costs = costs_with(barrier, bcast);
        add_rank_delay(kEight, costs);
        return choose_plan({Collective::bcast, 8, 1, 0, true}, kEight, {}, costs).algorithm->name();
    };
    CHECK(algorithm(75e-6, 90e-6) != "native");  // flat: 7 gaps and a latency
    CHECK(algorithm(225e-6, 90e-6) == "native");
    CHECK(algorithm(225e-6, 150e-6) == "native");
    CHECK(algorithm(225e-6, 250e-6) != "native");
}

TEST_CASE("messages of MPI's own calls count where those of others do, unless they were measured",
          "[rank-delay]") {
    MachineCosts costs = test::uniform_costs(3, Seconds(1e-3), 12.5e6);
    const auto native = [&](Collective collective, const Machine& machine, Bytes bytes = 8) {
        for (const Candidate& candidate : Pricing(request_for(collective, bytes), machine, costs).all()) {
            if (candidate.algorithm->is_native()) return candidate.seconds;
        }
        return 0.0;
    };
    const auto messages = [&](Collective collective, const Machine& machine, Bytes bytes = 8) {
        constexpr double kEach = 10e-6;
        costs.message_time = 0;
        const double alone = native(collective, machine, bytes);
        costs.message_time = kEach;
        return (native(collective, machine, bytes) - alone) / kEach;
    };
    const Machine hosts = test::machine_of({5, 5, 5});
    CHECK(messages(Collective::bcast, hosts) == Approx(14));
    CHECK(messages(Collective::reduce, hosts) == Approx(14));
    CHECK(messages(Collective::barrier, hosts) == Approx(15 * 4));
    CHECK(messages(Collective::allreduce, hosts) == Approx(8 * 3 + 2 * 7));
    CHECK(messages(Collective::gather, hosts) == Approx(0));
    CHECK(messages(Collective::alltoall, hosts) == Approx(15 * 4));
    CHECK(messages(Collective::alltoall, hosts, 1024) == Approx(15 * 14));
    CHECK(messages(Collective::allgather, hosts) == Approx(15 * 4));
    CHECK(messages(Collective::allgather, hosts, 8192) == Approx(15 * 14));  // 120 KiB in all
    CHECK(messages(Collective::scan, hosts) == Approx(0));
    const Machine sixteen = test::machine_of({8, 4, 4});
    CHECK(messages(Collective::barrier, sixteen) == Approx(16 * 4));
    CHECK(messages(Collective::allreduce, sixteen) == Approx(16 * 4));
    const Machine shared = test::machine_of_hosts(3, 2, 4);
    CHECK(messages(Collective::barrier, shared) == Approx(2 * 18 + 6 * 3));
    CHECK(messages(Collective::allreduce, shared) == Approx(2 * 18 + 4 * 2 + 2 * 2));
    costs.job.ranks = 15;
    costs.job.times["allreduce"] = Curve({{8, Seconds(3e-3)}, {1024, Seconds(3e-3)}});
    CHECK(native(Collective::allreduce, hosts) == Approx(3e-3));
}

TEST_CASE("where near sites share processors messages in all count", "[rank-delay]") {
    constexpr int kSites = 10;
    std::vector<std::vector<Rank>> clusters;
    for (Rank rank = 0; rank < kSites; ++rank) clusters.push_back({rank});
    const Machine machine(Topology::from_clusters(kSites, clusters));
    double exchange = 0;
    const auto choice = [&](double latency, double barrier) {
        MachineCosts costs = test::uniform_costs(kSites, Seconds(latency), 12.5e6);
        costs.job.ranks = kSites;
        costs.job.exchange = Seconds(exchange);
        costs.job.times["barrier"] = Curve({{0, Seconds(barrier)}});
        costs.job.times["allreduce"] = Curve({{8, Seconds(1)}, {1024, Seconds(1)}});
        add_message_time(machine, costs);
        CHECK(MachineCosts::from_numbers(costs.numbers()).message_time == costs.message_time);
        const Plan plan = choose_plan(request_for(Collective::allreduce, 8), machine, {}, costs);
        return std::pair(plan.algorithm->name(), costs.message_time);
    };
    // Four rounds of 0.4 ms.
    const auto [usual, nothing] = choice(0.4e-3, 1.7e-3);
    CHECK(usual.starts_with("direct-exchange"));
    CHECK(nothing == 0);
    const auto [name, time] = choice(0.4e-3, 4e-3);
    CHECK(time == Approx((4e-3 - 1.1 * 4 * 0.42e-3) / 40).epsilon(0.05));
    CHECK(!name.starts_with("direct-exchange"));
    CHECK(choice(10e-3, 50e-3).second == 0);  // far ones differ by more than that
    // A barrier of few messages waits for the network; all messages at once wait for processors.
    exchange = 2.44e-3;
    const auto [by_exchange, time_of_each] = choice(0.4e-3, 1.7e-3);
    CHECK(time_of_each == Approx(2 * 2e-3 / 90).epsilon(0.05));  // which wake up one by one
    CHECK(!by_exchange.starts_with("direct-exchange"));
    exchange = 0.4e-3;
    CHECK(choice(0.4e-3, 4e-3).second == 0);
}

TEST_CASE("what no burst saves of a message is no longer than the message", "[rank-delay]") {
    MachineCosts costs = costs_with(225e-6, 1e-3);
    costs.cluster(0).eager_limit = 4096;
    add_rank_delay(kEight, costs);
    // Of 5000 bytes the port takes less than a rank waits for its processor.
    const SegmentTimes times(costs, {{0}}, 5000, SegmentTimes::Use::stream,
                             SegmentTimes::Direction::broadcast);
    CHECK(times.unsaved(0, 1e-3) == Approx(1e-3));
}

TEST_CASE("call after call a bucket of tokens does not fill again", "[rank-delay]") {
    const Machine twelve(Topology::flat(12));
    MachineCosts costs = costs_with(0, 0, 12);
    costs.job = {};
    costs.cluster(0).nic_out = costs.cluster(0).nic_in = 12.5e6;
    const Curve gap({{0, Seconds(kGap)}, {1 << 20, Seconds(kGap + 84e-3)}});
    costs.link(0, 0).gap = costs.link(0, 0).stream = gap;
    costs.cluster(0).reserve = 128 << 10;
    const Request request = request_for(Collective::allreduce, 16 << 10);
    Pricing pricing(request, twelve, costs);
    // The root sends four copies, 5.2 ms.
    CHECK(parse_algorithm("binomial/binomial", Collective::allreduce)->price(pricing)->seconds > 4e-3);
    CHECK(choose_plan(request, twelve, {}, costs).predicted < Seconds(3e-3));
}
