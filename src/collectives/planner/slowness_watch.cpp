// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/slowness_watch.hpp"

#include <algorithm>
#include <cstddef>

namespace laple {

bool SlownessWatch::add(Seconds predicted, Seconds measured) {
    if (calls_ == kEvery) calls_ = 0;
    if (calls_ < kWindow) ratios_[static_cast<std::size_t>(calls_)] = measured / predicted;
    ++calls_;
    return calls_ == kWindow;
}

double SlownessWatch::typical(Ratios least_of_all_ranks) {
    const auto middle = least_of_all_ranks.begin() + kWindow / 2;
    std::nth_element(least_of_all_ranks.begin(), middle, least_of_all_ranks.end());
    return *middle;
}

}  // namespace laple
