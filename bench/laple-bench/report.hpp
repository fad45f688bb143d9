// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"
#include "bench/laple-bench/benchmark.hpp"
#include "bench/laple-bench/statistics.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/collective/lower_bound.hpp"

namespace laple::bench {

/// One line of the table. Times in microseconds.
struct Row {
    Benchmark benchmark;
    Bytes bytes = 0;  ///< 0 for a barrier; on average, where blocks differ
    Summary stock_us;
    Summary laple_us;
    std::string algorithm;
    std::optional<bool> correct;      ///< empty: not checked
    std::optional<LowerBound> bound;  ///< empty: the network is not known
};

/// What has to be known to judge the figures, or to measure them again.
struct Context {
    int ranks = 0;
    std::vector<std::string> hosts;  ///< in the order of their first ranks
    std::vector<int> host_of_rank;   ///< as an index into `hosts`
    bool has_bounds = false;
    std::string mpi_library;
    std::optional<std::string> laple_version;  ///< empty: LaPle was not loaded
    std::string date;                          ///< ISO 8601, UTC
    std::string clock;
    std::string command;
    Rank root = 0;
    std::optional<int> iterations;  ///< empty: chosen for each size
    double cold_s = 0;
    double budget_s = 0;
    int late_starts_repeated = 0;
    int late_starts_kept = 0;
    std::map<std::string, std::string> environment;
};

/// The median of MPI's own library over LaPle's: above 1, LaPle is faster. 0 when it cannot be said.
double speedup(const Row& row);

/// The bound over LaPle's median, or over MPI's own where LaPle was not measured: at most 1, but for noise
/// and what the bound's network leaves out. Nothing when it cannot be said.
std::optional<double> efficiency(const Row& row);

/// The comment lines that say what ran where; each ends with a newline.
std::string format_run(const Context& context);

/// What the columns of the calls that LaPle may do are named: without it they are MPI's own "again".
const char* second_library(const Context& context);

Json context_json(const Context& context);

/// The comment lines above the table, the last one naming the columns; each ends with a newline.
std::string format_header(const Context& context, bool full);

/// One line of the table, without its newline.
std::string format_row(const Row& row, bool full);

/// The document "laple-bench-1".
Json to_json(const Context& context, const std::vector<Row>& rows);

/// A line of names and one line for each row.
std::string to_csv(const std::vector<Row>& rows);

}  // namespace laple::bench
