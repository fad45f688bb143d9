// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "judge.hpp"

using namespace laple;
using namespace laple::test;

namespace {

constexpr std::uint64_t kMachines = 28;
constexpr std::uint64_t kMostMessages = 1500;

/// What is reached: half of the errors are smaller than `median`, 95 % smaller than `of_95`.
struct Bar {
    const char* family;
    const char* collective;
    double median;
    double of_95;
};

/// Of all together, but those of collectives of blocks, half are within 2 % and 95 % within 10 %;
/// bench/planner/README.md tells of those families that are not, and why.
constexpr double kMedianOfAll = 0.02;
constexpr double kOf95OfAll = 0.10;
const std::vector<Bar> kBars{
    {"cluster-aggregation", "alltoall", 0.055, 0.12},
    {"cluster-aggregation", "gather", 0.040, 0.56},
    {"cluster-aggregation", "scatter", 0.060, 0.40},
    {"cluster-combining", "reduce_scatter", 0.045, 0.39},
    {"cluster-combining@", "reduce_scatter", 0.085, 0.20},
    {"direct", "alltoall", 0.010, 0.16},
    {"direct", "gather", 0.050, 0.24},
    {"direct", "reduce_scatter", 0.010, 0.20},
    {"direct", "scatter", 0.015, 0.21},
    {"direct-exchange", "allreduce", 0.010, 0.20},
    {"direct-exchange", "barrier", 0.005, 0.01},
    {"direct-exchange@", "allreduce", 0.020, 0.06},
    {"direct-exchange@x", "allreduce", 0.110, 0.13},
    {"direct@", "alltoall", 0.010, 0.07},
    {"direct@", "gather", 0.040, 0.14},
    {"direct@", "reduce_scatter", 0.010, 0.08},
    {"direct@", "scatter", 0.015, 0.065},
    {"dissemination", "barrier", 0.005, 0.02},
    {"dissemination, clusters", "barrier", 0.005, 0.01},
    {"halving-doubling", "allreduce", 0.090, 0.09},
    {"halving-doubling, clusters", "allreduce", 0.005, 0.14},
    {"halving-doubling@", "allreduce", 0.060, 0.06},
    {"halving-gather", "reduce", 0.010, 0.01},
    {"halving-gather, clusters", "reduce", 0.005, 0.06},
    {"host-aggregation", "alltoall", 0.055, 0.33},
    {"host-aggregation", "gather", 0.115, 0.29},
    {"host-aggregation", "scatter", 0.010, 0.34},
    {"host-aggregation@", "alltoall", 0.010, 0.03},
    {"host-aggregation@", "gather", 0.175, 0.37},
    {"host-aggregation@", "scatter", 0.040, 0.14},
    {"host-combining", "reduce_scatter", 0.030, 0.26},
    {"host-combining@", "reduce_scatter", 0.005, 0.01},
    {"leader-exchange", "allgather", 0.005, 0.06},
    {"leader-exchange@", "allgather", 0.005, 0.31},
    {"multi-leader tree", "allreduce", 0.005, 0.04},
    {"multi-leader tree", "barrier", 0.005, 0.01},
    {"multi-leader tree", "bcast", 0.005, 0.01},
    {"multi-leader tree", "reduce", 0.005, 0.02},
    {"multi-leader tree@", "allreduce", 0.020, 0.07},
    {"multi-leader tree@", "bcast", 0.005, 0.01},
    {"multi-leader tree@", "reduce", 0.005, 0.01},
    {"multi-leader tree@x", "allreduce", 0.045, 0.08},
    {"multi-leader tree@x", "bcast", 0.035, 0.20},
    {"multi-leader tree@x", "reduce", 0.005, 0.07},
    {"multi-leader-exchange", "allgather", 0.005, 0.04},
    {"multi-leader-exchange@", "allgather", 0.025, 0.11},
    {"multi-leader-halving-doubling, clusters", "allreduce", 0.005, 0.15},
    {"multi-leader-halving-gather, clusters", "reduce", 0.060, 0.16},
    {"prefix-chain", "exscan", 0.005, 0.01},
    {"prefix-chain", "scan", 0.005, 0.01},
    {"prefix-chain@", "exscan", 0.005, 0.01},
    {"prefix-chain@", "scan", 0.005, 0.02},
    {"prefix-exchange", "exscan", 0.070, 0.42},
    {"prefix-exchange", "scan", 0.070, 0.10},
    {"prefix-exchange@", "exscan", 0.085, 0.32},
    {"prefix-exchange@", "scan", 0.095, 0.10},
    {"prefix-gather", "exscan", 0.005, 0.09},
    {"prefix-gather", "scan", 0.005, 0.09},
    {"recursive-doubling", "allreduce", 0.010, 0.21},
    {"recursive-doubling", "barrier", 0.005, 0.07},
    {"recursive-doubling@", "allreduce", 0.010, 0.02},
    {"recursive-doubling@x", "allreduce", 0.100, 0.10},
    {"ring", "allgather", 0.005, 0.01},
    {"ring", "allreduce", 0.005, 0.01},
    {"ring, clusters", "allgather", 0.005, 0.01},
    {"ring, clusters", "allreduce", 0.005, 0.01},
    {"rsag@", "allreduce", 0.065, 0.12},
    {"rsag@x", "allreduce", 0.195, 0.22},
    {"scatter-allgather@x", "bcast", 0.015, 0.03},
    {"scatter-doubling", "bcast", 0.150, 0.15},
    {"scatter-doubling, clusters", "bcast", 0.025, 0.15},
    {"scatter-ring", "bcast", 0.065, 0.08},
    {"scatter-ring, clusters", "bcast", 0.005, 0.07},
    {"three-level@x", "allreduce", 0.170, 0.17},
    {"tree", "allreduce", 0.005, 0.04},
    {"tree", "barrier", 0.005, 0.07},
    {"tree", "bcast", 0.005, 0.01},
    {"tree", "reduce", 0.005, 0.02},
    {"tree@", "allreduce", 0.020, 0.06},
    {"tree@", "bcast", 0.005, 0.03},
    {"tree@", "reduce", 0.005, 0.01},
};

}  // namespace

TEST_CASE("prices are as near to the simulator as they have been", "[prices]") {
    std::vector<Verdict> verdicts;
    for (std::uint64_t machine = 0; machine < kMachines; ++machine) {
        for (Verdict& verdict : judge(machine, kMostMessages)) verdicts.push_back(std::move(verdict));
    }
    const auto errors = errors_of(verdicts);
    for (const auto& [key, of_family] : errors) {
        const auto& [family, collective] = key;
        INFO(family << " " << collective << ", worst: " << describe(of_family.worst));
        const auto bar =
            std::find_if(kBars.begin(), kBars.end(), [&, name = family, what = collective](const Bar& each) {
                return each.family == name && each.collective == what;
            });
        REQUIRE(bar != kBars.end());
        CHECK(of_family.quantile(0.5) <= bar->median);
        CHECK(of_family.quantile(0.95) <= bar->of_95);
    }
    CHECK(errors.size() == kBars.size());
    // Of collectives of blocks the loads of ports are added up: prices are coarser.
    std::erase_if(verdicts, [](const Verdict& verdict) {
        return is_personalized(verdict.collective) || is_combined_in_parts(verdict.collective);
    });
    for (Verdict& verdict : verdicts) {
        verdict.family = "all";
        verdict.collective = Collective::bcast;
    }
    const Errors of_all = errors_of(verdicts).begin()->second;
    CHECK(of_all.quantile(0.5) <= kMedianOfAll);
    CHECK(of_all.quantile(0.95) <= kOf95OfAll);
}

TEST_CASE("a machine follows from its number", "[prices]") {
    CHECK(draw_machine(7).machine == draw_machine(7).machine);
    CHECK(draw_machine(7).costs.numbers() == draw_machine(7).costs.numbers());
    CHECK_FALSE(draw_machine(7).costs.numbers() == draw_machine(8).costs.numbers());
}
