// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/simulation/simulated_network.hpp"
#include "collectives/simulation/simulator.hpp"

namespace laple::test {

/// How long a plan takes on the network of `costs`, as the event simulator sees it.
inline double simulated_seconds(const Plan& plan, const Machine& machine, const MachineCosts& costs) {
    const auto schedules = expand_all(plan, machine);
    SimulationOptions options;
    options.network = simulated_network(machine, costs, plan.segments().count() > 1);
    const SimulationResult result = simulate(schedules, machine, nullptr, options);
    REQUIRE(result.ok());
    return result.makespan.count();
}

/// With the usual windows.
inline Plan plan_of(const Request& request, const Candidate& candidate) {
    return {request, candidate.algorithm, ""};
}

/// The price of the algorithm of that name.
inline std::optional<Candidate> price_of(std::string_view name, const Request& request,
                                         const Machine& machine, const MachineCosts& costs) {
    Pricing pricing(request, machine, costs);
    return parse_algorithm(name, request.collective)->price(pricing);
}

/// Clusters of so many hosts of one rank each, one cluster after the other.
inline Machine machine_of(const std::vector<int>& sizes) {
    std::vector<std::vector<Rank>> clusters;
    Rank next = 0;
    for (const int size : sizes) {
        auto& cluster = clusters.emplace_back();
        for (int i = 0; i < size; ++i) cluster.push_back(next++);
    }
    return Machine(Topology::from_clusters(next, clusters));
}

/// So many clusters of `hosts` hosts of `ranks` ranks each, in blocks, or dealt round all hosts.
inline Machine machine_of_hosts(int clusters, int hosts, int ranks, bool are_dealt = false) {
    const int all_hosts = clusters * hosts;
    std::vector<std::vector<Rank>> ranks_of(static_cast<std::size_t>(clusters));
    std::vector<Host> host_of;
    for (Rank rank = 0; rank < all_hosts * ranks; ++rank) {
        const Host host = are_dealt ? rank % all_hosts : rank / ranks;
        host_of.push_back(host);
        ranks_of[static_cast<std::size_t>(host / hosts)].push_back(rank);
    }
    return Machine(Topology::from_clusters(all_hosts * ranks, ranks_of), host_of);
}

/// As many clusters as there are numbers, of `hosts` hosts of one rank each; the numbers are of their groups.
inline Machine grouped_machine(const std::vector<int>& group_of_cluster, int hosts) {
    std::vector<std::vector<int>> labels(2);
    for (std::size_t cluster = 0; cluster < group_of_cluster.size(); ++cluster) {
        for (int i = 0; i < hosts; ++i) {
            labels[0].push_back(group_of_cluster[cluster]);
            labels[1].push_back(static_cast<int>(cluster));
        }
    }
    return Machine(Topology::from_labels(static_cast<int>(labels[0].size()), labels));
}

}  // namespace laple::test
