// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/three_level_price.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/index.hpp"
#include "collectives/algorithms/phase.hpp"
#include "collectives/cost/nic_work.hpp"

namespace laple {
namespace {

class ThreeLevelPrice {
  public:
    ThreeLevelPrice(int lanes, std::uint64_t segments, const std::vector<int>& sizes,
                    const ClusterGroups& groups, const SegmentTimes& up, const SegmentTimes& down)
        : lanes_(lanes),
          segments_(static_cast<double>(segments)),
          sizes_(sizes),
          groups_(groups),
          up_(up),
          down_(down),
          part_(sizes.size()),
          contacts_(sizes.size() * sizes.size()),
          of_trunk_(at(down.groups() * down.groups())),
          wait_(latencies()) {
        for (const auto& group : groups_) {
            cluster_at_.emplace_back();
            for (const int c : group)
                cluster_at_.back().insert(cluster_at_.back().end(), at(sizes_[at(c)]), c);
            const auto ranks = static_cast<double>(cluster_at_.back().size());
            for (const int c : group) part_[at(c)] = sizes_[at(c)] / ranks;
        }
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            for (std::size_t j = 0; j < groups_.size(); ++j) {
                if (i != j) count_contacts(cluster_at_[i], cluster_at_[j]);
            }
        }
    }

    PhaseTime time() {
        for (const auto& group : groups_) {
            for (const int c : group) look_at(c, group);
        }
        look_at_trunks();
        time_.first = wait_ + one_by_one(sizes_, up_, down_);
        return time_;
    }

  private:
    /// In how many lanes leaders of two clusters exchange.
    struct Contacts {
        double part = 0;  ///< of all lanes
        int flows = 0;    ///< between as many pairs of ranks
    };

    /// Of two groups, of which the clusters are given by rank.
    void count_contacts(const std::vector<int>& from, const std::vector<int>& to) {
        const int period = std::lcm(static_cast<int>(from.size()), static_cast<int>(to.size()));
        for (int lane = 0; lane < lanes_; ++lane) {
            const int a = from[at(leading_place(lane, lanes_, static_cast<int>(from.size())))];
            const int b = to[at(leading_place(lane, lanes_, static_cast<int>(to.size())))];
            Contacts& contacts = between(a, b);
            contacts.part += 1.0 / lanes_;
            if (lane < period) ++contacts.flows;
        }
    }
    Contacts& between(int a, int b) { return contacts_[at(a) * sizes_.size() + at(b)]; }

    /// For each segment, on average; it gets as many as it sends.
    struct Traffic {
        double messages = 0;
        NicWork sending;
        NicWork getting;
    };

    void look_at(int c, const std::vector<int>& group) {
        Traffic across;
        for (const auto& other : groups_) {
            const bool is_own = &other == &group;
            for (const int o : other) {
                if (o == c) continue;
                // Partial results to the one that leads; results from there, which are contributions
                // the other way.
                if (is_own) {
                    add(across, c, o, part_[at(o)], part_[at(c)], std::max(leaders(c), leaders(o)));
                } else if (between(c, o).flows > 0) {
                    add(across, c, o, between(c, o).part, 0, between(c, o).flows);
                }
            }
        }
        const double own = std::ceil(segments_ * busiest_part(sizes_[at(c)], lanes_));
        const double others = static_cast<double>(sizes_[at(c)] - 1);
        const double inside = sizes_[at(c)] == 1 ? 0 : segments_ - own;
        const NicWork sending{inside * down_.port(c, c) + own * across.sending.before,
                              others * own * down_.port(c, c) + own * across.sending.after};
        const NicWork getting{others * own * up_.port(c, c) + own * across.getting.before,
                              inside * down_.port(c, c) + own * across.getting.after};
        for (const NicWork& nic : {sending, getting}) {
            const double rested = std::max(nic.time(wait_) - down_.credit(c), wait_);
            at_least(std::max(rested, nic.all() - down_.usual_credit(c)), nic.all(),
                     {Binding::Kind::port, c, c});
        }
        const double crossing =
            segments_ * across.messages * std::max(up_.uplink_out(c), down_.uplink_out(c));
        at_least(wait_ + crossing, crossing, {Binding::Kind::uplink, c, -1});
    }

    /// For each segment `c` sends `there` partial results and `back` results to `o`, over so many flows. It
    /// gets as many results and partial results from there; without results, as many partial results.
    void add(Traffic& traffic, int c, int o, double there, double back, int flows) {
        traffic.messages += there + back;
        traffic.sending.before += there * down_.port(c, o);
        traffic.sending.after += back * down_.port(c, o);
        if (back > 0) {
            traffic.getting.before += back * up_.port(c, o);
            traffic.getting.after += there * down_.port(c, o);
        } else {
            traffic.getting.before += there * up_.port(c, o);
        }
        const double of_flow = segments_ * (there + back) / flows;
        const double busy = of_flow * down_.gap(c, o);
        at_least(wait_ + busy - down_.credit_of_flow(c, o) + down_.ramp(c, o, of_flow), busy,
                 {Binding::Kind::link, c, o});
        of_trunk_[at(down_.group_of(c) * down_.groups() + down_.group_of(o))] += there + back;
    }

    void look_at_trunks() {
        for (int a = 0; a < down_.groups(); ++a) {
            for (int b = 0; b < down_.groups(); ++b) {
                if (a == b) continue;
                const double busy = segments_ * of_trunk_[at(a * down_.groups() + b)] * down_.trunk(a, b);
                at_least(wait_ + busy, busy, {Binding::Kind::trunk, a, b});
            }
        }
    }

    void at_least(double total, double busy, const Binding& binding) {
        if (total <= time_.total) return;
        time_.total = total;
        time_.binding = binding;
        time_.interval = busy / segments_;
    }

    int leaders(int c) const { return std::min(sizes_[at(c)], lanes_); }
    double trip(int from, int to) const { return down_.gap(from, to) + down_.latency(from, to); }

    /// Of one segment: inside the cluster, inside the group, between the groups, and back.
    double latencies() const {
        double inside_up = 0;
        double inside_down = 0;
        for (int c = 0; c < static_cast<int>(sizes_.size()); ++c) {
            if (sizes_[at(c)] == 1) continue;
            inside_up = std::max(inside_up, up_.at_best(c, c) + up_.latency(c, c));
            inside_down = std::max(inside_down, down_.at_best(c, c) + down_.latency(c, c));
        }
        std::vector<double> near;
        for (const auto& group : groups_) {
            near.push_back(0);
            for (const int a : group) {
                for (const int b : group) near.back() = std::max(near.back(), a == b ? 0 : trip(a, b));
            }
        }
        double way = 0;
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            for (std::size_t j = 0; j < groups_.size(); ++j) {
                if (i != j) way = std::max(way, near[i] + farthest(groups_[i], groups_[j]) + near[j]);
            }
        }
        return inside_up + way + inside_down;
    }

    double farthest(const std::vector<int>& from, const std::vector<int>& to) const {
        double far = 0;
        for (const int a : from) {
            for (const int b : to) far = std::max(far, trip(a, b));
        }
        return far;
    }

    int lanes_;
    double segments_;
    const std::vector<int>& sizes_;
    const ClusterGroups& groups_;
    const SegmentTimes& up_;
    const SegmentTimes& down_;
    std::vector<std::vector<int>> cluster_at_;  // of each group, by the places of its ranks
    std::vector<double> part_;                  // of the group's ranks, by cluster
    std::vector<Contacts> contacts_;            // from cluster to cluster
    std::vector<double> of_trunk_;              // messages for each segment, from group to group
    double wait_;                               // latencies()
    PhaseTime time_;
};

}  // namespace

PhaseTime three_level_time(int lanes, std::uint64_t segments, const std::vector<int>& sizes,
                           const ClusterGroups& groups, const SegmentTimes& up, const SegmentTimes& down) {
    return ThreeLevelPrice(lanes, segments, sizes, groups, up, down).time();
}

double copies_in_groups(const std::vector<int>& sizes, const ClusterGroups& groups) {
    double most = 0;
    for (const auto& group : groups) {
        double ranks = 0;
        for (const int c : group) ranks += sizes[at(c)];
        for (const int c : group) {
            const double part = sizes[at(c)] / ranks;
            const auto others = static_cast<double>(groups.size() + group.size() - 2);
            most = std::max(most, 1 - part + part * others);
        }
    }
    return most;
}

}  // namespace laple
