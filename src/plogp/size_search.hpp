// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/units.hpp"

namespace laple {

/// Decides which sizes of messages to measure: powers of a step, and where a curve bends, the sizes around
/// the bend. So protocol steps (eager to rendezvous) are found without measuring every size.
///
/// A size is expected on the line through the two known ones below it. When a time differs from that by more
/// than `max_difference` of it, the middle between it and its lower neighbour is measured too, and so on,
/// down to a distance of max(32, resolution × size) bytes. (Kielmann, Bal, Verstoep, 2000)
class SizeSearch {
  public:
    struct Options {
        Bytes max_bytes = 8 * 1024 * 1024;
        Bytes first = 1;  ///< the smallest size but 0; the next are step times as large
        Bytes step = 2;
        double max_difference = 0.20;
        double resolution = 0.10;
        std::size_t max_between = 40;  ///< how many sizes may be added to the powers
    };

    explicit SizeSearch(const Options& options);

    /// The next size to measure; nothing when there is no more to find.
    std::optional<Bytes> next();

    /// The times measured for the size that next() has given: of every curve one, always in the same order.
    void add(Bytes bytes, const std::vector<Seconds>& times);

  private:
    bool bends_at(Bytes bytes) const;

    Options options_;
    std::set<Bytes> open_;
    std::size_t between_ = 0;
    std::map<Bytes, std::vector<Seconds>> known_;
};

}  // namespace laple
