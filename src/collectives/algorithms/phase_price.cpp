// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/phase_price.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace laple {
namespace {

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

/// What one outermost group does on its own.
struct Local {
    double up = 0;        ///< until its leaders have its first segments
    double down = 0;      ///< until all have the first results
    double interval = 0;  ///< between two segments of a lane
    double credit = 0;    ///< by which all after the first one come sooner
    Binding binding;      ///< of the interval
};

class PhasePrice {
  public:
    PhasePrice(const PhaseParameters& parameters, LeadersTalk talk, std::uint64_t segments,
               const PhaseNetwork& network, TreePricer& pricer)
        : parameters_(parameters),
          talk_(talk),
          lanes_(static_cast<int>(
              std::min<std::uint64_t>(static_cast<std::uint64_t>(parameters.lanes), segments))),
          rounds_((segments + at(lanes_) - 1) / at(lanes_)),
          groups_(network.groups),
          up_(network.up),
          down_(network.down),
          pricer_(pricer) {
        hosts_.reserve(groups_.size());
        for (const auto& group : groups_) hosts_.push_back(hosts_in(group));
    }

    PhaseTime time() {
        double reduce = 0;
        double broadcast = 0;
        for (const auto& group : groups_) {
            const Local local = lanes_ > 1 ? in_lanes(group) : in_tree(group);
            reduce = std::max(reduce, local.up);
            broadcast = std::max(broadcast, local.down);
            at_least(local.interval, local.credit, local.binding);
        }
        const double phase = talk_ == LeadersTalk::all_at_once ? all_at_once() : in_rounds();
        time_.first = reduce + phase + broadcast;
        time_.total = std::max(
            {time_.first + others(time_.interval, credit_), reduce + alone_ + broadcast, sustained_});
        return time_;
    }

  private:
    /// All segments of a lane but the first one, which has had its part of the credit.
    double others(double interval, double credit) const {
        return std::max(static_cast<double>(rounds_ - 1) * interval - std::max(credit - interval, 0.0), 0.0);
    }

    void at_least(double interval, double credit, const Binding& binding) {
        if (binding.kind == Binding::Kind::port) {
            const double all = static_cast<double>(rounds_) * interval;
            sustained_ = std::max(sustained_, all - down_.usual_credit(binding.a));
        }
        const double so_far = others(time_.interval, credit_);
        const double now = others(interval, credit);
        if (now < so_far || (now == so_far && interval <= time_.interval)) return;
        time_.interval = interval;
        credit_ = credit;
        time_.binding = binding;
    }

    int hosts_in(const std::vector<int>& group) const {
        return std::accumulate(group.begin(), group.end(), 0,
                               [&](int sum, int cluster) { return sum + pricer_.sizes()[at(cluster)]; });
    }

    double lanes_per_host(const std::vector<int>& group) {
        const int hosts = hosts_in(group);
        return static_cast<double>((lanes_ + hosts - 1) / hosts);
    }

    /// How the clusters of a group are joined, the leader's first. (hierarchy.cpp)
    SendOrder inside(const std::vector<int>& group) const {
        if (group.size() == 1) return {};
        const Shape shape =
            parameters_.between.empty() ? parameters_.within : parameters_.between.front().shape;
        SendOrder order;
        const ShapeLinks links = links_of(shape, static_cast<int>(group.size()));
        for (std::size_t i = 0; i < links.children.size(); ++i) {
            for (const int child : links.children[i]) order.push_back({group[i], group[at(child)]});
        }
        return order;
    }

    Local in_tree(const std::vector<int>& group) {
        if (group.size() == 1) return in_cluster(group.front());
        ClusterTree tree;
        tree.within = parameters_.within;
        tree.order = inside(group);
        const int root = group.front();
        const TreeTime both = pricer_.there_and_back(tree, root, 1, down_, up_);
        const double down = pricer_.broadcast(tree, root, 1, down_).first;
        const bool is_nic = both.binding.kind == Binding::Kind::port;
        return {both.first - down, down, both.interval, is_nic ? down_.credit(root) : 0, both.binding};
    }

    /// The same where the group is one cluster, which is so most often: what a walk would find, without one.
    /// The leader has the most children; all others also send to a parent and get from it.
    Local in_cluster(int cluster) {
        const Members& members = pricer_.members(parameters_.within, pricer_.sizes()[at(cluster)]);
        if (members.size() == 1) return {};
        const double sends = down_.port(cluster, cluster);
        const double gets = up_.port(cluster, cluster);
        const auto below = static_cast<double>(members.most_below);
        Local local;
        local.up = members.until_last(up_, cluster);
        local.down = members.until_last(down_, cluster);
        local.interval = std::max({static_cast<double>(members.children_of(0).size()) * std::max(sends, gets),
                                   below * sends + gets, below * gets + sends});
        local.credit = down_.credit(cluster);
        local.binding = {Binding::Kind::port, cluster, cluster};
        return local;
    }

    /// Every rank sends to the leaders of all lanes at once, and gets from all of them. With more lanes
    /// than ranks some are leaders of several.
    Local in_lanes(const std::vector<int>& group) {
        const int cluster = group.front();
        const double messages = lanes_per_host(group) * static_cast<double>(hosts_in(group) - 1);
        if (messages == 0) return {};
        Local local;
        const auto together = [&](const SegmentTimes& times) {
            const double start = times.start(cluster, cluster);
            return messages * start +
                   times.after_credit(cluster, messages * (times.gap(cluster, cluster) - start)) +
                   times.latency(cluster, cluster);
        };
        local.up = together(up_);
        local.down = together(down_);
        // A NIC sends its contributions to other lanes and its lanes' results: both count together.
        local.interval = messages * (up_.gap(cluster, cluster) + down_.gap(cluster, cluster));
        local.credit = down_.credit(cluster);
        local.binding = {Binding::Kind::port, cluster, cluster};
        return local;
    }

    /// Each leader sends to all others, beginning with its right neighbour. A rank that leads
    /// several lanes does so for each of them; all lanes of a group share its uplink.
    double all_at_once() {
        const std::size_t count = groups_.size();
        double longest = 0;
        for (std::size_t g = 0; g < count; ++g) {
            const int from = groups_[g].front();
            double sent = 0;
            double received = 0;
            double started = 0;
            double got = 0;
            double at_best = 0;  // with the whole burst available
            double last = 0;     // of its messages, but for what they share
            double farthest = 0;
            for (std::size_t i = 1; i < count; ++i) {
                const int to = groups_[(g + i) % count].front();
                received += up_.port(from, to);
                got += up_.start(from, to);
                at_best = std::max(at_best, started + down_.at_best(from, to) + down_.latency(from, to));
                started += down_.start(from, to);
                last = std::max(last, started + down_.rest(from, to) + down_.latency(from, to));
                farthest = std::max(farthest, down_.latency(from, to));
                alone_ = std::max(alone_, flow_alone(g, (g + i) % count));
                sent += down_.port(from, to);
                at_least(down_.gap(from, to), down_.credit_of_flow(from, to),
                         {Binding::Kind::link, from, to});
                // All lanes of two groups share what is between them.
                const double of_trunk =
                    static_cast<double>(lanes_) * down_.trunk(down_.group_of(from), down_.group_of(to));
                at_least(of_trunk, 0, {Binding::Kind::trunk, down_.group_of(from), down_.group_of(to)});
                last = std::max(last, of_trunk + down_.latency(from, to));
            }
            const double of_lanes = lanes_per_host(groups_[g]);
            const double of_uplink = static_cast<double>(lanes_) * static_cast<double>(count - 1) *
                                     std::max(down_.uplink_out(from), up_.uplink_out(from));
            longest = std::max({longest, at_best, last + down_.after_credit(from, of_lanes * sent - started),
                                got + down_.after_credit(from, of_lanes * received - got) + farthest,
                                of_uplink + farthest});
            at_least(of_lanes * std::max(sent, received) + in_between(groups_[g]), down_.credit(from),
                     {Binding::Kind::port, from, from});
            at_least(of_uplink, 0, {Binding::Kind::uplink, from, -1});
        }
        return longest;
    }

    /// How long a flow between leaders of two groups takes for all segments of the lanes that share it.
    double flow_alone(std::size_t from_group, std::size_t to_group) const {
        const int from = groups_[from_group].front();
        const int to = groups_[to_group].front();
        const int flows = lanes_ == 1 ? 1 : std::min(lanes_, std::lcm(hosts_[from_group], hosts_[to_group]));
        const double segments = static_cast<double>(rounds_) * ((lanes_ + flows - 1) / flows);
        const double gaps = segments * down_.gap(from, to) - down_.credit_of_flow(from, to);
        return down_.latency(from, to) + std::max(gaps, 0.0) + down_.ramp(from, to, segments);
    }

    /// What a leader's NIC does inside its group between two segments that it exchanges.
    double in_between(const std::vector<int>& group) {
        if (lanes_ > 1) return in_lanes(group).interval;
        const int cluster = group.front();
        const Members& members = pricer_.members(parameters_.within, pricer_.sizes()[at(cluster)]);
        double busy = static_cast<double>(members.children_of(0).size()) * down_.gap(cluster, cluster);
        for (const Send& send : inside(group)) {
            if (send.from == cluster) busy += down_.port(cluster, send.to);
        }
        return busy;
    }

    double in_rounds() {
        double total = 0;
        const std::size_t count = groups_.size();
        for (std::size_t distance = 1; distance < count; distance *= 2) {
            double longest = 0;
            for (std::size_t g = 0; g < count; ++g) {
                const int from = groups_[g].front();
                const int to = groups_[(g + distance) % count].front();
                const double alone = flow_alone(g, (g + distance) % count);
                longest = std::max(
                    {longest, down_.gap(from, to) + down_.latency(from, to), rounds_ == 1 ? alone : 0});
                alone_ = std::max(alone_, total + alone);
                at_least(down_.gap(from, to), down_.credit_of_flow(from, to),
                         {Binding::Kind::link, from, to});
            }
            total += longest;
        }
        return total;
    }

    const PhaseParameters& parameters_;
    LeadersTalk talk_;
    int lanes_;
    std::uint64_t rounds_;  // segments of each lane
    const std::vector<std::vector<int>>& groups_;
    std::vector<int> hosts_;  // by group
    const SegmentTimes& up_;
    const SegmentTimes& down_;
    TreePricer& pricer_;
    PhaseTime time_;
    double alone_ = 0;      // flow_alone() of the slowest
    double credit_ = 0;     // of its interval
    double sustained_ = 0;  // what the busiest NIC takes for all segments, call after call
};

}  // namespace

PhaseTime phase_time(const PhaseParameters& parameters, LeadersTalk talk, std::uint64_t segments,
                     const PhaseNetwork& network, TreePricer& pricer) {
    return PhasePrice(parameters, talk, segments, network, pricer).time();
}

Candidate phase_candidate(Pricing& pricing, AlgorithmPtr algorithm, Shape within, PhaseTime time,
                          const std::vector<ClusterBurst>& bursts, int crossings) {
    time.total +=
        stall_of(bursts, pricing.request().bytes(), algorithm->lanes(), pricing.sizes(), pricing.costs());
    Candidate candidate;
    candidate.hops = pricing.hops_in(within);
    candidate.crossings = crossings;
    candidate.time.first = time.first;
    candidate.time.last = time.total;
    candidate.time.interval = time.interval;
    candidate.time.binding = time.binding;
    add_time_on_hosts(pricing, algorithm->segment_bytes(), candidate.time);
    candidate.seconds = candidate.time.last;
    candidate.algorithm = std::move(algorithm);
    return candidate;
}

}  // namespace laple
