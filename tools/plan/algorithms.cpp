// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms.hpp"

#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/cost/order_rule.hpp"

namespace laple::plan {
namespace {

/// Those that have names, as one proposes for others.
std::vector<const Family*> families_for(const std::string& name) {
    const std::optional<Collective> collective = collective_named(name);
    if (!name.empty() && !collective)
        throw Error(fmt::format("{} is no collective", name), "use one of " + collective_names());
    std::vector<const Family*> found;
    for (const Family& family : families()) {
        if (!family.grammar.empty() && (!collective || family.is_for(*collective))) found.push_back(&family);
    }
    return found;
}

std::vector<std::string_view> collectives_of(const Family& family) {
    std::vector<std::string_view> names;
    for (const Collective collective : kAllCollectives) {
        if (family.is_for(collective)) names.push_back(name_of(collective));
    }
    return names;
}

}  // namespace

std::string algorithms_text(const std::string& collective) {
    std::string text;
    for (const Family* family : families_for(collective)) {
        text += fmt::format("{}\n    {}\n    for {}\n    after {}\n\n", family->grammar, family->summary,
                            fmt::join(collectives_of(*family), ", "), family->source);
    }
    return text +
           fmt::format(
               "LEVELs are the outermost first; a LEVEL is flat, binomial, binary, 3ary ... 64ary or chain,\n"
               "between clusters also with multi-leader- before it. One of them may be a rule that orders\n"
               "clusters by cost: {}.\n"
               "The innermost may be native, where there are no lanes. SEGMENT: 4K, 1M; LANES: 2, 3, ...\n\n"
               "Force one: LAPLE_ALGORITHM='bcast:ecef-la/binomial@64K'. What it would take:\n"
               "laple-plan explain bcast 1M --algorithm bcast:ecef-la/binomial@64K --model model.json\n",
               fmt::join(order_rules(), ", "));
}

std::string algorithms_json(const std::string& collective) {
    Json all = Json::array();
    for (const Family* family : families_for(collective)) {
        all.push_back({{"family", family->name},
                       {"names", family->grammar},
                       {"summary", family->summary},
                       {"collectives", collectives_of(*family)},
                       {"source", family->source}});
    }
    return json_text(all, 1) + "\n";
}

}  // namespace laple::plan
