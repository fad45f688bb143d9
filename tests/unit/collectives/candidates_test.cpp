// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/candidates.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "collectives/hierarchy.hpp"
#include "collectives/order_rule.hpp"
#include "collectives/planner.hpp"
#include "collectives/verifier.hpp"
#include "some_costs.hpp"
#include "support/random_topology.hpp"

using namespace laple;

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
    return plan;
}

double simulated_seconds(const Plan& plan, const Topology& topology, const NetworkCosts& costs) {
    const auto schedules = expand_all(plan, topology);
    test::NoMemory memory;
    SimulationOptions options;
    options.network = test::simulated(costs, topology);
    const SimulationResult result = Simulator<test::NoMemory>(schedules, topology, memory, options).run();
    REQUIRE(result.ok());
    return result.makespan.count();
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
                    const double truth = simulated_seconds(plan_of(request, candidate), topology, costs);
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

TEST_CASE("numbers carry costs without a bit lost, and broken ones are refused", "[network_costs]") {
    std::mt19937_64 random(15);
    NetworkCosts costs = test::random_costs(3, random);
    costs.link(0, 1).lanes.rate = {{1, 1e7}, {4, 3.3e7}};
    costs.cluster(2).uplink_in = 1.0 / 3;
    const std::vector<double> numbers = costs.numbers();
    CHECK(NetworkCosts::from_numbers(numbers).numbers() == numbers);
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
    const NetworkCosts costs = costs_of(model, latency);
    REQUIRE(costs.count() == 3);
    CHECK(costs.link(2, 1).latency == 0.03);
    CHECK(costs.link(2, 1).gap.at(1000000).count() == Approx(0.1).epsilon(0.01));
    CHECK(costs.link(2, 2).latency > 0);
    CHECK(costs_of(LinkModel{}, latency).is_empty());
}
