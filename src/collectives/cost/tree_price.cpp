// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/tree_price.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

namespace laple {
namespace {

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

bool is_within(const Members::Way& a, const Members::Way& b) {
    return a.starts <= b.starts && a.shares <= b.shares && a.messages <= b.messages;
}

/// The longest first, so that few of the others have to be looked at.
void find_longest_ways(Members& members) {
    std::vector<Members::Way> ways(members.depth.size());
    for (int member = 0; member < members.size(); ++member) {
        const auto children = members.children_of(member);
        int starts = 0;
        for (const int child : children) {
            const Members::Way& here = ways[at(member)];
            ways[at(child)] = {here.starts + ++starts, here.shares + static_cast<int>(children.size()),
                               here.messages + 1};
        }
    }
    std::sort(ways.begin(), ways.end(), [](const Members::Way& a, const Members::Way& b) {
        return std::tuple(a.starts, a.shares, a.messages) > std::tuple(b.starts, b.shares, b.messages);
    });
    for (const Members::Way& way : ways) {
        const bool is_known = std::any_of(members.longest.begin(), members.longest.end(),
                                          [&](const Members::Way& other) { return is_within(way, other); });
        if (!is_known) members.longest.push_back(way);
    }
}

/// The shape over all members but the first, which passes on to the next alone.
ShapeLinks links_behind_root(Shape shape, int size) {
    ShapeLinks links = links_of(shape, size - 1);
    for (auto& children : links.children) {
        for (int& child : children) ++child;
    }
    links.children.insert(links.children.begin(), std::vector<int>{1});
    return links;
}

Members members_of(Shape shape, int size, bool behind_root) {
    const ShapeLinks links = behind_root && size > 1 ? links_behind_root(shape, size) : links_of(shape, size);
    Members members;
    members.depth.assign(at(size), 0);
    for (int member = 0; member < size; ++member) {
        members.first_child.push_back(static_cast<int>(members.children.size()));
        if (member > 0) members.most_below = std::max(members.most_below, links.children[at(member)].size());
        for (const int child : links.children[at(member)]) {
            members.depth[at(child)] = members.depth[at(member)] + 1;
            members.deepest = std::max(members.deepest, members.depth[at(child)]);
            members.children.push_back(child);
        }
    }
    members.first_child.push_back(static_cast<int>(members.children.size()));
    find_longest_ways(members);
    return members;
}

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

/// The interval that holds up all segments after the first one longest, and what it is of.
struct Interval {
    double seconds = 0;
    double total = 0;  ///< of all of them, without what a rested NIC saves
    Binding binding;

    void at_least(const Interval& other) {
        const bool is_longer = other.total > total || (other.total == total && other.seconds > seconds);
        if (is_longer) *this = other;
    }
};

/// When a member has the first segment, and how far apart the next ones come.
struct Arrival {
    double first = 0;
    Interval interval;
};

/// The load that a parent puts on a port with each segment, where segments go both ways.
struct ForParent {
    double to = 0;
    double from = 0;

    /// How long the port is busy, when it is so long with its children's.
    double busy(double to_children, double from_children) const {
        return std::max(to + to_children, from + from_children);
    }
};

/// The trunks between groups during one walk.
class Trunks {
  public:
    /// `both_ways`: each segment also goes up the tree.
    void begin(const SegmentTimes& times, const SendOrder& order, bool both_ways) {
        if (!times.has_trunks()) return;
        copies_.assign(static_cast<std::size_t>(times.groups()) * static_cast<std::size_t>(times.groups()),
                       0);
        free_.assign(copies_.size(), 0);
        for (const Send& send : order) {
            copies_[place(times, send.from, send.to)] += 1;
            if (both_ways) copies_[place(times, send.to, send.from)] += 1;
        }
    }
    /// When a message that starts then has passed.
    double pass(const SegmentTimes& times, int from, int to, double start) {
        if (each(times, from, to) <= 0) return start;
        double& free = free_[place(times, from, to)];
        free = std::max(free, start) + each(times, from, to);
        return free;
    }
    double interval(const SegmentTimes& times, int from, int to) const {
        return copies_[place(times, from, to)] * each(times, from, to);
    }

  private:
    static double each(const SegmentTimes& times, int from, int to) {
        return times.trunk(times.group_of(from), times.group_of(to));
    }
    static std::size_t place(const SegmentTimes& times, int from, int to) {
        return at(times.group_of(from) * times.groups() + times.group_of(to));
    }
    std::vector<double> copies_;  // of each segment, by pair of groups
    std::vector<double> free_;    // when all that was sent has passed
};

/// Things by where they belong, each list in the old order. (counting sort)
class Sorted {
  public:
    template <typename Things, typename PlaceOf>
    void sort(const Things& things, std::size_t places, PlaceOf place_of) {
        first_.assign(places + 1, 0);
        for (const std::size_t thing : things) ++first_[place_of(thing) + 1];
        for (std::size_t place = 1; place < first_.size(); ++place) first_[place] += first_[place - 1];
        next_ = first_;
        things_.resize(things.size());
        for (const std::size_t thing : things) things_[next_[place_of(thing)]++] = thing;
    }
    std::span<const std::size_t> of(std::size_t place) const {
        return {things_.data() + first_[place], first_[place + 1] - first_[place]};
    }

  private:
    std::vector<std::size_t> first_;  // by place, into things_
    std::vector<std::size_t> next_;
    std::vector<std::size_t> things_;
};

}  // namespace

/// What one walk needs, kept for the next one.
struct TreePricer::Scratch {
    Sorted by_cluster;                    // messages to other clusters, into the order
    std::vector<const Members*> members;  // of each cluster
    std::vector<Arrival> arrival;         // at leaders
    std::vector<ForParent> parent;        // of these
    std::vector<int> from;                // find_senders()
    Trunks trunks;
    // Of the cluster that passes the message on:
    Sorted by_member;  // the messages of the cluster, into the order
    std::vector<Arrival> has;
    std::vector<double> sending;  // of each member, for a segment of one lane
    std::vector<double> receiving;
};

namespace {

/// One walk through a tree, cluster by cluster, each after the one that it gets the message from.
class Walk {
  public:
    /// After prepare() for the same tree. `back`: of segments that go up the tree at the same time, or
    /// nullptr.
    Walk(TreePricer::Scratch& scratch, const ClusterTree& tree, int root, std::uint64_t segments,
         const SegmentTimes& times, const SegmentTimes* back)
        : tree_(tree),
          root_(root),
          times_(times),
          back_(back),
          more_(static_cast<double>(segments - 1)),
          by_cluster_(scratch.by_cluster),
          members_(scratch.members),
          arrival_(scratch.arrival),
          parent_(scratch.parent),
          from_(scratch.from),
          trunks_(scratch.trunks),
          by_member_(scratch.by_member),
          has_(scratch.has),
          sending_(scratch.sending),
          receiving_(scratch.receiving) {
        arrival_.assign(members_.size(), {});
        parent_.assign(members_.size(), {});
        trunks_.begin(times, tree.order, back != nullptr);
        enter(root);
        for (const Send& send : tree.order) enter(send.to);
        time_.last = std::max(time_.last, time_.sustained);
        time_.interval = longest_.seconds;
        time_.others = longest_.total;
        time_.binding = longest_.binding;
    }

    const TreeTime& time() const { return time_; }

  private:
    void enter(int cluster) {
        const std::span<const std::size_t> out = by_cluster_.of(at(cluster));
        if (tree_.lanes == 1 &&
            std::all_of(out.begin(), out.end(), [&](std::size_t send) { return from_[send] == 0; })) {
            pass_on_from_coordinator(cluster, out);
        } else {
            pass_on_from_members(cluster, out);
        }
    }

    void arrive(int cluster, double first, const Interval& interval) {
        const double last = first + interval.total;
        time_.first = std::max(time_.first, first);
        longest_.at_least(interval);
        if (time_.last_cluster >= 0 && last <= time_.last) return;
        time_.last = last;
        time_.last_cluster = cluster;
    }

    /// What comes up from a child, where anything does.
    double port_back(int from, int to) const { return back_ == nullptr ? 0 : back_->port(from, to); }

    /// What a member of `to` does for its parent in `from`.
    ForParent for_parent(int from, int to) const {
        if (back_ == nullptr) return {};
        return {back_->port(from, to), times_.port(from, to)};
    }

    /// What the uplink of a cluster does during the walk.
    struct Uplink {
        Interval interval;
        double free = 0;
    };
    Uplink uplink_of(int cluster, std::size_t out) const {
        const double copies = static_cast<double>(out) + (parent_[at(cluster)].to > 0 ? 1 : 0);
        Uplink uplink;
        uplink.interval =
            interval_of(copies * times_.uplink_out(cluster), 0, {Binding::Kind::uplink, cluster, -1});
        return uplink;
    }

    Interval of_port(int cluster, double busy) const {
        return interval_of(busy, times_.credit(cluster), {Binding::Kind::port, cluster, cluster});
    }
    /// The first segment has had its part of the credit.
    Interval interval_of(double seconds, double credit, const Binding& binding) const {
        return {seconds, std::max(more_ * seconds - std::max(credit - seconds, 0.0), 0.0), binding};
    }

    /// A NIC with one segment.
    void keep_busy(int cluster, double busy) {
        time_.sustained = std::max(time_.sustained, (more_ + 1) * busy - times_.usual_credit(cluster));
    }

    /// What a member's children inside its cluster find.
    struct Sent {
        double started = 0;  ///< all messages to other clusters, which go first
        double shared = 0;   ///< what each message waits for its share of the port, but for credit
        Interval interval;
    };

    /// A member of `cluster` that has the message as `here` says sends `out`, and then as many inside.
    Sent send_out(int cluster, const Arrival& here, const ForParent& parent, std::span<const std::size_t> out,
                  std::size_t inside, Uplink& uplink) {
        const auto count = static_cast<double>(inside);
        double busy = count * times_.port(cluster, cluster);
        double busy_back = count * port_back(cluster, cluster);
        double starts = count * times_.start(cluster, cluster);
        for (const std::size_t send : out) {
            busy += times_.port(cluster, tree_.order[send].to);
            busy_back += port_back(cluster, tree_.order[send].to);
            starts += times_.start(cluster, tree_.order[send].to);
        }
        // Starts queue; while all messages are under way, each waits for its share of the port.
        Sent sent{here.first, busy - starts, here.interval};
        const double all = tree_.lanes > 1 ? lane_busy_ : parent.busy(busy, busy_back);
        keep_busy(cluster, all);
        sent.interval.at_least(of_port(cluster, all));
        const double shared = times_.after_credit(cluster, sent.shared);
        for (const std::size_t send : out) {
            const int to = tree_.order[send].to;
            const double ramp = times_.ramp(cluster, to, (more_ + 1) / flows(cluster, to));
            const double undivided = more_ == 0 ? ramp : 0;
            double left =
                sent.started + std::max(times_.start(cluster, to) + shared + times_.rest(cluster, to),
                                        times_.at_best(cluster, to) + undivided);
            if (times_.uplink_out(cluster) > 0) {
                // One message after the other, but none before the NIC sends it.
                uplink.free = std::max(uplink.free, sent.started) + times_.uplink_out(cluster);
                left = std::max(left, uplink.free);
            }
            if (times_.has_trunks()) left = std::max(left, trunks_.pass(times_, cluster, to, sent.started));
            sent.started += times_.start(cluster, to);
            Interval of_flow = sent.interval;
            Interval alone =
                interval_of(times_.gap(cluster, to) / flows(cluster, to), times_.credit_of_flow(cluster, to),
                            {Binding::Kind::link, cluster, to});
            alone.total += ramp - undivided;
            of_flow.at_least(alone);
            if (tree_.lanes > 1)
                of_flow.at_least(interval_of(times_.uplink_in(to), 0, {Binding::Kind::link, cluster, to}));
            of_flow.at_least(uplink.interval);
            if (times_.has_trunks())
                of_flow.at_least(
                    interval_of(trunks_.interval(times_, cluster, to), 0,
                                {Binding::Kind::trunk, times_.group_of(cluster), times_.group_of(to)}));
            arrival_[at(to)] = {left + times_.latency(cluster, to), of_flow};
            parent_[at(to)] = for_parent(cluster, to);
        }
        return sent;
    }

    /// The leader has the most children in every shape, and all others are below it: one interval and
    /// one time hold for all of them.
    void pass_on_from_coordinator(int cluster, std::span<const std::size_t> out) {
        const Arrival& here = arrival_[at(cluster)];
        const Members& members = *members_[at(cluster)];
        arrive(cluster, here.first, here.interval);
        if (members.size() == 1 && out.empty()) return;
        Uplink uplink = uplink_of(cluster, out.size());
        const std::size_t inside = members.children_of(0).size();
        Sent sent = send_out(cluster, here, parent_[at(cluster)], out, inside, uplink);
        if (members.size() == 1) return;
        const auto most = static_cast<double>(members.most_below);
        const double below_busy =
            for_parent(cluster, cluster)
                .busy(most * times_.port(cluster, cluster), most * port_back(cluster, cluster));
        keep_busy(cluster, below_busy);
        sent.interval.at_least(of_port(cluster, below_busy));
        const double shared_inside =
            static_cast<double>(inside) * (times_.port(cluster, cluster) - times_.start(cluster, cluster));
        arrive(cluster, sent.started + members.until_last(times_, cluster, sent.shared - shared_inside),
               sent.interval);
    }

    /// Members come after those that they get the message from, in every shape.
    void pass_on_from_members(int cluster, std::span<const std::size_t> out) {
        const Members& members = *members_[at(cluster)];
        by_member_.sort(out, members.depth.size(), [&](std::size_t send) { return at(from_[send]); });
        has_.resize(members.depth.size());
        has_[0] = arrival_[at(cluster)];
        const double start_inside = times_.start(cluster, cluster);
        const double after_start = times_.rest(cluster, cluster) + times_.latency(cluster, cluster);
        if (tree_.lanes > 1) lane_busy_ = busy_in_lanes(cluster);
        Uplink uplink = uplink_of(cluster, out.size());
        ForParent parent = parent_[at(cluster)];  // the leader's, which comes first
        const ForParent inside = for_parent(cluster, cluster);
        for (int member = 0; member < members.size(); ++member) {
            const Arrival& here = has_[at(member)];
            arrive(cluster, here.first, here.interval);
            const std::span<const std::size_t> sends = by_member_.of(at(member));
            const auto children = members.children_of(member);
            if (sends.empty() && children.empty()) continue;  // not the leader
            Sent sent = send_out(cluster, here, parent, sends, children.size(), uplink);
            const double shared = times_.after_credit(cluster, sent.shared);
            for (const int child : children) {
                sent.started += start_inside;
                has_[at(child)] = {sent.started + shared + after_start, sent.interval};
            }
            parent = inside;
        }
    }

    /// Members that take turns: all but the root of the tree, which is first in its cluster.
    int first_in_turn(int cluster) const {
        return cluster == root_ && members_[at(cluster)]->size() > 1 ? 1 : 0;
    }

    /// Different pairs of ranks that the lanes from one cluster to another use. Each has one segment at
    /// least.
    double flows(int from, int to) const {
        const int senders = members_[at(from)]->size() - first_in_turn(from);
        const int pairs = std::min(tree_.lanes, senders * members_[at(to)]->size());
        return std::min<double>(pairs, more_ + 1);
    }

    /// How long the busiest port of a cluster takes for a segment, on average of those of all lanes: in lane
    /// i each member does what the one i places before it does in the first lane. After by_member_ has been
    /// sorted.
    double busy_in_lanes(int cluster) {
        const Members& members = *members_[at(cluster)];
        sending_.assign(members.depth.size(), 0);
        receiving_.assign(members.depth.size(), 0);
        const ForParent inside = for_parent(cluster, cluster);
        for (int member = 0; member < members.size(); ++member) {
            const auto children = static_cast<double>(members.children_of(member).size());
            const ForParent& parent = member == 0 ? parent_[at(cluster)] : inside;
            double& sending = sending_[at(member)];
            double& receiving = receiving_[at(member)];
            sending = parent.to + children * times_.port(cluster, cluster);
            receiving = parent.from + children * port_back(cluster, cluster);
            for (const std::size_t send : by_member_.of(at(member))) {
                sending += times_.port(cluster, tree_.order[send].to);
                receiving += port_back(cluster, tree_.order[send].to);
            }
        }
        const auto first = at(first_in_turn(cluster));
        const std::span<const double> senders{sending_.begin() + static_cast<std::ptrdiff_t>(first),
                                              sending_.end()};
        const std::span<const double> receivers{receiving_.begin() + static_cast<std::ptrdiff_t>(first),
                                                receiving_.end()};
        const double busiest = std::max(most_in_turn(senders), most_in_turn(receivers));
        return first == 0 ? busiest : std::max({busiest, sending_[0], receiving_[0]});
    }

    /// The most that a member has on average, when they take each other's places from lane to lane.
    double most_in_turn(std::span<const double> loads) const {
        const std::size_t size = loads.size();
        const std::size_t rest = at(tree_.lanes) % size;
        double all = 0;
        double window = 0;  // of those whose places it takes once more than the others'
        for (std::size_t i = 0; i < size; ++i) all += loads[i];
        for (std::size_t i = 0; i < rest; ++i) window += loads[i];
        double most = window;
        for (std::size_t i = 0; i < size; ++i) {
            window += loads[(i + rest) % size] - loads[i];
            most = std::max(most, window);
        }
        const auto rounds = static_cast<double>(at(tree_.lanes) / size);
        return (rounds * all + (rest > 0 ? most : 0)) / tree_.lanes;
    }

    const ClusterTree& tree_;
    int root_;
    const SegmentTimes& times_;
    const SegmentTimes* back_;
    double lane_busy_ = 0;  // busy_in_lanes() of the cluster that is being looked at
    double more_;
    Interval longest_;  // of all
    Sorted& by_cluster_;
    const std::vector<const Members*>& members_;
    std::vector<Arrival>& arrival_;
    std::vector<ForParent>& parent_;
    std::vector<int>& from_;
    Trunks& trunks_;
    Sorted& by_member_;
    std::vector<Arrival>& has_;
    std::vector<double>& sending_;
    std::vector<double>& receiving_;
    TreeTime time_;
};

}  // namespace

const Members& TreePricer::members(Shape shape, int size, bool behind_root) {
    for (const auto& known : known_) {
        if (known->size == size && known->shape == shape && known->behind_root == behind_root)
            return known->members;
    }
    known_.push_back(
        std::make_unique<Known>(Known{shape, size, behind_root, members_of(shape, size, behind_root)}));
    return known_.back()->members;
}

TreePricer::TreePricer(std::vector<int> sizes)
    : sizes_(std::move(sizes)), scratch_(std::make_unique<Scratch>()) {}
TreePricer::~TreePricer() = default;

void TreePricer::find_senders(const ClusterTree& tree, int root, std::vector<int>& from) {
    from.assign(tree.order.size(), 0);
    if (!tree.spread) return;
    extra_.resize(sizes_.size());
    for (auto& more : extra_) more.clear();
    for (std::size_t i = 0; i < tree.order.size(); ++i) {
        const int cluster = tree.order[i].from;
        const int size = sizes_[at(cluster)];
        const bool is_behind_root = tree.lanes > 1 && cluster == root;
        const Members& inside = members(tree.within, size, is_behind_root);
        auto& more = extra_[at(cluster)];
        more.resize(inside.depth.size(), 0);
        from[i] = least_loaded(inside, more, is_behind_root && size > 1 ? 1 : 0);
        ++more[at(from[i])];
    }
}

double TreePricer::local(int cluster, Shape within, std::uint64_t segments, const SegmentTimes& times) {
    const Members& inside = members(within, sizes_[at(cluster)]);
    if (inside.size() == 1) return 0;
    const double longest = inside.until_last(times, cluster);
    const double interval = static_cast<double>(inside.children_of(0).size()) * times.port(cluster, cluster);
    const double left = std::max(times.credit(cluster) - interval, 0.0);  // by the first segment
    return longest + std::max(static_cast<double>(segments - 1) * interval - left, 0.0);
}

void TreePricer::prepare(const ClusterTree& tree, int root) {
    scratch_->members.clear();
    for (const int size : sizes_) scratch_->members.push_back(&members(tree.within, size));
    if (tree.lanes > 1) scratch_->members[at(root)] = &members(tree.within, sizes_[at(root)], true);
    find_senders(tree, root, scratch_->from);
    scratch_->by_cluster.sort(std::views::iota(std::size_t{0}, tree.order.size()), sizes_.size(),
                              [&](std::size_t send) { return at(tree.order[send].from); });
}

TreeTime TreePricer::broadcast(const ClusterTree& tree, int root, std::uint64_t segments,
                               const SegmentTimes& times) {
    prepare(tree, root);
    return Walk(*scratch_, tree, root, segments, times, nullptr).time();
}

TreeTime TreePricer::there_and_back(const ClusterTree& tree, int root, std::uint64_t segments,
                                    const SegmentTimes& down, const SegmentTimes& up) {
    prepare(tree, root);
    TreeTime time = Walk(*scratch_, tree, root, segments, down, &up).time();
    const TreeTime way_up = Walk(*scratch_, tree, root, segments, up, &down).time();
    time.first += way_up.first;
    if (way_up.others > time.others) {
        time.interval = way_up.interval;
        time.others = way_up.others;
        time.binding = way_up.binding;
    }
    time.sustained = std::max(time.sustained, way_up.sustained);
    time.last = std::max(time.first + time.others, time.sustained);
    return time;
}

}  // namespace laple
