// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/scatter_price.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace laple {
namespace {

constexpr int kShareUnits = 32;

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

/// Times that grow with a cluster's share: base + share · slope.
struct Line {
    double base = 0;
    double slope = 0;
    double of(double share) const { return base + share * slope; }
    /// The largest share that takes no longer than `time`; below 0 when none does.
    double share_within(double time) const {
        if (time < base) return -1;
        return slope > 0 ? (time - base) / slope : std::numeric_limits<double>::infinity();
    }
};

class Sharing {
  public:
    Sharing(int lanes, std::uint64_t segments, const std::vector<int>& sizes, const SegmentTimes& up,
            const SegmentTimes& down)
        : lanes_(lanes), segments_(static_cast<double>(segments)), sizes_(sizes), up_(up), down_(down) {
        for (int c = 0; c < count(); ++c) {
            nic_.push_back(nic_of(c));
            const double uplink = std::max(up.uplink_out(c), down.uplink_out(c));
            uplink_.push_back({segments_ * uplink, segments_ * uplink * (count() - 2)});
            farness_.push_back(farness_of(c));
        }
        by_farness_.resize(sizes.size());
        std::iota(by_farness_.begin(), by_farness_.end(), 0);
        std::stable_sort(by_farness_.begin(), by_farness_.end(),
                         [&](int a, int b) { return farness_[at(a)] < farness_[at(b)]; });
    }

    /// The best of what the 1, 2, 4, ... clusters nearest to the others make together.
    SharedMeeting best() const {
        SharedMeeting best;
        best.time.total = std::numeric_limits<double>::infinity();
        for (int owners = 1;; owners = std::min(2 * owners, count())) {
            const std::vector<int> shares = shares_of(owners);
            const MeetingTime time = time_of(shares);
            if (time.total < best.time.total) best = {shares, time};
            if (owners == count()) return best;
        }
    }

  private:
    int count() const { return static_cast<int>(sizes_.size()); }
    int coordinators(int c) const { return std::min(sizes_[at(c)], lanes_); }

    Line nic_of(int c) const {
        const double own = std::ceil(segments_ / coordinators(c));  // segments of one coordinator
        const double others = static_cast<double>(sizes_[at(c)] - 1);
        double sending = 0;  // a segment to another cluster, on average
        double getting = 0;
        for (int o = 0; o < count(); ++o) {
            if (o == c) continue;
            sending += down_.port(c, o) / (count() - 1);
            getting += up_.port(c, o) / (count() - 1);
        }
        const double inside = sizes_[at(c)] == 1 ? 0 : segments_ - own;
        const Line sends{(inside + others * own) * down_.port(c, c) + own * sending,
                         own * sending * (count() - 2)};
        const Line gets{inside * down_.port(c, c) + others * own * up_.port(c, c) + own * getting,
                        own * getting * (count() - 2)};
        return sends.of(1.0 / count()) > gets.of(1.0 / count()) ? sends : gets;
    }

    double trip(int from, int to) const { return down_.gap(from, to) + down_.latency(from, to); }

    /// From anywhere to an owner in `c`, and from there to anywhere.
    double farness_of(int c) const {
        double there = 0;
        double back = 0;
        for (int o = 0; o < count(); ++o) {
            if (o == c) continue;
            there = std::max(there, trip(o, c));
            back = std::max(back, trip(c, o));
        }
        return there + back;
    }

    double share_within(int c, double time) const {
        return std::clamp(std::min(nic_[at(c)].share_within(time), uplink_[at(c)].share_within(time)), 0.0,
                          1.0);
    }

    /// The shares of the nearest `owners` clusters that make the busiest resource least busy, in units.
    std::vector<int> shares_of(int owners) const {
        const auto sum_within = [&](double time) {
            double sum = 0;
            for (int i = 0; i < owners; ++i) sum += share_within(by_farness_[at(i)], time);
            return sum;
        };
        // When one has it all, that is enough; when all have nothing, it is not.
        double low = std::numeric_limits<double>::infinity();
        double high = 0;
        for (int i = 0; i < owners; ++i) {
            const int c = by_farness_[at(i)];
            low = std::min(low, std::max(nic_[at(c)].base, uplink_[at(c)].base));
            high = std::max({high, nic_[at(c)].of(1), uplink_[at(c)].of(1)});
        }
        constexpr int kSteps = 12;  // shares are in units of a 32nd
        for (int step = 0; step < kSteps; ++step) {
            const double middle = (low + high) / 2;
            (sum_within(middle) >= 1 ? high : low) = middle;
        }
        return in_units(owners, high, sum_within(high));
    }

    /// Of so many units for all; those that are left over go to the nearest.
    std::vector<int> in_units(int owners, double time, double sum) const {
        std::vector<int> shares(sizes_.size(), 0);
        int left = kShareUnits;
        for (int i = 0; i < owners; ++i) {
            const int c = by_farness_[at(i)];
            shares[at(c)] = static_cast<int>(share_within(c, time) / sum * kShareUnits);
            left -= shares[at(c)];
        }
        for (int i = 0; left > 0; i = (i + 1) % owners, --left) ++shares[at(by_farness_[at(i)])];
        return shares;
    }

    MeetingTime time_of(const std::vector<int>& shares) const {
        MeetingTime time;
        double busiest = 0;
        double sustained = 0;
        const auto at_least = [&](double busy, double credit, const Binding& binding) {
            if (busy - credit <= busiest) return;
            busiest = busy - credit;
            time.binding = binding;
            time.interval = busy / segments_;
        };
        double far = 0;
        double near_up = 0;
        double near_down = 0;
        for (int c = 0; c < count(); ++c) {
            const double share = shares[at(c)] / static_cast<double>(kShareUnits);
            if (share > 0) far = std::max(far, farness_[at(c)]);
            const double own = std::ceil(segments_ / coordinators(c));
            const double nic = nic_[at(c)].of(std::ceil(own * share) / own);
            at_least(nic, down_.credit(c), {Binding::Kind::port, c, c});
            sustained = std::max(sustained, nic - down_.usual_credit(c));
            at_least(uplink_[at(c)].of(share), 0, {Binding::Kind::uplink, c, -1});
            for (int o = 0; o < count(); ++o) {
                if (o == c) continue;
                const double both = segments_ * (share + shares[at(o)] / static_cast<double>(kShareUnits));
                at_least(both * down_.trunk(down_.group_of(c), down_.group_of(o)), 0,
                         {Binding::Kind::trunk, down_.group_of(c), down_.group_of(o)});
                const int flows = std::max(coordinators(c), coordinators(o));
                at_least(both / flows * down_.gap(c, o), down_.credit_of_flow(c, o),
                         {Binding::Kind::link, c, o});
            }
            if (sizes_[at(c)] == 1) continue;
            near_up = std::max(near_up, up_.at_best(c, c) + up_.latency(c, c));
            near_down = std::max(near_down, down_.at_best(c, c) + down_.latency(c, c));
        }
        time.total = std::max(near_up + far + near_down + busiest, sustained);
        return time;
    }

    int lanes_;
    double segments_;
    const std::vector<int>& sizes_;
    const SegmentTimes& up_;
    const SegmentTimes& down_;
    std::vector<Line> nic_;
    std::vector<Line> uplink_;
    std::vector<double> farness_;
    std::vector<int> by_farness_;
};

}  // namespace

SharedMeeting share_meeting(int lanes, std::uint64_t segments, const std::vector<int>& sizes,
                            const SegmentTimes& up, const SegmentTimes& down) {
    return Sharing(lanes, segments, sizes, up, down).best();
}

}  // namespace laple
