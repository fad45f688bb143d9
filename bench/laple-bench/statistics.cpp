// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/statistics.hpp"

#include <algorithm>

namespace laple::bench {

Summary summarize(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const std::size_t n = samples.size();
    Summary summary;
    summary.count = static_cast<int>(n);
    summary.min = samples.front();
    summary.median = (samples[(n - 1) / 2] + samples[n / 2]) / 2;
    summary.p95 = samples[(95 * n + 99) / 100 - 1];
    summary.max = samples.back();
    return summary;
}

}  // namespace laple::bench
