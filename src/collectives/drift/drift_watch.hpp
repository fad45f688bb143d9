// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace laple {

/// Notices when links become faster or slower than they were at the calls before, by their spans (LinkSpans),
/// which each rank sees of its own messages at no cost. What all ranks have seen is put together while calls
/// go on, by a reduction that is begun before one call and ended before a later one, when it has long been
/// over:
///
///     calls    1  2  3 | 4 ... n | 1  2  3 | 4 ...
///              spans   begin     end: the longest of all ranks' medians, by what they usually are
///
/// Every rank counts the same calls, so all agree on when that is without a message. A value without clocks
/// or messages.
class DriftWatch {
  public:
    static constexpr int kWatched = 3;  ///< calls of which the median counts: one may meet anything
    /// Smaller changes are not worth new plans, or mere noise.
    static constexpr double kChange = 1.3;

    /// What spans are to be expected; empty: nothing is known.
    struct Expected {
        std::vector<double> usual = {};
        /// Whether links are slower than they were measured, so that they may recover.
        bool is_limited = false;
        /// By what spans become then.
        std::vector<double> recovery = {};
        /// So often must that be seen in a row.
        int patience = 2;
    };
    /// A reduction takes as long as so many calls.
    DriftWatch(int calls_of_reduction, Expected expected);

    enum class Due { nothing, begin, end };
    /// To be asked before each call, by all ranks: what they do first.
    Due next();
    /// Whether spans of this call are wanted.
    bool wants_spans() const { return calls_ <= kWatched; }
    void add(const std::vector<double>& spans) { mine_.push_back(spans); }

    /// Of this rank, of the calls that were watched: the medians.
    std::vector<double> spans() const;
    struct Finding {
        bool have_recovered = false;  ///< the links seem to be again as they were measured
        bool is_at_once = false;      ///< so soon that they may have been so all the time
        /// What each span is by the usual one, 0 where that is not known, if links have changed; else empty.
        std::vector<double> ratios = {};
        bool is_nothing() const { return !have_recovered && ratios.empty(); }
    };
    /// `agreed`: the longest ones of all ranks. A change must have been found at the time before, too.
    /// Where nothing is, they become usual bit by bit.
    Finding conclude(std::span<const double> agreed);
    /// What was found has no explanation: the last ones are usual from now on, and later findings are left
    /// alone for a while, each time longer.
    void take_as_usual(std::span<const double> agreed);
    const std::vector<double>& usual() const { return usual_; }

  private:
    std::vector<double> recovered() const;

    int calls_of_reduction_;
    int calls_ = 0;
    std::vector<std::vector<double>> mine_;
    std::vector<double> usual_;
    std::vector<double> recovery_;  // empty: the spans of these calls would not tell
    double suspected_ = 0;          // the change that the time before has shown; 0: none
    bool is_limited_;
    int patience_;
    int looks_ = 0;
    int ignored_ = 0;  // looks to come
    int unexplained_ = 0;
    int times_recovered_ = 0;  // in a row
};

}  // namespace laple
