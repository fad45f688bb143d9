// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "base/units.hpp"

namespace laple {

/// Repeats a measurement until its mean is known well enough.
///
/// Settled when the one-sided 90 % confidence interval of the mean is narrower than 2·precision of it, or
/// after `most` values. (Kielmann, Bal, Verstoep, 2000)
///
/// Disturbances only ever add to a time, and some add much: the smallest value, not the mean, is what stands
/// in a model of latency. Both are given.
class Sampler {
  public:
    struct Options {
        double precision = 0.03;
        std::size_t least = 3;
        std::size_t most = 72;
    };

    explicit Sampler(const Options& options) : options_(options) {}

    void add(Seconds value);
    bool is_settled() const;

    std::size_t count() const { return count_; }
    Seconds smallest() const { return smallest_; }
    Seconds mean() const { return Seconds(mean_); }
    /// By how much the mean may be exceeded, with a probability of 90 % not to be; infinite for less than two
    /// values.
    Seconds confidence() const;

  private:
    Options options_;
    std::size_t count_ = 0;
    double mean_ = 0;
    double squares_ = 0;  // sum of squared differences from the mean (Welford)
    Seconds smallest_{0};
};

}  // namespace laple
