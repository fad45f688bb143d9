// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/scatter_price.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace laple {
namespace {

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

class Sharing {
  public:
    Sharing(int lanes, std::uint64_t segments, const std::vector<int>& sizes, const SegmentTimes& up,
            const SegmentTimes& down)
        : lanes_(lanes), segments_(static_cast<double>(segments)), sizes_(sizes), up_(up), down_(down) {
        for (int c = 0; c < count(); ++c) farness_.push_back(farness_of(c));
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

    /// What the NIC of the busiest coordinator of a cluster does that owns such a share.
    double nic_time(int c, double share) const {
        const double own = std::ceil(segments_ / coordinators(c));  // segments of one coordinator
        const double owned = std::ceil(own * share);
        const double others = static_cast<double>(sizes_[at(c)] - 1);
        double sending = 0;  // a segment to another cluster, on average
        double getting = 0;
        for (int o = 0; o < count(); ++o) {
            if (o == c) continue;
            sending += down_.port(c, o) / (count() - 1);
            getting += up_.port(c, o) / (count() - 1);
        }
        const double inside = sizes_[at(c)] == 1 ? 0 : segments_ - own;
        const double across = own - owned + owned * (count() - 1);
        return std::max((inside + others * own) * down_.port(c, c) + across * sending,
                        inside * down_.port(c, c) + others * own * up_.port(c, c) + across * getting);
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

    /// Every rank of the `owners` nearest clusters has one.
    std::vector<int> shares_of(int owners) const {
        std::vector<int> shares(sizes_.size(), 0);
        for (int i = 0; i < owners; ++i) shares[at(by_farness_[at(i)])] = sizes_[at(by_farness_[at(i)])];
        return shares;
    }

    MeetingTime time_of(const std::vector<int>& shares) const {
        const double all = std::accumulate(shares.begin(), shares.end(), 0);
        MeetingTime time;
        double busiest = 0;
        double sustained = 0;
        const auto at_least = [&](double busy, double credit, const Binding& binding, double ramp = 0) {
            if (busy - credit + ramp <= busiest) return;
            busiest = busy - credit + ramp;
            time.binding = binding;
            time.interval = busy / segments_;
        };
        double far = 0;
        double near_up = 0;
        double near_down = 0;
        for (int c = 0; c < count(); ++c) {
            const double share = shares[at(c)] / all;
            if (share > 0) far = std::max(far, farness_[at(c)]);
            const double nic = nic_time(c, share);
            at_least(nic, down_.credit(c), {Binding::Kind::port, c, c});
            sustained = std::max(sustained, nic - down_.usual_credit(c));
            const double crossing = segments_ * (1 - share + share * (count() - 1));
            at_least(crossing * std::max(up_.uplink_out(c), down_.uplink_out(c)), 0,
                     {Binding::Kind::uplink, c, -1});
            for (int o = 0; o < count(); ++o) {
                if (o == c) continue;
                const double both = segments_ * (share + shares[at(o)] / all);
                at_least(both * down_.trunk(down_.group_of(c), down_.group_of(o)), 0,
                         {Binding::Kind::trunk, down_.group_of(c), down_.group_of(o)});
                const int flows = std::max(coordinators(c), coordinators(o));
                at_least(both / flows * down_.gap(c, o), down_.credit_of_flow(c, o),
                         {Binding::Kind::link, c, o}, down_.ramp(c, o, both / flows));
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
    std::vector<double> farness_;
    std::vector<int> by_farness_;
};

}  // namespace

SharedMeeting share_meeting(int lanes, std::uint64_t segments, const std::vector<int>& sizes,
                            const SegmentTimes& up, const SegmentTimes& down) {
    return Sharing(lanes, segments, sizes, up, down).best();
}

}  // namespace laple
