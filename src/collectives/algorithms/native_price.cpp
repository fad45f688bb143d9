// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/native_price.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "collectives/cost/rounds.hpp"

namespace laple {
namespace {

constexpr Bytes kLongBcast = 12 * 1024;
constexpr std::size_t kFewRanks = 8;
constexpr Bytes kLongReduction = 2 * 1024;
constexpr Bytes kLongGather = 80 * 1024;
constexpr Bytes kLongGatherInRounds = 512 * 1024;
constexpr Bytes kShortAlltoall = 256;
constexpr Bytes kLongReduceScatter = 512 * 1024;  // of all blocks

double bcast_time(Rounds& rounds, Bytes bytes) {
    const bool is_long = bytes >= kLongBcast && rounds.members() >= kFewRanks;
    rounds.binomial_down(bytes, is_long);
    if (is_long) rounds.ring(bytes / rounds.members(), false);
    return rounds.last();
}

double reduce_time(Rounds& rounds, Bytes bytes) {
    if (bytes < kLongReduction) {
        rounds.binomial_up(bytes, false, true);
        return rounds.at_root();
    }
    rounds.fold(bytes);
    rounds.halving_near_first(bytes);
    rounds.gathering_far_first(bytes / std::bit_floor(rounds.members()));
    return rounds.at_root();
}

double allreduce_time(Rounds& rounds, Bytes bytes) {
    if (bytes < kLongReduction) {
        for (std::size_t distance = 1; distance <= rounds.half(); distance *= 2)
            rounds.swap_all(distance, bytes, true);
        return rounds.last();
    }
    rounds.fold(bytes);
    rounds.halving_near_first(bytes);
    rounds.doubling_far_first(bytes / std::bit_floor(rounds.members()));
    rounds.unfold(bytes);
    return rounds.last();
}

double barrier_time(Rounds& rounds) {
    rounds.barrier();
    return rounds.last();
}

double allgather_time(Rounds& rounds, Bytes bytes) {
    const Bytes all = bytes * rounds.members();
    const bool is_power_of_two = std::has_single_bit(rounds.members());
    if (all < (is_power_of_two ? kLongGatherInRounds : kLongGather)) {
        rounds.doubling(bytes);
    } else {
        rounds.ring(bytes, false);
    }
    return rounds.last();
}

/// Recursive halving or doubling of all blocks, whatever their size.
double gather_time(Rounds& rounds, Bytes bytes) {
    rounds.binomial_up(bytes, true, false);
    return rounds.at_root();
}

double scatter_time(Rounds& rounds, Bytes bytes) {
    rounds.binomial_down(std::bit_ceil(rounds.members()) * bytes, true);
    return rounds.last();
}

double alltoall_time(Rounds& rounds, Bytes bytes) {
    if (bytes <= kShortAlltoall && rounds.members() >= kFewRanks) {
        rounds.index(bytes);
    } else {
        rounds.all_to_all(bytes);
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

}  // namespace

double native_time(const Request& request, const Machine& machine, const MachineCosts& costs) {
    if (machine.rank_count() < 2) return 0;
    Rounds rounds(request.root, machine, costs);
    switch (request.collective) {
        case Collective::bcast:
            return bcast_time(rounds, request.bytes());
        case Collective::reduce:
            return reduce_time(rounds, request.bytes());
        case Collective::allreduce:
            return allreduce_time(rounds, request.bytes());
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

NativePrice native_price(const Request& request, const Machine& machine, const MachineCosts& costs) {
    const Curve& curve = costs.job.of(name_of(request.collective));
    const bool is_known = !curve.is_empty() && costs.job.ranks > 0 && costs.job.ranks == machine.rank_count();
    const auto estimated = [&] { return native_time(request, machine, costs); };
    if (!is_known) return {estimated(), false};
    const bool is_beyond = request.bytes() > curve.known().back().first;
    double time = is_beyond ? beyond(curve, request.bytes()) : curve.at(request.bytes()).count();
    if (request.root != 0) {
        Request from_0 = request;
        from_0.root = 0;
        const double usual = native_time(from_0, machine, costs);
        if (usual > 0) time *= estimated() / usual;
    }
    return {is_beyond ? std::max(time, estimated()) : time, !is_beyond};
}

}  // namespace laple
