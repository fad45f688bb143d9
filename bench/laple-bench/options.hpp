// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "bench/laple-bench/benchmark.hpp"
#include "bench/laple-bench/block_sizes.hpp"
#include "mpi/probe/clock_choice.hpp"

namespace laple::bench {

using mpi::ClockChoice;

/// Which columns are measured.
enum class Measured { both, stock, laple };

struct Options {
    std::vector<Benchmark> benchmarks;
    std::vector<Bytes> sizes;
    std::optional<int> iterations;  ///< of each of the two libraries; empty: iterations_for()
    std::optional<int> warmups;     ///< empty: warmups_for()
    Rank root = 0;
    Spread spread = Spread::equal;  ///< of blocks, where each rank has a count
    bool full = false;
    bool check = false;
    bool overlap = false;     ///< calls that are started, and completed after work of the program's own
    bool persistent = false;  ///< by requests that are made once
    bool idle_work = false;   ///< the work needs no core
    Seconds test_every{0};    ///< MPI_Test during the work; 0: never
    Seconds cold{0};          ///< idle time before each measured call; 0: none
    Seconds budget{20};
    ClockChoice clock = ClockChoice::automatic;
    Measured measured = Measured::both;
    std::string network_file;  ///< empty: no bounds
    std::string json_file;
    std::string csv_file;
};

/// Reads the command line, `arguments` without the program's name. When it asks for the help or the version,
/// writes that to `out` and returns nothing. Throws Error for anything that is not understood.
std::optional<Options> parse_options(const std::vector<std::string>& arguments, std::ostream& out);

/// "8:1M" → 8, 16, ... 1M; "1M" and "8:" leave the other end at 8 and at 1M. Throws Error.
std::vector<Bytes> parse_size_range(std::string_view text);

/// Iterations and warm-ups where none are asked for: many for small messages, few for large ones, and few
/// after idle pauses, which take long and vary little.
int iterations_for(const Options& options, Bytes bytes);
int warmups_for(const Options& options, Bytes bytes);

}  // namespace laple::bench
