// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/member_times.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {

/// A textbook algorithm over all hosts that cuts the message into as many parts as there are hosts, or not at
/// all, and goes in rounds.
struct PartsVariant {
    std::string_view name;
    std::string_view in_words;
    Collective collective;
    /// Of hosts: those swap the most that are half of them apart, so members are in bit-reversed order.
    bool needs_power_of_two = false;
    bool combines = false;  ///< and does not keep the order of the ranks
    /// What every rank does, and how long it takes: one function of both classes.
    void (*write)(MemberSteps& members);
    void (*time)(MemberTimes& members);
    bool by_slices = false;       ///< all ranks of a host take part (host_members.hpp)
    bool is_inside_only = false;  ///< between clusters others do better: proposed in one cluster
    /// Every host sends to all others: proposed for few hosts, and parts that need no handshake.
    bool goes_straight = false;
    /// Of a host's part: proposed for no more. 0: all.
    Bytes longest_part = 0;
};

/// Those whose partners swap while both combine.
constexpr bool takes_segments(const PartsVariant& variant) {
    return variant.needs_power_of_two && variant.combines;
}

/// The algorithm of that variant, which must outlive it. Halving takes segments (MemberSteps); 0: none.
AlgorithmPtr parts_algorithm(const PartsVariant& variant, Bytes segment_bytes = 0);

/// The variant of that name; nothing where there is none.
AlgorithmPtr parse_parts(std::span<const PartsVariant> variants, const AlgorithmName& name,
                         Collective collective);

/// Those for the request, where there is one cluster or data are gathered: elsewhere algorithms that know
/// clusters do better.
void propose_parts(std::span<const PartsVariant> variants, Pricing& pricing, std::vector<Candidate>& found);

/// The family of these variants, named after the first.
template <const auto& kVariants>
Family parts_family(std::string_view summary, std::string_view source) {
    std::string grammar;
    for (const PartsVariant& variant : kVariants) {
        const bool is_known = std::any_of(kVariants.data(), &variant, [&](const PartsVariant& other) {
            return other.name == variant.name;
        });
        if (is_known) continue;
        grammar += (grammar.empty() ? "" : ", ") + std::string(variant.name);
        if (takes_segments(variant)) grammar += "[@SEGMENT]";
    }
    return {.name = kVariants.front().name,
            .grammar = std::move(grammar),
            .summary = summary,
            .source = source,
            .is_for =
                [](Collective collective) {
                    return std::ranges::any_of(kVariants, [&](const PartsVariant& variant) {
                        return variant.collective == collective;
                    });
                },
            .parse = [](const AlgorithmName& name,
                        Collective collective) { return parse_parts(kVariants, name, collective); },
            .propose = [](Pricing& pricing,
                          std::vector<Candidate>& found) { propose_parts(kVariants, pricing, found); },
            .refine = nullptr};
}

}  // namespace laple
