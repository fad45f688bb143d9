// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/arrival_rate.hpp"

namespace laple {
namespace {

constexpr double kBegin = 0.75;
constexpr double kLeastPart = 0.125;              // of the time: what comes in less may have waited somewhere
constexpr std::uint64_t kLeastBytes = 24 * 1024;  // 16 TCP segments: one more or less does not matter

}  // namespace

bool ArrivalRate::wants(Seconds now, bool is_last) const {
    if (until_) return false;
    if (!first_ || is_last) return true;
    return part(now) >= 1 || (!since_ && part(now) >= kBegin);
}

void ArrivalRate::note(Seconds time, std::uint64_t bytes, bool is_last) {
    if (bytes == 0 || until_) return;
    const Arrival now{time, bytes};
    if (!first_) first_ = now;
    if (!since_ && part(time) >= kBegin) since_ = now;
    if (is_last || part(time) >= 1) until_ = now;
}

double ArrivalRate::rate() const {
    if (!until_) return 0;
    const auto rate_since = [&](const Arrival& since) {
        const bool is_later = until_->time > since.time && until_->bytes > since.bytes;
        return is_later
                   ? static_cast<double>(until_->bytes - since.bytes) / (until_->time - since.time).count()
                   : 0;
    };
    const bool is_enough = since_ && until_->bytes >= since_->bytes + kLeastBytes &&
                           until_->time >= since_->time + kLeastPart * duration_;
    if (is_enough) return rate_since(*since_);
    const double rate = rate_since(*first_);
    return rate > 0 ? rate : rate_since(start_);
}

}  // namespace laple
