// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/plan.hpp"
#include "some_costs.hpp"

using namespace laple;

namespace {

const Machine kThreeClusters(Topology::from_clusters(6, {{0, 1}, {2, 3}, {4, 5}}));

}  // namespace

TEST_CASE("in segments, each cluster gets one before one gets its second, at a pace", "[exchange]") {
    Plan plan{request_for(Collective::allgather, 3000),
              parse_algorithm("multi-leader-exchange@1000", Collective::allgather), ""};
    plan.windows.pace = {1e-6, 1e-6, 1e-6};
    const Schedule schedule = expand(plan, kThreeClusters, 0);
    std::vector<Rank> far;
    std::size_t near = 0;
    for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send) continue;
        CHECK(step.units == 1000);
        CHECK(step.is_paced == (step.peer > 1));
        if (step.peer > 1)
            far.push_back(step.peer);
        else
            ++near;
    }
    CHECK(far == std::vector<Rank>{2, 4, 2, 4, 2, 4});
    CHECK(near == 9);  // its own block, and one of each other cluster
    CHECK(schedule.seconds_per_unit == 1e-6);
}

TEST_CASE("an exchange in segments takes what ports and uplinks need, and a latency", "[exchange]") {
    const Machine machine(Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}}));
    const MachineCosts costs = test::uniform_costs(2, Seconds(10e-3), 12.5e6);
    const Request request = request_for(Collective::allgather, 512 * 1024);
    Pricing pricing(request, machine, costs);
    const auto algorithm = parse_algorithm("multi-leader-exchange@16K", Collective::allgather);
    const auto candidate = algorithm->price(pricing);
    // Each host sends its block to one of the other cluster, and three times the two that go around.
    CHECK(candidate->seconds == Approx(10e-3 + 7 * 512 * 1024 / 12.5e6).epsilon(0.1));
    REQUIRE(candidate->pace.size() == 2);
    // The other cluster gets 4 blocks by a link of one NIC's rate.
    CHECK(candidate->pace[0] == Approx(1 / 12.5e6).epsilon(0.1));
}
