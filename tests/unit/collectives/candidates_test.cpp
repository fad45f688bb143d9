// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "collectives/hierarchy.hpp"
#include "collectives/meeting_price.hpp"
#include "collectives/native_price.hpp"
#include "collectives/order_rule.hpp"
#include "collectives/planner.hpp"
#include "collectives/simulated_network.hpp"
#include "collectives/verifier.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"
#include "support/random_topology.hpp"

using namespace laple;
using test::simulated_seconds;

namespace {

const Topology kSites =
    Topology::from_clusters(16, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}});

Request request_of(Collective collective, Bytes bytes, Rank root = 0) {
    const bool has_elements = collective == Collective::reduce || collective == Collective::allreduce;
    return {collective, has_elements ? bytes / 8 : bytes, has_elements ? Bytes{8} : Bytes{1}, root, true};
}

Plan plan_of(const Request& request, const Candidate& candidate) {
    Plan plan{request, candidate.algorithm, ""};
    if (!candidate.algorithm.order.empty()) plan.order = candidate.order;
    plan.shares = candidate.shares;
    plan.regions = candidate.regions;
    plan.relays = candidate.relays;
    return plan;
}

Topology random_clusters(std::mt19937_64& random) {
    const int clusters = std::uniform_int_distribution(2, 6)(random);
    std::vector<std::vector<Rank>> members(static_cast<std::size_t>(clusters));
    Rank next = 0;
    for (auto& cluster : members) {
        for (int left = std::uniform_int_distribution(1, 6)(random); left > 0; --left)
            cluster.push_back(next++);
    }
    return Topology::from_clusters(next, members);
}

}  // namespace

TEST_CASE("an undivided message along a planned tree takes what the simulator says", "[candidates]") {
    std::mt19937_64 random(11);
    for (int trial = 0; trial < 40; ++trial) {
        const Topology topology = random_clusters(random);
        if (topology.is_flat()) continue;
        NetworkCosts costs = test::random_costs(topology.group_count(0), random);
        for (int c = 0; c < costs.count(); ++c) costs.cluster(c).reduction = 0;
        const Rank root = trial % topology.size();
        for (const Collective collective : {Collective::bcast, Collective::reduce}) {
            const Request request = request_of(collective, 4096, root);
            Pricing pricing(request, topology, costs);
            for (const std::string_view rule : order_rules()) {
                for (const char* spread : {"", "spread-"}) {
                    const std::string name = fmt::format("{}{}/binomial", spread, rule);
                    INFO(name << ", " << describe(topology) << ", root " << root);
                    const auto candidate = pricing.price(parse_algorithm(name, collective));
                    REQUIRE(candidate.has_value());
                    const double truth = simulated_seconds(plan_of(request, *candidate), topology, costs);
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
        const Topology topology = random_clusters(random);
        if (topology.is_flat()) continue;
        NetworkCosts costs = test::random_costs(topology.group_count(0), random);
        for (int c = 0; c < costs.count(); ++c) costs.cluster(c).reduction = 0;
        for (const Collective collective : kAllCollectives) {
            for (const Bytes bytes : {Bytes{8}, Bytes{32} << 10, Bytes{512} << 10}) {
                const Request request = request_of(collective, collective == Collective::barrier ? 0 : bytes);
                for (const Candidate& candidate : Pricing(request, topology, costs).all()) {
                    if (candidate.algorithm.is_native) continue;
                    const double truth = simulated_seconds(plan_of(request, candidate), topology, costs);
                    INFO(name_of(collective)
                         << " " << bytes << " " << name_of(candidate.algorithm) << " " << describe(topology));
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
    const Topology unequal = Topology::from_clusters(9, {{0, 1, 2, 3}, {4}, {5, 6, 7, 8}});
    // As fast between clusters as inside: each rank of a chain sends every segment twice.
    const auto check = [](const Topology& topology, const std::string& name, double error) {
        const NetworkCosts costs = test::uniform_costs(topology.group_count(0), Seconds(10e-3), 12.5e6);
        const Request request = request_of(Collective::allreduce, 1 << 20);
        const auto candidate =
            Pricing(request, topology, costs).price(parse_algorithm(name, Collective::allreduce));
        REQUIRE(candidate.has_value());
        INFO(name << " " << describe(topology));
        CHECK(candidate->seconds ==
              Approx(simulated_seconds(plan_of(request, *candidate), topology, costs)).epsilon(error));
    };
    check(kSites, "spread-nearest/chain@8K", 0.02);
    check(kSites, "jackson/chain@8K", 0.02);
    check(unequal, "spread-nearest/chain@8K", 0.02);
    check(unequal, "spread-jackson/binary@8K", 0.2);
    check(unequal, "exchange/chain@8K", 0.1);
    // Slower inside: there it is not the coordinator who has the most to do.
    const Topology one_and_four = Topology::from_clusters(5, {{0}, {1, 2, 3, 4}});
    NetworkCosts slow_inside = test::uniform_costs(2, Seconds(10e-3), 125e6);
    slow_inside.link(1, 1).gap = slow_inside.link(1, 1).stream =
        Curve({{0, Seconds(20e-6)}, {1 << 20, Seconds(20e-6 + (1 << 20) / 12.5e6)}});
    const Request request = request_of(Collective::allreduce, 1 << 20);
    const auto chain = Pricing(request, one_and_four, slow_inside)
                           .price(parse_algorithm("jackson/chain@8K", Collective::allreduce));
    REQUIRE(chain.has_value());
    CHECK(chain->seconds ==
          Approx(simulated_seconds(plan_of(request, *chain), one_and_four, slow_inside)).epsilon(0.15));
    // One rank is coordinator of all four lanes.
    check(unequal, "exchange/flat@8Kx4", 0.1);
    check(unequal, "exchange/flat@256Kx4", 0.1);
}

TEST_CASE("what goes from one group of clusters to another shares their trunk", "[candidates]") {
    // Two sites, of one and of three clusters; between them as much as one host can send.
    std::vector<int> sites;
    std::vector<int> clusters;
    for (Rank rank = 0; rank < 16; ++rank) {
        sites.push_back(rank / 4 == 0 ? 0 : 1);
        clusters.push_back(rank / 4);
    }
    const Topology topology = Topology::from_labels(16, {sites, clusters});
    REQUIRE(topology.level_count() == 2);
    NetworkCosts costs = test::uniform_costs(4, Seconds(100e-6), 12.5e6);
    for (int site = 1; site < 4; ++site) {
        for (NetworkCosts::Link* link : {&costs.link(0, site), &costs.link(site, 0)}) {
            link->latency = 10e-3;
            link->all = 12.5e6;
        }
    }
    const auto priced = [&](Collective collective, Bytes bytes, const std::string& name) {
        const Request request = request_of(collective, bytes);
        const auto candidate = Pricing(request, topology, costs).price(parse_algorithm(name, collective));
        REQUIRE(candidate.has_value());
        INFO(name_of(collective) << " " << bytes << " " << name);
        CHECK(candidate->seconds ==
              Approx(simulated_seconds(plan_of(request, *candidate), topology, costs)).epsilon(0.15));
        return *candidate;
    };
    for (const Collective collective : {Collective::bcast, Collective::reduce}) {
        // Three copies one after the other, though different hosts send them; or a single one.
        const Candidate three = priced(collective, 1 << 20, "spread-jackson/chain@8K");
        CHECK(three.seconds > 3 * 0.084);
        CHECK(three.time.binding.kind == Binding::Kind::trunk);
        CHECK(priced(collective, 1 << 20, "spread-nearest/chain@8K").seconds < 0.5 * three.seconds);
        CHECK(priced(collective, 64 << 10, "spread-jackson/binomial").seconds > 0.010 + 3 * 0.0052);
        const Plan plan = choose_plan(request_of(collective, 1 << 20), topology, {}, costs);
        CHECK(std::count_if(plan.order.begin(), plan.order.end(),
                            [](const Send& send) { return send.from == 0; }) == 1);
    }
}

TEST_CASE("NICs, slow flows and uplinks bind as in the simulator", "[candidates]") {
    NetworkCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
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
        const Request request = request_of(Collective::bcast, 1 << 20);
        const auto candidate =
            Pricing(request, kSites, costs).price(parse_algorithm(name, Collective::bcast));
        REQUIRE(candidate.has_value());
        INFO(name);
        CHECK(candidate->time.binding.kind == binds);
        // With its window: what is sent ahead of others delays them.
        const Plan plan = choose_plan(request, kSites, parse_rules(name), costs);
        CHECK(candidate->seconds == Approx(simulated_seconds(plan, kSites, costs)).epsilon(0.15));
    };
    check("spread-jackson/chain@8K", Binding::Kind::link);
    check("jackson/chain@8K", Binding::Kind::port);
    costs.cluster(0).uplink_out = 8e6;
    check("spread-jackson/chain@8K", Binding::Kind::uplink);
}

TEST_CASE("meetings of groups of several clusters are priced as they are done", "[candidates]") {
    std::vector<int> sites;
    std::vector<int> clusters;
    for (Rank rank = 0; rank < 32; ++rank) {
        sites.push_back(rank / 16);
        clusters.push_back(rank / 2);
    }
    const Topology topology = Topology::from_labels(32, {sites, clusters});
    REQUIRE(topology.level_count() == 2);
    NetworkCosts costs = test::uniform_costs(16, Seconds(2e-3), 12.5e6);
    for (int a = 0; a < 16; ++a) {
        for (int b = 0; b < 16; ++b) {
            if (a / 8 != b / 8) costs.link(a, b).latency = 10e-3;
        }
    }
    for (const char* name : {"exchange/binomial", "exchange/flat", "exchange/chain", "exchange/chain@8K"}) {
        for (const Bytes bytes : {Bytes{64}, Bytes{256} << 10}) {
            const Request request = request_of(Collective::allreduce, bytes);
            const auto candidate =
                Pricing(request, topology, costs).price(parse_algorithm(name, Collective::allreduce));
            REQUIRE(candidate.has_value());
            INFO(name << " " << bytes);
            CHECK(candidate->crossings == 1);
            CHECK(candidate->seconds ==
                  Approx(simulated_seconds(plan_of(request, *candidate), topology, costs)).epsilon(0.25));
        }
    }
}

TEST_CASE("a cluster that meets nobody does a local allreduce", "[candidates]") {
    std::mt19937_64 random(17);
    NetworkCosts costs = test::random_costs(1, random);
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
                const Algorithm algorithm =
                    parse_algorithm(fmt::format("exchange/{}@8K", shape), Collective::allreduce);
                TreePricer pricer({ranks});
                const MeetingTime meeting = meeting_time(algorithm, 10, group, up, down, pricer);
                const TreeTime walk = pricer.there_and_back({{}, false, algorithm.within}, 0, 10, down, up);
                CHECK(meeting.total == Approx(walk.last));
                CHECK(meeting.interval == Approx(walk.interval));
            }
        }
    }
}

TEST_CASE("an allreduce crosses a trunk both ways, and a trunk of unknown rate delays nothing",
          "[candidates]") {
    NetworkCosts costs = test::uniform_costs(4, Seconds(1e-3), 125e6);
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
    NetworkCosts slow = test::uniform_costs(6, Seconds(1e-3), 125e6);
    slow.link(0, 1).latency = 1;
    slow.link(2, 4).latency = 0.9;
    const ClusterTree two_ways{{{0, 1}, {0, 2}, {1, 3}, {2, 4}, {0, 5}}, false, Shape{Shape::Kind::flat}};
    const SegmentTimes single(slow, {{0, 1, 2, 3, 4}, {5}}, 8, SegmentTimes::Use::single,
                              SegmentTimes::Direction::broadcast);
    CHECK(TreePricer({1, 1, 1, 1, 1, 1}).broadcast(two_ways, 0, 1, single).last < 1.1);
}

TEST_CASE("lanes share what is between two clusters", "[candidates]") {
    const Topology two =
        Topology::from_clusters(16, {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}});
    NetworkCosts costs = test::uniform_costs(2, Seconds(10e-3), 125e6);
    costs.link(0, 1).all = costs.link(1, 0).all = 12.5e6;
    const Request request = request_of(Collective::allreduce, 4 << 20);
    const auto candidate =
        Pricing(request, two, costs).price(parse_algorithm("exchange/flat@64Kx8", Collective::allreduce));
    REQUIRE(candidate.has_value());
    CHECK(candidate->seconds > 0.010 + (4 << 20) / 12.5e6);
    CHECK(candidate->time.binding.kind == Binding::Kind::trunk);
}

TEST_CASE("MPI's own call costs what was measured, where it was", "[candidates]") {
    NetworkCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const auto native = [&](const Request& request) {
        return *Pricing(request, kSites, costs).price(Algorithm::native());
    };
    const Request bcast = request_of(Collective::bcast, 4096);
    const Request from_5 = request_of(Collective::bcast, 4096, 5);
    CHECK_FALSE(native(bcast).is_measured);
    const double estimated = native(bcast).seconds;
    const double estimated_from_5 = native(from_5).seconds;
    costs.native.ranks = kSites.size();
    costs.native.bcast = Curve({{0, Seconds(0.1)}, {8192, Seconds(0.3)}});
    CHECK(native(bcast).is_measured);
    CHECK(native(bcast).seconds == Approx(0.2));
    CHECK(native(from_5).seconds == Approx(0.2 * estimated_from_5 / estimated));
    CHECK_FALSE(native(request_of(Collective::reduce, 4096)).is_measured);
    // It decides: a call as fast as that is not replaced.
    CHECK(choose_plan(bcast, kSites, {}, costs).algorithm != Algorithm::native());
    costs.native.bcast = Curve({{8192, Seconds(1e-3)}});
    CHECK(choose_plan(bcast, kSites, {}, costs).algorithm == Algorithm::native());
    // Of larger messages it says little, and of other ranks nothing.
    costs.native.bcast = Curve({{0, Seconds(0)}, {1024, Seconds(1e-3)}});
    CHECK_FALSE(native(bcast).is_measured);
    CHECK(native(bcast).seconds == Approx(estimated));
    costs.native.bcast = Curve({{0, Seconds(0)}, {1024, Seconds(0.5)}});
    CHECK(native(bcast).seconds == Approx(0.5));
    // But large ones go on as they did.
    const Request large = request_of(Collective::bcast, 4 << 20);
    costs.native.bcast = Curve({{1 << 18, Seconds(2)}, {1 << 20, Seconds(5)}});
    CHECK(native(large).seconds == Approx(5 + 3 * 4));
    CHECK_FALSE(native(large).is_measured);
    costs.native.bcast = Curve({{1 << 18, Seconds(7)}, {1 << 20, Seconds(5)}});
    CHECK(native(large).seconds == Approx(5));
    costs.native.bcast = Curve({{1 << 18, Seconds(2e-6)}, {1 << 20, Seconds(5e-6)}});
    CHECK(native(large).seconds > 0.3);
    costs.native.ranks = kSites.size() + 1;
    CHECK_FALSE(native(bcast).is_measured);
    CHECK(costs.restricted_to(std::vector<int>{0, 1, 2, 3}).native.ranks == 0);
}

TEST_CASE("what NICs have saved up hides transfers behind latencies, but not beyond their rates",
          "[candidates]") {
    constexpr double kRate = 12.5e6;
    constexpr double kFar = 2e-3;
    const NetworkCosts plain = [&] {
        NetworkCosts costs = test::uniform_costs(4, Seconds(kFar), kRate);
        costs.shares_ports = true;
        for (int c = 0; c < 4; ++c) costs.cluster(c).nic_out = costs.cluster(c).nic_in = kRate;
        return costs;
    }();
    NetworkCosts saving = plain;
    for (int c = 0; c < 4; ++c) saving.cluster(c).reserve = 128 * 1024;
    for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
        for (const Bytes bytes : {Bytes{16} << 10, Bytes{64} << 10, Bytes{1} << 20}) {
            const Request request = request_of(collective, bytes);
            Pricing without(request, kSites, plain);
            Pricing with(request, kSites, saving);
            for (const Candidate& candidate : with.all()) {
                INFO(name_of(collective) << " " << bytes << " " << name_of(candidate.algorithm));
                const double before = without.price(candidate.algorithm)->seconds;
                CHECK(candidate.seconds <= before * 1.0001);
                CHECK(candidate.seconds >= kFar);
                // Somebody sends all of the message, or all but its own part of it.
                CHECK(candidate.seconds >=
                      0.75 * static_cast<double>(bytes) / kRate - NetworkCosts::kUsualPause);
            }
        }
    }
    // Binomial trees inside take two messages' times; the way to another cluster a third one.
    const Request request = request_of(Collective::bcast, 16 << 10);
    const Algorithm tree = parse_algorithm("jackson/binomial", Collective::bcast);
    const double transfer = (16 << 10) / kRate;
    CHECK(Pricing(request, kSites, plain).price(tree)->seconds > kFar + 5 * transfer);
    CHECK(Pricing(request, kSites, saving).price(tree)->seconds <
          std::max(kFar + 0.5e-3, 5 * transfer + 0.5e-3));
    // Five copies in segments leave the root's NIC. Call after call, it has no more to spare than in pauses.
    const Request more = request_of(Collective::bcast, 64 << 10);
    const Algorithm pipeline = parse_algorithm("jackson/binary@16K", Collective::bcast);
    CHECK(Pricing(more, kSites, saving).price(pipeline)->seconds >
          5 * (64 << 10) / kRate - NetworkCosts::kUsualPause);
    const Plan plan = plan_of(request, *Pricing(request, kSites, saving).price(tree));
    CHECK(simulated_seconds(plan, kSites, saving) < kFar + 0.5e-3);
}

TEST_CASE("what NICs have saved up is spent once by all segments", "[candidates]") {
    constexpr double kRate = 12.5e6;
    constexpr double kFar = 20e-3;
    constexpr Bytes kReserve = 128 << 10;
    NetworkCosts costs = test::uniform_costs(4, Seconds(kFar), kRate);
    costs.shares_ports = true;
    for (int c = 0; c < 4; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = kRate;
        costs.cluster(c).reserve = kReserve;
    }
    const auto price = [&](Collective collective, Bytes bytes, const char* name) {
        return Pricing(request_of(collective, bytes), kSites, costs)
            .price(parse_algorithm(name, collective))
            ->seconds;
    };
    const auto sent_after_rest = [](int copies, Bytes bytes) {
        return static_cast<double>(static_cast<Bytes>(copies) * bytes - kReserve) / kRate;
    };
    // Three copies to other clusters, two inside.
    CHECK(price(Collective::bcast, 32 << 10, "jackson/binary@16K") > kFar + sent_after_rest(5, 32 << 10));
    CHECK(price(Collective::bcast, 64 << 10, "jackson/binary@16K") > kFar + sent_after_rest(5, 64 << 10));
    // Three copies to the other coordinators, one inside.
    CHECK(price(Collective::allreduce, 64 << 10, "exchange/chain@16K") > kFar + sent_after_rest(4, 64 << 10));
}

TEST_CASE("what NICs have saved up does not speed up slow links, nor latencies", "[candidates]") {
    const Topology groups = Topology::from_labels(16, {{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1},
                                                       {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}});
    constexpr double kNic = 12.5e6;
    NetworkCosts costs = test::uniform_costs(4, Seconds(20e-3), kNic);
    costs.shares_ports = true;
    for (int c = 0; c < 4; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = kNic;
        costs.cluster(c).reserve = 2e6;
    }
    const NetworkCosts slow_rate = test::uniform_costs(4, Seconds(20e-3), 1e6);
    for (const bool inside_groups : {true, false}) {
        NetworkCosts slow = costs;
        for (int a = 0; a < 4; ++a) {
            for (int b = 0; b < 4; ++b) {
                if (a != b && (a / 2 == b / 2) == inside_groups) slow.link(a, b) = slow_rate.link(a, b);
            }
        }
        const Request request = request_of(Collective::allreduce, 1 << 20);
        for (const Candidate& candidate : Pricing(request, groups, slow).all()) {
            // Trees may avoid slow links inside groups, and lanes use several of them.
            if (candidate.algorithm.is_native || candidate.algorithm.lanes > 1 ||
                (inside_groups && candidate.algorithm.meeting == Meeting::tree))
                continue;
            INFO(name_of(candidate.algorithm) << ", slow inside groups: " << inside_groups);
            CHECK(candidate.seconds > 0.95 * (1 << 20) / 1e6);
        }
    }
    // NICs that serve two children are slower than the link, but only until their reserve is counted.
    const Topology pair =
        Topology::from_clusters(16, {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}});
    NetworkCosts far = costs.restricted_to(std::vector<int>{0, 1});
    far.link(0, 1) = far.link(1, 0) = test::uniform_costs(2, Seconds(0.1), 6e6).link(0, 1);
    const Request request = request_of(Collective::allreduce, 1 << 20);
    for (const Candidate& candidate : Pricing(request, pair, far).all()) {
        if (candidate.algorithm.is_native || candidate.algorithm.lanes > 1) continue;
        INFO(name_of(candidate.algorithm));
        CHECK(candidate.seconds > 0.1 + 0.95 * (1 << 20) / 6e6);
    }
    const Request undivided = request_of(Collective::bcast, 64 << 10);
    const Algorithm tree = parse_algorithm("jackson/flat", Collective::bcast);
    CHECK(Pricing(undivided, pair, far).price(tree)->seconds > 0.1 + (64 << 10) / 6e6);
    // The ring of MPI's own broadcast goes from cluster to cluster, all around.
    const std::vector<int> clusters{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    const double native = native_time(request_of(Collective::bcast, 16 << 10), clusters, costs);
    CHECK(native > 4 * 20e-3);
    costs.shares_ports = false;
    const double queued = native_time(request_of(Collective::bcast, 1 << 20), clusters, costs);
    for (int c = 0; c < 4; ++c) costs.cluster(c).reserve = 0;
    CHECK(native_time(request_of(Collective::bcast, 1 << 20), clusters, costs) == queued);
}

TEST_CASE("the choice is near the best candidate, as the simulator sees it", "[candidates]") {
    std::mt19937_64 random(13);
    int cells = 0;
    int good = 0;
    for (int trial = 0; trial < 10; ++trial) {
        const Topology topology = random_clusters(random);
        if (topology.is_flat()) continue;
        const NetworkCosts costs = test::random_costs(topology.group_count(0), random);
        for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
            for (const Bytes bytes : {Bytes{8}, Bytes{16} << 10, Bytes{128} << 10, Bytes{1} << 20}) {
                const Request request = request_of(collective, bytes);
                double best = 1e9;
                double chosen = 0;
                for (const Candidate& candidate : Pricing(request, topology, costs).all()) {
                    if (candidate.algorithm.is_native) continue;
                    const double truth = simulated_seconds(
                        choose_plan(request, topology, parse_rules(name_of(candidate.algorithm)), costs),
                        topology, costs);
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
    NetworkCosts costs = test::uniform_costs(2, Seconds(20e-3), kNic);
    costs.link(0, 1) = costs.link(1, 0) = test::uniform_costs(2, Seconds(20e-3), kSlow).link(0, 1);
    for (int c = 0; c < 2; ++c) costs.cluster(c).nic_out = costs.cluster(c).nic_in = kNic;
    const Topology sites = Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}});
    const Request request = request_of(Collective::bcast, 4 << 20);
    const auto price = [&](const char* name) {
        return Pricing(request, sites, costs).price(parse_algorithm(name, Collective::bcast))->seconds;
    };
    // Where each flow has its own limit, lanes are as many times faster.
    const double alone = price("spread-nearest/chain@8K");
    CHECK(price("spread-nearest/chain@8Kx4") < 0.4 * alone);
    costs.cluster(1).uplink_in = kSlow;
    CHECK(price("spread-nearest/chain@8Kx4") > 0.95 * (4 << 20) / kSlow);
}

TEST_CASE("a flow that has rested starts slowly, and several make up for it", "[candidates]") {
    constexpr double kNic = 125e6;
    constexpr double kFar = 45e-3;
    const Topology sites = Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}});
    NetworkCosts steady = test::uniform_costs(2, Seconds(kFar), kNic);
    for (int c = 0; c < 2; ++c) steady.cluster(c).nic_out = steady.cluster(c).nic_in = kNic;
    NetworkCosts ramping = steady;
    ramping.flows_ramp = true;
    const auto longer = [&](Collective collective, Bytes bytes, const char* name) {
        const auto price = [&](const NetworkCosts& costs) {
            return Pricing(request_of(collective, bytes), sites, costs)
                .price(parse_algorithm(name, collective))
                ->seconds;
        };
        return price(ramping) - price(steady);
    };
    // What the initial window holds is sent at once; what fills the link has shown how fast that is.
    CHECK(longer(Collective::bcast, 16 << 10, "jackson/flat") == 0);
    CHECK(longer(Collective::bcast, 8 << 20, "spread-nearest/chain@8K") == 0);
    for (const char* name : {"jackson/flat", "spread-nearest/chain@8K", "spread-nearest/binary@8K"}) {
        INFO(name);
        for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce})
            CHECK(longer(collective, 128 << 10, name) > 10e-3);
        CHECK(longer(Collective::bcast, 128 << 10, name) < 40e-3);
    }
    CHECK(longer(Collective::allreduce, 128 << 10, "jackson/flat") >
          1.5 * longer(Collective::bcast, 128 << 10, "jackson/flat"));
    CHECK(longer(Collective::bcast, 64 << 10, "spread-nearest/chain@4Kx4") == 0);
    CHECK(longer(Collective::allreduce, 128 << 10, "exchange/flat") > 10e-3);
    CHECK(longer(Collective::allreduce, 64 << 10, "exchange/flat@4Kx4") == 0);
    CHECK(longer(Collective::allreduce, 128 << 10, "scatter/flat@8Kx2") > 1e-3);
    CHECK(longer(Collective::allreduce, 128 << 10, "regional/flat@8Kx2") > 1e-3);

    // Two segments are two flows at most, however many lanes there are.
    CHECK(longer(Collective::bcast, 128 << 10, "spread-nearest/chain@64Kx8") > 5e-3);
    // Nothing has no rate.
    CHECK(longer(Collective::barrier, 0, "regional/flat@8Kx2") == 0);
    // MPI's own estimated messages ramp, too.
    CHECK(longer(Collective::bcast, 128 << 10, "native") > 5e-3);
    CHECK(longer(Collective::allreduce, 1 << 10, "native") == 0);
    // Lanes of one rank share its flow.
    const Topology lone = Topology::from_clusters(10, {{0, 1, 2, 3, 4, 5, 6, 7}, {8}, {9}});
    NetworkCosts three = test::uniform_costs(3, Seconds(kFar), kNic);
    three.flows_ramp = true;
    const auto price_of = [&](const char* name) {
        return Pricing(request_of(Collective::allreduce, 128 << 10), lone, three)
            .price(parse_algorithm(name, Collective::allreduce))
            ->seconds;
    };
    CHECK(price_of("exchange/flat@8Kx8") > kFar + 25e-3);

    const Request request = request_of(Collective::bcast, 128 << 10);
    CHECK(choose_plan(request, sites, {}, ramping).algorithm.lanes > 1);
    CHECK(choose_plan(request, sites, {}, steady).algorithm.lanes == 1);
}

TEST_CASE("hops are those of the largest cluster", "[candidates]") {
    const Topology topology = Topology::from_clusters(12, {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11}});
    const NetworkCosts costs = test::uniform_costs(2, Seconds(1e-3), 1e8);
    const Request request = request_of(Collective::allreduce, 1 << 20);
    Pricing pricing(request, topology, costs);
    const auto hops = [&](const char* name) {
        return pricing.price(parse_algorithm(name, Collective::allreduce))->hops;
    };
    CHECK(hops("nearest/chain@8K") == 7);
    CHECK(hops("nearest/binary@8K") == 3);
    CHECK(hops("exchange/chain@8K") == 7);
    CHECK(hops("exchange/flat@8Kx4") == 1);
}

TEST_CASE("no pipeline that was not looked at is clearly faster than the best", "[candidates]") {
    std::mt19937_64 random(29);
    int unlooked = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const Topology topology = random_clusters(random);
        if (topology.is_flat()) continue;
        const NetworkCosts costs = test::random_costs(topology.group_count(0), random);
        for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
            const Bytes bytes = Bytes{1} << std::uniform_int_distribution(14, 22)(random);
            const Request request = request_of(collective, bytes);
            Pricing pricing(request, topology, costs);
            const auto found = pricing.all();
            for (const char* rule : {"jackson", "ecef-la-max", "nearest"}) {
                for (const char* within : {"chain", "binary"}) {
                    for (const char* spread : {"", "spread-"}) {
                        for (const int kilobytes : {4, 8, 16, 32, 64}) {
                            if (Bytes{2048} * static_cast<Bytes>(kilobytes) > bytes) break;
                            const auto name = fmt::format("{}{}/{}@{}K", spread, rule, within, kilobytes);
                            const Algorithm algorithm = parse_algorithm(name, collective);
                            unlooked += std::none_of(found.begin(), found.end(), [&](const Candidate& known) {
                                return known.algorithm == algorithm;
                            });
                            INFO(name << ", " << bytes << " bytes, trial " << trial);
                            CHECK(kNearlyEqual * pricing.price(algorithm)->seconds >= found.front().seconds);
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
    const Topology topology = Topology::from_clusters(12, {{0, 1, 2, 3}, {4, 5}, {6, 7, 8}, {9, 10, 11}});
    NetworkCosts costs = test::uniform_costs(4, Seconds(10e-3), 12e6);
    costs.shares_ports = true;
    for (int c = 0; c < 4; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = 12e6;
        if (c == 1) continue;
        for (NetworkCosts::Link* link : {&costs.link(c, 1), &costs.link(1, c)}) {
            link->latency = 2e-3;
            link->gap = link->stream = Curve({{0, Seconds(20e-6)}, {1 << 20, Seconds((1 << 20) / 6e6)}});
        }
    }
    for (const Collective collective : {Collective::bcast, Collective::reduce}) {
        const Request request = request_of(collective, 8 << 20);
        Pricing pricing(request, topology, costs);
        const auto slow_last = pricing.price(parse_algorithm("spread-slow-last/chain@8K", collective));
        const auto nearest = pricing.price(parse_algorithm("spread-nearest/chain@8K", collective));
        CHECK(slow_last->order == SendOrder{{0, 2}, {2, 3}, {3, 1}});
        CHECK(nearest->order == SendOrder{{0, 1}, {1, 2}, {2, 3}});
        CHECK(slow_last->behind == 1);
        CHECK(nearest->behind > 1);
        const std::vector<Candidate> both{*nearest, *slow_last};
        CHECK(best_of(both, [](const Algorithm&) { return true; }) == &both[1]);
        const auto all = pricing.all();
        CHECK(std::any_of(all.begin(), all.end(), [](const Candidate& candidate) {
            return candidate.algorithm.order == kSlowLastRule;
        }));
    }
}

TEST_CASE("planned schedules are correct, with any number of levels", "[candidates]") {
    std::mt19937_64 random(14);
    for (int trial = 0; trial < 24; ++trial) {
        const Topology topology =
            trial % 2 == 0 ? random_clusters(random) : test::random_topology(random, 24);
        if (topology.is_flat()) continue;
        const NetworkCosts costs =
            test::random_costs(topology.group_count(topology.level_count() - 1), random);
        for (const Collective collective : kAllCollectives) {
            const Bytes bytes = collective == Collective::barrier ? 0 : 40000;
            const Rank root = is_rooted(collective) ? trial % topology.size() : 0;
            const Request request = request_of(collective, bytes, root);
            for (const Candidate& candidate : Pricing(request, topology, costs).all()) {
                if (candidate.algorithm.is_native) continue;
                INFO(name_of(collective) << " " << name_of(candidate.algorithm) << " " << describe(topology)
                                         << ", root " << root);
                const Plan plan = plan_of(request, candidate);
                CHECK(verify(expand_all(plan, topology), plan, topology, 1, false) == "");
            }
        }
    }
}

TEST_CASE("of nearly equal candidates the simplest is taken, and MPI's own unless another is clearly better",
          "[candidates]") {
    const auto candidate = [](const std::string& name, double seconds, SendOrder order = {}) {
        Candidate made;
        made.algorithm = parse_algorithm(name, Collective::bcast);
        made.seconds = seconds;
        made.order = std::move(order);
        return made;
    };
    const auto any = [](const Algorithm&) { return true; };
    const auto best = [&](const std::vector<Candidate>& found, const auto& may_use) {
        const Candidate* chosen = best_of(found, may_use);
        return chosen == nullptr ? std::string() : name_of(chosen->algorithm);
    };
    SECTION("the largest segments") {
        CHECK(best({candidate("ecef/chain@4K", 1.0), candidate("fef/chain@8K", 1.03)}, any) ==
              "fef/chain@8K");
        CHECK(best({candidate("ecef/chain@4K", 1.0), candidate("fef/binary", 1.03)}, any) == "fef/binary");
        CHECK(best({candidate("ecef/chain@4K", 1.0), candidate("fef/chain@8K", 1.05)}, any) ==
              "ecef/chain@4K");
    }
    SECTION("segments that are far apart are large enough") {
        std::vector<Candidate> found{candidate("ecef/chain@4K", 1.0), candidate("fef/chain@8K", 1.01)};
        for (Candidate& one : found) one.time.interval = 1100e-6;
        CHECK(best(found, any) == "ecef/chain@4K");
        found[0].time.interval = 900e-6;
        CHECK(best(found, any) == "fef/chain@8K");
        found.push_back(candidate("fef/binary", 1.02));
        CHECK(best(found, any) == "fef/binary");
    }
    SECTION("the calmest NICs of pipelines") {
        std::vector<Candidate> found{candidate("ecef/chain@8K", 1.0), candidate("fef/chain@4K", 1.03)};
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
        std::vector<Candidate> found{candidate("spread-ecef/binary@8Kx8", 1.0),
                                     candidate("spread-ecef/chain@16K", 1.01)};
        found[0].hops = 3;
        found[1].hops = 7;
        CHECK(best(found, any) == "spread-ecef/binary@8Kx8");
        for (Candidate& one : found) one.time.sustained = 0.6;
        CHECK(best(found, any) == "spread-ecef/chain@16K");
        for (Candidate& one : found) one.time.sustained = 0;
        found[1].hops = 6;
        CHECK(best(found, any) == "spread-ecef/chain@16K");
    }
    SECTION("calmer NICs may be a little later, if the fastest has one that hardly rests") {
        std::vector<Candidate> found{candidate("ecef/chain@8K", 1.0), candidate("fef/chain@4K", 1.07)};
        found[1].time.sustained = 0.1;
        CHECK(best(found, any) == "ecef/chain@8K");
        found[0].time.sustained = 0.9;
        CHECK(best(found, any) == "fef/chain@4K");
        found[1].seconds = 1.09;
        CHECK(best(found, any) == "ecef/chain@8K");
        // Not for larger segments than those of one that is as calm.
        found = {candidate("ecef/chain@8K", 1.0), candidate("fef/chain@8K", 1.02),
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
        CHECK(best({candidate("spread-ecef/chain@8Kx8", 1.0), candidate("spread-ecef/chain@8Kx2", 1.02)},
                   any) == "spread-ecef/chain@8Kx2");
    }
    SECTION("nearly equal to the fastest, not to the one before") {
        CHECK(best({candidate("ecef/chain@4K", 1.0), candidate("fef/chain@8K", 1.03),
                    candidate("jackson/chain@16K", 1.06)},
                   any) == "fef/chain@8K");
    }
    SECTION("the fewest relays") {
        CHECK(best({candidate("nearest/binary", 1.0, {{0, 1}, {1, 2}}),
                    candidate("jackson/binary", 1.02, {{0, 1}, {0, 2}})},
                   any) == "jackson/binary");
    }
    SECTION("the fewest crossings before all else") {
        std::vector<Candidate> found{candidate("jackson/chain@8K", 1.0, {{0, 1}, {0, 2}}),
                                     candidate("fef/chain@4K", 1.03, {{0, 1}, {1, 2}})};
        found[0].crossings = 2;
        found[1].crossings = 1;
        CHECK(best(found, any) == "fef/chain@4K");
    }
    SECTION("MPI's own") {
        CHECK(best({candidate("ecef/binary", 0.94), candidate("native", 1.0)}, any) == "ecef/binary");
        CHECK(best({candidate("ecef/binary", 0.96), candidate("native", 1.0)}, any) == "native");
        // The simplest may be slower than it, so long as the fastest is not.
        CHECK(
            best({candidate("ecef/chain@4K", 0.94), candidate("fef/binary", 0.97), candidate("native", 1.0)},
                 any) == "fef/binary");
    }
    SECTION("what is forbidden is as if it were not there") {
        const auto no_native = [](const Algorithm& algorithm) { return !algorithm.is_native; };
        const auto only_native = [](const Algorithm& algorithm) { return algorithm.is_native; };
        const std::vector<Candidate> found{candidate("ecef/binary", 0.96), candidate("native", 1.0)};
        CHECK(best(found, no_native) == "ecef/binary");
        CHECK(best(found, only_native) == "native");
        CHECK(best(found, [](const Algorithm&) { return false; }).empty());
    }
}

TEST_CASE("as much is under way as the link holds, both there and back", "[candidates]") {
    const Topology sites = Topology::from_clusters(4, {{0, 1}, {2, 3}});
    const auto under_way = [&](Seconds far, double rate) {
        const NetworkCosts costs = test::uniform_costs(2, far, rate);
        const Plan plan = choose_plan(request_of(Collective::bcast, 8 << 20), sites,
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

TEST_CASE("a part of the clusters has the costs of these clusters", "[network_costs]") {
    std::mt19937_64 random(16);
    NetworkCosts costs = test::random_costs(4, random);
    costs.shares_ports = true;
    costs.flows_ramp = true;
    for (int c = 0; c < 4; ++c) costs.cluster(c).nic_out = 1000 + c;
    const std::vector<int> clusters{3, 1};
    const NetworkCosts part = costs.restricted_to(clusters);
    REQUIRE(part.count() == 2);
    CHECK(part.shares_ports);
    CHECK(part.flows_ramp);
    for (int a = 0; a < 2; ++a) {
        const int old_a = clusters[static_cast<std::size_t>(a)];
        CHECK(part.cluster(a).nic_out == costs.cluster(old_a).nic_out);
        for (int b = 0; b < 2; ++b) {
            const NetworkCosts::Link& old = costs.link(old_a, clusters[static_cast<std::size_t>(b)]);
            CHECK(part.link(a, b).latency == old.latency);
            CHECK(part.link(a, b).gap.known() == old.gap.known());
        }
    }
    CHECK(NetworkCosts{}.restricted_to(clusters).is_empty());
}

TEST_CASE("numbers carry costs without a bit lost, and broken ones are refused", "[network_costs]") {
    std::mt19937_64 random(15);
    NetworkCosts costs = test::random_costs(3, random);
    costs.link(0, 1).stream = Curve({{0, Seconds(1e-7)}, {3, Seconds(1.0 / 7)}});
    costs.cluster(2).uplink_in = 1.0 / 3;
    costs.cluster(1).reserve = 1e5 / 3;
    costs.cluster(0).burst = 1e5 / 7;
    costs.native.ranks = 7;
    costs.native.reduce = Curve({{8, Seconds(1.0 / 3)}, {64, Seconds(2.0 / 3)}});
    costs.link(2, 0).all = 1.0 / 9;
    const std::vector<double> numbers = costs.numbers();
    CHECK(NetworkCosts::from_numbers(numbers).numbers() == numbers);
    costs.flows_ramp = true;
    CHECK(costs.numbers() != numbers);
    CHECK(NetworkCosts::from_numbers(costs.numbers()).flows_ramp);
    std::vector<double> cut(numbers.begin(), numbers.end() - 1);
    CHECK_THROWS_AS(NetworkCosts::from_numbers(cut), Error);
    cut = numbers;
    cut.push_back(0);
    CHECK_THROWS_AS(NetworkCosts::from_numbers(cut), Error);
}

TEST_CASE("what was not measured is filled in from what was", "[network_costs]") {
    LinkModel model;
    model.clusters.resize(3);
    model.link(0, 1).there.rate = {{1, 10e6}};
    const std::vector<std::vector<Seconds>> latency{{Seconds(5e-5), Seconds(0.01), Seconds(0.02)},
                                                    {Seconds(0.01), Seconds(5e-5), Seconds(0.03)},
                                                    {Seconds(0.02), Seconds(0.03), Seconds(0)}};
    model.link(0, 1).back.rate = {{1, 5e6}};
    const NetworkCosts costs = costs_of(model, latency);
    REQUIRE(costs.count() == 3);
    CHECK(costs.flows_ramp);  // between hosts, it is TCP
    CHECK(costs.link(0, 1).gap.at(1000000).count() == Approx(0.1).epsilon(0.01));
    CHECK(costs.link(1, 0).gap.at(1000000).count() == Approx(0.2).epsilon(0.01));
    // As between those that are known: the lower median.
    CHECK(costs.link(2, 1).latency == 0.03);
    CHECK(costs.link(2, 1).gap.at(1000000).count() == Approx(0.2).epsilon(0.01));
    CHECK(costs.link(2, 2).latency > 0);
    CHECK(costs_of(LinkModel{}, latency).is_empty());
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
