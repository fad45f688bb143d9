// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace laple {
namespace {

/// Student's t at 90 %, one-sided, by degrees of freedom from 1; beyond, that of the normal distribution.
double t_quantile(std::size_t freedom) {
    constexpr std::array<double, 30> kTable{3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397,
                                            1.383, 1.372, 1.363, 1.356, 1.350, 1.345, 1.341, 1.337,
                                            1.333, 1.330, 1.328, 1.325, 1.323, 1.321, 1.319, 1.318,
                                            1.316, 1.315, 1.314, 1.313, 1.311, 1.310};
    return freedom <= kTable.size() ? kTable[freedom - 1] : 1.282;
}

}  // namespace

void Sampler::add(Seconds value) {
    smallest_ = count_ == 0 ? value : std::min(smallest_, value);
    ++count_;
    const double before = value.count() - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (value.count() - mean_);
}

Seconds Sampler::confidence() const {
    if (count_ < 2) return Seconds(std::numeric_limits<double>::infinity());
    const auto count = static_cast<double>(count_);
    return Seconds(t_quantile(count_ - 1) * std::sqrt(squares_ / (count - 1) / count));
}

bool Sampler::is_settled() const {
    if (count_ >= options_.most) return true;
    return count_ >= options_.least && confidence() < 2 * options_.precision * mean();
}

}  // namespace laple
