// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/choice.hpp"

#include <algorithm>
#include <limits>

#include "collectives/algorithms/pricing.hpp"

namespace laple {
namespace {

/// How large segments are, as far as it matters. A processor needs some 10 us for each, which does not count
/// where segments are this far apart.
Bytes size_of_segments(const Candidate& candidate) {
    constexpr double kFarApart = 1e-3;
    constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
    if (candidate.segment_bytes() == 0) return kMost;
    return candidate.time.interval >= kFarApart ? kMost - 1 : candidate.segment_bytes();
}

/// Times that differ by less are equal: then the fewer messages share a port, and the fewer segments, the
/// better.
constexpr double kEqual = 1.001;

/// Whether the busiest NIC is idle for at least half of the time.
bool has_idle_nics(const Candidate& candidate) {
    return candidate.time.sustained <= candidate.seconds / 2;
}

/// Whether both are pipelines and the busiest NIC of `a` has clearly less load than that of `b`, which is
/// busy most of the time. A NIC that is never idle delays everything behind it whenever it falls behind, and
/// there may be several on a path.
bool has_less_busy_nics(const Candidate& a, const Candidate& b) {
    constexpr double kClearly = 0.75;
    return a.is_pipeline && b.is_pipeline && !has_idle_nics(b) &&
           a.time.sustained < kClearly * b.time.sustained;
}

/// Whether that is worth some time: each relay more waits for the delays of those before it.
bool is_steadier(const Candidate& a, const Candidate& b) {
    return has_less_busy_nics(a, b) && a.relays <= b.relays;
}

/// Whether links between clusters limit both pipelines, and fewer clusters are behind that link in `a`: it is
/// never idle, so all of them wait for each of its delays.
bool holds_up_fewer(const Candidate& a, const Candidate& b) {
    return a.is_pipeline && b.is_pipeline && a.behind > 0 && a.behind < b.behind;
}

/// Whether both are pipelines whose NICs are hardly ever idle, and that of `a` is the deeper one: its ranks
/// have fewer children, whose messages disturb each other in a port.
bool shares_ports_less(const Candidate& a, const Candidate& b) {
    return a.is_pipeline && b.is_pipeline && !has_idle_nics(b) && a.hops > b.hops;
}

/// Whether NICs are idle often enough in both, so that the time of ranks to pass a message on counts most,
/// and the path of `a` has clearly fewer ranks.
bool is_shorter(const Candidate& a, const Candidate& b) {
    constexpr int kClearlyFewer = 4;
    return has_idle_nics(a) && has_idle_nics(b) && a.hops + kClearlyFewer <= b.hops;
}

/// Fewer messages of the root, where that matters; fewer copies between groups; parts that a cache holds; a
/// less busy NIC; clearly fewer ranks on the path; fewer clusters behind the limiting link; an undivided
/// message, or large enough segments; fewer relays; fewer connections; of equal times less sharing of ports,
/// and larger segments.
bool is_simpler(const Candidate& a, const Candidate& b) {
    if (a.root_messages != b.root_messages) return a.root_messages < b.root_messages;
    if (a.crossings != b.crossings) return a.crossings < b.crossings;
    if (a.has_large_parts != b.has_large_parts) return b.has_large_parts;
    for (const auto& is_better : {has_less_busy_nics, is_shorter, holds_up_fewer}) {
        if (is_better(a, b)) return true;
        if (is_better(b, a)) return false;
    }
    if (size_of_segments(a) != size_of_segments(b)) return size_of_segments(a) > size_of_segments(b);
    if (a.relays != b.relays) return a.relays < b.relays;
    if (a.algorithm->lanes() != b.algorithm->lanes()) return a.algorithm->lanes() < b.algorithm->lanes();
    if (a.seconds > kEqual * b.seconds) return false;
    if (shares_ports_less(a, b) || shares_ports_less(b, a)) return shares_ports_less(a, b);
    return a.segment_bytes() > b.segment_bytes();
}

}  // namespace

bool is_nearly_as_fast(const Candidate& candidate, const Candidate& fastest) {
    const double factor = is_steadier(candidate, fastest) ? kNearlyEqualIfLessBusy : kNearlyEqual;
    return candidate.seconds <= factor * fastest.seconds;
}

const Candidate* best_of(const std::vector<Candidate>& found,
                         const std::function<bool(const Algorithm&)>& may_use) {
    const Candidate* fastest = nullptr;
    const Candidate* best = nullptr;
    const Candidate* native = nullptr;
    for (const Candidate& candidate : found) {
        const bool is_native = candidate.algorithm->is_native();
        if (!may_use(*candidate.algorithm)) continue;
        if (is_native) native = &candidate;
        if (is_native || (fastest != nullptr && !is_nearly_as_fast(candidate, *fastest))) continue;
        // The larger allowance is for less busy NICs only.
        const bool is_late = fastest != nullptr && candidate.seconds > kNearlyEqual * fastest->seconds;
        if (is_late && !is_steadier(candidate, *best)) continue;
        if (fastest == nullptr) fastest = &candidate;
        if (best == nullptr || is_simpler(candidate, *best)) best = &candidate;
    }
    if (best == nullptr) return native;
    if (native == nullptr) return best;
    if (fastest->seconds + native->uncertainty >= kWorthwhile * native->seconds) return native;
    return best->seconds + std::min(native->uncertainty, 0.0) < native->seconds ? best : fastest;
}

}  // namespace laple
