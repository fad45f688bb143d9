// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/trees/best_order.hpp"

#include <random>
#include <set>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "collectives/trees/heuristics.hpp"

using namespace laple;

namespace {

constexpr LocalPhase kPhases[] = {LocalPhase::after_sends, LocalPhase::at_once};

/// Clusters as Barchet-Estefanel and Mounié, 2006, draw them: gap 0.1 - 0.6 s, latency 1 - 15 ms, 0.02 - 3 s
/// inside. Symmetric or not.
ClusterTimes drawn(int count, std::mt19937_64& random, bool is_symmetric = true) {
    std::uniform_real_distribution<> gap(0.1, 0.6);
    std::uniform_real_distribution<> latency(1e-3, 15e-3);
    std::uniform_real_distribution<> local(0.02, 3);
    ClusterTimes times(count);
    for (int a = 0; a < count; ++a) {
        times.set_local(a, local(random));
        for (int b = 0; b < count; ++b) {
            if (b == a) continue;
            const bool is_known = is_symmetric && b < a;
            times.set_gap(a, b, is_known ? times.gap(b, a) : gap(random));
            times.set_latency(a, b, is_known ? times.latency(b, a) : latency(random));
        }
    }
    return times;
}

/// Every cluster but the root once, from one that has it.
bool reaches_all(const SendOrder& order, int count, int root) {
    std::set<int> have{root};
    for (const Send& send : order) {
        if (!have.contains(send.from) || !have.insert(send.to).second) return false;
    }
    return static_cast<int>(have.size()) == count;
}

/// Every order there is, one message after the other.
double least_of_all(const ClusterTimes& times, int root, LocalPhase phase, SendOrder& order,
                    std::set<int> have) {
    if (static_cast<int>(have.size()) == times.count()) return makespan(times, order, root, phase);
    double least = 1e300;
    for (const int from : have) {
        for (int to = 0; to < times.count(); ++to) {
            if (have.contains(to)) continue;
            auto more = have;
            more.insert(to);
            order.push_back({from, to});
            least = std::min(least, least_of_all(times, root, phase, order, more));
            order.pop_back();
        }
    }
    return least;
}

/// The rule of a heuristic, as it is written, in O(C^3).
template <typename Ahead>
SendOrder plain_ecef(const ClusterTimes& times, int root, Ahead ahead) {
    std::vector<double> ready(static_cast<std::size_t>(times.count()), -1);
    ready[static_cast<std::size_t>(root)] = 0;
    SendOrder order;
    const auto has = [&](int c) { return ready[static_cast<std::size_t>(c)] >= 0; };
    while (static_cast<int>(order.size()) + 1 < times.count()) {
        double least = 1e300;
        Send best;
        for (int j = 0; j < times.count(); ++j) {
            if (has(j)) continue;
            std::vector<int> others;
            for (int k = 0; k < times.count(); ++k) {
                if (!has(k) && k != j) others.push_back(k);
            }
            for (int i = 0; i < times.count(); ++i) {
                if (!has(i)) continue;
                const double price = ready[static_cast<std::size_t>(i)] + times.trip(i, j) + ahead(j, others);
                if (price < least) {
                    least = price;
                    best = {i, j};
                }
            }
        }
        const double start = ready[static_cast<std::size_t>(best.from)];
        ready[static_cast<std::size_t>(best.from)] += times.gap(best.from, best.to);
        ready[static_cast<std::size_t>(best.to)] = start + times.trip(best.from, best.to);
        order.push_back(best);
    }
    return order;
}

}  // namespace

TEST_CASE("the makespan follows the definition", "[send_order]") {
    ClusterTimes times(3);
    for (const auto& [a, b] : {std::pair(0, 1), {0, 2}, {1, 2}, {1, 0}, {2, 0}, {2, 1}}) {
        times.set_gap(a, b, 10 * a + b);
        times.set_latency(a, b, 100);
    }
    times.set_local(0, 1000);
    times.set_local(1, 2000);
    times.set_local(2, 1995);
    // 0 sends to 1 for 1, which has it at 101, and to 2 for 2, which has it at 103.
    CHECK(makespan(times, {{0, 1}, {0, 2}}, 0, LocalPhase::at_once) == 2101);
    // 1 sends to 2 from 101 until 113, and begins inside then; 2 has it at 213.
    CHECK(makespan(times, {{0, 1}, {1, 2}}, 0, LocalPhase::after_sends) == 2208);
    CHECK(makespan(times, {{0, 1}, {1, 2}}, 0, LocalPhase::at_once) == 2208);
    CHECK(makespan(times, {{0, 2}, {0, 1}}, 0, LocalPhase::after_sends) == 2103);
    CHECK(makespan(times, {}, 0, LocalPhase::at_once) == 1000);
    CHECK(times.reversed().gap(1, 2) == times.gap(2, 1));
    CHECK(times.reversed().reversed().trip(0, 2) == times.trip(0, 2));
}

TEST_CASE("every heuristic reaches every cluster once, from any root", "[heuristics]") {
    std::mt19937_64 random(1);
    for (int count = 1; count <= 12; ++count) {
        const ClusterTimes times = drawn(count, random, false);
        for (const Heuristic& heuristic : heuristics()) {
            INFO(heuristic.name << ", " << count << " clusters");
            for (int root = 0; root < count; ++root)
                CHECK(reaches_all(heuristic.build(times, root), count, root));
        }
    }
    CHECK(heuristic_named("ecef-la") != nullptr);
    CHECK(heuristic_named("ecef-la")->name == "ecef-la");
    CHECK(heuristic_named("ecef-lb") == nullptr);
}

TEST_CASE("the quick forms of the heuristics are the rules as they are written", "[heuristics]") {
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 200; ++trial) {
        const int count = 2 + trial % 9;
        const int root = trial % count;
        const ClusterTimes times = drawn(count, random, trial % 2 == 0);
        const auto least = [&](bool with_local, bool is_max) {
            return [&times, with_local, is_max](int j, const std::vector<int>& others) {
                double best = 0;
                bool is_first = true;
                for (const int k : others) {
                    const double price = times.trip(j, k) + (with_local ? times.local(k) : 0);
                    if (is_first || (is_max ? price > best : price < best)) best = price;
                    is_first = false;
                }
                return best;
            };
        };
        const auto none = [](int, const std::vector<int>&) { return 0.0; };
        CHECK(heuristic_named("ecef")->build(times, root) == plain_ecef(times, root, none));
        CHECK(heuristic_named("ecef-la")->build(times, root) == plain_ecef(times, root, least(false, false)));
        CHECK(heuristic_named("ecef-la-min")->build(times, root) ==
              plain_ecef(times, root, least(true, false)));
        CHECK(heuristic_named("ecef-la-max")->build(times, root) ==
              plain_ecef(times, root, least(true, true)));
    }
}

TEST_CASE("heuristics break ties by the lowest numbers", "[heuristics]") {
    ClusterTimes times(4);
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) times.set_gap(a, b, 1);
    }
    CHECK(heuristic_named("jackson")->build(times, 1) == SendOrder{{1, 0}, {1, 2}, {1, 3}});
    CHECK(heuristic_named("fef")->build(times, 0) == SendOrder{{0, 1}, {0, 2}, {0, 3}});
    CHECK(heuristic_named("ecef")->build(times, 0) == SendOrder{{0, 1}, {0, 2}, {1, 3}});
}

TEST_CASE("Jackson's rule is the best of all flat orders", "[heuristics]") {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 50; ++trial) {
        const ClusterTimes times = drawn(6, random);
        SendOrder order = heuristic_named("flat")->build(times, 0);
        double least = 1e300;
        do {
            least = std::min(least, makespan(times, order, 0, LocalPhase::at_once));
        } while (std::next_permutation(order.begin(), order.end(),
                                       [](const Send& a, const Send& b) { return a.to < b.to; }));
        CHECK(makespan(times, heuristic_named("jackson")->build(times, 0), 0, LocalPhase::at_once) ==
              Approx(least));
    }
}

TEST_CASE("the exact order is the best of all", "[best_order]") {
    std::mt19937_64 random(4);
    for (int trial = 0; trial < 60; ++trial) {
        const int count = 1 + trial % 5;
        const int root = trial % count;
        const ClusterTimes times = drawn(count, random, trial % 2 == 0);
        for (const LocalPhase phase : kPhases) {
            const SendOrder order = exact_order(times, root, phase);
            REQUIRE(reaches_all(order, count, root));
            SendOrder all;
            CHECK(makespan(times, order, root, phase) ==
                  Approx(least_of_all(times, root, phase, all, {root})).epsilon(1e-12));
        }
    }
    CHECK_THROWS_AS(exact_order(ClusterTimes(kExactClusters + 1), 0, LocalPhase::at_once),
                    std::invalid_argument);
}

TEST_CASE("the best order is never worse than any heuristic", "[best_order]") {
    std::mt19937_64 random(5);
    int improvements = 0;
    for (int trial = 0; trial < 120; ++trial) {
        const int count = 1 + trial % 24;
        const int root = trial % count;
        const ClusterTimes times = drawn(count, random);
        for (const LocalPhase phase : kPhases) {
            const BestOrder best = best_order(times, root, phase);
            REQUIRE(reaches_all(best.order, count, root));
            CHECK(best.makespan == makespan(times, best.order, root, phase));
            for (const Heuristic& heuristic : heuristics())
                CHECK(best.makespan <= makespan(times, heuristic.build(times, root), root, phase));
            CHECK((best.found_by == "exact") == (count <= kExactClusters));
            improvements += best.found_by.ends_with("+") ? 1 : 0;
        }
    }
    CHECK(improvements > 50);
}
