// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/host_members.hpp"

#include <algorithm>

#include "collectives/collective/collective.hpp"
#include "collectives/trees/host_tree.hpp"

namespace laple {

namespace {

template <typename T>
std::vector<T> bit_reversed(const std::vector<T>& values) {
    std::vector<T> reversed(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::size_t mirrored = 0;
        for (std::size_t bit = 1, mirror = values.size() / 2; mirror > 0; bit *= 2, mirror /= 2)
            mirrored |= (i & bit) != 0 ? mirror : 0;
        reversed[mirrored] = values[i];
    }
    return reversed;
}

}  // namespace

std::vector<Host> hosts_in_order(const Request& request, const Machine& machine, MemberOrder order) {
    std::vector<Host> hosts;
    for (const auto& clusters : machine.groups()) {
        for (const int cluster : clusters) {
            const auto here = machine.hosts_in(cluster);
            hosts.insert(hosts.end(), here.begin(), here.end());
        }
    }
    if (row_of(request.collective).is_rooted) {
        const auto first = std::find(hosts.begin(), hosts.end(), machine.host_of(request.root));
        std::rotate(hosts.begin(), first, hosts.end());
    }
    return order == MemberOrder::bit_reversed ? bit_reversed(hosts) : hosts;
}

std::vector<int> clusters_of_members(const Request& request, const Machine& machine, MemberOrder order) {
    std::vector<int> clusters;
    for (const Host host : hosts_in_order(request, machine, order))
        clusters.push_back(machine.cluster_of(host));
    return clusters;
}

std::vector<MemberRange> member_ranges(const std::vector<int>& cluster_of) {
    std::vector<MemberRange> ranges;
    for (std::size_t i = 0; i < cluster_of.size(); ++i) {
        const int member = static_cast<int>(i);
        if (i == 0 || cluster_of[i] != cluster_of[i - 1]) ranges.push_back({member, member});
        ranges.back().end = member + 1;
    }
    return ranges;
}

Bytes bytes_of_blocks(const Request& request, std::span<const Rank> ranks) {
    std::uint64_t units = 0;
    for (const Rank rank : ranks) units += request.block_units(rank);
    return units * request.unit_bytes;
}

Bytes bytes_of_result(const Request& request, const Machine& machine) {
    return row_of(request.collective).buffers(request, machine.rank_count(), 0).result_units *
           request.unit_bytes;
}

std::vector<int> sizes_below(const ShapeLinks& links) {
    std::vector<int> sizes(links.parent.size(), 1);
    for (std::size_t member = sizes.size(); member-- > 1;)
        sizes[static_cast<std::size_t>(links.parent[member])] += sizes[member];
    return sizes;
}

bool is_power_of_two(int count) {
    return (count & (count - 1)) == 0;
}

HostMembers::HostMembers(const Request& request, const Machine& machine, Rank rank, MemberLayout layout)
    : rank_(rank), layout_(layout), ranks_here_(machine.ranks_on(machine.host_of(rank))) {
    own_slice_ = static_cast<std::size_t>(std::ranges::find(ranks_here_, rank) - ranks_here_.begin());
    const bool is_rooted = row_of(request.collective).is_rooted;
    std::uint64_t begin = 0;
    for (const Host host : hosts_in_order(request, machine, layout.order)) {
        if (host == machine.host_of(rank)) self_ = count();
        if (layout.by_slices) {
            leaders_.push_back(machine.ranks_on(host)[own_slice_]);
        } else if (is_rooted) {
            leaders_.push_back(leader_on(machine, host, 0, request.root));
        } else {
            leaders_.push_back(leader_on(machine, host));
        }
        if (!is_gathered(request.collective)) continue;
        first_block_.push_back(blocks_.size());
        for (const Rank owner : machine.ranks_on(host)) {
            blocks_.push_back({owner, begin, request.block_begin(owner)});
            begin += request.block_units(owner);
        }
    }
    first_block_.push_back(blocks_.size());
    if (is_gathered(request.collective)) blocks_.push_back({-1, begin, begin});
    on_host_ = links_on_host(machine, rank, leader(self_), shape_on_host(false));
}

Segment HostMembers::parts(const Request& request, int first, int end) const {
    if (is_gathered(request.collective)) {
        const std::uint64_t begin = blocks_[first_block_[static_cast<std::size_t>(first)]].begin;
        return {begin, blocks_[first_block_[static_cast<std::size_t>(end)]].begin - begin};
    }
    const Segment all = are_slices() ? slice(request, own_slice_) : Segment{0, request.units};
    const Segment part = Segments::cut_into(all.units, request.unit_bytes, count())
                             .run(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first));
    return {all.offset + part.offset, part.units};
}

Segment HostMembers::slice(const Request& request, std::size_t number) const {
    return Segments::cut_into(request.units, request.unit_bytes, static_cast<int>(ranks_here_.size()))
        .run(static_cast<std::uint32_t>(number), 1);
}

std::span<const HostMembers::Block> HostMembers::blocks_of(int member) const {
    const auto m = static_cast<std::size_t>(member);
    return {blocks_.data() + first_block_[m], first_block_[m + 1] - first_block_[m]};
}

std::size_t HostMembers::block_at(std::uint64_t unit) const {
    const auto after =
        std::upper_bound(blocks_.begin(), blocks_.end(), unit,
                         [](std::uint64_t at, const Block& block) { return at < block.begin; });
    return static_cast<std::size_t>(after - blocks_.begin()) - 1;
}

MemberSteps::MemberSteps(const Part& part, ScheduleBuilder& builder, MemberLayout layout, Bytes segment_bytes)
    : part_(part),
      builder_(builder),
      members_(part.request, part.machine, part.rank, layout),
      segment_bytes_(segment_bytes),
      is_apart_(layout.is_apart) {
    const auto& blocks = members_.blocks();
    const bool is_in_order =
        std::ranges::all_of(blocks, [](const auto& block) { return block.begin == block.in_result; });
    if (is_in_order && !is_apart_) return;
    is_in_result_ = !is_apart_ && blocks.back().begin * part.request.unit_bytes > part.machine.block_memory();
    if (!is_in_result_) message_ = builder.add_temporary(blocks.back().begin);
}

/// Where `part` of the message is in the result: use(its offset in the order of the members, where it is).
/// Blocks that follow each other there, too, are one.
template <typename Use>
void MemberSteps::for_each_in_result(Segment part, Use use) const {
    const auto& blocks = members_.blocks();
    const std::uint64_t end = part.offset + part.units;
    std::size_t at = members_.block_at(part.offset);
    for (std::uint64_t first = part.offset; first < end;) {
        const std::uint64_t shift = blocks[at].in_result - blocks[at].begin;  // modulo 2^64
        while (blocks[at].begin < end && blocks[at].in_result - blocks[at].begin == shift) ++at;
        const std::uint64_t next = std::min(end, blocks[at].begin);
        if (next > first) use(first, Region{kResult, first + shift, next - first});
        first = next;
    }
}

/// The regions that hold `part` of the message.
template <typename Use>
void MemberSteps::for_each_region(Segment part, Use use) const {
    if (!is_in_result_) return use(region_in(message_, part));
    for_each_in_result(part, [&](std::uint64_t, const Region& region) { use(region); });
}

void MemberSteps::combine_on_hosts() {
    if (members_.are_slices()) return combine_slices();
    const Region own{kInput, 0, part_.request.units};
    ReceiveSlots slots({part_.request.units, part_.request.unit_bytes, part_.request.units}, builder_);
    TreeSteps steps(members_.on_host(), part_.rank, TreeSteps::Use::reduce_any_order, slots, builder_);
    const Region value = steps.reduce(own, {kResult, 0});
    if (members_.is_leader() && value.buffer == kInput) builder_.copy(value, {kResult, 0});
}

/// Everybody begins with the rank after itself, so that no rank gets from all others at once.
void MemberSteps::combine_slices() {
    const std::span<const Rank> ranks = members_.ranks_here();
    const std::size_t own = members_.own_slice();
    const Segment slice = members_.slice(part_.request, own);
    if (slice.units > 0) builder_.copy(region_in(kInput, slice), region_in(kResult, slice).place());
    const std::uint64_t in_slot = std::max<std::uint64_t>(slice.units, 1);
    ReceiveSlots slots({in_slot, part_.request.unit_bytes, in_slot}, builder_);
    for (std::size_t i = 1; i < ranks.size(); ++i) {
        const std::size_t to = (own + i) % ranks.size();
        const Rank from = ranks[(own + ranks.size() - i) % ranks.size()];
        const Segment theirs = members_.slice(part_.request, to);
        if (theirs.units > 0) builder_.send(ranks[to], region_in(kInput, theirs));
        if (slice.units == 0) continue;
        const Region contribution = slots.next(from, slice.units);
        builder_.recv(from, contribution);
        builder_.reduce(contribution, region_in(kResult, slice).place());
    }
}

void MemberSteps::spread_slices() {
    const std::span<const Rank> ranks = members_.ranks_here();
    const std::size_t own = members_.own_slice();
    const Segment slice = members_.slice(part_.request, own);
    for (std::size_t i = 1; i < ranks.size(); ++i) {
        if (slice.units > 0) builder_.send(ranks[(own + i) % ranks.size()], region_in(kResult, slice));
        const std::size_t from = (own + ranks.size() - i) % ranks.size();
        const Segment theirs = members_.slice(part_.request, from);
        if (theirs.units > 0) builder_.recv(ranks[from], region_in(kResult, theirs));
    }
}

void MemberSteps::collect_at_root() {
    if (!members_.are_slices() || members_.self() != 0) return;
    const Rank root = part_.request.root;
    const std::span<const Rank> ranks = members_.ranks_here();
    for (std::size_t number = 0; number < ranks.size(); ++number) {
        const Segment slice = members_.slice(part_.request, number);
        if (ranks[number] == root || slice.units == 0) continue;
        if (part_.rank == ranks[number]) builder_.send(root, region_in(kResult, slice));
        if (part_.rank == root) builder_.recv(ranks[number], region_in(kResult, slice));
    }
}

void MemberSteps::spread_on_hosts() {
    if (members_.are_slices()) return spread_slices();
    ReceiveSlots slots({part_.request.units, part_.request.unit_bytes, part_.request.units}, builder_);
    TreeSteps(members_.on_host(), part_.rank, TreeSteps::Use::broadcast, slots, builder_)
        .broadcast({kResult, 0, part_.request.units});
}

void MemberSteps::gather_on_hosts() {
    const Region own{kInput, 0, part_.request.block_units(part_.rank)};
    if (!members_.is_leader()) {
        if (own.units > 0) builder_.send(members_.leader(members_.self()), own);
        return;
    }
    for (const auto& block : members_.blocks_of(members_.self())) {
        const Region place{message_, is_in_result_ ? block.in_result : block.begin,
                           part_.request.block_units(block.rank)};
        if (place.units == 0) continue;
        if (block.rank == part_.rank) {
            builder_.copy(own, place.place());
        } else {
            builder_.recv(block.rank, place);
        }
    }
}

void MemberSteps::spread_on_host(Segment part) {
    if (part.units == 0) return;
    ReceiveSlots slots({part.units, part_.request.unit_bytes, part.units}, builder_);
    for_each_region(part, [&](const Region& region) {
        TreeSteps(members_.on_host(), part_.rank, TreeSteps::Use::broadcast, slots, builder_)
            .broadcast(region);
    });
    put_in_order(part);
}

void MemberSteps::put_in_order(Segment part) {
    if (message_ == kResult || is_apart_) return;
    for_each_in_result(part, [&](std::uint64_t offset, const Region& region) {
        builder_.copy({message_, offset, region.units}, region.place());
    });
}

namespace {

constexpr Shape kBinomial{Shape::Kind::binomial};

Segment within(Segment part, Segment piece) {
    return {part.offset + piece.offset, piece.units};
}

}  // namespace

void MemberSteps::send(int member, Segment part) {
    if (part.units == 0) return;
    const Segments cut = pieces(part);
    for (std::uint32_t i = 0; i < cut.count(); ++i)
        for_each_region(within(part, cut.at(i)),
                        [&](const Region& region) { builder_.send(members_.leader(member), region); });
}

void MemberSteps::recv(int member, Segment part) {
    if (part.units == 0) return;
    const Segments cut = pieces(part);
    for (std::uint32_t i = 0; i < cut.count(); ++i)
        for_each_region(within(part, cut.at(i)),
                        [&](const Region& region) { builder_.recv(members_.leader(member), region); });
}

void MemberSteps::scatter() {
    if (!members_.is_leader()) return;
    const ShapeLinks links = links_of(kBinomial, members_.count());
    const std::vector<int> below = sizes_below(links);
    const auto self = static_cast<std::size_t>(members_.self());
    if (self > 0) recv(links.parent[self], parts(members_.self(), members_.self() + below[self]));
    for (const int child : links.children[self])
        send(child, parts(child, child + below[static_cast<std::size_t>(child)]));
}

/// Time running backwards: the child that is served first in a scatter is the last that is waited for.
void MemberSteps::gather() {
    if (!members_.is_leader()) return;
    const ShapeLinks links = links_of(kBinomial, members_.count());
    const std::vector<int> below = sizes_below(links);
    const auto self = static_cast<std::size_t>(members_.self());
    const auto& children = links.children[self];
    for (auto child = children.rbegin(); child != children.rend(); ++child)
        recv(*child, parts(*child, *child + below[static_cast<std::size_t>(*child)]));
    if (self > 0) send(links.parent[self], parts(members_.self(), members_.self() + below[self]));
}

void MemberSteps::ring_allgather() {
    spread_on_host(parts(members_.self(), members_.self() + 1));
    for (int round = 0; round < members_.count() - 1; ++round) {
        const int out = members_.beside(-round);
        const int in = members_.beside(-round - 1);
        if (members_.is_leader()) {
            send(members_.beside(1), parts(out, out + 1));
            recv(members_.beside(-1), parts(in, in + 1));
        }
        spread_on_host(parts(in, in + 1));
    }
}

void MemberSteps::doubling_allgather() {
    if (!members_.is_leader()) return;
    for (int distance = 1; distance < members_.count(); distance *= 2) {
        const int peer = members_.self() ^ distance;
        const int ours = members_.self() / distance * distance;
        const int theirs = peer / distance * distance;
        send(peer, parts(ours, ours + distance));
        recv(peer, parts(theirs, theirs + distance));
    }
}

template <typename Use>
void MemberSteps::for_each_around(int first, int number, Use use) const {
    const int end = first + number;
    use(parts(first, std::min(end, members_.count())));
    if (end > members_.count()) use(parts(0, end - members_.count()));
}

void MemberSteps::bruck_allgather() {
    if (!members_.is_leader()) return;
    for (int distance = 1; distance < members_.count(); distance *= 2) {
        const int lacking = std::min(distance, members_.count() - distance);
        const int left = members_.beside(-distance);
        const int right = members_.beside(distance);
        for_each_around(members_.self(), lacking, [&](Segment part) { send(left, part); });
        for_each_around(right, lacking, [&](Segment part) { recv(right, part); });
    }
}

void MemberSteps::pairwise_reduce_scatter() {
    if (!members_.is_leader()) return;
    const Region own = region_in(kResult, parts(members_.self(), members_.self() + 1));
    const std::uint64_t in_slot = std::max<std::uint64_t>(own.units, 1);
    ReceiveSlots slots({in_slot, part_.request.unit_bytes, in_slot}, builder_);
    for (int distance = 1; distance < members_.count(); ++distance) {
        const int to = members_.beside(distance);
        send(to, parts(to, to + 1));
        if (own.units == 0) continue;
        const Rank from = members_.leader(members_.beside(-distance));
        const Region contribution = slots.next(from, own.units);
        builder_.recv(from, contribution);
        builder_.reduce(contribution, own.place());
    }
}

void MemberSteps::pairwise_allgather() {
    if (!members_.is_leader()) return;
    const Segment own = parts(members_.self(), members_.self() + 1);
    for (int distance = 1; distance < members_.count(); ++distance) {
        const int from = members_.beside(-distance);
        send(members_.beside(distance), own);
        recv(from, parts(from, from + 1));
    }
}

void MemberSteps::ring_reduce_scatter() {
    if (!members_.is_leader()) return;
    ReceiveSlots slots(Segments::cut_into(part_.request.units, part_.request.unit_bytes, members_.count()),
                       builder_);
    const int left = members_.beside(-1);
    for (int round = 0; round < members_.count() - 1; ++round) {
        const int out = members_.beside(-round - 1);
        const int in = members_.beside(-round - 2);
        send(members_.beside(1), parts(out, out + 1));
        const Region mine = region_in(kResult, parts(in, in + 1));
        if (mine.units == 0) continue;
        const Region theirs = slots.next(members_.leader(left), mine.units);
        builder_.recv(members_.leader(left), theirs);
        builder_.reduce(theirs, mine.place());
    }
}

void MemberSteps::halving_reduce_scatter() {
    if (!members_.is_leader() || members_.count() == 1 || parts(0, members_.count()).units == 0) return;
    const int half = members_.count() / 2;
    const Segments largest = pieces(parts(0, half));
    const std::uint32_t slots = std::min(builder_.window(), largest.count());
    const Buffer incoming = builder_.add_temporary(slots * largest.units_per_segment);
    std::uint32_t slot = 0;
    for (int distance = half; distance >= 1; distance /= 2) {
        const int peer = members_.self() ^ distance;
        const int ours = members_.self() / distance * distance;
        const int theirs = peer / distance * distance;
        send(peer, parts(theirs, theirs + distance));
        const Segment mine = parts(ours, ours + distance);
        if (mine.units == 0) continue;
        const Segments cut = pieces(mine);
        for (std::uint32_t i = 0; i < cut.count(); ++i) {
            const Region piece = region_in(kResult, within(mine, cut.at(i)));
            const Region contribution{incoming, slot * largest.units_per_segment, piece.units};
            builder_.recv(members_.leader(peer), contribution);
            builder_.reduce(contribution, piece.place());
            slot = (slot + 1) % slots;
        }
    }
}

void MemberSteps::disseminate() {
    if (!members_.is_leader()) return;
    const Buffer heard = builder_.add_temporary(part_.request.units);
    const Region own{kResult, 0, part_.request.units};
    for (int distance = 1; distance < members_.count(); distance *= 2) {
        builder_.send(members_.leader(members_.beside(distance)), own);
        builder_.recv(members_.leader(members_.beside(-distance)), {heard, 0, own.units});
        builder_.reduce({heard, 0, own.units}, own.place());
    }
}

}  // namespace laple
