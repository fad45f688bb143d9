// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/native_price.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "collectives/cost/rounds.hpp"

namespace laple {
namespace {

// Where MPICH 4.0 changes its algorithm, by the selection tables that are compiled into it: up to so many
// bytes, unless it says otherwise.
constexpr Bytes kShortBcast = 12 * 1024;
constexpr Bytes kLongBcastInRounds = 512 * 1024;
constexpr std::size_t kFewRanks = 8;
constexpr Bytes kShortReduce = 2 * 1024;
constexpr Bytes kShortAllreduce = 8;
constexpr Bytes kLongGather = 80 * 1024;           // from here on
constexpr Bytes kLongGatherInRounds = 512 * 1024;  // likewise
constexpr Bytes kShortAlltoall = 256;
constexpr Bytes kMediumAlltoall = 32 * 1024;
constexpr std::size_t kAlltoallTogether = 32;
constexpr Bytes kLongReduceScatter = 512 * 1024;  // of all blocks, from here on

/// Whether the ranks combine a part of the message each: there are enough elements.
bool are_parts_combined(const Rounds& rounds, const Request& request, Bytes most_whole) {
    return request.bytes() > most_whole && request.units >= std::bit_floor(rounds.members());
}

double bcast_time(Rounds& rounds, Bytes bytes) {
    if (bytes <= kShortBcast || rounds.members() < kFewRanks) {
        rounds.binomial_down(bytes);
        return rounds.last();
    }
    const Bytes part = bytes / rounds.members();
    rounds.blocks_down(part);
    if (std::has_single_bit(rounds.members()) && bytes <= kLongBcastInRounds) {
        rounds.doubling(part);
    } else {
        rounds.ring(part, false);
    }
    return rounds.last();
}

double reduce_time(Rounds& rounds, const Request& request) {
    const Bytes bytes = request.bytes();
    if (!are_parts_combined(rounds, request, kShortReduce)) {
        rounds.binomial_up(bytes, true);
        return rounds.at_root();
    }
    rounds.fold(bytes);
    rounds.halving_near_first(bytes);
    rounds.gathering_far_first(bytes / std::bit_floor(rounds.members()));
    return rounds.at_root();
}

double allreduce_time(Rounds& rounds, const Request& request) {
    const Bytes bytes = request.bytes();
    rounds.fold(bytes);
    if (are_parts_combined(rounds, request, kShortAllreduce)) {
        rounds.halving_near_first(bytes);
        rounds.doubling_far_first(bytes / std::bit_floor(rounds.members()));
    } else {
        rounds.swap_folded(bytes);
    }
    rounds.unfold(bytes);
    return rounds.last();
}

double barrier_time(Rounds& rounds) {
    rounds.barrier();
    return rounds.last();
}

/// Less than so many bytes of all blocks; from there on in a ring.
Bytes allgathered_in_rounds(std::size_t ranks) {
    return std::has_single_bit(ranks) ? kLongGatherInRounds : kLongGather;
}

double allgather_time(Rounds& rounds, Bytes bytes) {
    if (bytes * rounds.members() >= allgathered_in_rounds(rounds.members())) {
        rounds.ring(bytes, false);
    } else if (std::has_single_bit(rounds.members())) {
        rounds.doubling(bytes);
    } else {
        rounds.allgather_by_index(bytes);
    }
    return rounds.last();
}

/// Recursive halving or doubling of all blocks, whatever their size.
double gather_time(Rounds& rounds, Bytes bytes) {
    rounds.blocks_up(bytes);
    return rounds.at_root();
}

double scatter_time(Rounds& rounds, Bytes bytes) {
    rounds.blocks_down(bytes);
    return rounds.last();
}

bool is_short_alltoall(Bytes bytes, std::size_t ranks) {
    return bytes <= kShortAlltoall && ranks >= kFewRanks;
}

double alltoall_time(Rounds& rounds, Bytes bytes) {
    if (is_short_alltoall(bytes, rounds.members())) {
        rounds.index(bytes);
    } else if (bytes > kMediumAlltoall) {
        rounds.pairwise(bytes, false);
    } else {
        rounds.all_to_all(bytes, kAlltoallTogether);
    }
    return rounds.last();
}

double reduce_scatter_time(Rounds& rounds, Bytes bytes) {
    const Bytes all = bytes * rounds.members();
    if (all < kLongReduceScatter) {
        rounds.fold(all);
        rounds.halving(all);
        rounds.unfold(bytes);
    } else {
        rounds.pairwise(bytes, true);
    }
    return rounds.last();
}

double scan_time(Rounds& rounds, Bytes bytes) {
    for (std::size_t distance = 1; distance <= rounds.half(); distance *= 2)
        rounds.swap_all(distance, bytes, true);
    return rounds.last();
}

/// Where hosts have several ranks, MPICH combines on hosts, and then between one rank of each.
bool may_combine_on_hosts(const Machine& machine) {
    return machine.host_count() > 1 && machine.rank_count() > machine.host_count();
}

/// So it broadcasts, unless it cuts a long message into parts for all ranks.
bool broadcasts_between_hosts(const Machine& machine, Bytes bytes) {
    const auto ranks = static_cast<unsigned>(machine.rank_count());
    const Bytes most = std::has_single_bit(ranks) ? kLongBcastInRounds : kShortBcast;
    return bytes < most || ranks < kFewRanks;
}

/// So are prefixes if each host has ranks that follow each other.
bool are_consecutive_on_hosts(const Machine& machine) {
    int changes = 0;
    for (Rank rank = 1; rank < machine.rank_count(); ++rank)
        changes += machine.host_of(rank) != machine.host_of(rank - 1) ? 1 : 0;
    return changes == machine.host_count() - 1;
}

/// What that takes on the fullest host: a binomial tree through its memory.
double on_hosts(const Machine& machine, const MachineCosts& costs, Bytes bytes, bool combines) {
    double longest = 0;
    for (int c = 0; c < machine.cluster_count(); ++c) {
        const MachineCosts::Cluster& cluster = costs.cluster(c);
        const auto others = static_cast<unsigned>(machine.most_ranks_on_a_host(c) - 1);
        const auto steps = static_cast<double>(std::bit_width(others));
        const double combining = combines ? cluster.reduction * static_cast<double>(bytes) : 0;
        longest = std::max(
            longest, steps * (cluster.memory.latency + cluster.memory.gap.at(bytes).count() + combining));
    }
    return longest;
}

/// Between one rank of each host; nothing where MPICH takes all ranks for it.
std::optional<double> time_between_hosts(const Request& request, const Machine& machine,
                                         const MachineCosts& costs) {
    if (!may_combine_on_hosts(machine)) return std::nullopt;
    const Bytes bytes = request.bytes();
    const bool combines = row_of(request.collective).combines;
    Rounds leaders(request.root, machine, costs, Rounds::Members::leaders);
    const double on_host = on_hosts(machine, costs, bytes, combines);
    switch (request.collective) {
        case Collective::bcast:
            if (!broadcasts_between_hosts(machine, bytes)) return std::nullopt;
            return bcast_time(leaders, bytes) + on_host;
        case Collective::reduce:
            if (!request.commutative) return std::nullopt;
            return reduce_time(leaders, request) + on_host;
        case Collective::allreduce:
            if (!request.commutative) return std::nullopt;
            return allreduce_time(leaders, request) + on_host + on_hosts(machine, costs, bytes, false);
        case Collective::scan:
            if (!are_consecutive_on_hosts(machine)) return std::nullopt;
            scan_time(leaders, bytes);
            leaders.shift(bytes);  // the prefix of the hosts before
            return leaders.last() + on_host + on_hosts(machine, costs, bytes, false);
        default:
            return std::nullopt;
    }
}

/// What a message larger than any that was measured takes at least. Large ones go on as the last two did;
/// smaller ones may be done otherwise from some size on.
double beyond(const Curve& curve, Bytes bytes) {
    constexpr Bytes kLarge = 1 << 20;
    const auto& known = curve.known();
    const auto& [last, time] = known.back();
    if (last < kLarge || known.size() < 2) return time.count();
    const auto& [before, time_before] = known[known.size() - 2];
    const double slope = std::max((time - time_before).count(), 0.0) / static_cast<double>(last - before);
    return time.count() + slope * static_cast<double>(bytes - last);
}

/// Of the sizes that were measured, how much longer calls took than is estimated, for `bytes` between them;
/// sizes count by their logarithm. MPI may change its algorithm between two sizes: the estimate knows where.
double longer_than_estimated(const Curve& curve, Bytes bytes, const std::function<double(Bytes)>& estimated) {
    const auto ratio = [&](const std::pair<Bytes, Seconds>& known) {
        const double estimate = estimated(known.first);
        return estimate > 0 ? known.second.count() / estimate : 1;
    };
    const auto above = std::lower_bound(
        curve.known().begin(), curve.known().end(), bytes,
        [](const std::pair<Bytes, Seconds>& known, Bytes wanted) { return known.first < wanted; });
    if (above == curve.known().begin() || above->first == bytes) return ratio(*above);
    const auto& below = *std::prev(above);
    // The logarithm to base 2 but for a straight line between its whole values: on all hosts the same bits,
    // which std::log2 does not promise.
    const auto place = [](Bytes size) {
        const auto whole = static_cast<int>(std::bit_width(size + 1)) - 1;
        return whole + static_cast<double>(size + 1) / static_cast<double>(Bytes{1} << whole) - 1;
    };
    const double part = (place(bytes) - place(below.first)) / (place(above->first) - place(below.first));
    return (1 - part) * ratio(below) + part * ratio(*above);
}

/// Of elements that are no larger.
Request with_bytes(Request request, Bytes bytes) {
    if (request.unit_bytes == 0) return request;
    request.unit_bytes = std::min(request.unit_bytes, std::max<Bytes>(bytes, 1));
    request.units = std::max<std::uint64_t>(bytes / request.unit_bytes, 1);
    return request;
}

/// Where ranks have different counts, MPICH decides by what is gathered in all, and its ring cuts longer
/// blocks.
Request with_mean_blocks(Request request, const Machine& machine) {
    if (request.counts.are_equal() || row_of(request.collective).combines) return request;
    const auto ranks = static_cast<std::uint64_t>(machine.rank_count());
    request.units = (request.block_begin(machine.rank_count()) + ranks - 1) / ranks;
    request.counts = {};
    return request;
}

}  // namespace

double native_time(const Request& request, const Machine& machine, const MachineCosts& costs) {
    if (machine.rank_count() < 2) return 0;
    if (const auto time = time_between_hosts(request, machine, costs)) return *time;
    Rounds rounds(request.root, machine, costs);
    switch (request.collective) {
        case Collective::bcast:
            return bcast_time(rounds, request.bytes());
        case Collective::reduce:
            return reduce_time(rounds, request);
        case Collective::allreduce:
            return allreduce_time(rounds, request);
        case Collective::barrier:
            return barrier_time(rounds);
        case Collective::allgather:
            return allgather_time(rounds, request.bytes());
        case Collective::gather:
            return gather_time(rounds, request.bytes());
        case Collective::scatter:
            return scatter_time(rounds, request.bytes());
        case Collective::alltoall:
            return alltoall_time(rounds, request.bytes());
        case Collective::reduce_scatter:
            return reduce_scatter_time(rounds, request.bytes());
        case Collective::scan:
        case Collective::exscan:
            return scan_time(rounds, request.bytes());
    }
    return std::numeric_limits<double>::infinity();
}

std::size_t native_messages(const Request& uneven, const Machine& machine) {
    const Request request = with_mean_blocks(uneven, machine);
    const auto ranks = static_cast<std::size_t>(machine.rank_count());
    const auto hosts = static_cast<std::size_t>(machine.host_count());
    const std::size_t on_hosts = 2 * (ranks - hosts);
    const std::size_t folded = std::bit_floor(hosts);
    const auto rounds = static_cast<std::size_t>(std::bit_width(folded) - 1);
    const auto rounds_of_ranks = static_cast<std::size_t>(std::bit_width(ranks - 1));
    const std::size_t to_all = ranks * (ranks - 1);
    const Bytes all = request.bytes() * ranks;
    switch (request.collective) {
        case Collective::bcast:
            return request.bytes() <= kShortBcast ? ranks - 1 : 0;
        case Collective::reduce:
            return request.bytes() <= kShortReduce ? ranks - 1 : 0;
        case Collective::allreduce:
            return request.bytes() <= kShortAllreduce ? on_hosts + folded * rounds + 2 * (hosts - folded) : 0;
        case Collective::barrier:
            return on_hosts + hosts * (folded < hosts ? rounds + 1 : rounds);
        case Collective::allgather:
            return all < allgathered_in_rounds(ranks) ? ranks * rounds_of_ranks : to_all;
        case Collective::alltoall:
            return is_short_alltoall(request.bytes(), ranks) ? ranks * rounds_of_ranks : to_all;
        case Collective::gather:
        case Collective::scatter:
        case Collective::reduce_scatter:
        case Collective::scan:
        case Collective::exscan:
            return 0;
    }
    return 0;
}

NativePrice native_price(const Request& uneven, const Machine& machine, const MachineCosts& costs) {
    const Request request = with_mean_blocks(uneven, machine);
    const Curve& curve = costs.job.of(name_of(request.collective));
    const bool is_known = !curve.is_empty() && costs.job.ranks > 0 && costs.job.ranks == machine.rank_count();
    const auto estimated = [&] { return native_time(request, machine, costs); };
    if (!is_known) return {estimated(), false};
    if (const Seconds* exact = curve.find(request.bytes()); exact != nullptr && request.root == 0)
        return {exact->count(), true};
    Request from_0 = request;  // as it was measured
    from_0.root = 0;
    const auto estimated_of = [&](Bytes bytes) {
        return native_time(with_bytes(from_0, bytes), machine, costs);
    };
    if (request.bytes() <= curve.known().back().first)
        return {estimated() * longer_than_estimated(curve, request.bytes(), estimated_of), true};
    const double estimate = estimated();
    const double usual = request.root == 0 ? estimate : estimated_of(request.bytes());
    const double time = beyond(curve, request.bytes()) * (usual > 0 ? estimate / usual : 1);
    return {std::max(time, estimate), false};
}

}  // namespace laple
