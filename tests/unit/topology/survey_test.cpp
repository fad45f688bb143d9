// SPDX-License-Identifier: BSD-3-Clause
#include "topology/survey.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "support/random.hpp"
#include "topology/typical_pair.hpp"

using namespace laple;
using namespace laple::test;

namespace {

/// Who is where, and how far the sites are from each other, in seconds; the diagonal is a site's LAN.
struct Machine {
    std::vector<int> site_of;
    std::vector<std::vector<double>> latency;

    int nodes() const { return static_cast<int>(site_of.size()); }
    double at(int a, int b) const {
        return latency[static_cast<std::size_t>(site_of[static_cast<std::size_t>(a)])]
                      [static_cast<std::size_t>(site_of[static_cast<std::size_t>(b)])];
    }
    Clusters sites() const {
        std::map<int, std::vector<int>> members;
        for (int node = 0; node < nodes(); ++node)
            members[site_of[static_cast<std::size_t>(node)]].push_back(node);
        Clusters clusters;
        for (auto& [site, nodes_of_site] : members) clusters.push_back(nodes_of_site);
        std::sort(clusters.begin(), clusters.end());
        return clusters;
    }
};

Machine machine_of(const std::vector<int>& sizes, double lan, const std::function<double()>& wan) {
    Machine machine;
    for (std::size_t site = 0; site < sizes.size(); ++site)
        machine.site_of.insert(machine.site_of.end(), static_cast<std::size_t>(sizes[site]),
                               static_cast<int>(site));
    machine.latency.assign(sizes.size(), std::vector<double>(sizes.size(), lan));
    for (std::size_t a = 0; a < sizes.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) machine.latency[a][b] = machine.latency[b][a] = wan();
    }
    return machine;
}

std::vector<int> ascending(int nodes) {
    std::vector<int> order(static_cast<std::size_t>(nodes));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

struct Outcome {
    Findings findings;
    int measurements = 0;
    double time = 0;  // of the rounds, each as long as its longest round trip
};

Outcome run(
    Survey& survey, const Machine& machine, const std::function<double()>& noise = [] { return 1.0; }) {
    Outcome outcome;
    for (int series = 0;; ++series) {
        REQUIRE(series < 10'000);
        const auto rounds = survey.next();
        if (rounds.empty()) break;
        for (const ProbeRound& round : rounds) {
            std::set<int> busy;
            double longest = 0;
            for (const NodePair& pair : round) {
                REQUIRE(pair.a != pair.b);
                REQUIRE(busy.insert(pair.a).second);
                REQUIRE(busy.insert(pair.b).second);
                const double latency = machine.at(pair.a, pair.b) * noise();
                survey.add({pair, Seconds(latency)});
                ++outcome.measurements;
                longest = std::max(longest, latency);
            }
            outcome.time += 2 * longest;
        }
    }
    outcome.findings = survey.findings();
    return outcome;
}

}  // namespace

TEST_CASE("all pairs are measured once, and the doubtful ones again", "[survey]") {
    const Machine machine = machine_of({4, 3, 1}, 50e-6, [] { return 10e-3; });
    const auto outcome = run(*survey_all_pairs(8, Clustering::sites), machine);
    CHECK(outcome.measurements == 28);
    CHECK(outcome.findings.clusters == machine.sites());
    CHECK(outcome.findings.between.at(0, 2) == Seconds(10e-3));
    CHECK(outcome.findings.inside[0] == Seconds(50e-6));
    CHECK(outcome.findings.matrix.nodes() == 8);

    Random random(3);
    const auto disturbed = run(*survey_all_pairs(8, Clustering::sites), machine,
                               [&] { return uniform(random, 0, 1) < 0.2 ? 3.0 : 1.0; });
    CHECK(disturbed.measurements > 28);
    CHECK(disturbed.findings.clusters == machine.sites());
}

TEST_CASE("near sites are looked at twice, and oftener only while that changes anything", "[survey]") {
    const Machine machine = machine_of({4, 4, 4}, 50e-6, [] { return 0.3e-3; });
    constexpr int kPairs = 12 * 11 / 2;
    constexpr int kBetween = 3 * 4 * 4;
    const auto quiet = run(*survey_all_pairs(12, Clustering::sites), machine);
    CHECK(quiet.findings.clusters == machine.sites());
    CHECK(quiet.measurements == kPairs + kBetween);

    const Machine zones = machine_of({170, 170, 172}, 50e-6, [] { return 0.3e-3; });
    const auto many = run(*survey_by_landmarks(ascending(512)), zones);
    CHECK(many.findings.clusters == zones.sites());
    CHECK(many.measurements < 2 * 512 * 3);

    Random random(4);
    for (int i = 0; i < 50; ++i) {
        const auto busy = run(*survey_all_pairs(12, Clustering::sites), machine,
                              [&] { return uniform(random, 0, 1) < 0.3 ? uniform(random, 1, 4) : 1.0; });
        INFO(i);
        CHECK(busy.findings.clusters == machine.sites());
        CHECK(busy.measurements > kPairs + kBetween);
    }
}

TEST_CASE("of no and of one node nothing is asked", "[survey]") {
    for (const int nodes : {0, 1}) {
        const auto survey = survey_all_pairs(nodes, Clustering::sites);
        CHECK(survey->next().empty());
        CHECK(survey->findings().clusters.size() == static_cast<std::size_t>(nodes));
    }
}

TEST_CASE("landmarks find the clusters of 512 nodes by a tenth of the pairs and of the time", "[survey]") {
    // Sixteen sites along a line, 5 ms apart.
    Machine machine = machine_of(std::vector<int>(16, 32), 50e-6, [] { return 0.0; });
    for (std::size_t a = 0; a < 16; ++a) {
        for (std::size_t b = 0; b < 16; ++b) {
            if (a != b) machine.latency[a][b] = 5e-3 * static_cast<double>(a > b ? a - b : b - a);
        }
    }
    const auto all = run(*survey_all_pairs(512, Clustering::sites), machine);
    const auto some = run(*survey_by_landmarks(ascending(512)), machine);
    CHECK(some.findings.clusters == machine.sites());
    CHECK(some.findings.odd_pairs == 0);
    CHECK(some.measurements * 10 < all.measurements);
    INFO(some.time << " of " << all.time);
    CHECK(some.time * 10 < all.time);
    CHECK(some.findings.pairs <= some.measurements);
}

TEST_CASE("with landmarks, pairs grow as n log n", "[survey]") {
    for (const int nodes : {128, 256, 512, 1024, 2048}) {
        const Machine machine = machine_of(std::vector<int>(8, nodes / 8), 50e-6, [] { return 10e-3; });
        const auto outcome = run(*survey_by_landmarks(ascending(nodes)), machine);
        INFO(nodes << " nodes: " << outcome.measurements);
        CHECK(outcome.findings.clusters == machine.sites());
        CHECK(outcome.measurements < nodes * std::log2(nodes));
    }
}

TEST_CASE("landmarks find random machines in any order of nodes, despite noise", "[survey]") {
    Random random(5);
    for (int i = 0; i < 300; ++i) {
        std::vector<int> sizes;
        const int sites = uniform_int(random, 1, 12);
        for (int site = 0; site < sites; ++site) sizes.push_back(uniform_int(random, 1, 60));
        sizes.push_back(uniform_int(random, 2, 60));
        const double lan = 60e-6;
        const double ratio = std::exp(uniform(random, std::log(5), std::log(1000)));
        Machine machine = machine_of(sizes, lan, [&] { return lan * ratio * uniform(random, 1, 3); });
        if (i % 2 == 1) std::shuffle(machine.site_of.begin(), machine.site_of.end(), random);
        const double noise = uniform(random, 0, 0.3);
        const auto outcome = run(*survey_by_landmarks(ascending(machine.nodes())), machine,
                                 [&] { return uniform(random, 1, 1 + noise); });
        INFO("machine " << i << ": " << machine.nodes() << " nodes, " << sizes.size() << " sites, ratio "
                        << ratio << ", noise " << noise << ", " << outcome.measurements << " measurements");
        CHECK(outcome.findings.clusters == machine.sites());
        const int pairs = machine.nodes() * (machine.nodes() - 1) / 2;
        CHECK(outcome.findings.pairs <= pairs);
    }
}

TEST_CASE("landmarks find a lone node that no sample would hit", "[survey]") {
    for (int lone = 0; lone < 200; lone += 7) {
        std::vector<int> sizes{100, 100, 1};
        Machine machine = machine_of(sizes, 50e-6, [] { return 5e-3; });
        std::swap(machine.site_of[static_cast<std::size_t>(lone)], machine.site_of.back());
        const auto outcome = run(*survey_by_landmarks(ascending(machine.nodes())), machine);
        CHECK(outcome.findings.clusters == machine.sites());
    }
}

TEST_CASE("landmarks find many small sites", "[survey]") {
    Random random(9);
    const bool is_in_order = GENERATE(true, false);
    for (const auto& [sites, nodes] :
         {std::pair(64, 2), std::pair(64, 4), std::pair(64, 8), std::pair(100, 3), std::pair(128, 4)}) {
        const std::vector<int> sizes(static_cast<std::size_t>(sites), nodes);
        Machine machine = machine_of(sizes, 100e-6, [&] { return uniform(random, 4.5e-3, 5.5e-3); });
        if (!is_in_order) std::shuffle(machine.site_of.begin(), machine.site_of.end(), random);
        const auto outcome = run(*survey_by_landmarks(ascending(machine.nodes())), machine);
        INFO(sites << " sites of " << nodes << ": " << outcome.findings.clusters.size() << " found by "
                   << outcome.measurements << " measurements in " << outcome.time << " s");
        CHECK(outcome.findings.clusters == machine.sites());
    }
}

TEST_CASE("nodes that are each at a place of their own end up alone", "[survey]") {
    Random random(6);
    const Machine machine =
        machine_of(std::vector<int>(80, 1), 0, [&] { return uniform(random, 5e-3, 100e-3); });
    const auto outcome = run(*survey_by_landmarks(ascending(80)), machine);
    // Which of them are called near each other is the clustering's affair; that all are placed once is ours.
    std::set<int> seen;
    for (const auto& cluster : outcome.findings.clusters) seen.insert(cluster.begin(), cluster.end());
    CHECK(seen.size() == 80);
}

TEST_CASE("wildly disturbed measurements still end, with every node in one cluster", "[survey]") {
    Random random(7);
    for (int i = 0; i < 100; ++i) {
        std::vector<int> sizes;
        for (int site = uniform_int(random, 2, 20); site > 0; --site)
            sizes.push_back(uniform_int(random, 1, 12));
        sizes.push_back(70);
        const Machine machine = machine_of(sizes, 60e-6, [&] { return uniform(random, 1e-3, 50e-3); });
        const double share = uniform(random, 0, 0.5);
        const auto outcome = run(*survey_by_landmarks(ascending(machine.nodes())), machine, [&] {
            return uniform(random, 0, 1) < share ? uniform(random, 1, 20) : 1.0;
        });
        std::vector<int> seen;
        for (const auto& cluster : outcome.findings.clusters)
            seen.insert(seen.end(), cluster.begin(), cluster.end());
        std::sort(seen.begin(), seen.end());
        CHECK(seen == ascending(machine.nodes()));
        for (int a = 0; a < outcome.findings.between.nodes(); ++a) {
            for (int b = 0; b < a; ++b) CHECK(outcome.findings.between.at(a, b) > Seconds(0));
        }
    }
}

TEST_CASE("rounds of any pairs are disjoint and few", "[survey]") {
    Random random(8);
    for (int i = 0; i < 50; ++i) {
        std::set<std::pair<int, int>> wanted;
        const int nodes = uniform_int(random, 2, 40);
        for (int k = 0; k < 100; ++k) {
            const int a = uniform_int(random, 0, nodes - 1);
            const int b = uniform_int(random, 0, nodes - 1);
            if (a < b) wanted.emplace(a, b);
        }
        std::vector<NodePair> pairs;
        std::map<int, std::size_t> degree;
        for (const auto& [a, b] : wanted) {
            pairs.push_back({a, b});
            ++degree[a];
            ++degree[b];
        }
        std::size_t busiest = 0;
        for (const auto& [node, count] : degree) busiest = std::max(busiest, count);
        const auto rounds = rounds_of(pairs);
        CHECK(rounds.size() <= (busiest == 0 ? 0 : 2 * busiest - 1));
        std::set<std::pair<int, int>> met;
        for (const auto& round : rounds) {
            std::set<int> busy;
            for (const NodePair& pair : round) {
                CHECK(busy.insert(pair.a).second);
                CHECK(busy.insert(pair.b).second);
                CHECK(met.emplace(pair.a, pair.b).second);
            }
        }
        CHECK(met == wanted);
    }
}

TEST_CASE("a survey of all pairs can be used after the first look", "[survey]") {
    const auto survey = survey_all_pairs(4, Clustering::sites);
    CHECK_FALSE(survey->is_usable());
    const auto first = survey->next();
    CHECK_FALSE(survey->is_usable());
    for (const ProbeRound& round : first) {
        for (const NodePair& pair : round)
            survey->add({pair, Seconds(pair.a / 2 == pair.b / 2 ? 20e-6 : 300e-6)});
    }
    const auto second = survey->next();
    REQUIRE_FALSE(second.empty());  // 300 us may be noise on one LAN
    CHECK(survey->is_usable());
    CHECK(survey->findings().clusters == Clusters{{0, 1}, {2, 3}});
}

TEST_CASE("a survey by landmarks can be used once all nodes have their places", "[survey]") {
    const Machine machine = machine_of({60, 40}, 50e-6, [] { return 10e-3; });
    Random random(11);
    for (const double noise : {0.0, 0.2}) {  // of the measurements that are disturbed: nodes are placed anew
        const auto survey = survey_by_landmarks(ascending(100));
        CHECK_FALSE(survey->is_usable());
        int usable = 0;
        for (auto rounds = survey->next(); !rounds.empty(); rounds = survey->next()) {
            std::size_t placed = 0;
            for (const auto& cluster : survey->findings().clusters) placed += cluster.size();
            // All are there when the checks begin, and these are not over.
            CHECK((!survey->is_usable() || placed == 100));
            if (survey->is_usable()) ++usable;
            if (noise == 0 && survey->is_usable()) CHECK(survey->findings().clusters == machine.sites());
            for (const ProbeRound& round : rounds) {
                for (const auto& [a, b] : round) {
                    const double disturbance = uniform(random, 0, 1) < noise ? uniform(random, 1, 20) : 1;
                    survey->add({{a, b}, Seconds(machine.at(a, b) * disturbance)});
                }
            }
        }
        CHECK(usable > 0);
        CHECK(survey->is_usable());
    }
}

TEST_CASE("two nodes on one machine do not stand for their cluster", "[survey]") {
    for (const int nodes : {4, 100}) {
        Machine machine = machine_of({nodes}, 50e-6, [] { return 10e-3; });
        const auto survey = survey_sites(ascending(nodes));
        const auto usual = run(*survey, machine).findings;
        REQUIRE(usual.typical.size() == 1);
        CHECK(usual.typical.at(0).front().a == 0);

        const auto twins = survey_sites(ascending(nodes));
        for (auto rounds = twins->next(); !rounds.empty(); rounds = twins->next()) {
            for (const ProbeRound& round : rounds) {
                for (const auto& [a, b] : round) {
                    const bool are_twins = std::max(a, b) == 1;
                    // The latencies of a network differ a little.
                    twins->add(
                        {{a, b}, are_twins ? Seconds(10e-6) : Seconds(50e-6 + 1e-7 * (a + b) / nodes)});
                }
            }
        }
        const Findings found = twins->findings();
        REQUIRE(found.clusters.size() == 1);
        const NodePair typical = found.typical.at(0).front();
        CHECK(typical.a < typical.b);
        CHECK(typical.b > 1);
    }
}

TEST_CASE("of a usual network the first two nodes are typical", "[survey]") {
    LatencyMatrix matrix(5);
    for (int a = 0; a < 5; ++a) {
        for (int b = 0; b < a; ++b) matrix.set(a, b, Seconds(50e-6 + 1e-6 * ((a + b) % 3)));
    }
    CHECK(typical_pairs(matrix, {{0, 1, 2, 3}, {4}}) == TypicalPairs{{0, {{0, 1}, {2, 3}}}});
    matrix.set(0, 1, Seconds(10e-6));
    matrix.set(0, 2, Seconds(0.2));  // disturbed
    CHECK(typical_pairs(matrix, {{0, 1, 2, 3}, {4}}) == TypicalPairs{{0, {{0, 3}, {1, 2}}}});
    // Three machines of three virtual ones each, nearly as near each other as those on one.
    LatencyMatrix machines(9);
    for (int a = 0; a < 9; ++a) {
        for (int b = 0; b < a; ++b) machines.set(a, b, Seconds(a / 3 == b / 3 ? 25e-6 : 40e-6));
    }
    CHECK(typical_pairs(machines, {{0, 1, 2, 3, 4, 5, 6, 7, 8}}) ==
          TypicalPairs{{0, {{0, 3}, {1, 4}, {2, 5}}}});
    CHECK(typical_pairs(LatencyMatrix(0), {}).empty());
}
