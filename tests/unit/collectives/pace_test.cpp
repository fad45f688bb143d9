// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/planner.hpp"
#include "simulated.hpp"

using namespace laple;

namespace {

/// Of ranks that have one, in ascending order.
std::vector<double> paces(Plan plan, const Machine& machine, const std::vector<Rank>& ranks) {
    plan.windows.pace.assign(static_cast<std::size_t>(machine.cluster_count()), 1e-6);
    std::vector<double> all;
    for (const Rank rank : ranks) {
        const double pace =
            expand(plan, machine, rank).seconds_per_unit / static_cast<double>(plan.request.unit_bytes);
        if (pace > 0) all.push_back(pace);
    }
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE("who sends for fewer ranks of another cluster takes as long", "[pace]") {
    const Machine machine(Topology::from_clusters(5, {{0, 1, 2}, {3, 4}}));
    const Plan plan{request_for(Collective::reduce_scatter, 64 << 10),
                    parse_algorithm("cluster-combining@16K", Collective::reduce_scatter), ""};
    CHECK(paces(plan, machine, {3, 4}) == std::vector<double>{1e-6, 2e-6});
    CHECK(paces(plan, machine, {0, 1, 2}) == std::vector<double>{1e-6, 1e-6});
}

TEST_CASE("a host with fewer ranks takes as long to send their blocks", "[pace]") {
    const Machine machine(Topology::from_clusters(5, {{0, 1, 2}, {3, 4}}), {0, 0, 1, 2, 2});
    const Plan plan{request_for(Collective::allgather, 64 << 10),
                    parse_algorithm("multi-leader-exchange@16K", Collective::allgather), ""};
    CHECK(paces(plan, machine, {0, 3}) == std::vector<double>{1e-6, 1e-6});
    CHECK(paces(plan, machine, {2}) == std::vector<double>{2e-6});
}
