// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/scatter_allgather.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "collectives/planner/planner.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;
using test::simulated_seconds;

namespace {

using test::machine_of;

Request broadcast_of(Bytes bytes) {
    return request_for(Collective::bcast, bytes);
}

bool is_scatter_allgather(const Algorithm& algorithm) {
    return dynamic_cast<const ScatterAllgather*>(&algorithm) != nullptr;
}

/// The clusters that pass the message on to others, as they would be named.
std::vector<int> relays_of(const Plan& plan, const Machine& machine) {
    std::set<int> relays;
    const int root = machine.cluster_of_rank(plan.request.root);
    for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
        const int from = machine.cluster_of_rank(rank);
        if (from == root) continue;
        for (const Step& step : expand(plan, machine, rank).steps) {
            if (step.kind == StepKind::send && machine.cluster_of_rank(step.peer) != from)
                relays.insert(from);
        }
    }
    return {relays.begin(), relays.end()};
}

/// Sites alike, with NICs and, if not 0, uplinks of those rates.
MachineCosts sites(int count, Seconds far, double nic, double uplink) {
    MachineCosts costs = test::uniform_costs(count, far, nic);
    costs.shares_ports = true;
    for (int c = 0; c < count; ++c) {
        MachineCosts::Cluster& cluster = costs.cluster(c);
        cluster.nic_out = cluster.nic_in = nic;
        cluster.uplink_out = cluster.uplink_in = uplink;
    }
    return costs;
}

}  // namespace

TEST_CASE("a relay gets its lane from the root and serves all others", "[scatter_allgather]") {
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

TEST_CASE("it is for bcast, in segments and lanes", "[scatter_allgather]") {
    const std::string name = "scatter-allgather/chain@8Kx12";
    const AlgorithmPtr algorithm = parse_algorithm(name, Collective::bcast);
    CHECK(is_scatter_allgather(*algorithm));
    CHECK(algorithm->name() == name);
    CHECK(algorithm->takes_turns());
    CHECK(algorithm->lanes() == 12);
    for (const Collective other : {Collective::reduce, Collective::allreduce, Collective::barrier})
        CHECK_THROWS_WITH(parse_algorithm(name, other), Catch::Contains("cannot be done by"));
    for (const char* wrong :
         {"scatter-allgather/chain@8K", "multi-leader-scatter-allgather/chain@8Kx12",
          "scatter-allgather/chainx12", "scatter-allgather/native", "scatter-allgather/chain",
          "scatter-allgather@8Kx12", "scatter-allgather/flat/chain@8Kx12", "relayed/chain@8Kx12"}) {
        INFO(wrong);
        CHECK_THROWS_AS(parse_algorithm(wrong, Collective::bcast), Error);
    }
}

TEST_CASE("every lane has some segments", "[scatter_allgather]") {
    const Machine machine = machine_of({4, 4, 4, 4});
    const MachineCosts costs = sites(4, Seconds(10e-3), 12.5e6, 0);
    Bytes longest = 0;
    for (const Candidate& candidate : Pricing(broadcast_of(1 << 20), machine, costs).all()) {
        if (!is_scatter_allgather(*candidate.algorithm)) continue;
        longest = std::max(longest, candidate.segment_bytes());
        INFO(candidate.algorithm->name());
        CHECK((1U << 20) / candidate.segment_bytes() >= 4 * static_cast<Bytes>(candidate.algorithm->lanes()));
    }
    CHECK(longest > 4096);
}

TEST_CASE("it takes what the simulator says", "[scatter_allgather]") {
    const auto check = [](const std::vector<int>& sizes, const MachineCosts& costs, const char* name) {
        const Machine machine = machine_of(sizes);
        const Plan plan = choose_plan(broadcast_of(4 << 20), machine, parse_rules(name), costs);
        REQUIRE(plan.algorithm->name() == name);
        REQUIRE_FALSE(plan.algorithm->details().empty());
        const double truth = simulated_seconds(plan, machine, costs);
        INFO(name << " in " << sizes.size() << " clusters: predicted " << plan.predicted.count()
                  << " s, simulated " << truth);
        CHECK(plan.predicted.count() > 0.85 * truth);
        CHECK(plan.predicted.count() < 1.2 * truth);
    };
    check({4, 4, 4, 4}, sites(4, Seconds(10e-3), 12.5e6, 0), "scatter-allgather/chain@8Kx12");
    check({4, 4, 4, 4}, sites(4, Seconds(10e-3), 12.5e6, 12.5e6), "scatter-allgather/chain@8Kx12");
    check({4, 4, 4, 4}, sites(4, Seconds(10e-3), 12.5e6, 0), "scatter-allgather/binary@16Kx12");
    check({6, 3, 2}, sites(3, Seconds(20e-3), 12.5e6, 0), "scatter-allgather/chain@8Kx30");
    check({2, 2, 2, 2, 2, 2, 2, 2}, sites(8, Seconds(10e-3), 12.5e6, 25e6), "scatter-allgather/chain@8Kx14");
    // Flows much slower than NICs: of lanes between the same two ranks, and of one rank alone.
    MachineCosts slow = sites(4, Seconds(10e-3), 12.5e6, 0);
    const MachineCosts flows = test::uniform_costs(4, Seconds(10e-3), 1e6);
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
            if (a != b) slow.link(a, b) = flows.link(a, b);
        }
    }
    check({4, 4, 4, 4}, slow, "scatter-allgather/chain@8Kx12");
    check({4, 4, 4, 4}, slow, "scatter-allgather/chain@8Kx3");
}

TEST_CASE("members of a relay take turns at being served and at serving others", "[scatter_allgather]") {
    for (const auto& [sizes, relays, lanes] : {std::tuple(std::vector<int>{4, 4, 4, 4, 4}, 4, 48),
                                               std::tuple(std::vector<int>{3, 2, 6, 2}, 3, 36)}) {
        const Machine machine = machine_of(sizes);
        std::vector<int> numbers;
        for (int relay = 1; relay <= relays; ++relay) numbers.push_back(relay);
        // A segment for each lane.
        constexpr Bytes kSegment = 8;
        const Plan plan{
            broadcast_of(kSegment * static_cast<Bytes>(lanes)),
            std::make_shared<ScatterAllgather>(Shape{Shape::Kind::chain}, kSegment, lanes, numbers), ""};
        std::vector<int> entered(static_cast<std::size_t>(machine.rank_count()), 0);
        std::vector<int> sent = entered;
        for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
            const int cluster = machine.cluster_of_rank(rank);
            for (const Step& step : expand(plan, machine, rank).steps) {
                sent[static_cast<std::size_t>(rank)] += step.kind == StepKind::send ? 1 : 0;
                const bool is_relayed = cluster != 0 && machine.cluster_of_rank(step.peer) == 0;
                if (step.kind != StepKind::recv || !is_relayed) continue;
                ++entered[static_cast<std::size_t>(rank)];
                CHECK(step.channel % 2 == results() % 2);
                CHECK(numbers[step.channel / 2u % numbers.size()] == cluster);
            }
        }
        CHECK(std::accumulate(entered.begin(), entered.end(), 0) == lanes);
        for (Rank rank = 1; rank < machine.rank_count(); ++rank) {
            const Rank first = machine.ranks_in(machine.cluster_of_rank(rank)).front();
            if (first == 0) continue;
            INFO("rank " << rank << " of " << sizes.size() << " clusters");
            CHECK(entered[static_cast<std::size_t>(rank)] == entered[static_cast<std::size_t>(first)]);
            CHECK(sent[static_cast<std::size_t>(rank)] == sent[static_cast<std::size_t>(first)]);
        }
    }
}

TEST_CASE("many sites far apart are reached over relays, two latencies away", "[scatter_allgather]") {
    const Machine machine = machine_of({4, 4, 4, 4, 4, 4, 4, 4});
    const MachineCosts costs = sites(8, Seconds(20e-3), 12.5e6, 25e6);
    const Request request = broadcast_of(1 << 20);
    const Plan plan = choose_plan(request, machine, {}, costs);
    INFO(plan.algorithm->name());
    CHECK(is_scatter_allgather(*plan.algorithm));
    const std::vector<int> relays = relays_of(plan, machine);
    CHECK(relays.size() > 1);
    CHECK(std::find(relays.begin(), relays.end(), 0) == relays.end());
    const double relayed = simulated_seconds(plan, machine, costs);
    double best = 1;
    for (const char* name : {"multi-leader-nearest/chain@8K", "multi-leader-jackson/binary@8Kx4",
                             "multi-leader-ecef-la-max/chain@8K", "multi-leader-flat/chain@8Kx4"})
        best = std::min(
            best, simulated_seconds(choose_plan(request, machine, parse_rules(name), costs), machine, costs));
    INFO("relayed " << relayed << " s, best of the others " << best);
    CHECK(relayed < 0.85 * best);
}

TEST_CASE("a site with a slow uplink relays nothing", "[scatter_allgather]") {
    const Machine machine = machine_of({4, 4, 4, 4, 4});
    MachineCosts costs = sites(5, Seconds(20e-3), 12.5e6, 50e6);
    costs.cluster(3).uplink_out = 2e6;
    const Plan plan =
        choose_plan(broadcast_of(4 << 20), machine, parse_rules("scatter-allgather/chain@8Kx12"), costs);
    const std::vector<int> relays = relays_of(plan, machine);
    CHECK(relays.size() > 1);
    CHECK(std::find(relays.begin(), relays.end(), 3) == relays.end());
}

TEST_CASE("relays are not looked for where clusters are in groups", "[scatter_allgather]") {
    const Machine grouped = test::grouped_machine({0, 0, 1, 1}, 2);
    const AlgorithmPtr algorithm = parse_algorithm("scatter-allgather/chain@8Kx4", Collective::bcast);
    CHECK_FALSE(algorithm->can_do(broadcast_of(1 << 20), grouped));
    CHECK_FALSE(algorithm->can_do(broadcast_of(1 << 20), machine_of({8})));
    CHECK(algorithm->can_do(broadcast_of(1 << 20), machine_of({2, 2, 2, 2})));
    const MachineCosts costs = sites(4, Seconds(20e-3), 12.5e6, 25e6);
    const auto looked_at = [&](const Machine& machine) {
        const Request request = broadcast_of(8 << 20);
        const auto found = Pricing(request, machine, costs).all();
        return std::any_of(found.begin(), found.end(), [](const Candidate& candidate) {
            return is_scatter_allgather(*candidate.algorithm);
        });
    };
    CHECK(looked_at(machine_of({2, 2, 2, 2})));
    CHECK_FALSE(looked_at(grouped));
}
