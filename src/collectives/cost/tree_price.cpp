// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/tree_price.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

#include "base/index.hpp"
#include "collectives/cost/reduction_walk.hpp"
#include "collectives/cost/tree_walk.hpp"

namespace laple {
namespace {

/// The member with the fewest children, of equals the one closest to the leader: as in hierarchy.cpp.
int least_loaded(const Members& members, const std::vector<int>& extra, int first) {
    int best = first;
    const auto load = [&](int member) {
        return static_cast<int>(members.children_of(member).size()) + extra[at(member)];
    };
    for (int member = first + 1; member < members.size(); ++member) {
        if (load(member) < load(best) ||
            (load(member) == load(best) && members.depth[at(member)] < members.depth[at(best)])) {
            best = member;
        }
    }
    return best;
}

}  // namespace

TreePricer::TreePricer(std::vector<int> sizes)
    : sizes_(std::move(sizes)), scratch_(std::make_unique<WalkScratch>()) {}
TreePricer::~TreePricer() = default;

void TreePricer::find_senders(const ClusterTree& tree, int root) {
    std::vector<int>& from = scratch_->from;
    from.assign(tree.order.size(), 0);
    if (!tree.spread) return;
    extra_.resize(sizes_.size());
    for (auto& more : extra_) more.clear();
    for (std::size_t i = 0; i < tree.order.size(); ++i) {
        const int cluster = tree.order[i].from;
        const Members& inside = *scratch_->members[at(cluster)];
        const bool is_behind_root = tree.lanes > 1 && cluster == root && inside.size() > 1;
        auto& more = extra_[at(cluster)];
        more.resize(inside.depth.size(), 0);
        from[i] = least_loaded(inside, more, is_behind_root ? 1 : 0);
        ++more[at(from[i])];
    }
}

double TreePricer::local(int cluster, Shape within, std::uint64_t segments, const SegmentTimes& times) {
    const Members& inside = members(within, sizes_[at(cluster)]);
    if (inside.size() == 1) return 0;
    const double longest = inside.until_last(times, cluster);
    const double interval = times.ports(cluster, static_cast<double>(inside.children_of(0).size()));
    const double left = std::max(times.credit(cluster) - interval, 0.0);  // by the first segment
    const double others = static_cast<double>(segments - 1) * interval;
    return longest + std::max(others - left, times.unsaved(cluster, others));
}

void TreePricer::prepare(const ClusterTree& tree, int root) {
    scratch_->members.clear();
    for (const int size : sizes_) scratch_->members.push_back(&members(tree.within, size));
    if (tree.lanes > 1) scratch_->members[at(root)] = &members(tree.within, sizes_[at(root)], true);
    find_senders(tree, root);
    scratch_->sends.resize(tree.order.size());
    std::iota(scratch_->sends.begin(), scratch_->sends.end(), std::size_t{0});
    scratch_->by_cluster.sort(scratch_->sends, sizes_.size(),
                              [&](std::size_t send) { return at(tree.order[send].from); });
}

TreeTime TreePricer::broadcast(const ClusterTree& tree, int root, std::uint64_t segments,
                               const SegmentTimes& times) {
    prepare(tree, root);
    TreeTime time = Walk(*scratch_, tree, root, segments, times, nullptr).time();
    if (!times.is_of_reduction() || tree.lanes > 1) return time;
    const ReductionTime forwards = ReductionWalk(*scratch_, tree, root, segments, times).time();
    time.first = forwards.first;
    time.last = std::max(forwards.last, time.sustained);
    return time;
}

TreeTime TreePricer::there_and_back(const ClusterTree& tree, int root, std::uint64_t segments,
                                    const SegmentTimes& down, const SegmentTimes& up) {
    prepare(tree, root);
    TreeTime time = Walk(*scratch_, tree, root, segments, down, &up).time();
    const double first_down = time.first;
    double last_up = 0;
    if (tree.lanes > 1) {
        const TreeTime way_up = Walk(*scratch_, tree, root, segments, up, &down).time();
        if (way_up.others > time.others) {
            time.interval = way_up.interval;
            time.others = way_up.others;
            time.binding = way_up.binding;
        }
        time.sustained = std::max(time.sustained, way_up.sustained);
        time.first += way_up.first;
    } else {
        ReductionWalk walk(*scratch_, tree, root, segments, up);
        const ReductionTime forwards = walk.time();
        time.first += forwards.first;
        last_up = forwards.last;
        if (segments > 1) last_up = std::max(last_up, walk.last_result(time.one_way));
    }
    if (segments == 1 && tree.order.empty()) time.first += lacks_on_the_way_back(root, down);
    time.last = std::max({time.first + time.others, first_down + last_up, time.sustained});
    return time;
}

/// In a lone cluster, a message that passed at once on its way up has used the burst of the ports that it
/// takes on its way down.
double TreePricer::lacks_on_the_way_back(int root, const SegmentTimes& down) const {
    const int hops = scratch_->members[at(root)]->deepest;
    const double waits = down.gap(root, root) - down.start(root, root);
    const double saved = std::min(down.credit(root), waits);
    const double left = down.credit(root) - saved;
    return hops * std::max(saved - left, 0.0);
}

}  // namespace laple
