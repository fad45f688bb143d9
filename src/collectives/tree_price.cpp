// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/tree_price.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
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

Members members_of(Shape shape, int size) {
    const ShapeLinks links = links_of(shape, size);
    Members members;
    members.depth.assign(at(size), 0);
    for (int member = 0; member < size; ++member) {
        members.first_child.push_back(static_cast<int>(members.children.size()));
        if (member > 0) members.most_below = std::max(members.most_below, links.children[at(member)].size());
        for (const int child : links.children[at(member)]) {
            members.depth[at(child)] = members.depth[at(member)] + 1;
            members.children.push_back(child);
        }
    }
    members.first_child.push_back(static_cast<int>(members.children.size()));
    find_longest_ways(members);
    return members;
}

/// The member with the fewest children, of equals the one nearest to the coordinator: as in hierarchy.cpp.
int least_loaded(const Members& members, const std::vector<int>& extra) {
    int best = 0;
    const auto load = [&](int member) {
        return static_cast<int>(members.children_of(member).size()) + extra[at(member)];
    };
    for (int member = 1; member < members.size(); ++member) {
        if (load(member) < load(best) ||
            (load(member) == load(best) && members.depth[at(member)] < members.depth[at(best)])) {
            best = member;
        }
    }
    return best;
}

/// The longest interval so far, and what it is of.
struct Interval {
    double seconds = 0;
    Binding binding;

    void at_least(double other, const Binding& what) {
        if (other <= seconds) return;
        seconds = other;
        binding = what;
    }
};

/// When a member has the first segment, and how far apart the next ones come.
struct Arrival {
    double first = 0;
    Interval interval;
    // What its port does for its parent, where segments go both ways.
    double to_parent = 0;
    double from_parent = 0;

    /// How long its port is busy with each segment, when it is so long with its children's.
    double busy(double to_children, double from_children) const {
        return std::max(to_parent + to_children, from_parent + from_children);
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
    template <typename PlaceOf>
    void sort(std::size_t things, std::size_t places, PlaceOf place_of) {
        first_.assign(places + 1, 0);
        for (std::size_t thing = 0; thing < things; ++thing) ++first_[place_of(thing) + 1];
        for (std::size_t place = 1; place < first_.size(); ++place) first_[place] += first_[place - 1];
        next_ = first_;
        things_.resize(things);
        for (std::size_t thing = 0; thing < things; ++thing) things_[next_[place_of(thing)]++] = thing;
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
    Sorted by_cluster;             // messages to other clusters, into the order
    std::vector<Arrival> arrival;  // at coordinators
    std::vector<int> from;         // find_senders()
    Trunks trunks;
    // Of the cluster that passes the message on:
    Sorted by_member;  // into the messages of the cluster
    std::vector<Arrival> has;
};

namespace {

/// One walk through a tree, cluster by cluster, each after the one that it gets the message from.
class Walk {
  public:
    /// `back`: of segments that go up the tree at the same time, or nullptr.
    Walk(TreePricer& pricer, TreePricer::Scratch& scratch, const ClusterTree& tree, int root,
         std::uint64_t segments, const SegmentTimes& times, const SegmentTimes* back)
        : pricer_(pricer),
          tree_(tree),
          times_(times),
          back_(back),
          more_(static_cast<double>(segments - 1)),
          by_cluster_(scratch.by_cluster),
          arrival_(scratch.arrival),
          from_(scratch.from),
          trunks_(scratch.trunks),
          by_member_(scratch.by_member),
          has_(scratch.has) {
        arrival_.assign(pricer.sizes().size(), {});
        pricer.find_senders(tree, from_);
        trunks_.begin(times, tree.order, back != nullptr);
        by_cluster_.sort(tree.order.size(), pricer.sizes().size(),
                         [&](std::size_t send) { return at(tree.order[send].from); });
        enter(root);
        for (const Send& send : tree.order) enter(send.to);
    }

    const TreeTime& time() const { return time_; }

  private:
    void enter(int cluster) {
        if (by_cluster_.of(at(cluster)).empty()) {
            end_in(cluster);
        } else {
            pass_on(cluster);
        }
    }

    void arrive(int cluster, double first, const Interval& interval) {
        const double last = first + more_ * interval.seconds;
        time_.first = std::max(time_.first, first);
        if (interval.seconds > time_.interval) {
            time_.interval = interval.seconds;
            time_.binding = interval.binding;
        }
        if (time_.last_cluster >= 0 && last <= time_.last) return;
        time_.last = last;
        time_.last_cluster = cluster;
    }

    /// A cluster that sends nothing to others. Its coordinator has the most children in every shape, and all
    /// others are below it: one interval holds for all of them.
    void end_in(int cluster) {
        const Arrival& arrival = arrival_[at(cluster)];
        const Members& members = pricer_.members(tree_.within, pricer_.sizes()[at(cluster)]);
        arrive(cluster, arrival.first, arrival.interval);
        if (members.size() == 1) return;
        Interval interval = arrival.interval;
        at_least_ports(interval, arrival, members.children_of(0).size(), cluster);
        at_least_ports(interval, arrive_from(cluster, cluster, 0, {}), members.most_below, cluster);
        const double inside = members.until_last(times_, cluster);
        arrive(cluster, arrival.first + inside, interval);
    }

    /// What comes up from a child, where anything does.
    double port_back(int from, int to) const { return back_ == nullptr ? 0 : back_->port(from, to); }

    Arrival arrive_from(int cluster, int to, double first, const Interval& interval) const {
        if (back_ == nullptr) return {first, interval};
        return {first, interval, back_->port(cluster, to), times_.port(cluster, to)};
    }

    /// A member with so many children, all of them inside.
    void at_least_ports(Interval& interval, const Arrival& here, std::size_t children, int cluster) const {
        const auto count = static_cast<double>(children);
        interval.at_least(
            here.busy(count * times_.port(cluster, cluster), count * port_back(cluster, cluster)),
            {Binding::Kind::port, cluster, cluster});
    }

    /// Members come after those that they get the message from, in every shape.
    void pass_on(int cluster) {
        const Members& members = pricer_.members(tree_.within, pricer_.sizes()[at(cluster)]);
        const std::span<const std::size_t> out = by_cluster_.of(at(cluster));
        by_member_.sort(out.size(), members.depth.size(), [&](std::size_t i) { return at(from_[out[i]]); });
        has_.resize(members.depth.size());
        has_[0] = arrival_[at(cluster)];
        const double port_inside = times_.port(cluster, cluster);
        const double start_inside = times_.start(cluster, cluster);
        const double rest_inside = times_.rest(cluster, cluster);
        const double latency_inside = times_.latency(cluster, cluster);
        const double copies = static_cast<double>(out.size()) + (arrival_[at(cluster)].to_parent > 0 ? 1 : 0);
        Interval of_uplink;
        of_uplink.at_least(copies * times_.uplink_out(cluster), {Binding::Kind::uplink, cluster, -1});
        double uplink_free = 0;
        for (int member = 0; member < members.size(); ++member) {
            const Arrival& here = has_[at(member)];
            arrive(cluster, here.first, here.interval);
            const std::span<const std::size_t> sends = by_member_.of(at(member));
            const auto children = members.children_of(member);
            if (sends.empty() && children.empty()) continue;
            double busy = static_cast<double>(children.size()) * port_inside;
            double busy_back = static_cast<double>(children.size()) * port_back(cluster, cluster);
            double starts = static_cast<double>(children.size()) * start_inside;
            for (const std::size_t i : sends) {
                busy += times_.port(cluster, tree_.order[out[i]].to);
                busy_back += port_back(cluster, tree_.order[out[i]].to);
                starts += times_.start(cluster, tree_.order[out[i]].to);
            }
            Interval interval = here.interval;
            interval.at_least(here.busy(busy, busy_back), {Binding::Kind::port, cluster, cluster});
            // Starts queue; while all messages are under way, each waits for its share of the port.
            const double shared = busy - starts;
            double started = here.first;
            for (const std::size_t i : sends) {
                const int to = tree_.order[out[i]].to;
                double left = started + times_.start(cluster, to) + shared + times_.rest(cluster, to);
                if (times_.uplink_out(cluster) > 0) {
                    // One message after the other, but none before the NIC sends it.
                    uplink_free = std::max(uplink_free, started) + times_.uplink_out(cluster);
                    left = std::max(left, uplink_free);
                }
                if (times_.has_trunks()) left = std::max(left, trunks_.pass(times_, cluster, to, started));
                started += times_.start(cluster, to);
                Interval of_flow = interval;
                of_flow.at_least(times_.gap(cluster, to), {Binding::Kind::link, cluster, to});
                of_flow.at_least(of_uplink.seconds, of_uplink.binding);
                if (times_.has_trunks())
                    of_flow.at_least(trunks_.interval(times_, cluster, to),
                                     {Binding::Kind::trunk, times_.group_of(cluster), times_.group_of(to)});
                arrival_[at(to)] = arrive_from(cluster, to, left + times_.latency(cluster, to), of_flow);
            }
            for (const int child : children) {
                started += start_inside;
                has_[at(child)] =
                    arrive_from(cluster, cluster, started + shared + rest_inside + latency_inside, interval);
            }
        }
    }

    TreePricer& pricer_;
    const ClusterTree& tree_;
    const SegmentTimes& times_;
    const SegmentTimes* back_;
    double more_;
    Sorted& by_cluster_;
    std::vector<Arrival>& arrival_;
    std::vector<int>& from_;
    Trunks& trunks_;
    Sorted& by_member_;
    std::vector<Arrival>& has_;
    TreeTime time_;
};

}  // namespace

const Members& TreePricer::members(Shape shape, int size) {
    for (const auto& known : known_) {
        if (known->size == size && known->shape == shape) return known->members;
    }
    known_.push_back(std::make_unique<Known>(Known{shape, size, members_of(shape, size)}));
    return known_.back()->members;
}

TreePricer::TreePricer(std::vector<int> sizes)
    : sizes_(std::move(sizes)), scratch_(std::make_unique<Scratch>()) {}
TreePricer::~TreePricer() = default;

void TreePricer::find_senders(const ClusterTree& tree, std::vector<int>& from) {
    from.assign(tree.order.size(), 0);
    if (!tree.spread) return;
    extra_.resize(sizes_.size());
    for (auto& more : extra_) more.clear();
    for (std::size_t i = 0; i < tree.order.size(); ++i) {
        const int cluster = tree.order[i].from;
        const Members& inside = members(tree.within, sizes_[at(cluster)]);
        auto& more = extra_[at(cluster)];
        more.resize(inside.depth.size(), 0);
        from[i] = least_loaded(inside, more);
        ++more[at(from[i])];
    }
}

double TreePricer::local(int cluster, Shape within, std::uint64_t segments, const SegmentTimes& times) {
    const Members& inside = members(within, sizes_[at(cluster)]);
    if (inside.size() == 1) return 0;
    const double longest = inside.until_last(times, cluster);
    const double interval = static_cast<double>(inside.children_of(0).size()) * times.port(cluster, cluster);
    return longest + static_cast<double>(segments - 1) * interval;
}

TreeTime TreePricer::broadcast(const ClusterTree& tree, int root, std::uint64_t segments,
                               const SegmentTimes& times) {
    return Walk(*this, *scratch_, tree, root, segments, times, nullptr).time();
}

TreeTime TreePricer::there_and_back(const ClusterTree& tree, int root, std::uint64_t segments,
                                    const SegmentTimes& down, const SegmentTimes& up) {
    TreeTime time = Walk(*this, *scratch_, tree, root, segments, down, &up).time();
    const TreeTime way_up = Walk(*this, *scratch_, tree, root, segments, up, &down).time();
    time.first += way_up.first;
    if (way_up.interval > time.interval) {
        time.interval = way_up.interval;
        time.binding = way_up.binding;
    }
    time.last = time.first + static_cast<double>(segments - 1) * time.interval;
    return time;
}

}  // namespace laple
