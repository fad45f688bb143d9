// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/regional_price.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace laple {
namespace {

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

class RegionalPrice {
  public:
    RegionalPrice(int lanes, std::uint64_t segments, const std::vector<int>& sizes, const RegionList& regions,
                  const SegmentTimes& up, const SegmentTimes& down)
        : lanes_(lanes),
          segments_(static_cast<double>(segments)),
          sizes_(sizes),
          regions_(regions),
          up_(up),
          down_(down),
          part_(sizes.size()),
          of_trunk_(at(down.groups() * down.groups())) {
        for (const auto& region : regions_) {
            double ranks = 0;
            for (const int c : region) ranks += sizes_[at(c)];
            for (const int c : region) part_[at(c)] = sizes_[at(c)] / ranks;
        }
    }

    MeetingTime time() {
        for (const auto& region : regions_) {
            for (const int c : region) look_at(c, region);
        }
        look_at_trunks();
        time_.total = std::max(latencies() + busiest_, sustained_);
        return time_;
    }

  private:
    /// Messages for each segment, on average.
    struct Traffic {
        double out = 0;
        double in = 0;
        double sending = 0;  ///< seconds of the NIC
        double getting = 0;
    };

    void look_at(int c, const std::vector<int>& region) {
        Traffic across;
        for (const auto& other : regions_) {
            const bool is_own = &other == &region;
            for (const int o : other) {
                if (o == c) continue;
                // Partial results to the one that coordinates; results from there, which are contributions
                // the other way.
                const double there = is_own ? part_[at(o)] : part_[at(c)] * part_[at(o)];
                const double back = is_own ? part_[at(c)] : 0;
                add(across, c, o, there, back, is_own);
            }
        }
        const double own = std::ceil(segments_ / std::min(sizes_[at(c)], lanes_));
        const double others = static_cast<double>(sizes_[at(c)] - 1);
        const double inside = sizes_[at(c)] == 1 ? 0 : segments_ - own;
        const double sending = (inside + others * own) * down_.port(c, c) + own * across.sending;
        const double getting =
            inside * down_.port(c, c) + others * own * up_.port(c, c) + own * across.getting;
        const double nic = std::max(sending, getting);
        at_least(nic, down_.credit(c), {Binding::Kind::port, c, c});
        sustained_ = std::max(sustained_, nic - down_.usual_credit(c));
        at_least(
            segments_ * std::max(across.out, across.in) * std::max(up_.uplink_out(c), down_.uplink_out(c)), 0,
            {Binding::Kind::uplink, c, -1});
    }

    /// For each segment `c` sends `there` partial results and `back` results to `o`, and gets as many results
    /// and partial results from it; between regions it gets as many partial results as it sends.
    void add(Traffic& traffic, int c, int o, double there, double back, bool is_own) {
        traffic.out += there + back;
        traffic.in += there + back;
        traffic.sending += (there + back) * down_.port(c, o);
        traffic.getting += is_own ? there * down_.port(c, o) + back * up_.port(c, o) : there * up_.port(c, o);
        const int flows = std::max(coordinators(c), coordinators(o));
        at_least(segments_ * (there + back) / flows * down_.gap(c, o), down_.credit_of_flow(c, o),
                 {Binding::Kind::link, c, o});
        of_trunk_[at(down_.group_of(c) * down_.groups() + down_.group_of(o))] += there + back;
    }

    void look_at_trunks() {
        for (int a = 0; a < down_.groups(); ++a) {
            for (int b = 0; b < down_.groups(); ++b) {
                if (a == b) continue;
                at_least(segments_ * of_trunk_[at(a * down_.groups() + b)] * down_.trunk(a, b), 0,
                         {Binding::Kind::trunk, a, b});
            }
        }
    }

    void at_least(double busy, double credit, const Binding& binding) {
        if (busy - credit <= busiest_) return;
        busiest_ = busy - credit;
        time_.binding = binding;
        time_.interval = busy / segments_;
    }

    int coordinators(int c) const { return std::min(sizes_[at(c)], lanes_); }
    double trip(int from, int to) const { return down_.gap(from, to) + down_.latency(from, to); }

    /// Of one segment: inside the cluster, inside the region, between the regions, and back.
    double latencies() const {
        double inside_up = 0;
        double inside_down = 0;
        for (int c = 0; c < static_cast<int>(sizes_.size()); ++c) {
            if (sizes_[at(c)] == 1) continue;
            inside_up = std::max(inside_up, up_.at_best(c, c) + up_.latency(c, c));
            inside_down = std::max(inside_down, down_.at_best(c, c) + down_.latency(c, c));
        }
        std::vector<double> near;
        for (const auto& region : regions_) {
            near.push_back(0);
            for (const int a : region) {
                for (const int b : region) near.back() = std::max(near.back(), a == b ? 0 : trip(a, b));
            }
        }
        double way = 0;
        for (std::size_t i = 0; i < regions_.size(); ++i) {
            for (std::size_t j = 0; j < regions_.size(); ++j) {
                if (i != j) way = std::max(way, near[i] + farthest(regions_[i], regions_[j]) + near[j]);
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
    const RegionList& regions_;
    const SegmentTimes& up_;
    const SegmentTimes& down_;
    std::vector<double> part_;      // of the region's ranks, by cluster
    std::vector<double> of_trunk_;  // messages for each segment, from group to group
    MeetingTime time_;
    double busiest_ = 0;
    double sustained_ = 0;
};

}  // namespace

MeetingTime regional_time(int lanes, std::uint64_t segments, const std::vector<int>& sizes,
                          const RegionList& regions, const SegmentTimes& up, const SegmentTimes& down) {
    return RegionalPrice(lanes, segments, sizes, regions, up, down).time();
}

}  // namespace laple
