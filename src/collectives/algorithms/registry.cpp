// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/registry.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "collectives/algorithms/native.hpp"
#include "collectives/algorithms/rsag.hpp"
#include "collectives/algorithms/scatter_allgather.hpp"
#include "collectives/algorithms/three_level.hpp"
#include "collectives/algorithms/tree.hpp"
#include "collectives/cost/order_rule.hpp"

namespace laple {

// Families that need no header of their own: each is all in its file.
Family direct_exchange_family();
Family recursive_doubling_family();
Family two_tree_family();
Family van_de_geijn_family();
Family rabenseifner_family();
Family pairwise_family();
Family ring_family();
Family dissemination_family();
Family leader_exchange_family();
Family multi_leader_exchange_family();
Family aggregation_family();
Family combining_family();
Family prefix_family();

namespace {

using Found = std::vector<Candidate>;

bool is_for_all(Collective) {
    return true;
}
bool is_for_bcast(Collective collective) {
    return collective == Collective::bcast;
}

AlgorithmPtr parse_nothing(const AlgorithmName&, Collective) {
    return nullptr;
}
void propose_nothing(Pricing&, Found&) {}

const auto& all_families() {
    static const std::array kFamilies{
        Family{"tree", "LEVEL/.../LEVEL[@SEGMENT][xLANES]", "one tree over all ranks, or several in lanes",
               "MagPIe, MPICH-G2; Sanders, Speck, Träff, 2009", is_one_message, parse_tree, propose_trees,
               propose_lanes},
        direct_exchange_family(),
        recursive_doubling_family(),
        Family{"three-level", "three-level/LEVEL[@SEGMENTxLANES]",
               "near clusters combine first, and one of them exchanges for all",
               "MPICH-G2; docs/algorithms.md", is_for_phases, parse_three_level, propose_three_level,
               nullptr},
        Family{"rsag", "rsag/LEVEL/...[@SEGMENT][xLANES]",
               "leaders of clusters share the summing up: reduce-scatter and allgather",
               "Patarasuk and Yuan, 2009; GridMPI", is_for_rsag, parse_rsag, propose_rsag, nullptr},
        Family{"scatter-allgather", "scatter-allgather/LEVEL@SEGMENTxLANES",
               "clusters relay lanes of a broadcast to all others",
               "van de Geijn; GridMPI's latency-aware broadcast", is_for_bcast, parse_scatter_allgather,
               propose_nothing, propose_scatter_allgather},
        two_tree_family(),
        van_de_geijn_family(),
        rabenseifner_family(),
        pairwise_family(),
        ring_family(),
        dissemination_family(),
        leader_exchange_family(),
        multi_leader_exchange_family(),
        aggregation_family(),
        combining_family(),
        prefix_family(),
        Family{"best-order", "", "the best order of clusters for the best tree", "docs/algorithms.md",
               is_one_message, parse_nothing, propose_nothing, propose_best_order},
        Family{"native", "native", "MPI's own collective", "MPI", is_for_all, parse_native, propose_nothing,
               propose_native},
    };
    return kFamilies;
}

}  // namespace

std::span<const Family> families() {
    return all_families();
}

AlgorithmPtr parse_algorithm(std::string_view text, Collective collective) {
    const AlgorithmName name = parse_name(text);
    // Trees come first, and know whatever is no other family's.
    for (auto family = all_families().rbegin(); family != all_families().rend(); ++family) {
        AlgorithmPtr algorithm = family->parse(name, collective);
        if (algorithm == nullptr) continue;
        if (!family->is_for(collective))
            refuse_name(name, fmt::format("{} cannot be done by {}", name_of(collective), family->name));
        return algorithm;
    }
    refuse_name(name, "is not known");
}

std::string nearest_algorithm_word(std::string_view word) {
    std::vector<std::string> known{"flat", "binomial", "binary", "chain"};
    for (const std::string_view rule : order_rules()) known.emplace_back(rule);
    for (const Family& family : families()) {
        // Those words of a grammar that are not in capitals.
        std::string next;
        for (const char c : family.grammar + " ") {
            if ((c >= 'a' && c <= 'z') || (c == '-' && !next.empty())) {
                next += c;
            } else if (!next.empty()) {
                known.push_back(std::exchange(next, {}));
            }
        }
    }
    const std::string nearest = nearest_name(std::string(word), known);
    const bool is_near =
        edit_distance(std::string(word), nearest) <= std::max<std::size_t>(word.size() / 3, 1) ||
        std::is_permutation(word.begin(), word.end(), nearest.begin(), nearest.end());
    return is_near ? nearest : std::string();
}

}  // namespace laple
