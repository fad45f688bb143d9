// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective/collective.hpp"

namespace laple::bench {

using laple::Collective;
using laple::kAllCollectives;

/// How a function of MPI is told the sizes of blocks.
enum class Form {
    one_count,         ///< all blocks are of one size
    counts,            ///< a count for each rank: MPI_Alltoallv
    counts_and_types,  ///< a type for each rank, too: MPI_Alltoallw
};

/// What is measured: a collective, and by which function of MPI.
struct Benchmark {
    Collective collective = Collective::bcast;
    Form form = Form::one_count;
    bool operator==(const Benchmark&) const = default;
};

/// "bcast", "alltoallv", ...: as on the command line, in the table and in the JSON.
std::string to_string(Benchmark benchmark);

/// All of them: first those of one count, in the order of kAllCollectives.
const std::vector<Benchmark>& all_benchmarks();

/// Their names, in that order.
std::vector<std::string> benchmark_names();

/// The one of that name. Throws Error, naming the nearest one, when there is none.
Benchmark parse_benchmark(std::string_view name);

inline bool has_root(Benchmark b) {
    return row_of(b.collective).is_rooted;
}
inline bool has_data(Benchmark b) {
    return row_of(b.collective).has_data;
}

}  // namespace laple::bench
