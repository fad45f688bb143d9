// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/tree_walk.hpp"

#include <algorithm>

#include "base/index.hpp"
#include "collectives/cost/lane_loads.hpp"

namespace laple {
Walk::Walk(WalkScratch& scratch, const ClusterTree& tree, int root, std::uint64_t segments,
           const SegmentTimes& times, const SegmentTimes* back)
    : scratch_(scratch),
      tree_(tree),
      root_(root),
      times_(times),
      back_(back),
      more_(static_cast<double>(segments - 1)) {
    scratch_.arrival.assign(scratch_.members.size(), {});
    scratch_.parent.assign(scratch_.members.size(), {});
    scratch_.trunks.begin(times, tree.order, back != nullptr);
    enter(root);
    for (const Send& send : tree.order) enter(send.to);
    time_.last = std::max(time_.last, time_.sustained);
    time_.interval = longest_.seconds;
    time_.others = longest_.total;
    time_.binding = longest_.binding;
}

LaneLoads Walk::lanes() const {
    return {scratch_, tree_, root_, static_cast<std::uint64_t>(more_) + 1};
}

void Walk::enter(int cluster) {
    const std::span<const std::size_t> out = scratch_.by_cluster.of(at(cluster));
    const bool is_from_leader =
        std::all_of(out.begin(), out.end(), [&](std::size_t send) { return scratch_.from[send] == 0; });
    if (tree_.lanes == 1 && is_from_leader) {
        pass_on_from_leader(cluster, out);
    } else {
        pass_on_from_members(cluster, out);
    }
}

void Walk::arrive(int cluster, double at_leader, const Interval& between_hosts) {
    const HostTime& on_host = times_.on_host(cluster);
    Interval interval = between_hosts;
    interval.at_least(interval_of(on_host.interval, 0, {}));
    const double first = at_leader + on_host.first;
    const double last = first + interval.total;
    time_.first = std::max(time_.first, first);
    longest_.at_least(interval);
    if (time_.last_cluster >= 0 && last <= time_.last) return;
    time_.last = last;
    time_.last_cluster = cluster;
}

ForParent Walk::for_parent(int from, int to) const {
    if (back_ == nullptr) return {};
    return {back_->port(from, to), times_.port(from, to)};
}

Walk::Uplink Walk::uplink_of(int cluster, std::size_t out) const {
    const double copies = static_cast<double>(out) + (scratch_.parent[at(cluster)].to > 0 ? 1 : 0);
    Uplink uplink;
    uplink.interval =
        interval_of(copies * times_.uplink_out(cluster), 0, {Binding::Kind::uplink, cluster, -1});
    return uplink;
}

Interval Walk::of_port(int cluster, double busy) const {
    Interval interval = interval_of(busy, times_.credit(cluster), {Binding::Kind::port, cluster, cluster});
    interval.total = std::max(interval.total, more_ * times_.unsaved(cluster, busy));
    return interval;
}

Interval Walk::interval_of(double seconds, double credit, const Binding& binding) const {
    return {seconds, std::max(more_ * seconds - std::max(credit - seconds, 0.0), 0.0), binding};
}

void Walk::keep_busy(int cluster, double busy) {
    const double all = (more_ + 1) * busy;
    time_.sustained =
        std::max({time_.sustained, all - times_.usual_credit(cluster), times_.unsaved(cluster, all)});
}

double Walk::ramp_of_only(int cluster, int to) const {
    return more_ == 0 ? times_.ramp(cluster, to, 1 / lanes().flows(cluster, to)) : 0;
}

double Walk::left_for(int cluster, int to, double started, double waits, Uplink& uplink) {
    double left = started + std::max(times_.start(cluster, to) + waits,
                                     times_.at_best(cluster, to) + ramp_of_only(cluster, to));
    if (times_.uplink_out(cluster) > 0) {
        // One message after the other, but none before the NIC sends it.
        uplink.free = std::max(uplink.free, started) + times_.uplink_out(cluster);
        left = std::max(left, uplink.free);
    }
    if (times_.has_trunks()) left = std::max(left, scratch_.trunks.pass(times_, cluster, to, started));
    return left;
}

Interval Walk::interval_to(int cluster, int to, const Interval& so_far, const Uplink& uplink) {
    Interval of_flow = so_far;
    const Binding link{Binding::Kind::link, cluster, to};
    const double sharing = lanes().flows(cluster, to);
    Interval alone = interval_of(times_.gap(cluster, to) / sharing, times_.credit_of_flow(cluster, to), link);
    if (more_ > 0) alone.total += times_.ramp(cluster, to, (more_ + 1) / sharing);
    of_flow.at_least(alone);
    const double trunk = times_.trunk(times_.group_of(cluster), times_.group_of(to));
    if (tree_.lanes > 1) of_flow.at_least(interval_of(std::max(times_.uplink_in(to), trunk), 0, link));
    of_flow.at_least(uplink.interval);
    time_.one_way = std::max({time_.one_way, alone.seconds, uplink.interval.seconds});
    if (times_.has_trunks())
        of_flow.at_least(interval_of(scratch_.trunks.interval(times_, cluster, to), 0,
                                     {Binding::Kind::trunk, times_.group_of(cluster), times_.group_of(to)}));
    return of_flow;
}

Walk::Sent Walk::send_out(int cluster, const Arrival& here, const ForParent& parent,
                          std::span<const std::size_t> out, std::size_t inside, Uplink& uplink) {
    const auto count = static_cast<double>(inside);
    double busy = times_.ports(cluster, count);
    if (cluster == root_ && count > 0 && tree_.lanes == 1 && back_ == nullptr)
        busy -= times_.saved_by_root(cluster);
    double busy_back = count * port_back(cluster, cluster);
    double starts = times_.starts(cluster, count);
    for (const std::size_t send : out) {
        busy += times_.port(cluster, tree_.order[send].to);
        busy_back += port_back(cluster, tree_.order[send].to);
        starts += times_.start(cluster, tree_.order[send].to);
    }
    // Starts queue; while all messages are under way, each waits for its share of the port.
    Sent sent{here.first, 0, here.interval};
    const double all_shared = std::max(busy - starts, 0.0);
    const double all = tree_.lanes > 1 ? lane_busy_ : parent.busy(busy, busy_back);
    time_.one_way = std::max(time_.one_way, busy);
    keep_busy(cluster, all);
    sent.interval.at_least(of_port(cluster, all));
    for (const std::size_t send : out) {
        const int to = tree_.order[send].to;
        sent.shared += times_.port(cluster, to) - times_.start(cluster, to);
        starts -= times_.start(cluster, to);
        // Where ports are shared, no message leaves before all have started.
        const bool shares_port =
            times_.shares_ports() && times_.port(cluster, to) > times_.start(cluster, to);
        const double waits = shares_port ? starts + times_.after_credit(cluster, all_shared)
                                         : times_.after_credit(cluster, sent.shared);
        const double left = left_for(cluster, to, sent.started, waits, uplink);
        sent.started += times_.start(cluster, to);
        scratch_.arrival[at(to)] = {left + times_.latency(cluster, to),
                                    interval_to(cluster, to, sent.interval, uplink)};
        scratch_.parent[at(to)] = for_parent(cluster, to);
    }
    return sent;
}

void Walk::pass_on_from_leader(int cluster, std::span<const std::size_t> out) {
    const Arrival& here = scratch_.arrival[at(cluster)];
    const Members& members = *scratch_.members[at(cluster)];
    arrive(cluster, here.first, here.interval);
    if (members.size() == 1 && out.empty()) return;
    Uplink uplink = uplink_of(cluster, out.size());
    const std::size_t inside = members.children_of(0).size();
    Sent sent = send_out(cluster, here, scratch_.parent[at(cluster)], out, inside, uplink);
    if (members.size() == 1) return;
    const auto most = static_cast<double>(members.most_below);
    time_.one_way = std::max(time_.one_way, times_.ports(cluster, most));
    const double below_busy =
        for_parent(cluster, cluster).busy(times_.ports(cluster, most), most * port_back(cluster, cluster));
    keep_busy(cluster, below_busy);
    sent.interval.at_least(of_port(cluster, below_busy));
    arrive(cluster, sent.started + members.until_last(times_, cluster, sent.shared), sent.interval);
}

void Walk::pass_on_from_members(int cluster, std::span<const std::size_t> out) {
    const Members& members = *scratch_.members[at(cluster)];
    std::vector<Arrival>& has = scratch_.has;
    scratch_.by_member.sort(out, members.depth.size(),
                            [&](std::size_t send) { return at(scratch_.from[send]); });
    has.resize(members.depth.size());
    has[0] = scratch_.arrival[at(cluster)];
    const double start = times_.start(cluster, cluster);
    const double share = times_.port(cluster, cluster) - start;
    const double alone = times_.at_best(cluster, cluster) - start;
    if (tree_.lanes > 1) lane_busy_ = lanes().busiest(cluster, for_parent(cluster, cluster), times_, back_);
    Uplink uplink = uplink_of(cluster, out.size());
    ForParent parent = scratch_.parent[at(cluster)];  // the leader's, which comes first
    const ForParent inside = for_parent(cluster, cluster);
    for (int member = 0; member < members.size(); ++member) {
        const Arrival& here = has[at(member)];
        arrive(cluster, here.first, here.interval);
        const std::span<const std::size_t> sends = scratch_.by_member.of(at(member));
        const auto children = members.children_of(member);
        if (sends.empty() && children.empty()) continue;  // not the leader
        Sent sent = send_out(cluster, here, parent, sends, children.size(), uplink);
        const double all = sent.shared + static_cast<double>(children.size()) * share;
        const double first_started = sent.started;
        const double all_started =
            first_started + times_.starts(cluster, static_cast<double>(children.size()));
        double sent_inside = 0;
        for (const int child : children) {
            sent.started = first_started + times_.starts(cluster, ++sent_inside);
            sent.shared += share;
            const double left = times_.shares_ports() && share > 0
                                    ? all_started + times_.after_credit(cluster, all)
                                    : sent.started + times_.after_credit(cluster, sent.shared);
            has[at(child)] = {std::max(left, sent.started + alone) + times_.latency(cluster, cluster),
                              sent.interval};
        }
        parent = inside;
    }
}

}  // namespace laple
