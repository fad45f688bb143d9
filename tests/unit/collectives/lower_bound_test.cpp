// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collective/lower_bound.hpp"

#include <algorithm>
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

/// Hosts in random clusters, each with one rank or some more, in any order.
struct RandomHosts {
    std::vector<int> cluster_of;  // by host
    std::vector<int> host_of;     // by rank
    std::vector<int> ranks_on;    // by host
};

RandomHosts random_hosts(std::mt19937_64& random, std::size_t clusters) {
    RandomHosts hosts;
    const std::size_t count = 2 + below(random, 15);
    const std::size_t most = 1 + below(random, 3);
    for (std::size_t host = 0; host < count; ++host) {
        hosts.cluster_of.push_back(static_cast<int>(below(random, clusters)));
        hosts.ranks_on.push_back(static_cast<int>(1 + below(random, most)));
        hosts.host_of.insert(hosts.host_of.end(), static_cast<std::size_t>(hosts.ranks_on.back()),
                             static_cast<int>(host));
    }
    std::shuffle(hosts.host_of.begin(), hosts.host_of.end(), random);
    return hosts;
}

/// Ranks of a host share its port, and their memory takes no time. The arguments must outlive it.
SimulatedNetwork simulated(const Network& network, const RandomHosts& hosts) {
    const auto host_of = [&](Rank rank) {
        return static_cast<std::size_t>(hosts.host_of[static_cast<std::size_t>(rank)]);
    };
    const auto cluster_of = [&hosts, host_of](Rank rank) {
        return static_cast<std::size_t>(hosts.cluster_of[host_of(rank)]);
    };
    const auto site_of = [&network, cluster_of](Rank rank) {
        return static_cast<std::size_t>(network.clusters[cluster_of(rank)].site);
    };
    const auto port = [&hosts, host_of](Rank rank, Rank from, Rank to) {
        const bool is_on_host = host_of(from) == host_of(to);
        return is_on_host ? hosts.ranks_on.size() + static_cast<std::size_t>(rank) : host_of(rank);
    };
    SimulatedNetwork simulated;
    simulated.port_count = hosts.ranks_on.size() + hosts.host_of.size();
    simulated.port_out = [port](Rank from, Rank to) { return port(from, from, to); };
    simulated.port_in = [port](Rank from, Rank to) { return port(to, from, to); };
    simulated.gap = [&network, host_of](Rank from, Rank to, Bytes bytes) {
        return Seconds(host_of(from) == host_of(to) ? 0 : static_cast<double>(bytes) / network.nic);
    };
    simulated.latency = [&network, host_of, cluster_of](Rank from, Rank to) {
        return host_of(from) == host_of(to) ? Seconds(0) : network.latency[cluster_of(from)][cluster_of(to)];
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
    // Whichever of a rank at A and one at C is the later one, 15 ms are between them by way of B.
    CHECK(bound_ms(Collective::scan, 8, 0, three_sites()) == Approx(15).epsilon(1e-3));
    CHECK(bound_ms(Collective::exscan, 8, 0, three_sites()) == Approx(15).epsilon(1e-3));
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

TEST_CASE("what the ranks of a host contribute passes its NIC, one after the other") {
    const Network network = three_sites();
    const auto ms = [&](const std::vector<int>& clusters, const std::vector<int>& ranks) {
        return lower_bound(Collective::allgather, 1'000'000, 0, clusters, network, ranks).time.count() * 1e3;
    };
    // Within A, 100 us apart and 100 MB/s each: the host of one rank receives most.
    CHECK(ms({0, 0, 0}, {1, 1, 1}) == Approx(20.1));
    CHECK(ms({0, 0, 0}, {1, 4, 4}) == Approx(80.1));
    CHECK(ms({0, 0, 0}, {4, 4, 4}) == Approx(80.1));
    // Eight ranks of A into B, 10 ms away, through 50 MB/s.
    CHECK(ms({0, 0, 1, 1}, {4, 4, 1, 1}) == Approx(10 + 8e3 / 50));
    // Of all others a host's NIC carries one copy, however many ranks it has.
    CHECK(lower_bound(Collective::bcast, 10'000'000, 1, {0, 0, 0}, network, {8, 8, 8}).time.count() ==
          Approx(0.1001));
}

TEST_CASE("no algorithm is simulated to be faster than the bound, on random networks") {
    std::mt19937_64 random(20061109);
    int cases = 0;
    double tightest = 0;
    for (int t = 0; t < 1000; ++t) {
        const std::size_t clusters = 1 + below(random, 5);
        const Network network = random_network(random, clusters);
        const RandomHosts hosts = random_hosts(random, clusters);
        const std::size_t size = hosts.host_of.size();
        std::vector<int> cluster_of_rank;
        for (const int host : hosts.host_of)
            cluster_of_rank.push_back(hosts.cluster_of[static_cast<std::size_t>(host)]);
        const Machine machine(Topology::from_labels(static_cast<int>(size), {cluster_of_rank}),
                              hosts.host_of);
        const SimulatedNetwork simulation = simulated(network, hosts);
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
            const int root_host = hosts.host_of[static_cast<std::size_t>(plan.request.root)];
            const LowerBound bound =
                lower_bound(collective, bytes, root_host, hosts.cluster_of, network, hosts.ranks_on);
            ++cases;
            if (result.makespan.count() > 0) tightest = std::max(tightest, bound.time / result.makespan);
            if (bound.time <= result.makespan * (1 + 1e-9)) continue;
            FAIL(fmt::format("{} {} bytes, root {}, {}: bound {} ({}) but simulated {}", name_of(collective),
                             bytes, root, algorithm->name(), format_seconds(bound.time), bound.binds,
                             format_seconds(result.makespan)));
        }
    }
    CHECK(cases > 2400);
    CHECK(tightest > 0.99);  // else the test would let a worthless bound pass
}
