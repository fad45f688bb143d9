// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/planner.hpp"

#include <catch2/catch.hpp>

#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/simulation/simulator.hpp"
#include "collectives/simulation/verifier.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;

namespace {

const Machine kSites(Topology::from_clusters(16,
                                             {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}));

std::string choice(Collective collective, Bytes bytes, const Machine& machine,
                   const std::string& rules = "") {
    return choose_plan(request_for(collective, bytes), machine, parse_rules(rules)).algorithm->name();
}

/// Four sites 10 ms apart, hosts of 100 Mbit/s, as the emulated grid's wan4x4 without shared uplinks.
SimulatedNetwork wan() {
    SimulatedNetwork network;
    network.port_count = static_cast<std::size_t>(kSites.rank_count());
    network.port_out = [](Rank from, Rank) { return static_cast<std::size_t>(from); };
    network.port_in = [](Rank, Rank to) { return static_cast<std::size_t>(to); };
    network.gap = [](Rank, Rank, Bytes bytes) {
        return Seconds(20e-6 + static_cast<double>(bytes) * 8 / 100e6);
    };
    network.latency = [](Rank from, Rank to) {
        return Seconds(kSites.cluster_of_rank(from) == kSites.cluster_of_rank(to) ? 50e-6 : 10e-3);
    };
    return network;
}

double simulated_ms(const std::string& algorithm, Collective collective, Bytes bytes) {
    const Plan plan{request_for(collective, bytes), parse_algorithm(algorithm, collective), ""};
    const auto schedules = expand_all(plan, kSites);
    SimulationOptions options;
    options.network = wan();
    const SimulationResult result = simulate(schedules, kSites, nullptr, options);
    REQUIRE(result.ok());
    return result.makespan.count() * 1e3;
}

}  // namespace

TEST_CASE("one cluster, and no data, are left to MPI") {
    CHECK(choice(Collective::bcast, 8, Machine(Topology::flat(16))) == "native");
    CHECK(choice(Collective::barrier, 0, Machine(Topology::flat(16)), "^native") == "native");
    CHECK(choice(Collective::bcast, 0, kSites) == "native");
    CHECK(choice(Collective::barrier, 0, kSites) == "direct-exchange/binomial");
}

TEST_CASE("in large clusters pipelines branch") {
    std::vector<std::vector<Rank>> clusters(2);
    for (Rank rank = 0; rank < 40; ++rank) clusters[rank < 31 ? 0 : 1].push_back(rank);
    const Machine machine(Topology::from_clusters(40, clusters));
    CHECK(choice(Collective::bcast, 8, machine) == "flat/binomial");
    CHECK(choice(Collective::bcast, 65536, machine) == "flat/binary@4K");
    CHECK(choice(Collective::reduce, 1 << 20, machine) == "multi-leader-flat/binary@8K");
    CHECK(choice(Collective::allreduce, 65536, machine) == "direct-exchange/binary@4K");
    CHECK(choice(Collective::allreduce, 1 << 20, machine) == "multi-leader-flat/binary@8K");
    CHECK(choice(Collective::bcast, 16 << 20, machine) == "multi-leader-chain/chain@8K");
}

TEST_CASE("what is gathered does not cross to another cluster in each step") {
    for (const Bytes block : {Bytes{16} * 1024, Bytes{64} * 1024}) {
        const std::string chosen = choice(Collective::allgather, block, kSites);
        CHECK(simulated_ms(chosen, Collective::allgather, block) <
              0.9 * simulated_ms("ring", Collective::allgather, block));
    }
    CHECK(choice(Collective::allgather, 65536, kSites, "^multi-leader-exchange@8K") == "ring");
    CHECK(choice(Collective::allgather, 4 << 20, kSites) == "ring");
}

TEST_CASE("what is forbidden is not called impossible") {
    const Plan plan = choose_plan(request_for(Collective::bcast, 8), kSites, parse_rules("^flat/binomial"));
    CHECK(plan.is_native());
    CHECK_THAT(plan.reason, Catch::Matchers::Contains("forbidden"));
}

TEST_CASE("sizes of one class are at most a quarter apart, and stand for themselves where they are few") {
    for (Bytes bytes = 0; bytes < 8; ++bytes)
        CHECK(size_class_of(request_for(Collective::bcast, bytes)).units == bytes);
    for (const Bytes bytes : {Bytes{9}, Bytes{1000}, Bytes{65535}, Bytes{123456789}}) {
        const Request representative = size_class_of(request_for(Collective::bcast, bytes));
        CHECK(representative.bytes() <= bytes);
        CHECK(5 * representative.bytes() > 4 * bytes - 5);
        CHECK(size_class_of(representative) == representative);
    }
    CHECK(size_class_of(request_for(Collective::bcast, 1 << 20)).bytes() == 1 << 20);
}

TEST_CASE("wishes come first, as far as they can be done") {
    CHECK(choice(Collective::bcast, 8, kSites, "chain/chain") == "chain/chain");
    CHECK(choice(Collective::bcast, 8, kSites, "bcast:9-inf:chain/chain") == "flat/binomial");
    CHECK(choice(Collective::bcast, 8, kSites, "native") == "native");
    CHECK(choice(Collective::bcast, 8, kSites, "^flat/binomial") == "native");
    Request in_order = request_for(Collective::allreduce, 64);
    in_order.commutative = false;
    const Machine interleaved(Topology::from_clusters(4, {{0, 2}, {1, 3}}));
    CHECK(choose_plan(in_order, interleaved, parse_rules("direct-exchange/binomial")).is_native());
    CHECK_FALSE(choose_plan(in_order, kSites, {}).is_native());
}

TEST_CASE("small messages cross the WAN once") {
    for (const Collective collective : kAllCollectives) {
        const double ms = simulated_ms(choice(collective, 8, kSites), collective, 8);
        INFO(name_of(collective) << " " << ms << " ms");
        CHECK(ms < 11);
    }
}

TEST_CASE("of the algorithms at hand, the chosen one is near the best in simulation") {
    const std::vector<std::string> rooted{"flat/binomial",
                                          "binomial/binomial",
                                          "flat/chain@8K",
                                          "multi-leader-flat/chain@8K",
                                          "multi-leader-chain/chain@8K",
                                          "chain/chain@8K"};
    for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
        for (const Bytes bytes : {Bytes{8}, Bytes{1024}, Bytes{65536}, Bytes{1} << 20, Bytes{8} << 20}) {
            std::vector<std::string> names = rooted;
            if (!row_of(collective).is_rooted) {
                names.insert(names.end(), {"direct-exchange/binomial", "direct-exchange/flat@8Kx4",
                                           "direct-exchange/chain@8K", "recursive-doubling/binomial"});
            }
            const double chosen = simulated_ms(choice(collective, bytes, kSites), collective, bytes);
            for (const std::string& name : names) {
                const double other = simulated_ms(name, collective, bytes);
                INFO(name_of(collective) << " " << bytes << ": " << choice(collective, bytes, kSites)
                                         << " takes " << chosen << " ms, " << name << " " << other << " ms");
                CHECK(chosen < 1.35 * other);
            }
        }
    }
}

TEST_CASE("what rules ask for is done with what costs decide, or not at all") {
    const MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const auto plan_with = [&](const char* rules, const Request& request, const MachineCosts& known) {
        return choose_plan(request, kSites, parse_rules(rules), known);
    };
    const Request bcast = request_for(Collective::bcast, 1 << 20);
    const Plan by_order = plan_with("ecef/chain@8K", bcast, costs);
    CHECK(by_order.algorithm->name() == "ecef/chain@8K");
    CHECK_FALSE(by_order.algorithm->order().empty());
    CHECK(by_order.predicted > Seconds(0));
    CHECK(by_order.passed_over.empty());
    CHECK(by_order.reason == "asked for");

    // Nobody knows the costs.
    const Plan without = plan_with("ecef/chain@8K", bcast, {});
    CHECK_FALSE(without.algorithm->needs_costs());
    CHECK_THAT(without.passed_over, Catch::StartsWith("ecef/chain@8K orders clusters by rates"));
    Request in_order = request_for(Collective::allreduce, 1 << 20);
    in_order.commutative = false;
    const Request three{Collective::allreduce, 1024, 1, 0, true};
    CHECK(choose_plan(three, Machine(Topology::flat(3)), parse_rules("halving-doubling"), {}).passed_over ==
          "halving-doubling needs a power-of-two number of hosts");
    CHECK_THAT(plan_with("ecef/chain@8K", in_order, costs).passed_over,
               Catch::Contains("order of the ranks"));

    // There is no price for MPI's own calls inside clusters, and so no order.
    for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
        const Plan plan = plan_with("ecef/native", request_for(collective, 1 << 20), costs);
        INFO(name_of(collective) << " by " << plan.algorithm->name());
        CHECK_FALSE(plan.algorithm->needs_costs());
    }
    CHECK(plan_with("flat/native", bcast, costs).algorithm->name() == "flat/native");
}

TEST_CASE("a reduction in fixed order is one tree over the ranks, whatever the machine") {
    const Plan small = plan_in_fixed_order(request_for(Collective::allreduce, 8));
    CHECK(small.algorithm->name() == "binomial/binomial");
    CHECK_FALSE(small.request.commutative);
    CHECK(plan_in_fixed_order(request_for(Collective::reduce, 1 << 20)).algorithm->name() ==
          "binomial/binomial@64K");
    CHECK(plan_in_fixed_order(request_for(Collective::allreduce, 0)).is_native());
    const Machine flat(Topology::flat(11));
    for (const Bytes bytes : {Bytes{800}, Bytes{1} << 18}) {
        const Plan plan = plan_in_fixed_order(request_for(Collective::allreduce, bytes));
        CHECK(verify(expand_all(plan, flat), plan.request, flat, 3, false) == "");
    }
}

TEST_CASE("hosts of several ranks count as hosts: lanes and large clusters are theirs") {
    // 64 ranks on 16 hosts in 4 clusters: as 16 ranks on 16 hosts.
    std::vector<int> hosts;
    std::vector<int> clusters;
    for (int rank = 0; rank < 64; ++rank) {
        hosts.push_back(rank / 4);
        clusters.push_back(rank / 16);
    }
    const Machine machine(Topology::from_labels(64, {clusters}), hosts);
    for (const Collective collective : kAllCollectives) {
        for (const Bytes bytes : {Bytes{8}, Bytes{1} << 16, Bytes{1} << 20}) {
            INFO(name_of(collective) << " of " << bytes);
            CHECK(choice(collective, bytes, machine) == choice(collective, bytes, kSites));
        }
    }
}

namespace {

/// Two hosts far from each other, of which one flow carries a quarter of what eight connections do.
MachineCosts fat_pipe() {
    MachineCosts costs = test::uniform_costs(2, Seconds(50e-3), 25e6);
    for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, 0}}) {
        costs.link(from, to).streams = 8;
        costs.link(from, to).streamed = 100e6;
    }
    return costs;
}

}  // namespace

TEST_CASE("calls that gain by streams go by them") {
    const Machine machine(Topology::from_clusters(2, {{0}, {1}}));
    const auto plan_for = [&](Bytes bytes, const MachineCosts& costs) {
        return choose_plan(request_for(Collective::bcast, bytes), machine, parse_rules("^native"), costs);
    };
    const Plan large = plan_for(64U << 20, fat_pipe());
    CHECK(large.streams == 8);
    CHECK_THAT(large.name(), Catch::EndsWith("+streams"));
    MachineCosts without = fat_pipe();
    without.use_streams(0);
    const Plan slow = plan_for(64U << 20, without);
    CHECK(slow.streams == 0);
    CHECK(large.predicted < 0.4 * slow.predicted);
    CHECK(large.predicted.count() > 64e6 / 100e6);
    // Where latency is all that counts, nothing is to be gained.
    CHECK(plan_for(8, fat_pipe()).streams == 0);

    // The best plan without them is tried, too.
    const auto plans =
        plans_to_try(request_for(Collective::bcast, 64U << 20), machine, parse_rules(""), fat_pipe());
    REQUIRE(plans.size() > 1);
    CHECK(plans[0].streams == 8);
    CHECK(plans[1].streams == 0);
    CHECK(plans.size() <= kMostToTry);
    CHECK(plans.back().is_native());
    CHECK(plans.back().predicted > 2 * plans[0].predicted);
}

TEST_CASE("where the number of streams is given, calls go by them, or are MPI's own") {
    const Machine machine(Topology::from_clusters(2, {{0}, {1}}));
    MachineCosts costs = fat_pipe();
    for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, 0}})
        costs.link(from, to).by_streams.rate = {{8, 100e6}};
    const Request large = request_for(Collective::bcast, 64U << 20);
    const Plan by_measured = choose_plan(large, machine, parse_rules(""), costs);
    MachineCosts four = costs;
    four.use_streams(4);
    CHECK(four.are_streams_given());
    CHECK(MachineCosts::from_numbers(four.numbers()) == four);
    CHECK(four.link(0, 1).streamed == 50e6);  // half of what eight carry, at least
    CHECK(four.link(0, 0).streams == 0);
    const Plan by_four = choose_plan(large, machine, parse_rules(""), four);
    CHECK(by_four.streams == 4);
    CHECK(by_four.predicted > 1.9 * (by_measured.predicted - Seconds(50e-3)));
    CHECK(by_four.native == by_measured.native);  // by MPI's one connection all the same
    CHECK(by_four.native > 3 * by_measured.predicted);

    const Request small = request_for(Collective::bcast, 8);
    CHECK(choose_plan(small, machine, parse_rules("^native"), costs).streams == 0);
    CHECK(choose_plan(small, machine, parse_rules("^native"), four).streams == 4);
    CHECK(choose_plan(small, machine, parse_rules(""), four).is_native());
    const auto plans = plans_to_try(small, machine, parse_rules(""), four);
    REQUIRE(plans.size() > 1);
    for (const Plan& plan : plans) CHECK((plan.is_native() ? plan.streams == 0 : plan.streams == 4));
    CHECK(std::count_if(plans.begin(), plans.end(), [](const Plan& plan) { return plan.is_native(); }) == 1);
    CHECK(plans_to_try(large, machine, parse_rules(""), four).back().is_native());

    // What rules ask for is MPI's own at its own price.
    const Plan wanted = choose_plan(large, machine, parse_rules("native"), four);
    CHECK(wanted.is_native());
    CHECK(wanted.streams == 0);
    CHECK(wanted.predicted == choose_plan(large, machine, parse_rules("native"), costs).predicted);

    // Of a link that was not measured nothing is known but what MPI's connection carries.
    MachineCosts unknown = test::uniform_costs(2, Seconds(50e-3), 25e6);
    unknown.use_streams(4);
    const Plan blind = choose_plan(large, machine, parse_rules("^native"), unknown);
    CHECK(blind.streams == 4);
    CHECK(blind.predicted.count() > 64e6 / 25e6);
}

TEST_CASE("MPI's own call takes less than predicted where a link carries more than was measured") {
    const Machine machine(Topology::from_clusters(2, {{0}, {1}}));
    MachineCosts costs = fat_pipe();
    const Request large = request_for(Collective::bcast, 64U << 20);
    CHECK_FALSE(choose_plan(large, machine, parse_rules(""), costs).is_native_at_most);
    costs.link(0, 1).carries_more = true;
    CHECK(choose_plan(large, machine, parse_rules(""), costs).is_native_at_most);
    costs.use_streams(0);
    CHECK_FALSE(choose_plan(large, machine, parse_rules(""), costs).is_native_at_most);
}

TEST_CASE("MPI's own call knows no streams") {
    MachineCosts costs = test::uniform_costs(2, Seconds(50e-3), 0.5e6);
    for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, 0}}) {
        costs.link(from, to).streams = 8;
        costs.link(from, to).streamed = 12e6;
    }
    const Machine machine(Topology::from_clusters(2, {{0}, {1}}));
    for (const bool flows_ramp : {false, true}) {
        costs.flows_ramp = flows_ramp;
        for (const Bytes bytes : {Bytes{16} << 10, Bytes{32} << 10, Bytes{64} << 10}) {
            INFO(bytes << " bytes, ramp " << flows_ramp);
            const Plan plan =
                choose_plan(request_for(Collective::bcast, bytes), machine, parse_rules(""), costs);
            CHECK(plan.streams == 8);
            CHECK(plan.predicted < plan.native);
        }
    }
}

TEST_CASE("blocks of different sizes go by streams where long ones gain by them") {
    const auto plan_of = [](Collective collective, const Machine& machine, const MachineCosts& costs,
                            const char* rules = "") {
        return choose_plan(varied_request(collective), machine, parse_rules(rules), costs);
    };
    const Machine hosts(Topology::from_clusters(2, {{0}, {1}}));
    for (const Collective collective : {Collective::alltoall, Collective::gather, Collective::scatter}) {
        INFO(name_of(collective));
        const Plan plan = plan_of(collective, hosts, fat_pipe());
        CHECK(plan.streams == 8);
        CHECK_THAT(plan.name(), Catch::EndsWith("+streams"));
        CHECK(plan_of(collective, hosts, fat_pipe(), "direct").streams == 8);
        CHECK(plan_of(collective, hosts, fat_pipe(), "native").streams == 0);
        MachineCosts without = fat_pipe();
        without.use_streams(0);
        CHECK(plan_of(collective, hosts, without).streams == 0);
    }
    // They bring nothing over what a flow of MPI's carries.
    MachineCosts thin = fat_pipe();
    thin.link(0, 1).streamed = thin.link(1, 0).streamed = 25e6;
    CHECK(plan_of(Collective::alltoall, hosts, thin).streams == 0);
}

TEST_CASE("a rank shares out connections among those that it has blocks for") {
    const auto streams_of = [](Collective collective, int here, int there) {
        std::vector<std::vector<Rank>> clusters(2);
        for (Rank rank = 0; rank < here + there; ++rank) clusters[rank < here ? 0 : 1].push_back(rank);
        const Machine machine(Topology::from_clusters(here + there, clusters));
        const Request request = varied_request(collective);
        const int streams = streams_of_pair(request, machine, fat_pipe(), 0, 1);
        CHECK(streams_of_pair(request, machine, fat_pipe(), 1, 0) == streams);
        return streams;
    };
    CHECK(streams_of(Collective::alltoall, 1, 1) == 8);
    CHECK(streams_of(Collective::alltoall, 1, 2) == 4);
    CHECK(streams_of(Collective::alltoall, 3, 2) == 3);
    CHECK(streams_of(Collective::alltoall, 7, 7) == 2);
    CHECK(streams_of(Collective::alltoall, 8, 1) == 1);
    CHECK(streams_of(Collective::alltoall, 32, 32) == 1);
    CHECK(streams_of(Collective::alltoall, 33, 1) == 0);
    // Of the root's cluster, that is the first, the root alone has blocks for the other one.
    CHECK(streams_of(Collective::gather, 32, 1) == 8);
    CHECK(streams_of(Collective::scatter, 32, 4) == 2);
    CHECK(streams_of(Collective::scatter, 1, 32) == 1);
    CHECK(streams_of(Collective::scatter, 1, 33) == 0);

    const Machine three(Topology::from_clusters(3, {{0}, {1}, {2}}));
    MachineCosts costs = test::uniform_costs(3, Seconds(50e-3), 25e6);
    costs.link(1, 2).streams = costs.link(2, 1).streams = 8;
    CHECK(streams_of_pair(varied_request(Collective::alltoall), three, costs, 1, 2) == 4);
    CHECK(streams_of_pair(varied_request(Collective::alltoall), three, costs, 0, 1) == 0);
    CHECK(streams_of_pair(varied_request(Collective::gather), three, costs, 1, 2) == 0);
    CHECK(choose_plan(varied_request(Collective::gather), three, parse_rules(""), costs).streams == 0);
}

TEST_CASE("what connections carry is all that a link can, unless it is all that a NIC can") {
    MachineCosts costs = fat_pipe();
    CHECK(costs.with_streams().link(0, 1).all == 100e6);
    costs.cluster(0).nic_out = costs.cluster(1).nic_in = 125e6;
    CHECK(costs.with_streams().link(0, 1).all == 100e6);
    costs.cluster(0).nic_out = 110e6;
    CHECK(costs.with_streams().link(0, 1).all == 0);
    CHECK(costs.with_streams().link(1, 0).all == 100e6);
}

TEST_CASE("calls that were tried by streams are not taken for others") {
    MachineCosts costs = fat_pipe();
    costs.job.ranks = 2;
    costs.job.calls = {{"bcast", 1U << 20, 0, "flat+streams", {Seconds(1)}, Seconds(1)},
                       {"bcast", 1U << 20, 0, "flat", {Seconds(2)}, Seconds(1)},
                       {"bcast", 1U << 20, 0, "native", {Seconds(3)}, Seconds(1)}};
    const auto known = costs.with_streams().job.calls;
    REQUIRE(known.size() == 2);
    CHECK(known[0].algorithm == "flat");
    CHECK(known[0].times == std::vector<Seconds>{Seconds(1)});
    CHECK(known[1].algorithm == "native");
    // Those were by as many as were measured: of another number nothing is known.
    MachineCosts given = costs;
    given.use_streams(2);
    REQUIRE(given.with_streams().job.calls.size() == 1);
    CHECK(given.with_streams().job.calls[0].algorithm == "native");
    CHECK(MachineCosts::from_numbers(costs.numbers()).link(0, 1).streamed == 100e6);
    CHECK(MachineCosts::from_numbers(costs.numbers()).most_streams() == 8);
    CHECK_FALSE(MachineCosts::from_numbers(costs.numbers()).link(0, 1).carries_more);
    costs.link(0, 1).carries_more = true;
    CHECK(MachineCosts::from_numbers(costs.numbers()).link(0, 1).carries_more);
    CHECK_FALSE(costs.with_streams().link(0, 1).carries_more);
}

TEST_CASE("that MPI's own call was tried does not choose it where a number of streams is given") {
    const Machine machine(Topology::from_clusters(2, {{0}, {1}}));
    MachineCosts costs = fat_pipe();
    costs.job.ranks = 2;
    costs.job.calls = {{"bcast", 1024, 0, "jackson/binomial", {Seconds(1e-3)}, Seconds(1e-3)},
                       {"bcast", 1024, 0, "native", {Seconds(1)}, Seconds(1e-3)}};
    costs.use_streams(4);
    const Plan plan = choose_plan(request_for(Collective::bcast, 1024), machine, parse_rules(""), costs);
    CHECK(plan.streams == 4);
}

TEST_CASE("short blocks of one site are gathered in few rounds, longer ones around a ring", "[allgather]") {
    const Machine machine = test::machine_of_hosts(1, 12, 4);
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), 12.5e6);
    const auto price_of = [&](const char* name, Bytes bytes) {
        return test::price_of(name, request_for(Collective::allgather, bytes), machine, costs)->seconds;
    };
    CHECK(price_of("bruck", 64) < 0.6 * price_of("ring", 64));
    CHECK(price_of("bruck", 64 << 10) > price_of("ring", 64 << 10));
    CHECK(choose_plan(request_for(Collective::allgather, 512), machine, {}, costs).algorithm->name() ==
          "bruck");
    // Racks may share uplinks.
    const MachineCosts fast = test::uniform_costs(1, Seconds(0), 1.25e9);
    CHECK(choose_plan(request_for(Collective::allgather, 32 << 10), machine, {}, fast).algorithm->name() !=
          "bruck");
    // Between clusters it is not looked at.
    const Machine sites = test::machine_of_hosts(2, 6, 4);
    const MachineCosts far = test::uniform_costs(2, Seconds(5e-3), 12.5e6);
    const Request request = request_for(Collective::allgather, 512);
    for (const Candidate& candidate : Pricing(request, sites, far).all())
        CHECK(candidate.algorithm->name() != "bruck");
}

TEST_CASE("parts of one site go straight where halving needs another number of hosts", "[pairwise]") {
    MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    costs.shares_ports = true;
    const auto chosen = [&](Bytes bytes, int hosts) {
        const Machine machine(Topology::flat(hosts));
        const Request request = request_for(Collective::allreduce, bytes);
        return choose_plan(request, machine, {}, costs).algorithm->name();
    };
    CHECK(chosen(64 << 10, 24) == "pairwise");
    CHECK(chosen(64 << 10, 12) == "pairwise");
    // Segments do better where parts are long, and others where they are short.
    CHECK(chosen(8 << 20, 24) != "pairwise");
    CHECK(chosen(1024, 24) != "pairwise");
}

TEST_CASE("a reduction of one site goes through owners that send to the root", "[rsag]") {
    const Machine machine(Topology::flat(24));
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    const Request request = request_for(Collective::reduce, 1 << 20);
    const auto price = test::price_of("rsag/flat@8K", request, machine, costs);
    REQUIRE(price);
    CHECK(price->algorithm->details().starts_with(" shares 0 1 1"));
    // The root's port gets the message once, and then the last results of all others.
    CHECK(price->seconds > 1.0 * (1 << 20) / 125e6);
    CHECK(price->seconds < 1.7 * (1 << 20) / 125e6);
}

TEST_CASE("scans of long messages, and of ranks dealt round, share the work among owners", "[prefix]") {
    const MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const auto chosen = [&](const Machine& machine, Bytes bytes) {
        return choose_plan(request_for(Collective::scan, bytes), machine, {}, costs).algorithm;
    };
    CHECK(chosen(test::machine_of_hosts(4, 4, 1), 64 << 10)->name().starts_with("prefix-owners@"));
    const Machine dealt = test::machine_of_hosts(4, 4, 2, true);
    for (const Bytes bytes : {Bytes{8}, Bytes{4} << 10, Bytes{64} << 10})
        CHECK(chosen(dealt, bytes)->name().starts_with("prefix-owners"));
    // One latency, where a chain has seven.
    const auto price = test::price_of("prefix-owners", request_for(Collective::scan, 8), dealt, costs);
    CHECK(price->seconds < 11e-3);
}

TEST_CASE("as many lanes as a site has hosts are looked at", "[direct-exchange]") {
    const Machine machine = test::machine_of_hosts(4, 3, 1);
    const MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const auto found = Pricing(request_for(Collective::allreduce, 64 << 10), machine, costs).all();
    CHECK(std::any_of(found.begin(), found.end(), [](const Candidate& candidate) {
        return candidate.algorithm->name() == "direct-exchange/flat@4Kx3";
    }));
}
