// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collective/lower_bound.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/simulation/simulator.hpp"
#include "support/algorithms.hpp"

using namespace laple;

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// Three sites of two hosts, 100 MB/s each; A and B 10 ms apart, C 20 ms from A and 5 ms from B.
Network three_sites() {
    Network network;
    network.name = "three";
    network.nic = 100e6;
    network.clusters = {{"a", 0}, {"b", 1}, {"c", 2}};
    network.sites = {{"A", 150e6}, {"B", 50e6}, {"C", 200e6}};
    const auto ms = [](double value) { return Seconds(value * 1e-3); };
    network.latency = {{ms(0.1), ms(10), ms(20)}, {ms(10), ms(0.1), ms(5)}, {ms(20), ms(5), ms(0.1)}};
    network.link.assign(3, std::vector<double>(3, kUnlimited));
    return network;
}

const std::vector<int> kTwoEach{0, 0, 1, 1, 2, 2};

double bound_ms(Collective collective, Bytes bytes, int root, const Network& network,
                const std::vector<int>& clusters = kTwoEach) {
    return lower_bound(collective, bytes, root, clusters, network).time.count() * 1e3;
}

std::string binds(Collective collective, Bytes bytes, int root, const Network& network) {
    return lower_bound(collective, bytes, root, kTwoEach, network).binds;
}

std::size_t below(std::mt19937_64& random, std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
}

Network random_network(std::mt19937_64& random, std::size_t clusters) {
    const auto draw = [&](double low, double high) {
        return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
    };
    Network network;
    network.nic = draw(1e6, 1e9);
    const std::size_t sites = 1 + below(random, clusters);
    for (std::size_t s = 0; s < sites; ++s) network.sites.push_back({fmt::format("s{}", s), draw(1e6, 1e10)});
    for (std::size_t c = 0; c < clusters; ++c) {
        const std::size_t site = c < sites ? c : below(random, sites);
        network.clusters.push_back({fmt::format("c{}", c), static_cast<int>(site)});
    }
    network.latency.assign(clusters, std::vector<Seconds>(clusters));
    for (auto& row : network.latency) {
        for (Seconds& latency : row) latency = Seconds(draw(1e-5, 1e-1));  // not even symmetric
    }
    network.link.assign(sites, std::vector<double>(sites, kUnlimited));
    for (std::size_t a = 0; a < sites; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            if (below(random, 2) == 0) network.link[a][b] = network.link[b][a] = draw(1e6, 1e9);
        }
    }
    return network;
}

SimulatedNetwork simulated(const Network& network, const std::vector<int>& cluster_of_rank) {
    const auto cluster_of = [&](Rank rank) {
        return static_cast<std::size_t>(cluster_of_rank[static_cast<std::size_t>(rank)]);
    };
    const auto site_of = [&network, cluster_of](Rank rank) {
        return static_cast<std::size_t>(network.clusters[cluster_of(rank)].site);
    };
    SimulatedNetwork simulated;
    simulated.port_count = cluster_of_rank.size();
    simulated.port_out = [](Rank from, Rank) { return static_cast<std::size_t>(from); };
    simulated.port_in = [](Rank, Rank to) { return static_cast<std::size_t>(to); };
    simulated.gap = [&](Rank, Rank, Bytes bytes) {
        return Seconds(static_cast<double>(bytes) / network.nic);
    };
    simulated.latency = [&network, cluster_of](Rank from, Rank to) {
        return network.latency[cluster_of(from)][cluster_of(to)];
    };
    simulated.shared_links = [&network, site_of](Rank from, Rank to, Bytes bytes) {
        const std::size_t a = site_of(from);
        const std::size_t b = site_of(to);
        std::vector<SimulatedNetwork::SharedLink> links;
        if (a == b) return links;
        const std::size_t count = network.sites.size();
        const auto add = [&](std::size_t number, double rate) {
            links.push_back({number, Seconds(static_cast<double>(bytes) / rate)});
        };
        add(a, network.sites[a].uplink);
        if (network.link[a][b] < kUnlimited) add(2 * count + a * count + b, network.link[a][b]);
        add(count + b, network.sites[b].uplink);
        return links;
    };
    return simulated;
}

}  // namespace

TEST_CASE("lower bounds computed by hand") {
    const Network network = three_sites();
    // A to C is 15 ms by way of B.
    CHECK(bound_ms(Collective::bcast, 0, 0, network) == Approx(15));
    CHECK(bound_ms(Collective::barrier, 0, 0, network) == Approx(15));
    CHECK(bound_ms(Collective::reduce, 0, 2, network) == Approx(10));
    // 10 MB: through C's NIC, 15 + 100 ms; into B, 10 + 200 ms. And A with C, without B: no limit but A's.
    CHECK(bound_ms(Collective::bcast, 10'000'000, 0, network) == Approx(210));
    CHECK(binds(Collective::bcast, 10'000'000, 0, network) == "into B");
    // From B: what leaves it is the limit, and A, 10 ms away, is not the last to hear of it: C is 5 ms away.
    CHECK(bound_ms(Collective::bcast, 10'000'000, 2, network) == Approx(205));
    // B must hear of A, 10 ms away, and of everything through 50 MB/s.
    CHECK(bound_ms(Collective::allreduce, 10'000'000, 0, network) == Approx(210));
}

TEST_CASE("a link between two sites binds only where there is no way round") {
    Network network = three_sites();
    network.link[0][2] = network.link[2][0] = 1e6;
    // C gets 50 MB/s from B, by B's uplink, and 1 MB/s from A.
    CHECK(bound_ms(Collective::bcast, 10'000'000, 0, network) == Approx(15 + 10e3 / 51));
    network.link[1][2] = network.link[2][1] = 1e6;
    CHECK(bound_ms(Collective::bcast, 10'000'000, 0, network) == Approx(15 + 10e3 / 2));
    CHECK(binds(Collective::bcast, 10'000'000, 0, network) == "into C");
}

TEST_CASE("a cut through the middle of four sites binds") {
    Network network;
    network.nic = 1e9;
    for (int s = 0; s < 4; ++s) {
        network.sites.push_back({std::string(1, static_cast<char>('A' + s)), 1e9});
        network.clusters.push_back({network.sites.back().name, s});
    }
    network.latency.assign(4, std::vector<Seconds>(4, Seconds(1e-3)));
    network.link.assign(4, std::vector<double>(4, kUnlimited));
    for (const std::size_t left : {0u, 1u}) {
        for (const std::size_t right : {2u, 3u}) network.link[left][right] = network.link[right][left] = 1e6;
    }
    const LowerBound bound = lower_bound(Collective::bcast, 4'000'000, 0, {0, 0, 1, 1, 2, 2, 3, 3}, network);
    CHECK(bound.time.count() == Approx(1.001));
    CHECK(bound.binds == "into C+D");
}

TEST_CASE("one cluster: the NICs bind") {
    Network network = three_sites();
    const std::vector<int> four{0, 0, 0, 0};
    CHECK(bound_ms(Collective::bcast, 10'000'000, 1, network, four) == Approx(100.1));
    CHECK(bound_ms(Collective::allreduce, 10'000'000, 0, network, four) == Approx(150.1));
    CHECK(bound_ms(Collective::allreduce, 10'000'000, 0, network, {0}) == 0);
}

TEST_CASE("no algorithm is simulated to be faster than the bound, on random networks") {
    std::mt19937_64 random(20061109);
    int cases = 0;
    double tightest = 0;
    for (int t = 0; t < 2500; ++t) {
        const std::size_t clusters = 1 + below(random, 5);
        const Network network = random_network(random, clusters);
        const std::size_t size = 2 + below(random, 15);
        std::vector<int> cluster_of;
        for (std::size_t rank = 0; rank < size; ++rank)
            cluster_of.push_back(static_cast<int>(below(random, clusters)));
        const Machine machine(Topology::from_labels(static_cast<int>(size), {cluster_of}));
        const SimulatedNetwork simulation = simulated(network, cluster_of);
        for (const Collective collective : kAllCollectives) {
            const auto names = test::algorithm_names(collective);
            const AlgorithmPtr algorithm = parse_algorithm(names[below(random, names.size())], collective);
            if (algorithm->is_native_in_clusters()) continue;  // takes no time in the simulator
            const Rank root = static_cast<Rank>(below(random, size));
            const bool has_data = row_of(collective).has_data;
            const Bytes bytes = has_data ? Bytes{1} << below(random, 13) : 0;
            const Plan plan{
                {collective, has_data ? bytes : 1, Bytes{has_data}, row_of(collective).is_rooted ? root : 0},
                algorithm,
                ""};
            if (!algorithm->can_do(plan.request, machine)) continue;
            const auto schedules = expand_all(plan, machine);
            SimulationOptions options;
            options.network = simulation;
            const auto result = simulate(schedules, machine, nullptr, options);
            REQUIRE(result.ok());
            const LowerBound bound = lower_bound(collective, bytes, root, cluster_of, network);
            ++cases;
            if (result.makespan.count() > 0) tightest = std::max(tightest, bound.time / result.makespan);
            if (bound.time <= result.makespan * (1 + 1e-9)) continue;
            FAIL(fmt::format("{} {} bytes, root {}, {}: bound {} ({}) but simulated {}", name_of(collective),
                             bytes, root, algorithm->name(), format_seconds(bound.time), bound.binds,
                             format_seconds(result.makespan)));
        }
    }
    CHECK(cases > 6000);
    CHECK(tightest > 0.99);  // else the test would let a worthless bound pass
}
