// SPDX-License-Identifier: BSD-3-Clause
// Broadcast along two trees below the root, over all other hosts: each of them passes on in one tree and is a
// leaf of the other, so that all ports are busy and none has more than the message to send. Segments take
// turns. The first tree is numbered in order, so that leaves and inner members alternate; the second is its
// mirror image, or for an odd number of members the first one moved by one.
//
//     first   0 ── 4 ─┬─ 2 ─┬─ 1     second   0 ── 3 ─┬─ 5 ─┬─ 6      (six others)
//                     │     └─ 3                       │     └─ 4
//                     └─ 6 ─── 5                       └─ 1 ─── 2
//
//     two-tree@8K
//
// (Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009)
#include <algorithm>
#include <bit>

#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

constexpr std::string_view kName = "two-tree";

/// Member of the complete tree numbered in order over first ... end - 1: the largest power of two from the
/// left.
int middle_of(int first, int end) {
    return first - 1 + static_cast<int>(std::bit_floor(static_cast<unsigned>(end - first)));
}

/// Adds that tree below `above`; `member_of` says who has which number.
template <typename MemberOf>
void link_in_order(Tree& tree, int above, int first, int end, MemberOf member_of) {
    if (first >= end) return;
    const int middle = middle_of(first, end);
    tree.link(above, member_of(middle));
    link_in_order(tree, member_of(middle), first, middle, member_of);
    link_in_order(tree, member_of(middle), middle + 1, end, member_of);
}

Tree tree_of_members(int count, bool is_second) {
    Tree tree = Tree::lone_root(count, 0);
    const int others = count - 1;
    link_in_order(tree, 0, 1, count, [&](int number) {
        if (!is_second) return number;
        if (others % 2 == 0) return others + 1 - number;
        return number == 1 ? others : number - 1;
    });
    return tree;
}

/// The links of a rank in such a tree over members, with the ranks of its host below its leader.
RankLinks links_of_rank(const Tree& tree, const HostMembers& members) {
    if (!members.is_leader()) return members.on_host();
    RankLinks links = links_in(tree, members.self());
    if (links.parent >= 0) links.parent = members.leader(links.parent);
    for (Rank& child : links.children) child = members.leader(child);
    links.children.insert(links.children.end(), members.on_host().children.begin(),
                          members.on_host().children.end());
    return links;
}

class TwoTree final : public Algorithm {
  public:
    explicit TwoTree(Bytes segment_bytes) : segment_bytes_(segment_bytes) {}

    std::string name() const override { return std::string(kName) + name_suffix(segment_bytes_, 1); }
    std::string in_words() const override { return "segments take turns between two trees over all hosts"; }
    Bytes segment_bytes() const override { return segment_bytes_; }
    bool can_do(const Request&, const Machine&) const override { return true; }
    std::optional<Candidate> price(Pricing& pricing) const override;
    void write_steps(const Part& part, ScheduleBuilder& builder) const override;

  private:
    Bytes segment_bytes_;
};

/// Each tree has every second segment, and its members pass on two for each that they get:
/// log2 P (2 g(s) + L) + g(s) k. Of one cluster.
std::optional<Candidate> TwoTree::price(Pricing& pricing) const {
    if (pricing.clusters() > 1) return std::nullopt;
    const SegmentTimes& times = pricing.times(segment_bytes_, SegmentTimes::Direction::broadcast);
    const std::uint64_t segments = pricing.segments(segment_bytes_);
    const int hosts = pricing.machine().host_count();
    double height = 0;  // of the second tree, which begins one segment later
    for (int reached = 1; reached < hosts; reached *= 2) ++height;
    const double gap = times.gap(0, 0);
    Candidate candidate;
    candidate.algorithm = std::make_shared<TwoTree>(segment_bytes_);
    candidate.time.first = height * (2 * gap + times.latency(0, 0));
    candidate.time.interval = times.port(0, 0);
    candidate.time.last = candidate.time.first + static_cast<double>(segments) * times.port(0, 0);
    candidate.time.binding = {Binding::Kind::port, 0, 0};
    add_time_on_hosts(pricing, segment_bytes_, candidate.time);
    candidate.seconds = candidate.time.last;
    candidate.hops = static_cast<int>(height);
    return candidate;
}

void TwoTree::write_steps(const Part& part, ScheduleBuilder& builder) const {
    const Segments all = segments(part.request);
    const HostMembers members(part.request, part.machine, part.rank);
    ReceiveSlots slots(all, builder);
    const auto steps_along = [&](bool is_second) {
        const Tree tree = tree_of_members(members.count(), is_second);
        return TreeSteps(links_of_rank(tree, members), part.rank, TreeSteps::Use::broadcast, slots, builder,
                         is_second ? 1 : 0);
    };
    TreeSteps even = steps_along(false);
    TreeSteps odd = steps_along(true);
    for (std::uint32_t i = 0; i < all.count(); ++i)
        (i % 2 == 0 ? even : odd).broadcast(region_in(kResult, all.at(i)));
}

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    if (name.first() != kName) return nullptr;
    if (name.levels.size() > 1 || name.lanes > 1) refuse_name(name, "two-tree takes segments only");
    return std::make_shared<TwoTree>(name.segment_bytes);
}

void propose(Pricing& pricing, std::vector<Candidate>& found) {
    if (pricing.request().bytes() < kLeastToCut || pricing.clusters() > 1) return;
    for (const Bytes segment_bytes : pricing.segment_sizes())
        found.push_back(*TwoTree(segment_bytes).price(pricing));
}

bool is_for(Collective collective) {
    return collective == Collective::bcast;
}

}  // namespace

Family two_tree_family() {
    return {kName,
            "two-tree@SEGMENT",
            "segments take turns between two trees over all hosts",
            "Sanders, Speck, Träff, 2009",
            is_for,
            parse,
            propose,
            nullptr};
}

}  // namespace laple
