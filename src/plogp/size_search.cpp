// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/size_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace laple {
namespace {

constexpr Bytes kFinest = 32;
constexpr Bytes kMultiple = 4;  // sizes between powers of two

}  // namespace

SizeSearch::SizeSearch(const Options& options) : options_(options) {
    open_.insert(0);
    for (Bytes bytes = options_.first; bytes <= options_.max_bytes; bytes *= options_.step)
        open_.insert(bytes);
}

std::optional<Bytes> SizeSearch::next() {
    if (open_.empty()) return std::nullopt;
    return *open_.begin();
}

void SizeSearch::add(Bytes bytes, const std::vector<Seconds>& times) {
    open_.erase(bytes);
    const auto entry = known_.insert_or_assign(bytes, times).first;
    // The middle that was just added may straighten the size above it, or show the bend to be in the lower
    // half: both are looked at.
    for (auto at = entry; at != known_.end() && std::distance(entry, at) < 2; ++at) {
        if (at == known_.begin() || !bends_at(at->first)) continue;
        const Bytes below = std::prev(at)->first;
        const Bytes middle = (below + at->first) / 2 / kMultiple * kMultiple;
        const auto finest =
            std::max(static_cast<double>(kFinest), options_.resolution * static_cast<double>(at->first));
        const bool is_wide = middle > below && static_cast<double>(at->first - below) > finest;
        if (is_wide && between_ < options_.max_between && open_.insert(middle).second) ++between_;
    }
}

bool SizeSearch::bends_at(Bytes bytes) const {
    const auto at = known_.find(bytes);
    if (std::distance(known_.begin(), at) < 2) return false;
    const auto below = std::prev(at);
    const auto before = std::prev(below);
    const double step =
        static_cast<double>(bytes - below->first) / static_cast<double>(below->first - before->first);
    for (std::size_t curve = 0; curve < at->second.size(); ++curve) {
        const double low = before->second[curve].count();
        const double high = below->second[curve].count();
        const double expected = high + step * (high - low);
        const double found = at->second[curve].count();
        if (std::abs(found - expected) > options_.max_difference * std::max(found, expected)) return true;
    }
    return false;
}

}  // namespace laple
