// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/scatter_price.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "collectives/nic_work.hpp"

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

    /// What the NIC of the busiest coordinator of a cluster sends that owns such a share.
    NicWork sending(int c, double share) const {
        const Segments of = segments_at(c, share);
        double far = 0;  // a segment to another cluster, on average
        for (int o = 0; o < count(); ++o) far += o == c ? 0 : down_.port(c, o) / (count() - 1);
        return {of.contributed * down_.port(c, c) + of.given * far,
                of.coordinated * down_.port(c, c) + of.owned * far};
    }

    /// What it gets.
    NicWork getting(int c, double share) const {
        const Segments of = segments_at(c, share);
        double far = 0;
        for (int o = 0; o < count(); ++o) far += o == c ? 0 : up_.port(c, o) / (count() - 1);
        return {of.coordinated * up_.port(c, c) + of.owned * far,
                of.contributed * down_.port(c, c) + of.given * far};
    }

    /// Those that pass the busiest coordinator's NIC one way on their way up, and the other way as results.
    struct Segments {
        double contributed;  ///< to other coordinators of its cluster
        double coordinated;  ///< from all others of its cluster
        double given;        ///< to owners elsewhere
        double owned;        ///< from the coordinators of all other clusters
    };
    Segments segments_at(int c, double share) const {
        const double own = std::ceil(segments_ / coordinators(c));
        const double owned = std::ceil(own * share);
        const double inside = sizes_[at(c)] == 1 ? 0 : segments_ - own;
        return {inside, static_cast<double>(sizes_[at(c)] - 1) * own, own - owned, owned * (count() - 1)};
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
        const double wait = latencies(shares);
        MeetingTime time;
        time.first = wait + one_by_one(sizes_, up_, down_);
        const auto at_least = [&](double total, double busy, const Binding& binding) {
            if (total <= time.total) return;
            time.total = total;
            time.binding = binding;
            time.interval = busy / segments_;
        };
        for (int c = 0; c < count(); ++c) {
            const double share = shares[at(c)] / all;
            for (const NicWork& nic : {sending(c, share), getting(c, share)}) {
                const double rested = std::max(nic.time(wait) - down_.credit(c), wait);
                at_least(std::max(rested, nic.all() - down_.usual_credit(c)), nic.all(),
                         {Binding::Kind::port, c, c});
            }
            const double crossing = segments_ * (1 - share + share * (count() - 1)) *
                                    std::max(up_.uplink_out(c), down_.uplink_out(c));
            at_least(wait + crossing, crossing, {Binding::Kind::uplink, c, -1});
            for (int o = 0; o < count(); ++o) {
                if (o == c) continue;
                const double both = segments_ * (share + shares[at(o)] / all);
                const double of_trunk = both * down_.trunk(down_.group_of(c), down_.group_of(o));
                at_least(wait + of_trunk, of_trunk,
                         {Binding::Kind::trunk, down_.group_of(c), down_.group_of(o)});
                const double of_flow = both / std::max(coordinators(c), coordinators(o));
                const double busy = of_flow * down_.gap(c, o);
                at_least(wait + busy - down_.credit_of_flow(c, o) + down_.ramp(c, o, of_flow), busy,
                         {Binding::Kind::link, c, o});
            }
        }
        return time;
    }

    /// Of one segment: inside a cluster, to its owner, from there, inside a cluster.
    double latencies(const std::vector<int>& shares) const {
        double far = 0;
        double near_up = 0;
        double near_down = 0;
        for (int c = 0; c < count(); ++c) {
            if (shares[at(c)] > 0) far = std::max(far, farness_[at(c)]);
            if (sizes_[at(c)] == 1) continue;
            near_up = std::max(near_up, up_.at_best(c, c) + up_.latency(c, c));
            near_down = std::max(near_down, down_.at_best(c, c) + down_.latency(c, c));
        }
        return near_up + far + near_down;
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
