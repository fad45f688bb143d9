// SPDX-License-Identifier: BSD-3-Clause
#include "kept_models.hpp"

#include <exception>

#include <fmt/format.h>

#include "base/file.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "model/cache.hpp"
#include "model/model_file.hpp"

namespace laple::plan {

std::string kept_models(int ranks) {
    constexpr int kMostToName = 3;
    std::string text;
    int named = 0;
    for (const std::string& file : ModelCache(ModelCache::default_directory()).files()) {
        try {
            const Model model = parse_model_file(read_file(file), file);
            const bool has_rates = !costs_of(model.links, cluster_latencies(model)).is_empty();
            if (!has_rates || (ranks > 0 && model.topology.size() != ranks)) continue;
            text += fmt::format("\n  --model {}    {}", file, describe(model));
            if (++named == kMostToName) break;
        } catch (const std::exception&) {
            continue;  // broken: the next job on its hosts replaces it
        }
    }
    return text.empty() ? "" : "; earlier jobs have left:" + text;
}

}  // namespace laple::plan
