// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/members.hpp"

#include <tuple>
#include <utility>

#include "base/index.hpp"

namespace laple {
namespace {

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

}  // namespace

double Members::until_last(const SegmentTimes& times, int cluster, double shared) const {
    const double start = times.start(cluster, cluster);
    const double share = std::max(times.port(cluster, cluster) - start, 0.0);
    const double credit = times.credit(cluster);
    // What a message takes that has the port alone.
    const double alone =
        times.gap(cluster, cluster) - times.port(cluster, cluster) + std::max(share - credit, 0.0);
    double until = 0;
    for (const Way& way : longest) {
        const int waits_for = times.shares_ports() && share > 0 ? way.shares : way.starts;
        // Of what a member sends to several others all but one are repeated.
        const double repeats = way.starts - way.messages;
        const double saved = repeats * start - (times.starts(cluster, repeats + 1) - start);
        const double passing =
            std::max(waits_for * start - saved + shared + waits_for * share - way.messages * credit,
                     way.starts * start - saved + way.messages * alone);
        until = std::max(until, passing + way.messages * times.latency(cluster, cluster));
    }
    return until;
}

const Members& KnownMembers::of(Shape shape, int size, bool behind_root) {
    for (const auto& known : known_) {
        if (known->size == size && known->shape == shape && known->behind_root == behind_root)
            return known->members;
    }
    known_.push_back(
        std::make_unique<Known>(Known{shape, size, behind_root, members_of(shape, size, behind_root)}));
    return known_.back()->members;
}

}  // namespace laple
