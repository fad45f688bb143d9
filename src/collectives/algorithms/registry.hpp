// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/candidate.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/collective/collective.hpp"

namespace laple {

/// A family of algorithms. To add one: a file beside this one, and its row in registry.cpp.
struct Family {
    std::string_view name;     ///< as the literature has it
    std::string grammar;       ///< how names of its algorithms are written; "" where others have them
    std::string_view summary;  ///< in one line, for people
    std::string_view source;   ///< the paper, or where docs/algorithms.md describes it
    bool (*is_for)(Collective collective);

    /// The algorithm of that name; nothing where the name is not of this family. Throws Error where it is,
    /// but makes no sense.
    AlgorithmPtr (*parse)(const AlgorithmName& name, Collective collective);

    /// Adds what is worth a price, with its price.
    void (*propose)(Pricing& pricing, std::vector<Candidate>& found);
    /// The same once all families have proposed: variants of what is best so far. May be nullptr.
    void (*refine)(Pricing& pricing, std::vector<Candidate>& found);
};

/// All of them, in the order in which they propose; of candidates with equal times the first is taken.
std::span<const Family> families();

/// The algorithm of that name. Throws Error that says who lists the names for any other text, and for what
/// makes no sense: an inter-cluster phase of a rooted collective, lanes of undivided trees, segments of MPI's
/// own calls.
AlgorithmPtr parse_algorithm(std::string_view name, Collective collective);

/// The word of a name that is most like `word`; "": none is.
std::string nearest_algorithm_word(std::string_view word);

}  // namespace laple
