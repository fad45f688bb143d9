// SPDX-License-Identifier: BSD-3-Clause
#include "monte_carlo.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/json.hpp"
#include "collectives/trees/best_order.hpp"
#include "collectives/trees/heuristics.hpp"

namespace laple::plan {
namespace {

constexpr double kEqual = 1e-9;  // makespans that differ by less, in proportion, are the same
constexpr int kPart = 100;       // runs that a thread does at a time, from a seed of their own

ClusterTimes drawn(int clusters, std::mt19937_64& random) {
    const auto draw = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    ClusterTimes times(clusters);
    for (int a = 0; a < clusters; ++a) {
        times.set_local(a, draw(0.02, 3.0));
        for (int b = 0; b < a; ++b) {
            const double gap = draw(0.10, 0.60);
            const double latency = draw(0.001, 0.015);
            times.set_gap(a, b, gap);
            times.set_gap(b, a, gap);
            times.set_latency(a, b, latency);
            times.set_latency(b, a, latency);
        }
    }
    return times;
}

struct Sum {
    double makespan = 0;
    double ratio = 0;
    int hits = 0;
};
using Sums = std::vector<Sum>;

std::size_t competitors(const MonteCarloOptions& options) {
    return heuristics().size() + 1 + (options.improve ? 1 : 0);
}

/// `runs` networks; of each, every heuristic's makespan. The portfolio is the best of them.
Sums run_part(int clusters, int runs, std::uint64_t seed, const MonteCarloOptions& options) {
    std::mt19937_64 random(seed);
    Sums sums(competitors(options));
    std::vector<double> makespans;
    for (int run = 0; run < runs; ++run) {
        const ClusterTimes times = drawn(clusters, random);
        makespans.clear();
        for (const Heuristic& heuristic : heuristics())
            makespans.push_back(makespan(times, heuristic.build(times, 0), 0, options.phase));
        makespans.push_back(*std::min_element(makespans.begin(), makespans.end()));
        if (options.improve) makespans.push_back(best_order(times, 0, options.phase).makespan);
        const double best = *std::min_element(makespans.begin(), makespans.end());
        for (std::size_t i = 0; i < makespans.size(); ++i) {
            sums[i].makespan += makespans[i];
            sums[i].ratio += makespans[i] / best;
            if (makespans[i] <= best * (1 + kEqual)) ++sums[i].hits;
        }
    }
    return sums;
}

MonteCarloRow row_of(int clusters, const MonteCarloOptions& options) {
    const auto parts = static_cast<std::size_t>((options.runs + kPart - 1) / kPart);
    std::vector<Sums> results(parts);
    const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, parts);
    std::vector<std::thread> workers;
    for (std::size_t worker = 0; worker < threads; ++worker) {
        workers.emplace_back([&, worker] {
            for (std::size_t part = worker; part < parts; part += threads) {
                const int runs = std::min(kPart, options.runs - static_cast<int>(part) * kPart);
                const std::uint64_t seed =
                    (options.seed * 1000003 + static_cast<std::uint64_t>(clusters)) * 1000003 + part;
                results[part] = run_part(clusters, runs, seed, options);
            }
        });
    }
    for (std::thread& worker : workers) worker.join();
    Sums total(competitors(options));
    for (const Sums& sums : results) {
        for (std::size_t i = 0; i < total.size(); ++i) {
            total[i].makespan += sums[i].makespan;
            total[i].ratio += sums[i].ratio;
            total[i].hits += sums[i].hits;
        }
    }
    MonteCarloRow row{clusters, {}};
    for (std::size_t i = 0; i < total.size(); ++i) {
        const std::string name = i < heuristics().size()    ? std::string(heuristics()[i].name)
                                 : i == heuristics().size() ? "portfolio"
                                                            : "best";
        row.scores.push_back({name, total[i].makespan / options.runs, total[i].ratio / options.runs,
                              static_cast<double>(total[i].hits) / options.runs});
    }
    return row;
}

const char* name_of(LocalPhase phase) {
    return phase == LocalPhase::after_sends ? "after their own sends" : "at once, by a sub-leader";
}

}  // namespace

std::vector<MonteCarloRow> monte_carlo(const MonteCarloOptions& options) {
    std::vector<MonteCarloRow> rows;
    for (const int clusters : options.clusters) rows.push_back(row_of(clusters, options));
    return rows;
}

std::string text_of(const std::vector<MonteCarloRow>& rows, const MonteCarloOptions& options) {
    std::string text = fmt::format(
        "{} random networks of each size; leaders begin inside {}.\nMakespan by that of the best of the "
        "run, "
        "and in how many runs no other was better\n\nclusters",
        options.runs, name_of(options.phase));
    for (const Score& score : rows.front().scores) text += fmt::format(" {:>13}", score.name);
    for (const MonteCarloRow& row : rows) {
        text += fmt::format("\n{:>8}", row.clusters);
        for (const Score& score : row.scores)
            text += fmt::format("  {:.3f} {:>4.0f} %", score.ratio, 100 * score.hit_rate);
    }
    return text + "\n";
}

std::string json_of(const std::vector<MonteCarloRow>& rows, const MonteCarloOptions& options) {
    Json document{{"format", "laple-monte-carlo-1"},
                  {"runs", options.runs},
                  {"seed", options.seed},
                  {"local_phase", options.phase == LocalPhase::after_sends ? "after_sends" : "at_once"}};
    document["rows"] = Json::array();
    for (const MonteCarloRow& row : rows) {
        Json entry{{"clusters", row.clusters}};
        entry["scores"] = Json::array();
        for (const Score& score : row.scores)
            entry["scores"].push_back({{"name", score.name},
                                       {"mean", score.mean},
                                       {"ratio", score.ratio},
                                       {"hit_rate", score.hit_rate}});
        document["rows"].push_back(std::move(entry));
    }
    return json_text(document, 2) + "\n";
}

}  // namespace laple::plan
