// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.hpp"
#include "model/describe.hpp"
#include "topology/magpie_file.hpp"

namespace laple::discover {

std::string magpie_text(const Model& model) {
    return fmt::format("# made by laple-discover {} on {} (tolerance {})\n", model.version, model.date,
                       model.tolerance) +
           format_magpie_hosts(model.nodes) + format_magpie(model.topology);
}

std::string summary_text(const Model& model, int odd_pairs) {
    const auto& nodes = model.nodes;
    if (nodes.size() == 1 && nodes.front().ranks.size() == 1)
        return "one rank: start laple-discover with mpiexec, on the hosts of your job\n";
    if (nodes.size() == 1)
        return fmt::format("{}: all are on {}, nothing to measure\n{}", describe(model.topology),
                           nodes.front().host, describe(model.node_levels));
    std::string text = describe_labels(nodes);
    if (!text.empty()) text += "\n";
    if (model.matrix.nodes() > 0) {
        std::vector<std::string> names;
        for (const Node& node : nodes) names.push_back(node.host);
        text += format_table(model.matrix, names);
    } else {
        text += fmt::format(
            "{} of {} pairs measured{}\n", model.pairs, nodes.size() * (nodes.size() - 1) / 2,
            odd_pairs == 0
                ? ""
                : fmt::format("; {} do not fit the clusters: see laple-discover --all-pairs", odd_pairs));
    }
    return text + describe_model(model);
}

}  // namespace laple::discover
