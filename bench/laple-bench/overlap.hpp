// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"
#include "bench/laple-bench/benchmark.hpp"
#include "bench/laple-bench/report.hpp"
#include "bench/laple-bench/statistics.hpp"

namespace laple::bench {

/// How much of a call a program hides behind its own work, as IMB-NBC has it. Times in microseconds.
struct Overlap {
    Summary blocking;    ///< the call of the same library that does not return before it is complete
    Summary pure;        ///< started, and waited for
    Summary overlapped;  ///< started; work for as long as `pure`; and waited for
};

struct OverlapRow {
    Benchmark benchmark;
    Bytes bytes = 0;
    Overlap stock;
    Overlap laple;
    std::string algorithm;
};

/// (pure + work - overlapped) / pure, where the work takes as long as `pure`: 1, all of the call is hidden;
/// 0, nothing is. Within [0, 1]. Source: Intel MPI Benchmarks, IMB-NBC.
double share_hidden(const Overlap& overlap);

/// The comment lines above the table, the last one naming the columns; each ends with a newline.
std::string format_overlap_header(const Context& context);
/// One line of the table, without its newline.
std::string format_overlap_row(const OverlapRow& row);
/// The document "laple-bench-overlap-1".
Json overlap_to_json(const Context& context, const std::vector<OverlapRow>& rows);

}  // namespace laple::bench
