// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/parts.hpp"

#include <array>

#include "base/index.hpp"
#include "collectives/algorithms/pricing.hpp"

namespace laple {
namespace {

/// The caches of a core hold two such parts.
constexpr Bytes kLargePart = 256 * 1024;

/// Whether each host has as many ranks, and more than one.
bool can_be_sliced(const Machine& machine) {
    const std::size_t ranks = machine.ranks_on(0).size();
    for (Host host = 0; host < machine.host_count(); ++host) {
        if (machine.ranks_on(host).size() != ranks) return false;
    }
    return ranks > 1;
}

std::size_t slices_of(const Machine& machine, bool by_slices) {
    return by_slices ? machine.ranks_on(0).size() : 1;
}

/// Where each host sends to all others, a message of each slice.
std::size_t messages_of_phase(const Machine& machine, bool by_slices) {
    const std::size_t hosts = at(machine.host_count());
    return hosts * (hosts - 1) * slices_of(machine, by_slices);
}

class PartsAlgorithm final : public Algorithm {
  public:
    PartsAlgorithm(const PartsVariant& variant, Bytes segment_bytes)
        : variant_(variant), segment_bytes_(segment_bytes) {}

    std::string name() const override { return std::string(variant_.name) + name_suffix(segment_bytes_, 1); }
    Bytes segment_bytes() const override { return segment_bytes_; }
    std::string in_words() const override { return std::string(variant_.in_words); }

    std::string needs() const override {
        if (!variant_.by_slices)
            return variant_.needs_power_of_two ? "needs a power-of-two number of hosts" : "";
        return variant_.needs_power_of_two
                   ? "needs a power-of-two number of hosts, each with the same number of ranks, two or more"
                   : "needs the same number of ranks, two or more, on every host";
    }

    bool can_do(const Request& request, const Machine& machine) const override {
        if (variant_.needs_power_of_two && !is_power_of_two(machine.host_count())) return false;
        if (variant_.by_slices && !can_be_sliced(machine)) return false;
        return !variant_.combines || request.commutative;
    }

    std::optional<Candidate> price(Pricing& pricing) const override {
        if (!can_do(pricing.request(), pricing.machine())) return std::nullopt;
        MemberTimes times(pricing, layout(), segment_bytes_);
        variant_.time(times);
        Candidate candidate;
        candidate.algorithm = parts_algorithm(variant_, segment_bytes_);
        candidate.time.first = candidate.time.last = times.seconds();
        candidate.seconds = candidate.time.last;
        candidate.crossings = pricing.clusters() - 1;
        if (variant_.goes_straight)
            candidate.messages =
                2 * static_cast<double>(messages_of_phase(pricing.machine(), variant_.by_slices));
        candidate.has_large_parts = variant_.combines && times.largest_message() > kLargePart;
        return candidate;
    }

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        MemberSteps steps(part, builder, layout(), segment_bytes_);
        variant_.write(steps);
    }

  private:
    MemberLayout layout() const {
        return {variant_.needs_power_of_two ? MemberOrder::bit_reversed : MemberOrder::near,
                variant_.by_slices};
    }

    const PartsVariant& variant_;
    Bytes segment_bytes_;
};

constexpr std::array<Bytes, 3> kSegments{8 * 1024, 16 * 1024, 64 * 1024};

/// Messages of a phase. More flows to a port would fill its queue, and to price them takes long.
constexpr std::size_t kMostStraight = 64 * 64;
constexpr Bytes kLongestStraight = 32 * 1024;  // as in rsag.cpp

/// What the hosts of a gathered message contribute, on average.
Bytes part_of(const Pricing& pricing) {
    return bytes_of_result(pricing.request(), pricing.machine()) / at(pricing.machine().host_count());
}

/// Of the parts of the request where all hosts of one cluster own one, or their ranks one of each slice.
bool may_go_straight(const Pricing& pricing, bool by_slices) {
    const Machine& machine = pricing.machine();
    const std::size_t hosts = at(machine.host_count());
    const double eager = pricing.costs().cluster(0).eager_limit;
    const Bytes longest =
        eager > 0 ? std::min(kLongestStraight, static_cast<Bytes>(eager)) : kLongestStraight;
    const Bytes bytes = pricing.request().bytes();
    return hosts >= 3 && messages_of_phase(machine, by_slices) <= kMostStraight && bytes >= kLeastToCut &&
           bytes / (hosts * slices_of(machine, by_slices)) <= longest;
}

}  // namespace

AlgorithmPtr parts_algorithm(const PartsVariant& variant, Bytes segment_bytes) {
    return std::make_shared<PartsAlgorithm>(variant, segment_bytes);
}

AlgorithmPtr parse_parts(std::span<const PartsVariant> variants, const AlgorithmName& name,
                         Collective collective) {
    std::string others;
    for (const PartsVariant& variant : variants) {
        if (name.first() != variant.name) continue;
        if (name.levels.size() > 1 || name.lanes > 1) refuse_name(name, "it takes neither levels nor lanes");
        if (name.segment_bytes > 0 && !takes_segments(variant)) refuse_name(name, "it takes no segments");
        if (variant.collective == collective) return parts_algorithm(variant, name.segment_bytes);
        others += (others.empty() ? "" : " and ") + std::string(name_of(variant.collective));
    }
    if (!others.empty()) refuse_name(name, "it is for " + others);
    return nullptr;
}

void propose_parts(std::span<const PartsVariant> variants, Pricing& pricing, std::vector<Candidate>& found) {
    const bool is_for_clusters = is_gathered(pricing.request().collective);
    if ((pricing.clusters() > 1 && !is_for_clusters) || pricing.machine().host_count() == 1) return;
    for (const PartsVariant& variant : variants) {
        if (variant.collective != pricing.request().collective) continue;
        if (variant.is_inside_only && pricing.clusters() > 1) continue;
        if (variant.longest_part > 0 && part_of(pricing) > variant.longest_part) continue;
        if (variant.goes_straight && !may_go_straight(pricing, variant.by_slices)) continue;
        auto candidate = parts_algorithm(variant)->price(pricing);
        if (!candidate) continue;
        found.push_back(std::move(*candidate));
        if (!takes_segments(variant)) continue;
        for (const Bytes segment_bytes : kSegments) {
            if (4 * segment_bytes > pricing.request().bytes()) break;
            found.push_back(*parts_algorithm(variant, segment_bytes)->price(pricing));
        }
    }
}

}  // namespace laple
