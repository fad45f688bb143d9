// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/native.hpp"

#include <algorithm>

#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/native_price.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/cost/rounds.hpp"

namespace laple {

std::string Native::name() const {
    return std::string(kNativeName);
}

namespace {

/// Of the time of MPI's own call, where messages are copies in memory: caches, and cores that ranks share,
/// make copies faster or slower than any one measurement says.
constexpr double kDoubtOfCopies = 0.15;

/// Between clusters an estimate of a long call is what links allow at best: on five emulated grids, from
/// 1 MiB on, calls took 0.97 to 7.8 times as long, 1.9 times in the median, and three of four at least 1.12
/// times. Others may be predicted to take 1.15 times as long. So it is with blocks, of which one rank has
/// many: those of 64 KiB over 45 ms took 3 times as long to gather, 5 times to scatter; and of 512 KiB
/// between three near zones 1.1 times as long in an allgather, 1.25 times in a reduce-scatter, and that 1.46
/// times in one cluster of eight hosts. And with short ones where hosts have several ranks, which all send to
/// all: of 512 bytes, from 64 ranks on 16 hosts, four times.
constexpr double kOptimism = 0.2;
/// Between clusters MPI's all-to-all, which sends all blocks at once, may fill the queue of a thin uplink,
/// and what is lost is sent again after 200 ms: blocks of 4 KiB took 290 ms where 63 were estimated, between
/// far ones; and 310 where 89 were, between sites 0.2 to 2 ms apart, of which one had 190 KB wait for its
/// uplink.
constexpr double kOptimismOfFloods = 0.4;
constexpr Bytes kLeastFlood = 256;     // below, blocks go together
constexpr double kFarOfFloods = 2e-3;  // seconds, one way
constexpr double kWaitingOfFloods = 128 * 1024;
constexpr Bytes kLong = 1 << 20;
constexpr Bytes kLongBlock = kLeastToCut;

bool are_far(const Pricing& pricing) {
    const MachineCosts& costs = pricing.costs();
    for (int a = 0; a < pricing.clusters(); ++a) {
        for (int b = 0; b < a; ++b) {
            if (costs.link(a, b).latency >= kFarOfFloods) return true;
        }
    }
    return false;
}

bool may_flood(Pricing& pricing) {
    if (pricing.request().bytes() <= kLeastFlood) return false;
    return are_far(pricing) ||
           Rounds(0, pricing.machine(), pricing.costs()).most_waiting(pricing.request().bytes()) >
               kWaitingOfFloods;
}

/// Short blocks of many ranks may be a long call.
bool is_short_call(const Request& request, const Machine& machine, double seconds) {
    constexpr double kShort = 1e-3;
    const bool is_of_blocks = !is_one_message(request.collective) && !is_prefix(request.collective);
    const auto ranks = static_cast<Bytes>(machine.rank_count());
    const bool is_much = is_of_blocks && request.bytes() * ranks >= kLeastToCut && seconds >= kShort;
    return request.bytes() < kLeastToCut && !is_much;
}

/// Inside one cluster short calls are a matter of processors rather than of links: beside an estimate nothing
/// is better for certain.
double uncertainty(Pricing& pricing, const NativePrice& price) {
    const MachineCosts& costs = pricing.costs();
    if (costs.link(0, 0).is_memory()) return std::max(costs.rank_delay, kDoubtOfCopies * price.seconds);
    if (price.is_measured) return costs.rank_delay;
    const Collective collective = pricing.request().collective;
    const bool is_short = is_short_call(pricing.request(), pricing.machine(), price.seconds);
    if (pricing.clusters() == 1) {
        if (is_short) return price.seconds;
        return is_combined_in_parts(collective) ? -kOptimism * price.seconds : 0;
    }
    const bool is_all_to_all = is_personalized(collective) && !row_of(collective).is_rooted;
    const bool is_of_blocks = !is_one_message(collective) && !is_prefix(collective);
    if (is_all_to_all && !pricing.machine().has_single_ranks()) return -kOptimism * price.seconds;
    if (is_all_to_all && may_flood(pricing)) return -kOptimismOfFloods * price.seconds;
    const Bytes least = is_of_blocks ? kLongBlock : kLong;
    return pricing.request().bytes() >= least ? -kOptimism * price.seconds : 0;
}

}  // namespace

std::optional<Candidate> Native::price(Pricing& pricing) const {
    const NativePrice price = native_price(pricing.request(), pricing.machine(), pricing.costs());
    Candidate candidate;
    candidate.algorithm = native();
    candidate.is_measured = price.is_measured;
    candidate.uncertainty = uncertainty(pricing, price);
    candidate.seconds = candidate.time.last = price.seconds;
    return candidate;
}

const AlgorithmPtr& native() {
    static const AlgorithmPtr kNative = std::make_shared<Native>();
    return kNative;
}

AlgorithmPtr parse_native(const AlgorithmName& name, Collective) {
    return name.text == kNativeName ? native() : nullptr;
}

void propose_native(Pricing& pricing, std::vector<Candidate>& found) {
    found.push_back(*native()->price(pricing));
}

}  // namespace laple
