// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/pricing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/options.hpp"
#include "collectives/algorithms/native_price.hpp"
#include "collectives/algorithms/phase_price.hpp"
#include "collectives/algorithms/tree.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/cost/order_rule.hpp"
#include "collectives/planner/choice.hpp"
#include "collectives/planner/planner.hpp"
#include "collectives/simulation/simulated_network.hpp"
#include "collectives/simulation/verifier.hpp"
#include "plogp/link_sweep.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"
#include "support/random_topology.hpp"

using namespace laple;
using test::plan_of;
using test::price_of;
using test::simulated_seconds;

namespace {

const Machine kSites = test::machine_of({4, 4, 4, 4});

Machine random_clusters(std::mt19937_64& random) {
    std::vector<int> sizes(static_cast<std::size_t>(std::uniform_int_distribution(2, 6)(random)));
    for (int& size : sizes) size = std::uniform_int_distribution(1, 6)(random);
    return test::machine_of(sizes);
}

bool is_tree(const Algorithm& algorithm) {
    return dynamic_cast<const TreeAlgorithm*>(&algorithm) != nullptr;
}

}  // namespace

TEST_CASE("an undivided message along a planned tree takes what the simulator says", "[candidates]") {
    std::mt19937_64 random(11);
    for (int trial = 0; trial < 40; ++trial) {
        const Machine machine = random_clusters(random);
        MachineCosts costs = test::random_costs(machine.cluster_count(), random);
        for (int c = 0; c < costs.count(); ++c) costs.cluster(c).reduction = 0;
        const Rank root = trial % machine.rank_count();
        for (const Collective collective : {Collective::bcast, Collective::reduce}) {
            const Request request = request_for(collective, 4096, root);
            Pricing pricing(request, machine, costs);
            for (const std::string_view rule : order_rules()) {
                for (const char* spread : {"", "multi-leader-"}) {
                    const std::string name = fmt::format("{}{}/binomial", spread, rule);
                    INFO(name << ", " << describe(machine) << ", root " << root);
                    const auto candidate = parse_algorithm(name, collective)->price(pricing);
                    REQUIRE(candidate.has_value());
                    const double truth = simulated_seconds(plan_of(request, *candidate), machine, costs);
                    if (collective == Collective::bcast) {
                        CHECK(candidate->seconds == Approx(truth));
                    } else {
                        // A receiver takes what comes first; a broadcast run backwards waits in its order.
                        CHECK(candidate->seconds > truth * 0.99);
                        CHECK(candidate->seconds < truth * 1.15);
                    }
                }
            }
        }
    }
}

TEST_CASE("of all candidates the predicted times are near the simulated ones", "[candidates]") {
    std::mt19937_64 random(12);
    std::vector<double> errors;
    for (int trial = 0; trial < 12; ++trial) {
        const Machine machine = random_clusters(random);
        MachineCosts costs = test::random_costs(machine.cluster_count(), random);
        for (int c = 0; c < costs.count(); ++c) costs.cluster(c).reduction = 0;
        for (const Collective collective : kAllCollectives) {
            for (const Bytes bytes : {Bytes{8}, Bytes{32} << 10, Bytes{512} << 10}) {
                const Request request =
                    request_for(collective, collective == Collective::barrier ? 0 : bytes);
                for (const Candidate& candidate : Pricing(request, machine, costs).all()) {
                    if (candidate.algorithm->is_native()) continue;
                    const double truth = simulated_seconds(plan_of(request, candidate), machine, costs);
                    INFO(name_of(collective)
                         << " " << bytes << " " << candidate.algorithm->name() << " " << describe(machine));
                    // Bounds that catch blunders; the median below is what counts.
                    CHECK(candidate.seconds < 2.5 * truth);
                    CHECK(candidate.seconds > truth / 2.5);
                    errors.push_back(std::abs(candidate.seconds / truth - 1));
                }
            }
        }
    }
    std::sort(errors.begin(), errors.end());
    INFO("median " << errors[errors.size() / 2] << ", nine tenths below " << errors[errors.size() * 9 / 10]);
    CHECK(errors[errors.size() / 2] < 0.03);
    CHECK(errors[errors.size() * 9 / 10] < 0.25);
}

TEST_CASE("what goes up and what comes down share the ports of an allreduce", "[candidates]") {
    const Machine unequal = test::machine_of({4, 1, 4});
    // As fast between clusters as inside: each rank of a chain sends every segment twice.
    const auto check = [](const Machine& machine, const std::string& name, double error) {
        const MachineCosts costs = test::uniform_costs(machine.cluster_count(), Seconds(10e-3), 12.5e6);
        const Request request = request_for(Collective::allreduce, 1 << 20);
        const auto candidate = price_of(name, request, machine, costs);
        REQUIRE(candidate.has_value());
        INFO(name << " " << describe(machine));
        CHECK(candidate->seconds ==
              Approx(simulated_seconds(plan_of(request, *candidate), machine, costs)).epsilon(error));
    };
    check(kSites, "multi-leader-nearest/chain@8K", 0.02);
    check(kSites, "jackson/chain@8K", 0.02);
    check(unequal, "multi-leader-nearest/chain@8K", 0.02);
    check(unequal, "multi-leader-jackson/binary@8K", 0.2);
    check(unequal, "direct-exchange/chain@8K", 0.1);
    // Slower inside: there it is not the leader that has the most to do.
    const Machine one_and_four = test::machine_of({1, 4});
    MachineCosts slow_inside = test::uniform_costs(2, Seconds(10e-3), 125e6);
    slow_inside.link(1, 1).gap = slow_inside.link(1, 1).stream =
        Curve({{0, Seconds(20e-6)}, {1 << 20, Seconds(20e-6 + (1 << 20) / 12.5e6)}});
    const Request request = request_for(Collective::allreduce, 1 << 20);
    const auto chain = price_of("jackson/chain@8K", request, one_and_four, slow_inside);
    REQUIRE(chain.has_value());
    CHECK(chain->seconds ==
          Approx(simulated_seconds(plan_of(request, *chain), one_and_four, slow_inside)).epsilon(0.15));
    // One rank leads all four lanes.
    check(unequal, "direct-exchange/flat@8Kx4", 0.1);
    check(unequal, "direct-exchange/flat@256Kx4", 0.16);  // what it sends waits for what others still do
}

TEST_CASE("what goes from one group of clusters to another shares their trunk", "[candidates]") {
    // Two sites, of one and of three clusters; between them as much as one host can send.
    const Machine machine = test::grouped_machine({0, 1, 1, 1}, 4);
    MachineCosts costs = test::uniform_costs(4, Seconds(100e-6), 12.5e6);
    for (int site = 1; site < 4; ++site) {
        for (MachineCosts::Link* link : {&costs.link(0, site), &costs.link(site, 0)}) {
            link->latency = 10e-3;
            link->all = 12.5e6;
        }
    }
    const auto priced = [&](Collective collective, Bytes bytes, const std::string& name) {
        const Request request = request_for(collective, bytes);
        const auto candidate = price_of(name, request, machine, costs);
        REQUIRE(candidate.has_value());
        INFO(name_of(collective) << " " << bytes << " " << name);
        CHECK(candidate->seconds ==
              Approx(simulated_seconds(plan_of(request, *candidate), machine, costs)).epsilon(0.15));
        return *candidate;
    };
    for (const Collective collective : {Collective::bcast, Collective::reduce}) {
        // Three copies one after the other, though different hosts send them; or a single one.
        const Candidate three = priced(collective, 1 << 20, "multi-leader-jackson/chain@8K");
        CHECK(three.seconds > 3 * 0.084);
        CHECK(three.time.binding.kind == Binding::Kind::trunk);
        CHECK(priced(collective, 1 << 20, "multi-leader-nearest/chain@8K").seconds < 0.5 * three.seconds);
        CHECK(priced(collective, 64 << 10, "multi-leader-jackson/binomial").seconds > 0.010 + 3 * 0.0052);
        const Plan plan = choose_plan(request_for(collective, 1 << 20), machine, {}, costs);
        CHECK(std::count_if(plan.algorithm->order().begin(), plan.algorithm->order().end(),
                            [](const Send& send) { return send.from == 0; }) == 1);
    }
}

TEST_CASE("NICs, slow flows and uplinks bind as in the simulator", "[candidates]") {
    MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    for (int a = 0; a < 4; ++a) {
        costs.cluster(a).nic_out = costs.cluster(a).nic_in = 12.5e6;
        for (int b = 0; b < 4; ++b) {
            if (a != b) {
                costs.link(a, b).gap = costs.link(a, b).stream =
                    Curve({{0, Seconds(20e-6)}, {1 << 20, Seconds(20e-6 + (1 << 20) / 5e6)}});
            }
        }
    }
    const auto check = [&](const std::string& name, Binding::Kind binds) {
        const Request request = request_for(Collective::bcast, 1 << 20);
        const auto candidate = price_of(name, request, kSites, costs);
        REQUIRE(candidate.has_value());
        INFO(name);
        CHECK(candidate->time.binding.kind == binds);
        // With its window: what is sent ahead of others delays them.
        const Plan plan = choose_plan(request, kSites, parse_rules(name), costs);
        CHECK(candidate->seconds == Approx(simulated_seconds(plan, kSites, costs)).epsilon(0.15));
    };
    check("multi-leader-jackson/chain@8K", Binding::Kind::link);
    check("jackson/chain@8K", Binding::Kind::port);
    costs.cluster(0).uplink_out = 8e6;
    check("multi-leader-jackson/chain@8K", Binding::Kind::uplink);
}

TEST_CASE("lanes that share an uplink wait for each other", "[candidates]") {
    const auto longer_by_lanes = [](double out, double in) {
        MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 50e6);
        costs.cluster(1).uplink_out = out;
        costs.cluster(1).uplink_in = in;
        const Request request = request_for(Collective::allreduce, 64 << 10);
        return price_of("rsag/flat@4Kx12", request, kSites, costs)->seconds -
               price_of("rsag/flat@4Kx2", request, kSites, costs)->seconds;
    };
    // Half of ten lanes more, 1 ms for each segment: the cluster owns nothing, so that all of them leave it.
    CHECK(longer_by_lanes(4e6, 0) == Approx(0.5 * 10 * 4096 / 4e6).epsilon(0.05));
    CHECK(longer_by_lanes(4e6, 4e6) == Approx(longer_by_lanes(4e6, 0)));
    CHECK(longer_by_lanes(0, 4e6) == Approx(longer_by_lanes(4e6, 0)));
    CHECK(longer_by_lanes(4e6, 0) > longer_by_lanes(16e6, 0) + 2e-3);
    // Where one cluster owns all, each segment crosses its uplink for each of the three others.
    MachineCosts star = test::uniform_costs(4, Seconds(40e-3), 50e6);
    for (int other = 1; other < 4; ++other) star.link(0, other).latency = star.link(other, 0).latency = 2e-3;
    star.cluster(0).uplink_out = star.cluster(0).uplink_in = 20e6;
    const auto seconds = [&](const char* name) {
        return price_of(name, request_for(Collective::allreduce, 64 << 10), kSites, star)->seconds;
    };
    CHECK(seconds("rsag/flat@4Kx12") - seconds("rsag/flat@4Kx2") ==
          Approx(0.5 * 10 * 3 * 4096 / 20e6).epsilon(0.05));
}

TEST_CASE("phases between groups of several clusters are priced as they are done", "[candidates]") {
    const Machine machine = test::grouped_machine({0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, 2);
    REQUIRE(machine.has_groups());
    MachineCosts costs = test::uniform_costs(16, Seconds(2e-3), 12.5e6);
    for (int a = 0; a < 16; ++a) {
        for (int b = 0; b < 16; ++b) {
            if (a / 8 != b / 8) costs.link(a, b).latency = 10e-3;
        }
    }
    for (const char* name : {"direct-exchange/binomial", "direct-exchange/flat", "direct-exchange/chain",
                             "direct-exchange/chain@8K"}) {
        for (const Bytes bytes : {Bytes{64}, Bytes{256} << 10}) {
            const Request request = request_for(Collective::allreduce, bytes);
            const auto candidate = price_of(name, request, machine, costs);
            REQUIRE(candidate.has_value());
            INFO(name << " " << bytes);
            CHECK(candidate->crossings == 1);
            CHECK(candidate->seconds ==
                  Approx(simulated_seconds(plan_of(request, *candidate), machine, costs)).epsilon(0.25));
        }
    }
}

TEST_CASE("a cluster without others does a local allreduce", "[candidates]") {
    std::mt19937_64 random(17);
    MachineCosts costs = test::random_costs(1, random);
    for (const bool shares_ports : {false, true}) {
        costs.shares_ports = shares_ports;
        costs.cluster(0).reduction = shares_ports ? 0 : 5e-9;
        const std::vector<std::vector<int>> group{{0}};
        const auto times = [&](SegmentTimes::Direction direction) {
            return SegmentTimes(costs, group, 8192, SegmentTimes::Use::stream, direction);
        };
        const SegmentTimes up = times(SegmentTimes::Direction::reduction);
        const SegmentTimes down = times(SegmentTimes::Direction::broadcast);
        for (const int ranks : {1, 2, 7, 16}) {
            for (const char* shape : {"chain", "binary", "binomial", "flat"}) {
                INFO(shape << " over " << ranks << " ranks, ports shared: " << shares_ports);
                PhaseParameters parameters;
                parameters.within = *shape_named(shape);
                parameters.segment_bytes = 8192;
                TreePricer pricer({ranks});
                const PhaseTime phase =
                    phase_time(parameters, LeadersTalk::all_at_once, 10, {group, up, down}, pricer);
                const TreeTime walk = pricer.there_and_back({{}, false, parameters.within}, 0, 10, down, up);
                CHECK(phase.total == Approx(walk.last));
                CHECK(phase.interval == Approx(walk.interval));
            }
        }
    }
}

TEST_CASE("an allreduce crosses a trunk both ways, and a trunk of unknown rate delays nothing",
          "[candidates]") {
    MachineCosts costs = test::uniform_costs(4, Seconds(1e-3), 125e6);
    const std::vector<std::vector<int>> groups{{0, 1}, {2, 3}};
    const ClusterTree tree{{{0, 2}, {2, 1}, {2, 3}}, false, Shape{Shape::Kind::flat}};
    constexpr Bytes kBytes = 8192;
    const auto times = [&](SegmentTimes::Direction direction) {
        return SegmentTimes(costs, groups, kBytes, SegmentTimes::Use::stream, direction);
    };
    TreePricer pricer({1, 1, 1, 1});
    const auto interval = [&] {
        return pricer
            .there_and_back(tree, 0, 100, times(SegmentTimes::Direction::broadcast),
                            times(SegmentTimes::Direction::reduction))
            .interval;
    };
    CHECK(interval() < kBytes / 12.5e6);
    for (const int a : {0, 1}) {
        for (const int b : {2, 3}) costs.link(a, b).all = costs.link(b, a).all = 12.5e6;
    }
    CHECK(interval() == Approx(2 * kBytes / 12.5e6));

    // Of one group: the late message of cluster 1 does not delay the early one of cluster 2.
    MachineCosts slow = test::uniform_costs(6, Seconds(1e-3), 125e6);
    slow.link(0, 1).latency = 1;
    slow.link(2, 4).latency = 0.9;
    const ClusterTree two_ways{{{0, 1}, {0, 2}, {1, 3}, {2, 4}, {0, 5}}, false, Shape{Shape::Kind::flat}};
    const SegmentTimes single(slow, {{0, 1, 2, 3, 4}, {5}}, 8, SegmentTimes::Use::single,
                              SegmentTimes::Direction::broadcast);
    CHECK(TreePricer({1, 1, 1, 1, 1, 1}).broadcast(two_ways, 0, 1, single).last < 1.1);
}

TEST_CASE("lanes share what is between two clusters", "[candidates]") {
    const Machine two = test::machine_of({8, 8});
    MachineCosts costs = test::uniform_costs(2, Seconds(10e-3), 125e6);
    costs.link(0, 1).all = costs.link(1, 0).all = 12.5e6;
    const Request request = request_for(Collective::allreduce, 4 << 20);
    const auto candidate = price_of("direct-exchange/flat@64Kx8", request, two, costs);
    REQUIRE(candidate.has_value());
    CHECK(candidate->seconds > 0.010 + (4 << 20) / 12.5e6);
    CHECK(candidate->time.binding.kind == Binding::Kind::trunk);
}

TEST_CASE("long messages of MPI's own shake hands first", "[candidates]") {
    MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const auto scan = [&](Bytes bytes) {
        return price_of("native", request_for(Collective::scan, bytes), kSites, costs)->seconds;
    };
    CHECK(scan(8) == Approx(20e-3).epsilon(0.1));  // two rounds between clusters
    const double without_handshakes = 2 * (10e-3 + 64 * 1024 / 12.5e6);
    CHECK(scan(64 * 1024) > without_handshakes + 40e-3);
    for (int c = 0; c < 4; ++c) costs.cluster(c).eager_limit = 128 * 1024;
    CHECK(scan(64 * 1024) < without_handshakes + 20e-3);
}

TEST_CASE("collectives of MPI's own have more messages where ranks are no power of two", "[candidates]") {
    const MachineCosts costs = test::uniform_costs(3, Seconds(10e-3), 12.5e6);
    const auto native = [&](Collective collective, Bytes bytes) {
        return price_of("native", request_for(collective, bytes), test::machine_of({1, 1, 1}), costs)
            ->seconds;
    };
    // Rank 0 gives to 1 what it has, while 2 sends to 1; then 1 sends to both.
    CHECK(native(Collective::reduce_scatter, 8) == Approx(20e-3).epsilon(0.05));
    CHECK(native(Collective::allreduce, 8) == Approx(20e-3).epsilon(0.05));
    // 2 adds up its half at 20 ms and sends it to 1, which sends all to 0; or it sends it to 0 itself.
    CHECK(native(Collective::allreduce, 4096) == Approx(40e-3).epsilon(0.1));
    CHECK(native(Collective::reduce, 4096) == Approx(30e-3).epsilon(0.1));
}

TEST_CASE("what MPI's own collectives send between clusters shares uplinks", "[candidates]") {
    MachineCosts costs = test::uniform_costs(2, Seconds(1e-3), 125e6);
    const Machine two = test::machine_of({4, 4});
    const Request request = request_for(Collective::scan, 1 << 20);
    const double free = price_of("native", request, two, costs)->seconds;
    costs.cluster(0).uplink_out = 12.5e6;
    // In the last round four ranks of the first cluster send to those of the second.
    const double shared = price_of("native", request, two, costs)->seconds;
    CHECK(shared - free > 3 * (1 << 20) / 12.5e6);
    CHECK(shared - free < 4.5 * (1 << 20) / 12.5e6);
}

TEST_CASE("segments at a pace need no handshake, and are not too many", "[candidates]") {
    MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const Request request = request_for(Collective::alltoall, 64 * 1024);
    const auto segment = [&](Bytes bytes, Bytes peers) {
        return Pricing(request, kSites, costs).paced_segment(bytes, peers);
    };
    CHECK(segment(64 * 1024, 16) == 16 * 1024);
    CHECK(segment(6 * 1024, 16) == 0);
    CHECK(segment(1 << 20, 1024) > 16 * 1024);
    for (int c = 0; c < 4; ++c) costs.cluster(c).eager_limit = 8 * 1024;
    CHECK(segment(64 * 1024, 16) == 8 * 1024);
}

TEST_CASE("MPI's own call costs what was measured, where it was", "[candidates]") {
    MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const auto native = [&](const Request& request) { return *price_of("native", request, kSites, costs); };
    const Request bcast = request_for(Collective::bcast, 4096);
    const Request from_5 = request_for(Collective::bcast, 4096, 5);
    CHECK_FALSE(native(bcast).is_measured);
    const double estimated = native(bcast).seconds;
    const double estimated_from_5 = native(from_5).seconds;
    costs.job.ranks = kSites.rank_count();
    costs.job.times["bcast"] = Curve({{4096, Seconds(0.2)}, {8192, Seconds(0.3)}});
    CHECK(native(bcast).is_measured);
    CHECK(native(bcast).seconds == Approx(0.2));
    CHECK(native(from_5).seconds == Approx(0.2 * estimated_from_5 / estimated));
    CHECK_FALSE(native(request_for(Collective::reduce, 4096)).is_measured);
    // It decides: a call as fast as that is not replaced.
    CHECK_FALSE(choose_plan(bcast, kSites, {}, costs).is_native());
    costs.job.times["bcast"] = Curve({{8192, Seconds(1e-3)}});
    CHECK(choose_plan(bcast, kSites, {}, costs).is_native());
    // Of larger messages it says little, and of other ranks nothing.
    costs.job.times["bcast"] = Curve({{0, Seconds(0)}, {1024, Seconds(1e-3)}});
    CHECK_FALSE(native(bcast).is_measured);
    CHECK(native(bcast).seconds == Approx(estimated));
    costs.job.times["bcast"] = Curve({{0, Seconds(0)}, {1024, Seconds(0.5)}});
    CHECK(native(bcast).seconds == Approx(0.5));
    // But large ones go on as they did.
    const Request large = request_for(Collective::bcast, 4 << 20);
    costs.job.times["bcast"] = Curve({{1 << 18, Seconds(2)}, {1 << 20, Seconds(5)}});
    CHECK(native(large).seconds == Approx(5 + 3 * 4));
    CHECK_FALSE(native(large).is_measured);
    costs.job.times["bcast"] = Curve({{1 << 18, Seconds(7)}, {1 << 20, Seconds(5)}});
    CHECK(native(large).seconds == Approx(5));
    costs.job.times["bcast"] = Curve({{1 << 18, Seconds(2e-6)}, {1 << 20, Seconds(5e-6)}});
    CHECK(native(large).seconds > 0.3);
    costs.job.ranks = kSites.rank_count() + 1;
    CHECK_FALSE(native(bcast).is_measured);
    CHECK(costs.restricted_to(std::vector<int>{0, 1, 2, 3}).job.ranks == 0);
}

TEST_CASE("between clusters others need not be faster than an estimate of a long call", "[candidates]") {
    MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    costs.rank_delay = 1e-5;
    const auto native = [&](Bytes bytes, const Machine& machine) {
        const MachineCosts& known =
            machine.cluster_count() == 1 ? costs.restricted_to(std::vector<int>{0}) : costs;
        return *price_of("native", request_for(Collective::allreduce, bytes), machine, known);
    };
    const Candidate is_long = native(1 << 20, kSites);
    CHECK(kWorthwhile * is_long.seconds - is_long.uncertainty == Approx(1.15 * is_long.seconds));
    CHECK(native((1 << 20) - 8, kSites).uncertainty == 0);
    CHECK(native(1 << 20, Machine(Topology::flat(4))).uncertainty == 0);
    Candidate other = is_long;
    other.algorithm = parse_algorithm("rsag/flat@8K", Collective::allreduce);
    other.seconds *= 1.14;
    const auto any = [](const Algorithm&) { return true; };
    CHECK(best_of({is_long, other}, any)->algorithm->name() == "rsag/flat@8K");
    other.seconds = 1.16 * is_long.seconds;
    CHECK(best_of({is_long, other}, any)->algorithm->is_native());
    // What was measured is certain.
    costs.job.ranks = kSites.rank_count();
    costs.job.times["allreduce"] = Curve({{0, Seconds(0.1)}, {1 << 20, Seconds(0.3)}});
    CHECK(native(1 << 20, kSites).uncertainty == costs.rank_delay);
}

TEST_CASE("segments between clusters need no handshakes, where eager limits are known", "[candidates]") {
    MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const Request request = request_for(Collective::bcast, 8 << 20);
    const auto longest = [&] {
        Bytes bytes = 0;
        for (const Candidate& candidate : Pricing(request, kSites, costs).all())
            bytes = std::max(bytes, candidate.segment_bytes());
        return bytes;
    };
    const Bytes without_limits = longest();
    CHECK(without_limits > 16384);
    costs.cluster(2).eager_limit = 16384;
    CHECK(longest() == 16384);
    // A limit that no segment is below would leave none.
    costs.cluster(2).eager_limit = 512;
    CHECK(longest() == without_limits);
}

TEST_CASE("what NICs have saved up hides transfers behind latencies, but not beyond their rates",
          "[candidates]") {
    constexpr double kRate = 12.5e6;
    constexpr double kFar = 2e-3;
    const MachineCosts plain = [&] {
        MachineCosts costs = test::uniform_costs(4, Seconds(kFar), kRate);
        costs.shares_ports = true;
        for (int c = 0; c < 4; ++c) costs.cluster(c).nic_out = costs.cluster(c).nic_in = kRate;
        return costs;
    }();
    MachineCosts saving = plain;
    for (int c = 0; c < 4; ++c) saving.cluster(c).reserve = 128 * 1024;
    for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
        for (const Bytes bytes : {Bytes{16} << 10, Bytes{64} << 10, Bytes{1} << 20}) {
            const Request request = request_for(collective, bytes);
            Pricing without(request, kSites, plain);
            Pricing with(request, kSites, saving);
            for (const Candidate& candidate : with.all()) {
                INFO(name_of(collective) << " " << bytes << " " << candidate.algorithm->name());
                const double before = candidate.algorithm->price(without)->seconds;
                CHECK(candidate.seconds <= before * 1.01);
                CHECK(candidate.seconds >= kFar);
                // Somebody sends all of the message, or all but its own part of it.
                CHECK(candidate.seconds >=
                      0.75 * static_cast<double>(bytes) / kRate - MachineCosts::kUsualPause);
            }
        }
    }
    // Binomial trees inside take two messages' times; the way to another cluster a third one.
    const Request request = request_for(Collective::bcast, 16 << 10);
    const char* tree = "jackson/binomial";
    const double transfer = (16 << 10) / kRate;
    CHECK(price_of(tree, request, kSites, plain)->seconds > kFar + 5 * transfer);
    CHECK(price_of(tree, request, kSites, saving)->seconds < std::max(kFar + 0.5e-3, 5 * transfer + 0.5e-3));
    // Five copies in segments leave the root's NIC. Call after call, it has no more to spare than in pauses.
    const Request more = request_for(Collective::bcast, 64 << 10);
    const char* pipeline = "jackson/binary@16K";
    CHECK(price_of(pipeline, more, kSites, saving)->seconds >
          5 * (64 << 10) / kRate - MachineCosts::kUsualPause);
    const Plan plan = plan_of(request, *price_of(tree, request, kSites, saving));
    CHECK(simulated_seconds(plan, kSites, saving) < kFar + 0.5e-3);
}

TEST_CASE("what NICs have saved up is spent once by all segments", "[candidates]") {
    constexpr double kRate = 12.5e6;
    constexpr double kFar = 20e-3;
    constexpr Bytes kReserve = 128 << 10;
    MachineCosts costs = test::uniform_costs(4, Seconds(kFar), kRate);
    costs.shares_ports = true;
    for (int c = 0; c < 4; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = kRate;
        costs.cluster(c).reserve = kReserve;
    }
    const auto price = [&](Collective collective, Bytes bytes, const char* name) {
        return price_of(name, request_for(collective, bytes), kSites, costs)->seconds;
    };
    const auto sent_after_rest = [](int copies, Bytes bytes) {
        return static_cast<double>(static_cast<Bytes>(copies) * bytes - kReserve) / kRate;
    };
    // Three copies to other clusters, two inside.
    CHECK(price(Collective::bcast, 32 << 10, "jackson/binary@16K") > kFar + sent_after_rest(5, 32 << 10));
    CHECK(price(Collective::bcast, 64 << 10, "jackson/binary@16K") > kFar + sent_after_rest(5, 64 << 10));
    // Three copies to the other leaders, one inside.
    CHECK(price(Collective::allreduce, 64 << 10, "direct-exchange/chain@16K") >
          kFar + sent_after_rest(4, 64 << 10));
}

TEST_CASE("what NICs have saved up does not speed up slow links, nor latencies", "[candidates]") {
    const Machine groups = test::grouped_machine({0, 0, 1, 1}, 4);
    constexpr double kNic = 12.5e6;
    MachineCosts costs = test::uniform_costs(4, Seconds(20e-3), kNic);
    costs.shares_ports = true;
    for (int c = 0; c < 4; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = kNic;
        costs.cluster(c).reserve = 2e6;
    }
    const MachineCosts slow_rate = test::uniform_costs(4, Seconds(20e-3), 1e6);
    for (const bool inside_groups : {true, false}) {
        MachineCosts slow = costs;
        for (int a = 0; a < 4; ++a) {
            for (int b = 0; b < 4; ++b) {
                if (a != b && (a / 2 == b / 2) == inside_groups) slow.link(a, b) = slow_rate.link(a, b);
            }
        }
        const Request request = request_for(Collective::allreduce, 1 << 20);
        for (const Candidate& candidate : Pricing(request, groups, slow).all()) {
            // Trees may avoid slow links inside groups, and lanes use several of them.
            if (candidate.algorithm->is_native() || candidate.algorithm->lanes() > 1 ||
                (inside_groups && is_tree(*candidate.algorithm)))
                continue;
            INFO(candidate.algorithm->name() << ", slow inside groups: " << inside_groups);
            CHECK(candidate.seconds > 0.95 * (1 << 20) / 1e6);
        }
    }
    // NICs that serve two children are slower than the link, but only until their reserve is counted.
    const Machine pair = test::machine_of({8, 8});
    MachineCosts far = costs.restricted_to(std::vector<int>{0, 1});
    far.link(0, 1) = far.link(1, 0) = test::uniform_costs(2, Seconds(0.1), 6e6).link(0, 1);
    const Request request = request_for(Collective::allreduce, 1 << 20);
    for (const Candidate& candidate : Pricing(request, pair, far).all()) {
        if (candidate.algorithm->is_native() || candidate.algorithm->lanes() > 1) continue;
        INFO(candidate.algorithm->name());
        CHECK(candidate.seconds > 0.1 + 0.95 * (1 << 20) / 6e6);
    }
    const Request undivided = request_for(Collective::bcast, 64 << 10);
    const char* tree = "jackson/flat";
    CHECK(price_of(tree, undivided, pair, far)->seconds > 0.1 + (64 << 10) / 6e6);
    // The ring of MPI's own broadcast goes from cluster to cluster, all around.
    const Machine clusters(Topology::from_labels(16, {{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}}));
    const double native = native_time(request_for(Collective::bcast, 16 << 10), clusters, costs);
    CHECK(native > 4 * 20e-3);
    costs.shares_ports = false;
    const double queued = native_time(request_for(Collective::bcast, 1 << 20), clusters, costs);
    for (int c = 0; c < 4; ++c) costs.cluster(c).reserve = 0;
    CHECK(native_time(request_for(Collective::bcast, 1 << 20), clusters, costs) == queued);
}

TEST_CASE("the choice is near the best candidate, as the simulator sees it", "[candidates]") {
    std::mt19937_64 random(13);
    int cells = 0;
    int good = 0;
    for (int trial = 0; trial < 10; ++trial) {
        const Machine machine = random_clusters(random);
        const MachineCosts costs = test::random_costs(machine.cluster_count(), random);
        for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
            for (const Bytes bytes : {Bytes{8}, Bytes{16} << 10, Bytes{128} << 10, Bytes{1} << 20}) {
                const Request request = request_for(collective, bytes);
                double best = 1e9;
                double chosen = 0;
                for (const Candidate& candidate : Pricing(request, machine, costs).all()) {
                    if (candidate.algorithm->is_native()) continue;
                    const double truth = simulated_seconds(
                        choose_plan(request, machine, parse_rules(candidate.algorithm->name()), costs),
                        machine, costs);
                    if (chosen == 0) chosen = truth;
                    best = std::min(best, truth);
                }
                ++cells;
                if (chosen <= 1.1 * best) ++good;
            }
        }
    }
    INFO(good << " of " << cells << " within a tenth");
    CHECK(good >= 0.95 * cells);
}

TEST_CASE("several flows into a cluster are no faster than its uplink", "[candidates]") {
    constexpr double kNic = 12.5e6;
    constexpr double kSlow = 2.5e6;
    MachineCosts costs = test::uniform_costs(2, Seconds(20e-3), kNic);
    costs.link(0, 1) = costs.link(1, 0) = test::uniform_costs(2, Seconds(20e-3), kSlow).link(0, 1);
    for (int c = 0; c < 2; ++c) costs.cluster(c).nic_out = costs.cluster(c).nic_in = kNic;
    const Machine sites = test::machine_of({4, 4});
    const Request request = request_for(Collective::bcast, 4 << 20);
    const auto price = [&](const char* name) { return price_of(name, request, sites, costs)->seconds; };
    // Where each flow has its own limit, lanes are as many times faster.
    const double alone = price("multi-leader-nearest/chain@8K");
    CHECK(price("multi-leader-nearest/chain@8Kx4") < 0.4 * alone);
    costs.cluster(1).uplink_in = kSlow;
    CHECK(price("multi-leader-nearest/chain@8Kx4") > 0.95 * (4 << 20) / kSlow);
}

TEST_CASE("a flow that has rested starts slowly, and several make up for it", "[candidates]") {
    constexpr double kNic = 125e6;
    constexpr double kFar = 45e-3;
    const Machine sites = test::machine_of({4, 4});
    MachineCosts steady = test::uniform_costs(2, Seconds(kFar), kNic);
    for (int c = 0; c < 2; ++c) steady.cluster(c).nic_out = steady.cluster(c).nic_in = kNic;
    MachineCosts ramping = steady;
    ramping.flows_ramp = true;
    const auto longer = [&](Collective collective, Bytes bytes, const char* name) {
        const auto price = [&](const MachineCosts& costs) {
            return price_of(name, request_for(collective, bytes), sites, costs)->seconds;
        };
        return price(ramping) - price(steady);
    };
    // What the initial window holds is sent at once; what fills the link has shown how fast that is.
    CHECK(longer(Collective::bcast, 16 << 10, "jackson/flat") == 0);
    CHECK(longer(Collective::bcast, 8 << 20, "multi-leader-nearest/chain@8K") == 0);
    for (const char* name :
         {"jackson/flat", "multi-leader-nearest/chain@8K", "multi-leader-nearest/binary@8K"}) {
        INFO(name);
        for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce})
            CHECK(longer(collective, 128 << 10, name) > 10e-3);
        CHECK(longer(Collective::bcast, 128 << 10, name) < 40e-3);
    }
    CHECK(longer(Collective::allreduce, 128 << 10, "jackson/flat") >
          1.5 * longer(Collective::bcast, 128 << 10, "jackson/flat"));
    CHECK(longer(Collective::bcast, 64 << 10, "multi-leader-nearest/chain@4Kx4") == 0);
    CHECK(longer(Collective::allreduce, 128 << 10, "direct-exchange/flat") > 10e-3);
    CHECK(longer(Collective::allreduce, 64 << 10, "direct-exchange/flat@4Kx4") == 0);
    CHECK(longer(Collective::allreduce, 128 << 10, "rsag/flat@8Kx2") > 1e-3);
    CHECK(longer(Collective::allreduce, 128 << 10, "three-level/flat@8Kx2") > 1e-3);

    // Two segments are two flows at most, however many lanes there are.
    CHECK(longer(Collective::bcast, 128 << 10, "multi-leader-nearest/chain@64Kx8") > 5e-3);
    // Nothing has no rate.
    CHECK(longer(Collective::barrier, 0, "three-level/flat@8Kx2") == 0);
    // MPI's own estimated messages ramp, too.
    CHECK(longer(Collective::bcast, 128 << 10, "native") > 5e-3);
    CHECK(longer(Collective::allreduce, 1 << 10, "native") == 0);
    // Lanes of one rank share its flow.
    const Machine lone = test::machine_of({8, 1, 1});
    MachineCosts three = test::uniform_costs(3, Seconds(kFar), kNic);
    three.flows_ramp = true;
    const auto alone = [&](const char* name) {
        return price_of(name, request_for(Collective::allreduce, 128 << 10), lone, three)->seconds;
    };
    CHECK(alone("direct-exchange/flat@8Kx8") > kFar + 25e-3);

    const Request request = request_for(Collective::bcast, 128 << 10);
    CHECK(choose_plan(request, sites, {}, ramping).algorithm->lanes() > 1);
    CHECK(choose_plan(request, sites, {}, steady).algorithm->lanes() == 1);
}

TEST_CASE("pipelines both ways over a thin link start slowly", "[candidates]") {
    constexpr double kThin = 2.5e6;
    const Machine sites = test::machine_of({1, 1});
    const auto longer = [&](Collective collective, Bytes bytes, const char* name,
                            Seconds one_way = Seconds(2e-3)) {
        const Request request = request_for(collective, bytes);
        const MachineCosts steady = test::uniform_costs(2, one_way, kThin);
        MachineCosts ramping = steady;
        ramping.flows_ramp = true;
        return price_of(name, request, sites, ramping)->seconds -
               price_of(name, request, sites, steady)->seconds;
    };
    const double window = (16 << 10) / kThin;
    const char* const name = "jackson/chain@4K";
    CHECK(longer(Collective::allreduce, 64 << 10, name) == Approx(2 * window).epsilon(0.02));
    CHECK(longer(Collective::allreduce, 1 << 20, name) == Approx(2 * window).epsilon(0.02));
    CHECK(longer(Collective::allreduce, 64 << 10, name, Seconds(0.5e-3)) ==
          Approx(2 * window / 3).epsilon(0.02));
    CHECK(longer(Collective::allreduce, 24 << 10, name) == Approx(0.5 * window).epsilon(0.02));
    CHECK(longer(Collective::allreduce, 16 << 10, name) == 0);
    CHECK(longer(Collective::bcast, 64 << 10, name) == 0);
    CHECK(longer(Collective::allreduce, 64 << 10, "jackson/flat") == 0);  // one way after the other
}

TEST_CASE("hops are those of the largest cluster", "[candidates]") {
    const Machine machine = test::machine_of({8, 4});
    const MachineCosts costs = test::uniform_costs(2, Seconds(1e-3), 1e8);
    const Request request = request_for(Collective::allreduce, 1 << 20);
    Pricing pricing(request, machine, costs);
    const auto hops = [&](const char* name) {
        return parse_algorithm(name, Collective::allreduce)->price(pricing)->hops;
    };
    CHECK(hops("nearest/chain@8K") == 7);
    CHECK(hops("nearest/binary@8K") == 3);
    CHECK(hops("direct-exchange/chain@8K") == 7);
    CHECK(hops("direct-exchange/flat@8Kx4") == 1);
}

TEST_CASE("no pipeline that was not looked at is clearly faster than the best", "[candidates]") {
    std::mt19937_64 random(29);
    int unlooked = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const Machine machine = random_clusters(random);
        const MachineCosts costs = test::random_costs(machine.cluster_count(), random);
        for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
            const Bytes bytes = Bytes{1} << std::uniform_int_distribution(14, 22)(random);
            const Request request = request_for(collective, bytes);
            Pricing pricing(request, machine, costs);
            const auto found = pricing.all();
            for (const char* rule : {"jackson", "ecef-la-max", "nearest"}) {
                for (const char* within : {"chain", "binary"}) {
                    for (const char* spread : {"", "multi-leader-"}) {
                        for (const int kilobytes : {4, 8, 16, 32, 64}) {
                            if (Bytes{2048} * static_cast<Bytes>(kilobytes) > bytes) break;
                            const auto name = fmt::format("{}{}/{}@{}K", spread, rule, within, kilobytes);
                            const AlgorithmPtr algorithm = parse_algorithm(name, collective);
                            unlooked += std::none_of(found.begin(), found.end(), [&](const Candidate& known) {
                                return known.algorithm->name() == name;
                            });
                            INFO(name << ", " << bytes << " bytes, trial " << trial);
                            CHECK(kNearlyEqual * algorithm->price(pricing)->seconds >= found.front().seconds);
                        }
                    }
                }
            }
        }
    }
    CHECK(unlooked > 500);
}

TEST_CASE("a slow cluster is the last of a pipeline, and no other waits behind it", "[candidates]") {
    // Cluster 1 is the nearest of all, on a slow line.
    const Machine machine = test::machine_of({4, 2, 3, 3});
    MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12e6);
    costs.shares_ports = true;
    for (int c = 0; c < 4; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = 12e6;
        if (c == 1) continue;
        for (MachineCosts::Link* link : {&costs.link(c, 1), &costs.link(1, c)}) {
            link->latency = 2e-3;
            link->gap = link->stream = Curve({{0, Seconds(20e-6)}, {1 << 20, Seconds((1 << 20) / 6e6)}});
        }
    }
    for (const Collective collective : {Collective::bcast, Collective::reduce}) {
        const Request request = request_for(collective, 8 << 20);
        Pricing pricing(request, machine, costs);
        const auto slow_last = parse_algorithm("multi-leader-slow-last/chain@8K", collective)->price(pricing);
        const auto nearest = parse_algorithm("multi-leader-nearest/chain@8K", collective)->price(pricing);
        CHECK(slow_last->algorithm->order() == SendOrder{{0, 2}, {2, 3}, {3, 1}});
        CHECK(nearest->algorithm->order() == SendOrder{{0, 1}, {1, 2}, {2, 3}});
        CHECK(slow_last->behind == 1);
        CHECK(nearest->behind > 1);
        const std::vector<Candidate> both{*nearest, *slow_last};
        CHECK(best_of(both, [](const Algorithm&) { return true; }) == &both[1]);
        const auto all = pricing.all();
        CHECK(std::any_of(all.begin(), all.end(), [](const Candidate& candidate) {
            return candidate.algorithm->name().find(kSlowLastRule) != std::string::npos;
        }));
    }
}

TEST_CASE("planned schedules are correct, with any number of levels and of ranks on hosts", "[candidates]") {
    std::mt19937_64 random(14);
    for (int trial = 0; trial < 36; ++trial) {
        const Machine machine = trial % 3 == 0   ? random_clusters(random)
                                : trial % 3 == 1 ? Machine(test::random_topology(random, 24))
                                                 : test::random_machine(random, 12);
        const MachineCosts costs = test::random_costs(machine.cluster_count(), random);
        for (const Collective collective : kAllCollectives) {
            const Rank root = row_of(collective).is_rooted ? trial % machine.rank_count() : 0;
            const bool has_data = row_of(collective).has_data;
            const Request request{collective, has_data ? 80u : 1u, Bytes{has_data ? 512u : 0u}, root};
            for (const Candidate& candidate : Pricing(request, machine, costs).all()) {
                if (candidate.algorithm->is_native()) continue;
                INFO(name_of(collective)
                     << " " << candidate.algorithm->name() << " " << describe(machine) << ", root " << root);
                REQUIRE(candidate.algorithm->can_do(request, machine));
                CHECK((machine.cluster_count() == 1 || !candidate.algorithm->needs_costs()));
                const Plan plan = plan_of(request, candidate);
                CHECK(verify(expand_all(plan, machine), request, machine, 1, false) == "");
            }
        }
    }
}

TEST_CASE("of nearly equal candidates the simplest is taken, and MPI's own unless another is clearly better",
          "[candidates]") {
    const auto candidate = [](const std::string& name, double seconds, int relays = 0) {
        Candidate made;
        made.algorithm = parse_algorithm(name, Collective::bcast);
        made.seconds = seconds;
        const bool is_tree = dynamic_cast<const TreeAlgorithm*>(made.algorithm.get()) != nullptr;
        made.is_pipeline = is_tree && made.segment_bytes() > 0;
        made.relays = relays;
        return made;
    };
    const auto any = [](const Algorithm&) { return true; };
    const auto best = [&](const std::vector<Candidate>& found, const auto& may_use) {
        const Candidate* chosen = best_of(found, may_use);
        return chosen == nullptr ? std::string() : chosen->algorithm->name();
    };
    SECTION("the largest segments") {
        CHECK(best({candidate("ecef/chain@4K", 1.0), candidate("fef/chain@8K", 1.015)}, any) ==
              "fef/chain@8K");
        CHECK(best({candidate("ecef/chain@4K", 1.0), candidate("fef/binary", 1.015)}, any) == "fef/binary");
        CHECK(best({candidate("ecef/chain@4K", 1.0), candidate("fef/chain@8K", 1.05)}, any) ==
              "ecef/chain@4K");
    }
    SECTION("segments that are far apart are large enough") {
        std::vector<Candidate> found{candidate("ecef/chain@4K", 1.0), candidate("fef/chain@8K", 1.01)};
        for (Candidate& one : found) one.time.interval = 1100e-6;
        CHECK(best(found, any) == "ecef/chain@4K");
        found[0].time.interval = 900e-6;
        CHECK(best(found, any) == "fef/chain@8K");
        found.push_back(candidate("fef/binary", 1.015));
        CHECK(best(found, any) == "fef/binary");
    }
    SECTION("the least busy NICs of pipelines") {
        std::vector<Candidate> found{candidate("ecef/chain@8K", 1.0), candidate("fef/chain@4K", 1.015)};
        found[0].time.sustained = 0.9;
        found[1].time.sustained = 0.6;
        CHECK(best(found, any) == "fef/chain@4K");
        found[1].time.sustained = 0.8;
        CHECK(best(found, any) == "ecef/chain@8K");
        // Both rest for most of the time.
        found[0].time.sustained = 0.4;
        found[1].time.sustained = 0.1;
        CHECK(best(found, any) == "ecef/chain@8K");
    }
    SECTION("clearly fewer hops, where NICs rest") {
        std::vector<Candidate> found{candidate("multi-leader-ecef/binary@8Kx8", 1.0),
                                     candidate("multi-leader-ecef/chain@16K", 1.01)};
        found[0].hops = 3;
        found[1].hops = 7;
        CHECK(best(found, any) == "multi-leader-ecef/binary@8Kx8");
        for (Candidate& one : found) one.time.sustained = 0.6;
        CHECK(best(found, any) == "multi-leader-ecef/chain@16K");
        for (Candidate& one : found) one.time.sustained = 0;
        found[1].hops = 6;
        CHECK(best(found, any) == "multi-leader-ecef/chain@16K");
    }
    SECTION("less busy NICs may be a little later, if the fastest has one that is hardly idle") {
        std::vector<Candidate> found{candidate("ecef/chain@8K", 1.0), candidate("fef/chain@4K", 1.07)};
        found[1].time.sustained = 0.1;
        CHECK(best(found, any) == "ecef/chain@8K");
        found[0].time.sustained = 0.9;
        CHECK(best(found, any) == "fef/chain@4K");
        found[1].seconds = 1.09;
        CHECK(best(found, any) == "ecef/chain@8K");
        // Not over a relay more.
        found[1].seconds = 1.07;
        found[1].relays = 1;
        CHECK(best(found, any) == "ecef/chain@8K");
        found[0].relays = 1;
        CHECK(best(found, any) == "fef/chain@4K");
        // Not for larger segments than those of one with NICs as busy.
        found = {candidate("ecef/chain@8K", 1.0), candidate("fef/chain@8K", 1.015),
                 candidate("jackson/chain@16K", 1.07)};
        found[0].time.sustained = 0.9;
        found[1].time.sustained = found[2].time.sustained = 0.3;
        CHECK(best(found, any) == "fef/chain@8K");
        // Nor if MPI's own call is faster.
        found = {candidate("ecef/chain@8K", 0.94), candidate("native", 1.0), candidate("fef/chain@4K", 1.01)};
        found[0].time.sustained = 0.9;
        found[2].time.sustained = 0.1;
        CHECK(best(found, any) == "ecef/chain@8K");
    }
    SECTION("the fewest clusters behind the link that holds up all") {
        std::vector<Candidate> found{candidate("nearest/chain@8K", 1.0),
                                     candidate("slow-last/chain@8K", 1.01)};
        found[0].behind = 4;
        found[1].behind = 1;
        CHECK(best(found, any) == "slow-last/chain@8K");
        found[1].behind = 0;  // is held up by something else
        CHECK(best(found, any) == "nearest/chain@8K");
    }
    SECTION("the fewest lanes") {
        CHECK(best({candidate("multi-leader-ecef/chain@8Kx8", 1.0),
                    candidate("multi-leader-ecef/chain@8Kx2", 1.015)},
                   any) == "multi-leader-ecef/chain@8Kx2");
    }
    SECTION("nearly equal to the fastest, not to the one before") {
        CHECK(best({candidate("ecef/chain@4K", 1.0), candidate("fef/chain@8K", 1.015),
                    candidate("jackson/chain@16K", 1.06)},
                   any) == "fef/chain@8K");
    }
    SECTION("the fewest relays") {
        CHECK(best({candidate("nearest/binary", 1.0, 1), candidate("jackson/binary", 1.015, 0)}, any) ==
              "jackson/binary");
    }
    SECTION("the fewest crossings before all else") {
        std::vector<Candidate> found{candidate("jackson/chain@8K", 1.0, 0),
                                     candidate("fef/chain@4K", 1.015, 1)};
        found[0].crossings = 2;
        found[1].crossings = 1;
        CHECK(best(found, any) == "fef/chain@4K");
    }
    SECTION("MPI's own") {
        CHECK(best({candidate("ecef/binary", 0.94), candidate("native", 1.0)}, any) == "ecef/binary");
        CHECK(best({candidate("ecef/binary", 0.96), candidate("native", 1.0)}, any) == "native");
        // The simplest may be slower than it, so long as the fastest is not.
        CHECK(
            best({candidate("ecef/chain@4K", 0.94), candidate("fef/binary", 0.95), candidate("native", 1.0)},
                 any) == "fef/binary");
    }
    SECTION("what is forbidden is as if it were not there") {
        const auto no_native = [](const Algorithm& algorithm) { return !algorithm.is_native(); };
        const auto only_native = [](const Algorithm& algorithm) { return algorithm.is_native(); };
        const std::vector<Candidate> found{candidate("ecef/binary", 0.96), candidate("native", 1.0)};
        CHECK(best(found, no_native) == "ecef/binary");
        CHECK(best(found, only_native) == "native");
        CHECK(best(found, [](const Algorithm&) { return false; }).empty());
    }
}

TEST_CASE("as much is under way as the link holds, both there and back", "[candidates]") {
    const Machine sites = test::machine_of({2, 2});
    const auto under_way = [&](Seconds far, double rate) {
        const MachineCosts costs = test::uniform_costs(2, far, rate);
        const Plan plan = choose_plan(request_for(Collective::bcast, 8 << 20), sites,
                                      parse_rules("jackson/chain@8K"), costs);
        const Schedule schedule = expand(plan, sites, 0);
        const auto first = std::find_if(schedule.steps.begin(), schedule.steps.end(), [](const Step& step) {
            return step.kind == StepKind::send && step.peer >= 2;
        });
        if (first == schedule.steps.end()) return Bytes{0};
        const auto at_once =
            std::count_if(schedule.steps.begin(), schedule.steps.end(), [&](const Step& step) {
                return step.kind == StepKind::send && step.peer == first->peer && step.dependency_count == 0;
            });
        return static_cast<Bytes>(at_once) * 8192;
    };
    // Twice 20 ms at what is left of 12.5 MB/s with 20 us for each 8 KiB: 12.13 MB/s.
    CHECK(under_way(Seconds(10e-3), 12.5e6) == Approx(2 * 20e-3 * 12.13e6).margin(8192));
    CHECK(under_way(Seconds(10e-3), 6.25e6) == Approx(2 * 20e-3 * 6.16e6).margin(8192));
    CHECK(under_way(Seconds(60e-6), 12.5e6) == 16384);
    CHECK(under_way(Seconds(2), 125e6) == 256 * 8192);  // as many requests at a time at most
}

TEST_CASE("a part of the clusters has the costs of these clusters", "[machine_costs]") {
    std::mt19937_64 random(16);
    MachineCosts costs = test::random_costs(4, random);
    costs.shares_ports = true;
    costs.flows_ramp = true;
    for (int c = 0; c < 4; ++c) costs.cluster(c).nic_out = 1000 + c;
    const std::vector<int> clusters{3, 1};
    const MachineCosts part = costs.restricted_to(clusters);
    REQUIRE(part.count() == 2);
    CHECK(part.shares_ports);
    CHECK(part.flows_ramp);
    for (int a = 0; a < 2; ++a) {
        const int old_a = clusters[static_cast<std::size_t>(a)];
        CHECK(part.cluster(a).nic_out == costs.cluster(old_a).nic_out);
        for (int b = 0; b < 2; ++b) {
            const MachineCosts::Link& old = costs.link(old_a, clusters[static_cast<std::size_t>(b)]);
            CHECK(part.link(a, b).latency == old.latency);
            CHECK(part.link(a, b).gap.known() == old.gap.known());
        }
    }
    CHECK(MachineCosts{}.restricted_to(clusters).is_empty());
}

TEST_CASE("numbers carry costs without a bit lost, and broken ones are refused", "[machine_costs]") {
    std::mt19937_64 random(15);
    MachineCosts costs = test::random_costs(3, random);
    costs.link(0, 1).stream = Curve({{0, Seconds(1e-7)}, {3, Seconds(1.0 / 7)}});
    costs.cluster(2).uplink_in = 1.0 / 3;
    costs.cluster(1).reserve = 1e5 / 3;
    costs.cluster(0).burst = 1e5 / 7;
    costs.job.ranks = 7;
    costs.job.times["reduce"] = Curve({{8, Seconds(1.0 / 3)}, {64, Seconds(2.0 / 3)}});
    costs.job.calls = {{"bcast", 64, 3, "ring", {Seconds(1.0 / 3), Seconds(1.0 / 7)}, Seconds(1.0 / 11)},
                       {"reduce", 8, 0, "flat/chain@8K", {Seconds(1)}, Seconds(2)}};
    double value = 1.0 / 9;
    for (double* number :
         {&costs.link(2, 0).all, &costs.link(2, 0).seen, &costs.link(2, 0).streamed,
          &costs.link(2, 0).latency, &costs.cluster(0).nic_out, &costs.cluster(0).nic_in,
          &costs.cluster(0).uplink_out, &costs.cluster(0).reduction, &costs.cluster(0).eager_limit,
          &costs.cluster(0).memory.latency, &costs.rank_delay, &costs.message_time})
        *number = value /= 3;
    costs.link(2, 0).flows_seen = 5;
    costs.link(2, 0).streams = 4;
    costs.link(2, 0).carries_more = true;
    costs.cluster(0).is_memory_known = true;
    costs.cluster(0).memory.gap = Curve({{0, Seconds(1e-7)}, {5, Seconds(1.0 / 13)}});
    costs.cluster(0).memory.stream = Curve({{0, Seconds(1e-8)}, {7, Seconds(1.0 / 17)}});
    costs.shares_ports = false;
    const std::vector<double> numbers = costs.numbers();
    CHECK(MachineCosts::from_numbers(numbers) == costs);
    costs.flows_ramp = true;
    CHECK(costs.numbers() != numbers);
    CHECK(MachineCosts::from_numbers(costs.numbers()).flows_ramp);
    std::vector<double> cut(numbers.begin(), numbers.end() - 1);
    CHECK_THROWS_AS(MachineCosts::from_numbers(cut), Error);
    cut = numbers;
    cut.push_back(0);
    CHECK_THROWS_AS(MachineCosts::from_numbers(cut), Error);
}

TEST_CASE("an uplink without a measurement yet is likely to hold up flows that NICs do not",
          "[machine_costs]") {
    const std::vector<std::vector<Seconds>> latency(3, std::vector<Seconds>(3, Seconds(1e-3)));
    LinkModel model;
    model.clusters.resize(3);
    model.clusters[0].nic_out = model.clusters[0].nic_in = 6e6;
    model.link(0, 1).there.rate = model.link(0, 1).back.rate = {{1, 3e6}};
    model.link(0, 2).there.rate = {{1, 2e6}};
    model.link(0, 2).back.rate = {{1, 5.5e6}};
    model.link(1, 2).there.rate = model.link(1, 2).back.rate = {{1, 6e6}};
    model.sweeps = 1;
    const auto uplinks = [&] {
        const auto& cluster = costs_of(model, latency).cluster(0);
        return std::pair(cluster.uplink_out, cluster.uplink_in);
    };
    CHECK(uplinks() == std::pair(3e6, 0.0));  // what comes fills a NIC
    model.clusters[0].uplink_out = 2.5e6;
    CHECK(uplinks().first == 2.5e6);
    model.clusters[0].uplink_out = 0;
    model.link(0, 1).there.rate = {{1, 3e6}, {3, 4.5e6}};
    CHECK(uplinks().first == 4.5e6);  // and not three NICs
    model.link(0, 1).there.rate = {{1, 3e6}, {3, 17e6}};
    CHECK(uplinks().first == 0);
    model.link(0, 1).there.rate = {{1, 3e6}};

    const LinkModel other = model;
    model.link(1, 2).back.rate = {{1, 3e6}};  // so that it may be the other end that is slow
    CHECK(uplinks().first == 0);
    model = other;
    model.link(0, 1).carries_more = true;
    CHECK(uplinks().first == 0);
    model = other;
    model.link(0, 1).there.rate = model.link(0, 2).there.rate = {};  // the way back says nothing of it
    CHECK(uplinks().first == 0);
    model = other;
    model.sweeps = 0;  // then no uplink means that links hold flows up
    CHECK(uplinks().first == 0);
}

TEST_CASE("an uplink of which flows both ways tell alone is likely to be alike both ways",
          "[machine_costs]") {
    const std::vector<std::vector<Seconds>> latency(3, std::vector<Seconds>(3, Seconds(1e-3)));
    LinkModel model;
    model.clusters.resize(3);
    model.clusters[0].uplink_out = 3e6;
    model.clusters[0].uplink_in = 5e6;
    model.link(0, 1).back.rate = {{1, 5e6}};
    model.link(0, 2).back.rate = {{1, 5e6}};
    model.sweeps = 1;
    const auto uplinks = [&] {
        const auto& cluster = costs_of(model, latency).cluster(0);
        return std::pair(cluster.uplink_out, cluster.uplink_in);
    };
    CHECK(uplinks() == std::pair(5e6, 5e6));
    model.clusters[0].uplink_in = 50e6;  // so unlike that it is no matter of acknowledgements
    CHECK(uplinks() == std::pair(3e6, 50e6));
    model.clusters[0].uplink_in = 2e6;  // flows were measured that way
    CHECK(uplinks() == std::pair(3e6, 2e6));
    model.link(0, 2).back.rate = {};
    CHECK(uplinks() == std::pair(3e6, 3e6));
    model.sweeps = 0;
    CHECK(uplinks() == std::pair(3e6, 2e6));
}

TEST_CASE("the uplink of a hub carries all of its links, where all are known", "[machine_costs]") {
    const std::vector<std::vector<Seconds>> latency(5, std::vector<Seconds>(5, Seconds(0.01)));
    LinkModel model;
    model.clusters.resize(5);
    for (int a = 0; a < 5; ++a) {
        for (int b = a + 1; b < 5; ++b) model.link(a, b).there.rate = model.link(a, b).back.rate = {{1, 2e6}};
    }
    for (int c = 1; c < 5; ++c) model.clusters[static_cast<std::size_t>(c)].uplink_in = 2.5e6;
    model.warnings = {
        "rates were measured in passing, and no overheads: laple-discover --model measures all"};
    REQUIRE(is_rough(model));
    const MachineCosts costs = costs_of(model, latency);
    CHECK(costs.likely_uplink_in(0, 1) == Approx(8e6));
    CHECK(costs.likely_uplink_in(1, 1) == Approx(2.5e6));
    CHECK(costs.likely_uplink_in(0, 2) == 0);  // one flow does not tell what two hosts can
    CHECK(costs.cluster(0).nic_in == Approx(8e6));
    CHECK(MachineCosts::from_numbers(costs.numbers()) == costs);
    CHECK(costs.restricted_to(std::vector<int>{0, 1, 2}).likely_uplink_in(0, 1) == Approx(4e6));
    // Eight lanes that fill a link tell of sixteen hosts.
    MachineCosts full = test::uniform_costs(2, Seconds(1e-3), 12.5e6);
    full.link(0, 1).flows_seen = 8;
    full.link(0, 1).seen = 50e6;
    CHECK(full.likely_uplink_out(0, 16) == 0);
    full.link(0, 1).all = 50e6;
    CHECK(full.likely_uplink_out(0, 16) == Approx(50e6));
    // Four blocks of 64 KiB come to the hub at the same time.
    const Request request{Collective::gather, 1 << 16, 1, 0, true};
    const Machine machine = test::machine_of({1, 1, 1, 1, 1});
    const auto price = test::price_of("direct@16K", request, machine, costs);
    CHECK(price->seconds < 0.01 + 1.5 * (1 << 16) / 2e6);
    // While a sweep goes on, its fastest link is all that is known.
    model.sweeps = 1;
    CHECK(costs_of(model, latency).likely_uplink_in(0, 1) == Approx(2e6));
}

TEST_CASE("what was not measured is filled in from what was", "[machine_costs]") {
    LinkModel model;
    model.clusters.resize(3);
    model.link(0, 1).there.rate = {{1, 10e6}};
    const std::vector<std::vector<Seconds>> latency{{Seconds(5e-5), Seconds(0.01), Seconds(0.02)},
                                                    {Seconds(0.01), Seconds(5e-5), Seconds(0.03)},
                                                    {Seconds(0.02), Seconds(0.03), Seconds(0)}};
    model.link(0, 1).back.rate = {{1, 5e6}};
    const MachineCosts costs = costs_of(model, latency);
    REQUIRE(costs.count() == 3);
    CHECK(costs.flows_ramp);  // between hosts, it is TCP
    CHECK(costs.link(0, 1).gap.at(1000000).count() == Approx(0.1).epsilon(0.01));
    CHECK(costs.link(1, 0).gap.at(1000000).count() == Approx(0.2).epsilon(0.01));
    // As between those that are known: the lower median.
    CHECK(costs.link(2, 1).latency == 0.03);
    CHECK(costs.link(2, 1).gap.at(1000000).count() == Approx(0.2).epsilon(0.01));
    CHECK(costs.link(2, 2).latency > 0);
    // One way as the other.
    LinkModel one_way;
    one_way.clusters.resize(3);
    one_way.link(0, 1).there.rate = {{1, 10e6}};
    one_way.link(1, 2).there.rate = {{1, 2e6}};
    CHECK(costs_of(one_way, latency).link(1, 0).gap.at(1000000).count() == Approx(0.1).epsilon(0.01));
    LinkModel thin;
    thin.clusters.resize(3);
    thin.link(0, 1).there.rate = {{1, 2e6}};
    thin.link(1, 2).there.rate = thin.link(1, 2).back.rate = {{1, 10e6}};
    CHECK(costs_of(thin, latency).link(2, 0).gap.at(1000000).count() == Approx(0.5).epsilon(0.01));
    // As much as both ends have reached with others.
    LinkModel star;
    star.clusters.resize(3);
    star.link(0, 1).there.rate = {{1, 10e6}};
    star.link(0, 1).back.rate = {{1, 9e6}};
    star.link(0, 2).there.rate = {{1, 2e6}};
    star.link(0, 2).back.rate = {{1, 3e6}};
    CHECK(costs_of(star, latency).link(1, 2).gap.at(1000000).count() == Approx(0.5).epsilon(0.01));
    CHECK(costs_of(star, latency).link(2, 1).gap.at(1000000).count() == Approx(1 / 3.0).epsilon(0.01));
    // Where only what all links carry at once is known: as uplinks and NICs let pass.
    LinkModel together;
    together.clusters.resize(3);
    for (ClusterModel& cluster : together.clusters) cluster.uplink_out = cluster.uplink_in = 8e6;
    together.clusters[0].nic_out = together.clusters[0].nic_in = 4e6;
    together.clusters[2].uplink_out = 2e6;
    CHECK(costs_of(together, latency).link(1, 0).gap.at(1000000).count() == Approx(0.25).epsilon(0.01));
    CHECK(costs_of(together, latency).link(2, 1).gap.at(1000000).count() == Approx(0.5).epsilon(0.01));
    CHECK(costs_of(together, latency).link(1, 2).gap.at(1000000).count() == Approx(0.125).epsilon(0.01));
    // A link whose flows were on their way up carries more, but not than uplinks let through.
    star.links[0].carries_more = true;
    CHECK(costs_of(star, latency).link(0, 1).carries_more);
    star.clusters.resize(3);
    star.clusters[0].uplink_out = star.clusters[1].uplink_in = 40e6;
    CHECK(costs_of(star, latency).link(0, 1).carries_more);
    star.clusters[1].uplink_in = 10e6;
    CHECK_FALSE(costs_of(star, latency).link(0, 1).carries_more);
    CHECK(costs_of(star, latency).link(1, 0).carries_more);
    // What is longer than messages without a handshake takes a round trip more.
    together.clusters[1].eager_limit = 16384;
    const Curve unmeasured = costs_of(together, latency).link(1, 0).gap;
    CHECK((unmeasured.at(16385) - unmeasured.at(16384)).count() == Approx(2 * 0.01).epsilon(0.01));
    CHECK(unmeasured.at(1000000).count() == Approx(0.25 + 2 * 0.01).epsilon(0.01));
    // A file may name more streams than a pair can have.
    star.links[0].streams_there.rate = {{8, 20e6}, {100, 90e6}};
    CHECK(costs_of(star, latency).link(0, 1).streams == Settings::kMostStreams);
    CHECK(costs_of(LinkModel{}, latency).is_empty());
    CHECK(costs_of(star, {}).is_empty());
    // A message that passed at once, of what the NIC had saved up, takes longer without.
    model.link(0, 1).plogp.gap = Curve({{0, Seconds(1e-5)}, {65536, Seconds(2e-5)}});
    model.link(0, 1).plogp.flood_gap = Curve({{0, Seconds(1e-5)}, {65536, Seconds(5e-3)}});
    CHECK(costs_of(model, latency).link(0, 1).gap.at(65536) == Seconds(2e-5));
    model.clusters[0].reserve = 1e5;
    CHECK(costs_of(model, latency).link(0, 1).gap.at(65536) == Seconds(5e-3));
    model.clusters[1].burst = 2e5;
    CHECK(costs_of(model, latency).cluster(1).burst == 2e5);
    // A single host has no neighbour to measure its NIC with.
    model.clusters[0].nic_out = 10e6;
    model.clusters[1].nic_out = 12e6;
    model.clusters[2].uplink_out = 5e6;
    CHECK(costs_of(model, latency).cluster(2).nic_out == 10e6);
    CHECK(costs_of(model, latency).cluster(2).nic_in == 0);
    model.clusters[2].uplink_out = 20e6;
    CHECK(costs_of(model, latency).cluster(2).nic_out == 20e6);
    model.clusters[2].uplink_out = 0;
    CHECK(costs_of(model, latency).cluster(2).nic_out == 0);
    // One lane says nothing of others beside it, nor do lanes that all carry as much.
    CHECK(costs.link(0, 1).all == 0);
    model.link(0, 1).there.rate = {{1, 10e6}, {2, 20e6}};
    CHECK(costs_of(model, latency).link(0, 1).all == 0);
    model.link(0, 1).there.rate = {{1, 10e6}, {2, 15e6}};
    CHECK(costs_of(model, latency).link(0, 1).all == 15e6);
    CHECK(costs_of(model, latency).link(1, 0).all == 0);
}

TEST_CASE("ranks that share a host take little longer than one would, wherever they are", "[candidates]") {
    constexpr int kHosts = 16;
    constexpr int kRanksEach = 4;
    const MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const Rules not_native = parse_rules("^native");
    for (const bool are_dealt_round : {false, true}) {
        std::vector<int> hosts;
        std::vector<int> clusters;
        for (int rank = 0; rank < kHosts * kRanksEach; ++rank) {
            hosts.push_back(are_dealt_round ? rank % kHosts : rank / kRanksEach);
            clusters.push_back(hosts.back() / 4);
        }
        const Machine machine(Topology::from_labels(kHosts * kRanksEach, {clusters}), hosts);
        for (const Collective collective : kAllCollectives) {
            // Each contribution of another cluster's has a partial result of its own.
            if (is_prefix(collective) && are_dealt_round) continue;
            for (const Bytes bytes : {Bytes{8}, Bytes{64} << 10, Bytes{1} << 20}) {
                // What is gathered grows with the ranks: a rank alone contributes as much as those of a host.
                // As much for each host to send and to get.
                const Bytes of_host = is_one_message(collective) ? 1 : kRanksEach;
                const Bytes of_pair =
                    is_personalized(collective) && !row_of(collective).is_rooted ? kRanksEach : 1;
                const Bytes of_each = std::max<Bytes>(bytes / of_host / of_pair, 1);
                const Request request = request_for(collective, of_each);
                const Plan plan = choose_plan(request, machine, not_native, costs);
                const Plan alone = choose_plan(request_for(collective, bytes), kSites, not_native, costs);
                INFO(name_of(collective) << " of " << bytes << " by " << plan.algorithm->name());
                // Ranks of a host that all send to all take turns at its port in no order.
                const double allowed = collective == Collective::alltoall ? 1.25 : 1.1;
                CHECK(simulated_seconds(plan, machine, costs) <
                      allowed * simulated_seconds(alone, kSites, costs));
            }
        }
    }
}

TEST_CASE("copies that leaders send in a prefix exchange share their uplinks", "[pricing]") {
    const Machine machine = test::machine_of({4, 4, 4, 4, 4, 4, 4, 4});
    MachineCosts costs = test::uniform_costs(8, Seconds(10e-3), 125e6);
    for (int c = 0; c < 8; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = 125e6;
        costs.cluster(c).uplink_out = costs.cluster(c).uplink_in = 12.5e6;
    }
    const Request request = request_for(Collective::scan, 1 << 20);
    for (const char* name :
         {"prefix-exchange/binary@16K", "prefix-exchange/4ary@16K", "prefix-exchange@16K"}) {
        const auto candidate = price_of(name, request, machine, costs);
        REQUIRE(candidate);
        INFO(name);
        CHECK(candidate->seconds ==
              Approx(simulated_seconds(plan_of(request, *candidate), machine, costs)).epsilon(0.05));
    }
    CHECK(choose_plan(request, machine, {}, costs).algorithm->name().starts_with("prefix-chain@"));
}

TEST_CASE("a chain of ranks that are dealt round comes by at a port again and again", "[pricing]") {
    constexpr int kHosts = 8;
    constexpr int kRanks = 4 * kHosts;
    MachineCosts costs = test::uniform_costs(2, Seconds(10e-3), 12.5e6);
    costs.cluster(0).uplink_out = 25e6;
    for (int c = 0; c < 2; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = 12.5e6;
        costs.cluster(c).memory.gap = Curve({{0, Seconds(1e-6)}, {1 << 20, Seconds(100e-6)}});
    }
    const Request request = request_for(Collective::scan, 8 << 20);
    for (const bool is_one_cluster_first : {false, true}) {
        std::vector<int> hosts;
        std::vector<int> clusters;
        for (int rank = 0; rank < kRanks; ++rank) {
            hosts.push_back(rank % kHosts);
            clusters.push_back(is_one_cluster_first ? hosts.back() / (kHosts / 2) : hosts.back() % 2);
        }
        const Machine machine(Topology::from_labels(kRanks, {clusters}), hosts);
        const auto candidate = price_of("prefix-chain@64K", request, machine, costs);
        REQUIRE(candidate);
        CHECK(candidate->seconds > 4 * 8 * 1048576 / 12.5e6);
        CHECK(candidate->seconds ==
              Approx(simulated_seconds(plan_of(request, *candidate), machine, costs)).epsilon(0.1));
    }
}

TEST_CASE("copies that leaders send in a prefix exchange share a trunk", "[pricing]") {
    const Machine machine = test::grouped_machine({0, 0, 0, 0, 1, 1, 1, 1}, 4);
    MachineCosts costs = test::uniform_costs(8, Seconds(100e-6), 125e6);
    for (int a = 0; a < 4; ++a) {
        for (int b = 4; b < 8; ++b) {
            for (MachineCosts::Link* link : {&costs.link(a, b), &costs.link(b, a)}) {
                link->latency = 10e-3;
                link->all = 125e6;
            }
        }
    }
    const Request request = request_for(Collective::scan, 256 << 10);
    for (const char* name : {"prefix-exchange", "prefix-exchange/4ary", "prefix-exchange@16K"}) {
        const auto candidate = price_of(name, request, machine, costs);
        REQUIRE(candidate);
        INFO(name);
        CHECK(candidate->seconds > 10e-3 + 16 * 262144 / 125e6);
        CHECK(candidate->seconds ==
              Approx(simulated_seconds(plan_of(request, *candidate), machine, costs)).epsilon(0.15));
    }
}

TEST_CASE("a scan whose operation does not commute is chosen as any other", "[pricing]") {
    constexpr int kHosts = 8;
    std::vector<int> hosts;
    std::vector<int> clusters;
    for (int rank = 0; rank < 4 * kHosts; ++rank) {
        hosts.push_back(rank % kHosts);
        clusters.push_back(hosts.back() % 4);
    }
    const Machine machine(Topology::from_labels(4 * kHosts, {clusters}), hosts);
    const MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    for (const Collective collective : {Collective::scan, Collective::exscan}) {
        for (const Bytes bytes : {Bytes{8}, Bytes{4096}, Bytes{64} << 10, Bytes{1} << 20}) {
            Request request = request_for(collective, bytes);
            const Plan usual = choose_plan(request, machine, {}, costs);
            request.commutative = false;
            CHECK(choose_plan(request, machine, {}, costs).name() == usual.name());
            // Of a network without rates nobody knows how far it is from one rank to the next.
            if (bytes > 1024) CHECK(choose_plan(request, machine, {}).is_native());
        }
    }
}

TEST_CASE("blocks that may overrun an uplink's queue are not left to MPI for little", "[pricing]") {
    // Five hosts, whose NICs are twelve times as fast as their uplink, beside sites of few hosts.
    const Machine machine = test::machine_of({5, 2, 4, 1, 2, 1});
    MachineCosts costs = test::uniform_costs(6, Seconds(1e-3), 6.2e6);
    for (int c = 0; c < 6; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = 6.2e6;
        costs.cluster(c).uplink_out = costs.cluster(c).uplink_in = c == 0 ? 2.5e6 : 7e6;
    }
    const auto choice = [&](Bytes bytes) {
        return choose_plan(request_for(Collective::alltoall, bytes), machine, {}, costs).name();
    };
    CHECK(choice(4096) == "direct");
    CHECK(choice(2048) == "native");
}

TEST_CASE("rounds of MPI's own that are not all looked at stand for the others", "[pricing]") {
    // Each other round crosses from site to site: with twice as many ranks there are twice as many.
    const MachineCosts costs = test::uniform_costs(2, Seconds(10e-3), 125e6);
    const auto seconds = [&](int ranks) {
        std::vector<int> sites;
        for (int rank = 0; rank < ranks; ++rank) sites.push_back(rank % 2);
        const Machine machine(Topology::from_labels(ranks, {sites}));
        return price_of("native", request_for(Collective::reduce_scatter, 8192), machine, costs)->seconds;
    };
    CHECK(seconds(512) == Approx(2 * seconds(256)).epsilon(0.05));
    CHECK(seconds(1024) == Approx(4 * seconds(256)).epsilon(0.05));
}
