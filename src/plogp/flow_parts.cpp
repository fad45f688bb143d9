// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/flow_parts.hpp"

#include <algorithm>
#include <chrono>

namespace laple {
namespace {

// Where parts begin and end, in a flow's time.
constexpr double kEarlyBegin = 0.35;
constexpr double kLateBegin = kEarlyBegin + FlowRate::kPart;
constexpr double kEarlyEnd = kLateBegin;
constexpr double kLateEnd = kLateBegin + FlowRate::kPart;

constexpr Seconds kAtOnce = std::chrono::microseconds(200);

/// How much of the time from `since` to `until` is in a part, which begins and ends then.
double share(Seconds since, Seconds until, Seconds begin, Seconds end) {
    if (until <= since) return since >= begin && since < end ? 1 : 0;
    return std::max(std::min(until, end) - std::max(since, begin), Seconds(0)) / (until - since);
}

}  // namespace

void FlowParts::add(Seconds time, Bytes bytes) {
    if (time - begin_ > kAtOnce) {
        since_ = last_;
        begin_ = time;
    }
    last_ = time;
    const auto in_part = [&](double begin, double end) {
        return static_cast<double>(bytes) * share(since_, time, begin * duration_, end * duration_);
    };
    early_ += in_part(kEarlyBegin, kEarlyEnd);
    late_ += in_part(kLateBegin, kLateEnd);
}

FlowRate FlowParts::rates() const {
    return {early_ / (FlowRate::kPart * duration_.count()), late_ / (FlowRate::kPart * duration_.count())};
}

}  // namespace laple
