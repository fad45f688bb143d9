// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/block_routes.hpp"
#include "collectives/algorithms/block_times.hpp"
#include "collectives/algorithms/hop_load.hpp"
#include "collectives/algorithms/pace.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/algorithms/root_order.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/planner.hpp"
#include "collectives/planner/send_windows.hpp"
#include "collectives/simulation/verifier.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;

namespace {

const Machine kTwoClusters(Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}}));

/// Sends to ranks of the other cluster, of all ranks together.
int crossings(const char* algorithm, Collective collective) {
    const Plan plan{request_for(collective, 100, 5), parse_algorithm(algorithm, collective), ""};
    int count = 0;
    for (Rank rank = 0; rank < kTwoClusters.rank_count(); ++rank) {
        for (const Step& step : expand(plan, kTwoClusters, rank).steps)
            count += step.kind == StepKind::send && (step.peer < 4) != (rank < 4) ? 1 : 0;
    }
    return count;
}

Schedule schedule_of(const char* algorithm, std::vector<double> pace) {
    Plan plan{request_for(Collective::alltoall, 1000), parse_algorithm(algorithm, Collective::alltoall), ""};
    plan.windows.pace = std::move(pace);
    return expand(plan, kTwoClusters, 0);
}

}  // namespace

TEST_CASE("blocks between two clusters go in one message each way", "[aggregation]") {
    CHECK(crossings("direct", Collective::alltoall) == 2 * 4 * 4);
    CHECK(crossings("cluster-aggregation", Collective::alltoall) == 2);
    CHECK(crossings("cluster-aggregation", Collective::gather) == 1);
    CHECK(crossings("cluster-aggregation", Collective::scatter) == 1);
}

TEST_CASE("of what is combined in parts, one partial result goes from a cluster to each host elsewhere",
          "[aggregation]") {
    CHECK(crossings("direct", Collective::reduce_scatter) == 2 * 4 * 4);
    CHECK(crossings("cluster-combining", Collective::reduce_scatter) == 2 * 4);
    CHECK(crossings("prefix-exchange", Collective::scan) == 1);
    CHECK(crossings("prefix-chain", Collective::scan) == 1);
}

TEST_CASE("long blocks that are combined go around the hosts of a cluster, those for other clusters first",
          "[aggregation]") {
    Plan plan{request_for(Collective::reduce_scatter, 4000),
              parse_algorithm("cluster-combining@1000", Collective::reduce_scatter), ""};
    plan.windows.pace = {1e-6, 1e-6};
    for (Rank rank = 0; rank < 4; ++rank) {
        std::vector<Rank> senders;
        int far = 0;
        for (const Step& step : expand(plan, kTwoClusters, rank).steps) {
            if (step.is_message()) CHECK(step.is_paced == (step.kind == StepKind::send && step.peer > 3));
            far += step.is_message() && step.peer > 3 ? 1 : 0;
            if (step.kind == StepKind::recv && step.peer < 4) senders.push_back(step.peer);
        }
        // Three times the blocks of the host that it carries and its own, in four segments each.
        CHECK(senders == std::vector<Rank>(24, (rank + 3) % 4));
        CHECK(far == 2 * 4);
    }
}

TEST_CASE("the hosts of a cluster take turns at those of small clusters", "[aggregation]") {
    const Machine machine(Topology::from_clusters(7, {{0, 1, 2, 3}, {4}, {5}, {6}}));
    const Plan plan{request_for(Collective::reduce_scatter, 100),
                    parse_algorithm("cluster-combining", Collective::reduce_scatter), ""};
    for (Rank rank = 0; rank < 4; ++rank) {
        int far = 0;
        for (const Step& step : expand(plan, machine, rank).steps)
            far += step.kind == StepKind::send && step.peer > 3 ? 1 : 0;
        CHECK(far <= 1);
    }
}

TEST_CASE("where all hosts send to one, a host sends all by one rank, at the pace of all its ranks",
          "[aggregation]") {
    const Machine machine(Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}}), {0, 0, 0, 0, 1, 1, 1, 1});
    const MachineCosts costs = test::uniform_costs(2, Seconds(10e-3), 12.5e6);
    const Request gather = request_for(Collective::gather, 8 * 1024);
    Pricing pricing(gather, machine, costs);
    const double of_rank = pace_of_blocks(pricing, Aggregation::none, 16 * 1024)[1];
    CHECK(of_rank == Approx(4 / 12.5e6).epsilon(0.05));
    CHECK(pace_of_blocks(pricing, Aggregation::by_host, 16 * 1024)[1] == Approx(of_rank / 4).epsilon(0.05));
}

TEST_CASE("blocks of different sizes go straight, for nobody waits for empty ones then", "[aggregation]") {
    const Machine machine = test::machine_of_hosts(2, 2, 16);
    const MachineCosts costs = test::uniform_costs(2, Seconds(10e-3), 12.5e6);
    for (const Collective collective : {Collective::alltoall, Collective::gather, Collective::scatter}) {
        CHECK(choose_plan(varied_request(collective), machine, {}, costs).algorithm->name() == "direct");
        CHECK(choose_plan(request_for(collective, 8), machine, {}, costs).algorithm->name() != "direct");
        const Rules rules = parse_rules("host-aggregation");
        CHECK(choose_plan(varied_request(collective), machine, rules, costs).algorithm->name() ==
              "host-aggregation");
    }
}

TEST_CASE("as much as queues hold goes ahead of the pace, each rank of a cluster its share",
          "[aggregation]") {
    SendWindows windows;
    windows.pace = {1e-6, 1e-6};
    CHECK(pace_of({}, kTwoClusters, 0).seconds_per_byte == 0);
    CHECK(pace_of(windows, kTwoClusters, 0).ahead == Seconds(4e-3));  // of ranks that were late
    windows.ahead = {25'000, 25'000};
    const Pace pace = pace_of(windows, kTwoClusters, 0);
    CHECK(pace.ahead.count() == Approx(25e-3));
    CHECK(pace.scaled(0.5).seconds_per_byte == Approx(0.5e-6));
    CHECK(pace.scaled(0.5).ahead.count() == Approx(12.5e-3));
    CHECK(pace.scaled(0.01).ahead == Seconds(4e-3));
    Plan plan{request_for(Collective::alltoall, 1000), parse_algorithm("direct", Collective::alltoall), ""};
    plan.windows = windows;
    CHECK(expand(plan, kTwoClusters, 0).ahead.count() == Approx(25e-3));

    const Machine three = test::machine_of_hosts(3, 2, 2);
    const auto ahead = [&](Collective collective, double queue, const char* name = "direct",
                           bool is_varied = false) {
        MachineCosts costs = test::uniform_costs(3, Seconds(10e-3), 12.5e6);
        costs.cluster(1).burst = queue;
        const Request request =
            is_varied ? varied_request(collective) : request_for(collective, 64 * 1024, 0);
        Pricing pricing(request, three, costs);
        const auto candidate = parse_algorithm(name, collective)->price(pricing);
        return windows_for(candidate.value(), request, three, costs).ahead[1];
    };
    CHECK(ahead(Collective::alltoall, 0) == 128 * 1024 / 4);
    CHECK(ahead(Collective::alltoall, 64 * 1024) == 48 * 1024 / 4);
    CHECK(ahead(Collective::alltoall, 4e6) == 128 * 1024 / 4);
    // All at one uplink: of eight ranks elsewhere, or four hosts; of twelve ranks, where sizes differ.
    CHECK(ahead(Collective::gather, 0) == 128 * 1024 / 8);
    CHECK(ahead(Collective::gather, 0, "host-aggregation@16K") == 128 * 1024 / 4);
    CHECK(ahead(Collective::gather, 0, "cluster-aggregation", true) == 128 * 1024 / 12);
    CHECK(ahead(Collective::scatter, 0) == 128 * 1024);  // the root alone
}

TEST_CASE("a carrier sends what all ranks of its cluster have, at the pace of its link", "[aggregation]") {
    const Machine machine(Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}}));
    const MachineCosts costs = test::uniform_costs(2, Seconds(10e-3), 12.5e6);
    const Request request = request_for(Collective::alltoall, 8 * 1024);
    Pricing pricing(request, machine, costs);
    for (const double pace : pace_of_blocks(pricing, Aggregation::by_cluster, 4 * 1024)) {
        CHECK(pace > 1 / 12.5e6);
        CHECK(pace < 1.5 / 12.5e6);  // its port has blocks for its own cluster, too
    }
}

TEST_CASE("both ends cut a message alike, whatever else they send", "[aggregation]") {
    // Of four blocks, more segments than a message may have; of one, as many as it has units.
    const Plan plan{request_for(Collective::gather, 17'000, 0),
                    parse_algorithm("cluster-aggregation@1", Collective::gather), ""};
    const auto messages = [](const Schedule& schedule, StepKind kind, Rank peer) {
        std::vector<std::uint64_t> units;
        for (const Step& step : schedule.steps) {
            if (step.kind == kind && step.peer == peer) units.push_back(step.units);
        }
        return units;
    };
    const Schedule of_root = expand(plan, kTwoClusters, 0);
    int senders = 0;
    for (Rank rank = 1; rank < kTwoClusters.rank_count(); ++rank) {
        const auto sent = messages(expand(plan, kTwoClusters, rank), StepKind::send, 0);
        senders += sent.empty() ? 0 : 1;
        CHECK((sent == messages(of_root, StepKind::recv, rank)));  // too many to be told
    }
    CHECK(senders == 4);
}

TEST_CASE("of blocks that are cut into too many segments, all come", "[aggregation]") {
    Request request = request_for(Collective::reduce_scatter, 8 * (Segments::kMost + 1));
    std::vector<std::uint64_t> units(8, 1);
    units[0] = Segments::kMost + 1;
    units[1] = Segments::kMost;
    request.counts = Counts(units);
    const Plan plan{request, parse_algorithm("direct@8", Collective::reduce_scatter), ""};
    std::uint64_t got = 0;
    for (const Step& step : expand(plan, kTwoClusters, 1).steps)
        got += step.kind == StepKind::recv ? step.units : 0;
    CHECK(got == 7 * Segments::kMost);
}

TEST_CASE("what goes straight to another cluster keeps the pace of this one", "[aggregation]") {
    const Schedule schedule = schedule_of("direct", {0.25, 0.5});
    CHECK(schedule.seconds_per_unit == 0.25);
    for (const Step& step : schedule.steps)
        CHECK(step.is_paced == (step.kind == StepKind::send && step.peer >= 4));
    const Schedule unpaced = schedule_of("direct", {});
    CHECK(std::none_of(unpaced.steps.begin(), unpaced.steps.end(), [](const Step& s) { return s.is_paced; }));
}

TEST_CASE("all peers get a segment before one gets its next", "[aggregation]") {
    std::vector<Rank> peers;
    for (const Step& step : schedule_of("direct@400", {}).steps) {
        if (step.kind == StepKind::send) peers.push_back(step.peer);
    }
    REQUIRE(peers.size() == 3 * 7);
    for (int segment = 0; segment < 3; ++segment) {
        std::vector<Rank> in_turn(peers.begin() + segment * 7, peers.begin() + (segment + 1) * 7);
        std::sort(in_turn.begin(), in_turn.end());
        CHECK(in_turn == std::vector<Rank>{1, 2, 3, 4, 5, 6, 7});
    }
}

TEST_CASE("the pace of blocks fills an uplink, and no more", "[aggregation]") {
    MachineCosts costs(2);
    const auto curve = [](double rate) {
        return Curve({{0, Seconds(1e-6)}, {1 << 20, Seconds((1 << 20) / rate)}});
    };
    for (int a = 0; a < 2; ++a) {
        costs.cluster(a).nic_out = costs.cluster(a).nic_in = 10e6;
        for (int b = 0; b < 2; ++b)
            costs.link(a, b) = {a == b ? 1e-5 : 0.01, curve(10e6), curve(10e6), 0, 20e6, 4};
    }
    const Request request = request_for(Collective::alltoall, 100'000);
    Pricing pricing(request, kTwoClusters, costs);
    for (const double seconds_a_byte : pace_of_blocks(pricing, Aggregation::none, 0)) {
        CHECK(seconds_a_byte == Approx(4 / 20e6));  // of four hosts
    }
    costs.cluster(0).uplink_out = 5e6;  // it was measured
    Pricing slower(request, kTwoClusters, costs);
    CHECK(pace_of_blocks(slower, Aggregation::none, 0)[0] == Approx(4 / 5e6));
    const auto price = parse_algorithm("direct@16K", Collective::alltoall)->price(slower);
    CHECK(price->pace == pace_of_blocks(slower, Aggregation::none, 16 * 1024));
    CHECK(price->seconds > 16 * 100'000 / 5e6);
}

TEST_CASE("what comes to a root from afar, when near blocks are there, has its link alone", "[aggregation]") {
    constexpr double kRate = 12.5e6;
    const Machine sites(Topology::from_clusters(12, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}));
    MachineCosts costs = test::uniform_costs(3, Seconds(5e-3), kRate);
    for (int c = 0; c < 3; ++c) costs.cluster(c).nic_in = costs.cluster(c).nic_out = kRate;
    const Request request = request_for(Collective::gather, 64 << 10);
    const double block = (64 << 10) / kRate;
    const auto priced = [&] {
        Pricing pricing(request, sites, costs);
        return *parse_algorithm("direct@16K", Collective::gather)->price(pricing);
    };
    CHECK(priced().pace[1] == Approx(11 / kRate).epsilon(0.02));
    CHECK(priced().pace[2] == priced().pace[1]);
    CHECK(priced().seconds == Approx(11 * block).epsilon(0.02));
    costs.link(2, 0).latency = costs.link(0, 2).latency = 45e-3;  // what is near takes 37 ms
    CHECK(priced().pace[1] == Approx(7 / kRate).epsilon(0.02));
    CHECK(priced().pace[2] == Approx(4 / kRate).epsilon(0.02));
    CHECK(priced().seconds == Approx(45e-3 + 4 * block).epsilon(0.02));
    // When blocks are there of which nobody knows how long they are, nobody knows either. A thin uplink holds
    // up its own cluster alone.
    costs.cluster(1).uplink_out = 1e6;
    Pricing pricing(request, sites, costs);
    const auto unknown = pace_of_blocks(pricing, Aggregation::none, 16 << 10, Blocks::of_unknown_sizes);
    CHECK(unknown[1] == Approx(4 / 1e6).epsilon(0.02));
    CHECK(unknown[2] == Approx(11 / kRate).epsilon(0.02));
}

namespace {

/// The most bytes that a rank takes for blocks of others.
Bytes most_taken(const Request& request, const AlgorithmPtr& algorithm, const Machine& machine) {
    Bytes most = 0;
    for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
        Bytes taken = 0;
        for (const std::uint64_t units : expand({request, algorithm, ""}, machine, rank).temporary_units)
            taken += units * request.unit_bytes;
        most = std::max(most, taken);
    }
    return most;
}

}  // namespace

TEST_CASE("what a rank takes for blocks of others stays within the memory for it", "[aggregation]") {
    std::vector<Machine> machines{
        kTwoClusters, Machine(Topology::from_clusters(12, {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9}, {10, 11}})),
        Machine(Topology::from_clusters(12, {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11}}),
                {0, 0, 0, 0, 0, 1, 2, 2, 3, 3, 3, 3}),
        Machine(Topology::from_clusters(12, {{0, 2, 4, 6, 8, 10}, {1, 3, 5, 7, 9, 11}}),
                {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3})};
    for (Machine& machine : machines) {
        machine.set_block_memory(96'000);
        for (const Collective collective : {Collective::gather, Collective::scatter, Collective::alltoall}) {
            for (const char* name : {"host-aggregation", "cluster-aggregation"}) {
                const AlgorithmPtr algorithm = parse_algorithm(name, collective);
                Bytes largest = 0;
                for (Bytes bytes = 250; bytes <= 64'000; bytes += 250) {
                    const Request request = request_for(collective, bytes, 3);
                    if (!algorithm->can_do(request, machine)) continue;
                    largest = bytes;
                    CAPTURE(name, name_of(collective), describe(machine), bytes);
                    // And others of the same size class, which go by the same plan.
                    const Request longest = request_for(collective, bytes + bytes / 4, 3);
                    CHECK(most_taken(longest, algorithm, machine) <= machine.block_memory());
                }
                CHECK(largest >= 500);  // and not for want of use
                CHECK(largest < 64'000);
            }
        }
    }
}

TEST_CASE("blocks of different sizes go together as far as there is memory", "[aggregation]") {
    Machine machine = kTwoClusters;
    const Request request = varied_request(Collective::alltoall);
    const AlgorithmPtr algorithm = parse_algorithm("cluster-aggregation", Collective::alltoall);
    const Bytes usual = algorithm->longest_together(request, machine);
    machine.set_block_memory(64'000);
    CHECK(algorithm->longest_together(request, machine) == 1000);  // 4 * 4 blocks, in and out, twice
    machine.set_block_memory(0);
    CHECK(algorithm->longest_together(request, machine) == 0);
    CHECK(usual > 1000);
}

TEST_CASE("a gathered message that is too long to be put in order is never elsewhere", "[aggregation]") {
    Machine machine(Topology::from_clusters(12, {{0, 2, 4, 6, 8, 10}, {1, 3, 5, 7, 9, 11}}),
                    {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3});
    machine.set_block_memory(12 * 800);
    for (const char* name : {"leader-exchange/binary@256", "leader-ring/chain@256", "multi-leader-exchange",
                             "multi-leader-exchange@256", "ring"}) {
        const AlgorithmPtr algorithm = parse_algorithm(name, Collective::allgather);
        for (const Bytes bytes : {Bytes{700}, Bytes{900}}) {
            Request request = request_for(Collective::allgather, bytes);
            CAPTURE(name, bytes);
            const bool is_long = 12 * bytes > machine.block_memory();
            CHECK((most_taken(request, algorithm, machine) == 0) == is_long);
            std::vector<std::uint64_t> counts(12, bytes);
            counts[2] = 0;
            counts[7] = 1;
            counts[11] += 2 * bytes;
            for (const Counts& some : {Counts(), Counts(counts)}) {
                request.counts = some;
                request.units = some.are_equal() ? bytes : counts[11];
                for (const bool in_place : {false, true})
                    CHECK(verify(expand_all({request, algorithm, ""}, machine), request, machine, 1,
                                 in_place) == "");
            }
        }
    }
}

TEST_CASE("blocks of different sizes go together as far as one message carries them at once",
          "[aggregation]") {
    const auto longest = [](const char* name, Collective collective, const Machine& machine) {
        return parse_algorithm(name, collective)->longest_together(varied_request(collective), machine);
    };
    // All blocks from one cluster to the other: of each rank to each, or to the root.
    CHECK(longest("cluster-aggregation", Collective::alltoall, kTwoClusters) == 16 * 1024 / (4 * 4));
    CHECK(longest("cluster-aggregation", Collective::gather, kTwoClusters) == 16 * 1024 / 4);
    // From one host to another, of which two have four ranks, and the others one.
    const Machine hosts(Topology::from_clusters(10, {{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}}),
                        {0, 0, 0, 0, 1, 2, 2, 2, 2, 3});
    CHECK(longest("host-aggregation", Collective::alltoall, hosts) == 16 * 1024 / (4 * 4));
    // So many that each has next to nothing in a message.
    std::vector<int> first;
    std::vector<int> second;
    for (int rank = 0; rank < 64; ++rank) (rank < 32 ? first : second).push_back(rank);
    const Machine crowd(Topology::from_clusters(64, {first, second}));
    CHECK(longest("cluster-aggregation", Collective::alltoall, crowd) == 64);
    CHECK(longest("cluster-aggregation", Collective::scatter, crowd) == 16 * 1024 / 32);
}

TEST_CASE("a port that sends is no queue that loses messages", "[aggregation]") {
    MachineCosts costs = test::uniform_costs(2, Seconds(1e-3), 1e7);
    costs.shares_ports = true;
    HopLoad scatter(kTwoClusters, costs);  // one host sends to all four of the other cluster
    scatter.add(0, 1, 1e6, 4, 1, 4);
    CHECK(scatter.busiest() > 3 * scatter.busiest_queue());
    CHECK(scatter.busiest_queue() > 0);
    HopLoad gather(kTwoClusters, costs);
    gather.add(0, 1, 1e6, 1, 4, 4);
    CHECK(gather.busiest_queue() == Approx(gather.busiest()));
}

TEST_CASE("what the fullest host of a cluster has for the others is not multiplied by itself",
          "[aggregation]") {
    // One host of 64 ranks, and 16 of one.
    std::vector<Host> host_of(64, 0);
    for (Host host = 1; host <= 16; ++host) host_of.push_back(host);
    const Machine machine(Topology::flat(80), host_of);
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    const Request request = request_for(Collective::alltoall, 64);
    const auto price = test::price_of("host-aggregation", request, machine, costs);
    REQUIRE(price);
    // 16 messages of 4 KiB, in place of 256.
    CHECK(price->seconds < 2e-3);
}

TEST_CASE("blocks that are long together go straight where that takes as long", "[aggregation]") {
    // Two sites of three hosts with three ranks each: 36 KiB from host to host.
    std::vector<int> sites;
    std::vector<Host> host_of;
    for (Rank rank = 0; rank < 18; ++rank) {
        host_of.push_back(rank / 3);
        sites.push_back(rank / 9);
    }
    const Machine machine(Topology::from_labels(18, {sites}), host_of);
    const MachineCosts costs = test::uniform_costs(2, Seconds(4e-3), 6e6);
    const auto crossings_of = [&](const char* name, Bytes bytes) {
        return test::price_of(name, request_for(Collective::alltoall, bytes), machine, costs)->crossings;
    };
    CHECK(crossings_of("host-aggregation", 1024) == 2 * 3 * 3);
    CHECK(crossings_of("host-aggregation", 4096) == crossings_of("direct", 4096));
    // In segments: three of 16 KiB for nine blocks, and five of 8 KiB.
    CHECK(crossings_of("host-aggregation@16K", 4096) == 2 * 3 * 3 * 3);
    CHECK(crossings_of("host-aggregation@8K", 4096) == 2 * 3 * 3 * 5);
    CHECK(crossings_of("host-aggregation@1K", 4096) == crossings_of("direct", 4096));
}

TEST_CASE("between hosts with many ranks longer blocks go in segments of several", "[aggregation]") {
    const Machine machine = test::machine_of_hosts(4, 4, 4);
    MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    for (int c = 0; c < 4; ++c) costs.cluster(c).uplink_out = costs.cluster(c).uplink_in = 25e6;
    const auto choice = [&](Collective collective, Bytes bytes) {
        return choose_plan(request_for(collective, bytes), machine, {}, costs).algorithm->name();
    };
    CHECK(choice(Collective::alltoall, 4096) == "host-aggregation@16K");
    CHECK(choice(Collective::alltoall, 64 << 10) == "direct@16K");
    CHECK(choice(Collective::gather, 64 << 10) == "direct@16K");
}

TEST_CASE("long messages between clusters are left to hosts", "[aggregation]") {
    // Six far hosts of eight ranks: 64 blocks for each other one.
    const Machine machine = test::machine_of_hosts(6, 1, 8);
    const MachineCosts costs = test::uniform_costs(6, Seconds(10e-3), 12.5e6);
    const auto is_proposed = [&](Collective collective, Bytes bytes) {
        const Request request = request_for(collective, bytes);
        const std::vector<Candidate> found = Pricing(request, machine, costs).all();
        return std::any_of(found.begin(), found.end(), [](const Candidate& candidate) {
            return candidate.algorithm->name() == "cluster-aggregation";
        });
    };
    CHECK(is_proposed(Collective::alltoall, 2048));
    CHECK_FALSE(is_proposed(Collective::alltoall, 2056));
    CHECK(is_proposed(Collective::gather, 16 << 10));
}

TEST_CASE("what stays in the cluster goes between what has a pace", "[aggregation]") {
    // Rank 0 has three near peers, and four far ones.
    const auto sends_of = [](const Schedule& schedule) {
        std::string order;
        std::int64_t last_far = -1;
        for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
            const Step& step = schedule.steps[i];
            if (step.kind != StepKind::send) continue;
            const bool is_far = step.peer >= 4;
            order += is_far ? 'f' : 'n';
            if (is_far) last_far = static_cast<std::int64_t>(i);
            const auto earlier = schedule.dependencies_of(step);
            const bool waits =
                last_far >= 0 && std::find(earlier.begin(), earlier.end(), last_far) != earlier.end();
            CHECK(waits == (!is_far && schedule.seconds_per_unit > 0));
        }
        return order;
    };
    CHECK(sends_of(schedule_of("direct@400", {0.25, 0.5})) == "ffnfnfnffnfnfnffnfnfn");
    CHECK(sends_of(schedule_of("direct", {})) == "ffffnnn");
    // What carriers hand on in the end waits for nothing that they have sent before.
    const Schedule carried = schedule_of("cluster-aggregation", {0.25, 0.5});
    const auto& steps = carried.steps;
    const auto is_far = [](StepKind kind) {
        return [kind](const Step& step) { return step.kind == kind && step.peer >= 4; };
    };
    int handed_on = 0;
    auto step = std::find_if(steps.rbegin(), steps.rend(), is_far(StepKind::recv)).base();
    for (; step != steps.end(); ++step) {
        if (step->kind != StepKind::send) continue;
        for (const std::uint32_t earlier : carried.dependencies_of(*step))
            CHECK_FALSE(is_far(StepKind::send)(steps[earlier]));
        ++handed_on;
    }
    CHECK(handed_on > 0);
}

TEST_CASE("a root that scatters sends to the farthest clusters first", "[aggregation]") {
    // The root's cluster is 1. From there it is 1 ms to cluster 0, 9 to 2, 5 to 3, whose uplink takes 10 ms.
    const Machine machine(Topology::from_clusters(8, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    MachineCosts costs = test::uniform_costs(4, Seconds(1e-3), 12.5e6);
    costs.link(1, 2).latency = 9e-3;
    costs.link(1, 3).latency = 5e-3;
    costs.cluster(3).uplink_in = 3.2e6;
    const Request request = request_for(Collective::scatter, 16'000, 3);
    const std::vector<int> order = root_order(request, machine, costs);
    CHECK(order == std::vector<int>{3, 2, 0, 1});
    CHECK(root_order(request_for(Collective::gather, 16'000, 3), machine, costs).empty());
    CHECK(root_order(request_for(Collective::alltoall, 16'000), machine, costs).empty());
    CHECK(root_order(request, machine, {}).empty());

    const std::vector<Rank> ranks{6, 7, 5, 4, 0, 1, 2};
    for (const char* name : {"direct", "direct@8K"}) {
        std::vector<Rank> served;
        for (const Step& step :
             expand(choose_plan(request, machine, parse_rules(name), costs), machine, 3).steps) {
            if (step.kind == StepKind::send) served.push_back(step.peer);
        }
        REQUIRE(served.size() >= ranks.size());
        CHECK(std::vector(served.begin(), served.begin() + 7) == ranks);  // and again with second segments
    }
    std::vector<Rank> straight;
    for (const StraightBlock& block : straight_blocks(request, machine, 3, order))
        straight.push_back(block.peer);
    CHECK(straight == ranks);
}

TEST_CASE("a root does not take an uplink for slow that is faster than itself", "[aggregation]") {
    // To 16 ranks it is 1 ms, and they get most of the bytes; to one it is 30 ms.
    std::vector<Rank> near;
    for (Rank rank = 1; rank <= 16; ++rank) near.push_back(rank);
    const Machine machine(Topology::from_clusters(18, {{0}, near, {17}}));
    MachineCosts costs = test::uniform_costs(3, Seconds(1e-3), 12.5e6);
    costs.link(0, 2).latency = 30e-3;
    for (int c = 0; c < 3; ++c) costs.cluster(c).uplink_in = 25e6;
    costs.cluster(0).nic_out = 12.5e6;
    const Request request = request_for(Collective::scatter, 64 * 1024);
    CHECK(root_order(request, machine, costs) == std::vector<int>{2, 1, 0});
    // Where sizes differ, long blocks tell: 64 KiB for each of the 16 take a second and more.
    costs.cluster(1).uplink_in = 1e6;
    CHECK(root_order(request, machine, costs) == std::vector<int>{1, 2, 0});
    CHECK(root_order(varied_request(Collective::scatter), machine, costs) == std::vector<int>{1, 2, 0});
    CHECK(root_order(request_for(Collective::scatter, 512), machine, costs) == std::vector<int>{2, 1, 0});
}

TEST_CASE("a scatter is right in any order of clusters", "[aggregation]") {
    std::mt19937 random(7);
    const Machine machine = test::machine_of_hosts(4, 2, 3);
    for (int trial = 0; trial < 10; ++trial) {
        MachineCosts costs = test::uniform_costs(4, Seconds(1e-3), 12.5e6);
        const Rank root = static_cast<Rank>(random() % 24);
        for (int c = 0; c < 4; ++c)
            costs.link(machine.cluster_of_rank(root), c).latency =
                static_cast<double>(random() % 1000) * 1e-6;
        const Request request = request_for(Collective::scatter, 1000, root);
        for (const char* name :
             {"direct", "direct@256", "host-aggregation", "host-aggregation@1K", "cluster-aggregation"}) {
            CAPTURE(name, root, root_order(request, machine, costs));
            const Plan plan = choose_plan(request, machine, parse_rules(name), costs);
            REQUIRE(plan.algorithm->name() == name);
            CHECK(verify(expand_all(plan, machine), request, machine, 1, false) == "");
        }
    }
}
