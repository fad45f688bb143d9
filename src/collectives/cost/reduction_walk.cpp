// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/reduction_walk.hpp"

#include <algorithm>

#include "base/index.hpp"
#include "collectives/cost/tree_walk.hpp"

namespace laple {
ReductionWalk::ReductionWalk(WalkScratch& scratch, const ClusterTree& tree, int root, std::uint64_t segments,
                             const SegmentTimes& times)
    : scratch_(scratch),
      tree_(tree),
      root_(root),
      segments_(static_cast<double>(segments)),
      times_(times),
      reduction_(scratch.reduction) {}

ReductionTime ReductionWalk::time() {
    reduction_.ready.assign(scratch_.members.size(), {});
    reduction_.trunk_free.assign(at(times_.groups() * times_.groups()), 0);
    // Clusters come after those that they contribute to.
    for (auto send = tree_.order.rbegin(); send != tree_.order.rend(); ++send)
        reduction_.ready[at(send->to)] = ready_in(send->to);
    return ready_in(root_);
}

ReductionTime ReductionWalk::ready_in(int cluster) {
    const Members& members = *scratch_.members[at(cluster)];
    reduction_.here.clear();
    if (scratch_.by_cluster.of(at(cluster)).empty()) return ready_alone(cluster, members);
    find_contributions(cluster);
    reduction_.done.assign(at(members.size()), {});
    const Way inside = way(cluster, cluster);
    const HostTime& on_host = times_.on_host(cluster);
    const Here here{{on_host.first, on_host.first + (segments_ - 1) * on_host.interval},
                    times_.credit(cluster),
                    times_.combining(cluster)};
    // Members come after those that they contribute to.
    for (int member = members.size(); member-- > 0;) {
        reduction_.here.clear();
        for (const int child : members.children_of(member))
            reduction_.here.push_back(contribution(member, inside, reduction_.done[at(child)]));
        reduction_.done[at(member)] = combine(here, member);
    }
    return reduction_.done.front();
}

/// All members of a kind are alike, so that the walk reversed says the same.
ReductionTime ReductionWalk::ready_alone(int cluster, const Members& members) const {
    const HostTime& on_host = times_.on_host(cluster);
    double interval = on_host.interval;
    if (members.size() > 1) {
        const auto most = std::max(members.children_of(0).size(), members.most_below);
        interval = std::max({interval, static_cast<double>(most) * times_.port(cluster, cluster),
                             times_.gap(cluster, cluster)});
    }
    const double first = on_host.first + members.until_last(times_, cluster);
    const double saved = std::max(times_.credit(cluster) - interval, 0.0);
    const double others = (segments_ - 1) * interval;
    return {first, first + std::max(others - saved, times_.unsaved(cluster, others))};
}

ReductionWalk::Way ReductionWalk::way(int cluster, int from) const {
    const double uplink = from == cluster ? 0 : times_.uplink_in(from);
    // A flow saves no more than both its ends do; uplinks save nothing.
    const double saved = std::min(times_.credit_of_flow(cluster, from), times_.credit(from));
    const auto takes = [&](double segments, double on_top) {
        return std::max(segments * times_.gap(cluster, from) - saved + on_top, segments * uplink);
    };
    return {from, times_.port(cluster, from), times_.latency(cluster, from) - times_.combining(cluster),
            std::max(takes(1, 0), times_.at_best(cluster, from)),
            takes(segments_, times_.ramp(cluster, from, segments_))};
}

Contribution ReductionWalk::contribution(int member, const Way& way, const ReductionTime& ready) const {
    const double comes = ready.first + way.latency;
    const double first = comes + (segments_ <= 1 ? std::max(way.at_best, way.all) : way.at_best);
    return {member, way.from, way.port,
            comes,  first,    std::max({ready.last + way.latency + way.at_best, comes + way.all, first})};
}

void ReductionWalk::find_contributions(int cluster) {
    reduction_.far.clear();
    for (const std::size_t send : scratch_.by_cluster.of(at(cluster))) {
        const int from = tree_.order[send].to;
        reduction_.far.push_back(
            contribution(scratch_.from[send], way(cluster, from), reduction_.ready[at(from)]));
    }
    std::sort(reduction_.far.begin(), reduction_.far.end(),
              [](const auto& a, const auto& b) { return a.first_byte < b.first_byte; });
    double uplink_free = 0;
    double uplink_all = 0;  // when it has passed all segments
    for (Contribution& each : reduction_.far) {
        const auto pass = [&](double& free, double& all, double link) {
            if (link <= 0) return;
            all = std::max(all, each.first_byte) + segments_ * link;
            each.first_byte = std::max(free, each.first_byte);
            free = each.first_byte + link;
            each.first = std::max(each.first, free);
            each.last = std::max(each.last, all);
        };
        if (times_.has_trunks()) {
            const int own = times_.group_of(cluster);
            const int other = times_.group_of(each.cluster);
            double& free = reduction_.trunk_free[at(own * times_.groups() + other)];
            double all = free;
            pass(free, all, times_.trunk(own, other));
            free = all;
        }
        pass(uplink_free, uplink_all, times_.uplink_out(cluster));
    }
}

ReductionTime ReductionWalk::combine(const Here& here, int member) {
    for (const Contribution& each : reduction_.far) {
        if (each.member == member) reduction_.here.push_back(each);
    }
    if (reduction_.here.empty()) return here.own;
    if (reduction_.here.size() > 1)
        std::sort(reduction_.here.begin(), reduction_.here.end(),
                  [](const auto& a, const auto& b) { return a.first_byte < b.first_byte; });
    ReductionTime time = here.own;
    double free = 0;
    double free_of_all = 0;
    double saved = here.credit;
    double saved_of_all = saved;
    for (const Contribution& each : reduction_.here) {
        const auto left = [](double& credit, double busy) {
            const double saves = std::min(credit, busy);
            credit -= saves;
            return busy - saves;
        };
        free = std::max(free, each.first_byte) + left(saved, each.port);
        free_of_all = std::max(free_of_all, each.first_byte) + left(saved_of_all, segments_ * each.port);
        time.first = std::max({time.first, free, each.first});
        time.last = std::max({time.last, free_of_all, each.last});
    }
    time.first += here.combining;
    time.last = std::max(time.last, time.first) + here.combining;
    return time;
}

/// Looked at when each of the others has sent all.
double ReductionWalk::last_result(double interval) const {
    const double begin = reduction_.here.empty() ? 0 : reduction_.here.front().first_byte;
    const double more = std::max(segments_ - 1, 1.0);
    const auto spacing = [&](const Contribution& each) { return (each.last - each.first) / more; };
    double latest = 0;
    for (const Contribution& slow : reduction_.here) {
        const double each = spacing(slow);
        for (const Contribution& fast : reduction_.here) {
            const double now = fast.first_byte + more * spacing(fast);
            const double number = each > 0 ? (now - slow.first_byte) / each : more;
            if (number <= 0 || number >= more) continue;
            double amount = 0;
            for (const Contribution& other : reduction_.here) {
                const double come =
                    spacing(other) > 0 ? (now - other.first_byte) / spacing(other) + 1 : segments_;
                amount += std::clamp(come, 0.0, segments_) * other.port;
            }
            latest = std::max(latest, std::max(now, begin + amount) + (more - number) * interval);
        }
    }
    return latest;
}

}  // namespace laple
