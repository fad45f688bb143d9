// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"
#include "base/units.hpp"
#include "topology/magpie_file.hpp"
#include "topology/topology.hpp"
#include "topology/topology_json.hpp"

namespace laple::discover {
namespace {

Json rows_of(const LatencyMatrix& matrix) {
    Json rows = Json::array();
    for (int a = 0; a < matrix.nodes(); ++a) {
        Json row = Json::array();
        for (int b = 0; b < matrix.nodes(); ++b) row.push_back(matrix.at(a, b).count());
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string describe_latencies(const Findings& findings) {
    Seconds widest(0);
    Seconds nearest = Seconds::max();
    Seconds farthest(0);
    const int clusters = findings.between.nodes();
    for (int a = 0; a < clusters; ++a) {
        widest = std::max(widest, findings.inside[static_cast<std::size_t>(a)]);
        for (int b = 0; b < a; ++b) {
            nearest = std::min(nearest, findings.between.at(a, b));
            farthest = std::max(farthest, findings.between.at(a, b));
        }
    }
    std::string text;
    if (widest > Seconds(0))
        text += fmt::format("median latency in a cluster: up to {}\n", format_seconds(widest));
    if (clusters > 1) {
        text += fmt::format("median latency between clusters: {} to {}\n", format_seconds(nearest),
                            format_seconds(farthest));
    }
    return text;
}

}  // namespace

std::string magpie_text(const Discovery& discovery) {
    std::string text = fmt::format("# made by laple-discover {} on {} (tolerance {})\n", LAPLE_VERSION,
                                   discovery.date, discovery.tolerance);
    for (const Node& node : discovery.nodes) {
        text += fmt::format("# host {}: {}\n", node.host, fmt::join(node.ranks, " "));
    }
    return text + format_magpie(topology_of(discovery.levels, discovery.nodes));
}

std::string json_text(const Discovery& discovery) {
    Json document;
    document["format"] = kModelFormat;
    document["date"] = discovery.date;
    document["version"] = LAPLE_VERSION;
    document["tolerance"] = discovery.tolerance;
    write_topology_json(topology_of(discovery.levels, discovery.nodes), document);
    document["hosts"] = Json::array();
    for (const Node& node : discovery.nodes) {
        document["hosts"].push_back({{"name", node.host}, {"ranks", node.ranks}});
    }
    const Findings& findings = discovery.findings;
    if (findings.matrix.nodes() > 0) document["matrix"] = rows_of(findings.matrix);
    document["inside"] = Json::array();
    for (const Seconds latency : findings.inside) document["inside"].push_back(latency.count());
    document["between"] = rows_of(findings.between);
    document["pairs"] = findings.pairs;
    return document.dump() + "\n";
}

std::string summary_text(const Discovery& discovery) {
    if (discovery.nodes.size() == 1 && discovery.nodes.front().ranks.size() == 1)
        return "one rank: start laple-discover with mpiexec, on the hosts of your job\n";
    if (discovery.nodes.size() == 1) {
        return fmt::format("{}: all are on {}, nothing to measure\n",
                           describe(topology_of(discovery.levels, discovery.nodes)),
                           discovery.nodes.front().host);
    }
    const Findings& findings = discovery.findings;
    std::string text;
    if (findings.matrix.nodes() > 0) {
        std::vector<std::string> names;
        for (const Node& node : discovery.nodes) names.push_back(node.host);
        text = format_table(findings.matrix, names);
    } else {
        text = fmt::format("{} of {} pairs measured{}\n", findings.pairs,
                           discovery.nodes.size() * (discovery.nodes.size() - 1) / 2,
                           findings.odd_pairs == 0
                               ? ""
                               : fmt::format("; {} do not fit the clusters: see laple-discover --all-pairs",
                                             findings.odd_pairs));
    }
    return text + describe(topology_of(discovery.levels, discovery.nodes)) + "\n" +
           describe_latencies(findings);
}

}  // namespace laple::discover
