// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/relayed.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "collectives/candidates.hpp"
#include "collectives/planner.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;
using test::simulated_seconds;

namespace {

/// Clusters of so many ranks, one after the other.
Topology of_sizes(const std::vector<int>& sizes) {
    std::vector<std::vector<Rank>> members;
    Rank next = 0;
    for (const int size : sizes) {
        auto& cluster = members.emplace_back();
        for (int i = 0; i < size; ++i) cluster.push_back(next++);
    }
    return Topology::from_clusters(next, members);
}

Request broadcast_of(Bytes bytes) {
    return {Collective::bcast, bytes, 1, 0, true};
}

/// Sites alike, with NICs and, if not 0, uplinks of those rates.
NetworkCosts sites(int count, Seconds far, double nic, double uplink) {
    NetworkCosts costs = test::uniform_costs(count, far, nic);
    costs.shares_ports = true;
    for (int c = 0; c < count; ++c) {
        NetworkCosts::Cluster& cluster = costs.cluster(c);
        cluster.nic_out = cluster.nic_in = nic;
        cluster.uplink_out = cluster.uplink_in = uplink;
    }
    return costs;
}

}  // namespace

TEST_CASE("a relay gets its lane from the root and serves all others", "[relayed]") {
    CHECK(relayed_order(0, 2, 4) == SendOrder{{0, 2}, {2, 3}, {2, 1}});
    CHECK(relayed_order(1, 0, 2) == SendOrder{{1, 0}});
    for (int root = 0; root < 5; ++root) {
        for (int relay = 0; relay < 5; ++relay) {
            if (relay == root) continue;
            std::set<int> reached{root};
            for (const Send& send : relayed_order(root, relay, 5)) {
                CHECK(reached.count(send.from) == 1);
                CHECK(reached.insert(send.to).second);
            }
            CHECK(reached.size() == 5);
        }
    }
}

TEST_CASE("relayed lanes are for bcast, in segments", "[relayed]") {
    const std::string name = "spread-relayed/chain@8Kx12";
    const Algorithm algorithm = parse_algorithm(name, Collective::bcast);
    CHECK(algorithm.order == kRelayedRule);
    CHECK(name_of(algorithm) == name);
    for (const Collective other : {Collective::reduce, Collective::allreduce})
        CHECK_THROWS_WITH(parse_algorithm(name, other), Catch::Contains("cannot be relayed"));
    for (const char* wrong : {"spread-relayed/chain@8K", "relayed/chain@8Kx12", "spread-relayed/chainx12",
                              "spread-relayed/native", "spread-relayed/chain"})
        CHECK_THROWS_AS(parse_algorithm(wrong, Collective::bcast), Error);
}

TEST_CASE("relayed lanes take what the simulator says", "[relayed]") {
    const auto check = [](const std::vector<int>& sizes, const NetworkCosts& costs, const char* name) {
        const Topology topology = of_sizes(sizes);
        const Plan plan = choose_plan(broadcast_of(4 << 20), topology, parse_rules(name), costs);
        REQUIRE(name_of(plan.algorithm) == name);
        REQUIRE_FALSE(plan.relays.empty());
        const double truth = simulated_seconds(plan, topology, costs);
        INFO(name << " in " << sizes.size() << " clusters: predicted " << plan.predicted.count()
                  << " s, simulated " << truth);
        CHECK(plan.predicted.count() > 0.85 * truth);
        CHECK(plan.predicted.count() < 1.2 * truth);
    };
    check({4, 4, 4, 4}, sites(4, Seconds(10e-3), 12.5e6, 0), "spread-relayed/chain@8Kx12");
    check({4, 4, 4, 4}, sites(4, Seconds(10e-3), 12.5e6, 12.5e6), "spread-relayed/chain@8Kx12");
    check({4, 4, 4, 4}, sites(4, Seconds(10e-3), 12.5e6, 0), "spread-relayed/binary@16Kx12");
    check({6, 3, 2}, sites(3, Seconds(20e-3), 12.5e6, 0), "spread-relayed/chain@8Kx30");
    check({2, 2, 2, 2, 2, 2, 2, 2}, sites(8, Seconds(10e-3), 12.5e6, 25e6), "spread-relayed/chain@8Kx14");
    // Flows much slower than NICs: of lanes between the same two ranks, and of one rank alone.
    NetworkCosts slow = sites(4, Seconds(10e-3), 12.5e6, 0);
    const NetworkCosts flows = test::uniform_costs(4, Seconds(10e-3), 1e6);
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
            if (a != b) slow.link(a, b) = flows.link(a, b);
        }
    }
    check({4, 4, 4, 4}, slow, "spread-relayed/chain@8Kx12");
    check({4, 4, 4, 4}, slow, "spread-relayed/chain@8Kx3");
}

TEST_CASE("members of a relay take turns at being served and at serving others", "[relayed]") {
    for (const auto& [sizes, relays, lanes] : {std::tuple(std::vector<int>{4, 4, 4, 4, 4}, 4, 48),
                                               std::tuple(std::vector<int>{3, 2, 6, 2}, 3, 36)}) {
        const Topology topology = of_sizes(sizes);
        Plan plan{broadcast_of(1 << 20), parse_algorithm("spread-relayed/chain@8Kx12", Collective::bcast),
                  ""};
        plan.algorithm.lanes = lanes;
        for (int relay = 1; relay <= relays; ++relay) plan.relays.push_back(relay);
        const LaneTrees trees = lane_trees_of(plan, topology);
        std::vector<int> entered(static_cast<std::size_t>(topology.size()), 0);
        std::vector<int> sent = entered;
        for (int lane = 0; lane < lanes; ++lane) {
            const int relay = plan.relays[static_cast<std::size_t>(lane % relays)];
            for (Rank rank = 0; rank < topology.size(); ++rank) {
                const RankLinks links = trees.links(lane, rank);
                sent[static_cast<std::size_t>(rank)] += static_cast<int>(links.children.size());
                const bool is_relay = topology.group_of(0, rank) == relay;
                if (is_relay && links.parent >= 0 && topology.group_of(0, links.parent) == 0)
                    ++entered[static_cast<std::size_t>(rank)];
            }
        }
        for (Rank rank = 1; rank < topology.size(); ++rank) {
            const Rank first = topology.members(0, topology.group_of(0, rank)).front();
            if (first == 0) continue;
            INFO("rank " << rank << " of " << sizes.size() << " clusters");
            CHECK(entered[static_cast<std::size_t>(rank)] == entered[static_cast<std::size_t>(first)]);
            CHECK(sent[static_cast<std::size_t>(rank)] == sent[static_cast<std::size_t>(first)]);
        }
    }
}

TEST_CASE("many sites far apart are reached over relays, two latencies away", "[relayed]") {
    const Topology topology = of_sizes({4, 4, 4, 4, 4, 4, 4, 4});
    const NetworkCosts costs = sites(8, Seconds(20e-3), 12.5e6, 25e6);
    const Request request = broadcast_of(1 << 20);
    const Plan plan = choose_plan(request, topology, {}, costs);
    INFO(name_of(plan.algorithm));
    CHECK(plan.algorithm.order == kRelayedRule);
    CHECK(plan.relays.size() > 1);
    CHECK(std::find(plan.relays.begin(), plan.relays.end(), 0) == plan.relays.end());
    const double relayed = simulated_seconds(plan, topology, costs);
    double best = 1;
    for (const char* name : {"spread-nearest/chain@8K", "spread-jackson/binary@8Kx4",
                             "spread-ecef-la-max/chain@8K", "spread-flat/chain@8Kx4"})
        best = std::min(best, simulated_seconds(choose_plan(request, topology, parse_rules(name), costs),
                                                topology, costs));
    INFO("relayed " << relayed << " s, best of the others " << best);
    CHECK(relayed < 0.85 * best);
}

TEST_CASE("a site with a slow uplink relays nothing", "[relayed]") {
    const Topology topology = of_sizes({4, 4, 4, 4, 4});
    NetworkCosts costs = sites(5, Seconds(20e-3), 12.5e6, 50e6);
    costs.cluster(3).uplink_out = 2e6;
    const Plan plan =
        choose_plan(broadcast_of(4 << 20), topology, parse_rules("spread-relayed/chain@8Kx12"), costs);
    CHECK(plan.relays.size() > 1);
    CHECK(std::find(plan.relays.begin(), plan.relays.end(), 3) == plan.relays.end());
}

TEST_CASE("relays are not looked for where clusters are in groups", "[relayed]") {
    const Topology grouped = Topology::from_labels(8, {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}});
    const Algorithm relayed = parse_algorithm("spread-relayed/chain@8Kx4", Collective::bcast);
    CHECK_FALSE(can_do(relayed, broadcast_of(1 << 20), grouped));
    CHECK(can_do(relayed, broadcast_of(1 << 20), of_sizes({2, 2, 2, 2})));
    const NetworkCosts costs = sites(4, Seconds(20e-3), 12.5e6, 25e6);
    const auto looked_at = [&](const Topology& topology) {
        const Request request = broadcast_of(8 << 20);
        const auto found = Pricing(request, topology, costs).all();
        return std::any_of(found.begin(), found.end(),
                           [](const Candidate& candidate) { return !candidate.relays.empty(); });
    };
    CHECK(looked_at(of_sizes({2, 2, 2, 2})));
    CHECK_FALSE(looked_at(grouped));
}
