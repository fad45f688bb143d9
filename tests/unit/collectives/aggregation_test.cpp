// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/plan.hpp"

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

/// Sends of rank 0 that wait for a receive.
int held_sends(Bytes global_window) {
    Plan plan{request_for(Collective::alltoall, 1000), parse_algorithm("direct", Collective::alltoall), ""};
    plan.windows.global = global_window;
    const Schedule schedule = expand(plan, kTwoClusters, 0);
    const auto waits = [&](const Step& step) {
        const auto earlier = schedule.dependencies_of(step);
        return step.kind == StepKind::send &&
               std::any_of(earlier.begin(), earlier.end(),
                           [&](std::uint32_t i) { return schedule.steps[i].kind == StepKind::recv; });
    };
    return static_cast<int>(std::count_if(schedule.steps.begin(), schedule.steps.end(), waits));
}

}  // namespace

TEST_CASE("blocks between two clusters go in one message each way", "[aggregation]") {
    CHECK(crossings("direct", Collective::alltoall) == 2 * 4 * 4);
    CHECK(crossings("cluster-aggregation", Collective::alltoall) == 2);
    CHECK(crossings("cluster-aggregation", Collective::gather) == 1);
    CHECK(crossings("cluster-aggregation", Collective::scatter) == 1);
}

TEST_CASE("an all-to-all has no more messages under way than its window", "[aggregation]") {
    CHECK(held_sends(0) == 0);
    CHECK(held_sends(250) >= 4);  // two of seven go at once
    CHECK(held_sends(500) <= 4);
    CHECK(held_sends(500) >= 2);
    CHECK(held_sends(1000) == 0);  // all of them
}
