// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/send_windows.hpp"

#include <algorithm>

#include "base/index.hpp"
#include "collectives/collective/collective.hpp"

namespace laple {
namespace {

Bytes channel_window(const Algorithm& algorithm, const Request& request, const MachineCosts& costs) {
    constexpr double kReserve = 2;
    constexpr double kLeast = 16.0 * 1024;
    constexpr double kMost = 8.0 * 1024 * 1024;
    const Bytes segment = std::max<Bytes>(algorithm.segments(request).segment_bytes(), 1);
    double most = 0;
    const auto look_at = [&](int from, int to) {
        const MachineCosts::Link& link = costs.link(from, to);
        if (link.carries_more) most = kMost;
        const double nic = costs.cluster(from).nic_out;
        const double port = nic > 0 ? static_cast<double>(segment) / nic : 0;
        const double turn = algorithm.takes_turns() ? algorithm.lanes() * port : 0;
        const double gap = std::max({link.stream.at(segment).count(), turn, 1e-9});
        const double latency = link.latency + std::max(link.gap.at(segment).count() - gap, 0.0);
        most = std::max(most, kReserve * 2 * latency * static_cast<double>(segment) / gap);
    };
    for (const Send& send : algorithm.order()) look_at(send.from, send.to);
    if (algorithm.order().empty()) {
        for (int a = 0; a < costs.count(); ++a) {
            for (int b = 0; b < costs.count(); ++b) {
                if (a != b) look_at(a, b);
            }
        }
    }
    return static_cast<Bytes>(std::clamp(most, kLeast, kMost));
}

std::vector<Bytes> local_windows(const MachineCosts& costs) {
    constexpr double kShort = 5e-3;
    constexpr double kLeast = 64.0 * 1024;
    constexpr double kMost = 8.0 * 1024 * 1024;
    constexpr double kUsualNic = 25e6;  // where none is known
    std::vector<Bytes> windows;
    for (int c = 0; c < costs.count(); ++c) {
        const double nic = costs.cluster(c).nic_out;
        windows.push_back(
            static_cast<Bytes>(std::clamp(kShort * (nic > 0 ? nic : kUsualNic), kLeast, kMost)));
    }
    return windows;
}

/// Of which `is_one` is true.
template <typename IsOne>
bool has_link_that_carries_more(const MachineCosts& costs, IsOne is_one) {
    for (int a = 0; a < costs.count(); ++a) {
        for (int b = 0; b < costs.count(); ++b) {
            if (a != b && costs.link(a, b).carries_more && is_one(a, b)) return true;
        }
    }
    return false;
}

/// How many ranks share a queue of those that send to other clusters from cluster `c`: the ranks of a cluster
/// share its uplink. Those that send to a root share the root's: with one message each, or where sizes differ
/// all of them. A root sends alone.
std::size_t senders(const Candidate& candidate, const Request& request, const Machine& machine, int c) {
    const CollectiveRow& row = row_of(request.collective);
    if (!row.is_rooted) return machine.ranks_in(c).size();
    if (!row.runs_to_root) return 1;
    return at(request.is_varied ? machine.rank_count() : std::max(candidate.crossings, 1));
}

/// As much as queues of uplinks hold for certain, shared by those that send.
std::vector<Bytes> ahead(const Candidate& candidate, const Request& request, const Machine& machine,
                         const MachineCosts& costs) {
    constexpr double kUsualQueue = 128.0 * 1024;
    constexpr double kSure = 0.75;
    double queue = kUsualQueue;
    for (int c = 0; c < costs.count(); ++c) {
        if (costs.cluster(c).burst > 0) queue = std::min(queue, kSure * costs.cluster(c).burst);
    }
    std::vector<Bytes> ahead;
    for (int c = 0; c < costs.count(); ++c) {
        const auto sharing = static_cast<double>(senders(candidate, request, machine, c));
        ahead.push_back(static_cast<Bytes>(queue / sharing));
    }
    return ahead;
}

Bytes global_window(const Request& request, const TreeTime& time) {
    constexpr double kEnough = 4;
    constexpr double kEnoughToRoot = 2;
    const double enough = row_of(request.collective).runs_to_root ? kEnoughToRoot : kEnough;
    if (enough * time.first >= time.last) return 0;
    return static_cast<Bytes>(enough * time.first / time.last * static_cast<double>(request.bytes()));
}

}  // namespace

SendWindows windows_for(const Candidate& candidate, const Request& request, const Machine& machine,
                        const MachineCosts& costs) {
    SendWindows windows{channel_window(*candidate.algorithm, request, costs), local_windows(costs)};
    // What is slower than the links can be would keep them so. A pace is that of uplinks: where one was not
    // measured, it is supposed to carry what links did.
    const auto is_any = [](int, int) { return true; };
    const auto has_unknown_uplink = [&](int a, int b) {
        return !(costs.cluster(a).uplink_out > 0 && costs.cluster(b).uplink_in > 0);
    };
    if (!has_link_that_carries_more(costs, is_any)) windows.global = global_window(request, candidate.time);
    if (!has_link_that_carries_more(costs, has_unknown_uplink)) windows.pace = candidate.pace;
    windows.ahead = ahead(candidate, request, machine, costs);
    return windows;
}

}  // namespace laple
