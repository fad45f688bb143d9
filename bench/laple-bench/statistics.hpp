// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace laple::bench {

/// What is reported of a row's samples, in their unit.
struct Summary {
    int count = 0;
    double min = 0;
    double median = 0;
    double p95 = 0;  ///< 95th percentile, nearest rank: the smallest sample not below 95 % of them
    double max = 0;
};

/// Of no samples: all zeros.
Summary summarize(std::vector<double> samples);

}  // namespace laple::bench
