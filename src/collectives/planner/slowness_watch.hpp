// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/units.hpp"

namespace laple {

/// Tells when the network has become much slower than the model that plans are made by.
///
/// A rank's time in a collective is the network's and that of waiting for ranks that come late. In
/// collectives that no rank leaves before all have come (MPI_Allreduce, MPI_Barrier), the rank that comes
/// last waits for nobody: the least of all ranks' times, measured by predicted, is the network's or less. So
/// each rank keeps those of kWindow calls in a row, and then all ranks find the least of each call, by one
/// small reduction:
///
///     calls     1 ... 64       ...        1025 ... 1088      ...       2049 ...
///               kWindow, due    not watched     kWindow, due
///
/// Every rank counts the same calls, so all agree on when that is due without a message. Where ranks never
/// come together, slowness may stay unnoticed; there is no false alarm.
class SlownessWatch {
  public:
    static constexpr int kWindow = 64;
    static constexpr int kEvery = 1024;
    /// What is said to be slow. Predictions are within some tens of percent where processors have the time.
    static constexpr double kSlow = 3;
    /// Of predictions below that, processors and ranks that share them are a large part.
    static constexpr Seconds kLeastPredicted{1e-3};

    using Ratios = std::array<double, kWindow>;

    /// Adds a call. True when the ranks shall find the least of their ratios() after it.
    bool add(Seconds predicted, Seconds measured) {
        if (calls_ == kEvery) calls_ = 0;
        if (calls_ < kWindow) ratios_[static_cast<std::size_t>(calls_)] = measured / predicted;
        ++calls_;
        return calls_ == kWindow;
    }

    /// Measured by predicted, of each call of the window.
    const Ratios& ratios() const { return ratios_; }

    /// How many times as long as predicted most of the calls took: the median.
    static double typical(Ratios least_of_all_ranks) {
        const auto middle = least_of_all_ranks.begin() + kWindow / 2;
        std::nth_element(least_of_all_ranks.begin(), middle, least_of_all_ranks.end());
        return *middle;
    }

  private:
    int calls_ = 0;  // from 0 to kEvery
    Ratios ratios_{};
};

}  // namespace laple
