// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology_json.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace laple {
namespace {

constexpr int kMaxRanks = 1 << 24;  // a bound for hostile files, far above any MPI job

}  // namespace

std::vector<int> read_groups(const JsonReader& in, const std::string& pointer, int ranks) {
    std::vector<int> labels(static_cast<std::size_t>(ranks), -1);
    for (std::size_t group = 0; group < in.array(pointer).size(); ++group) {
        const std::string members = item_pointer(pointer, group);
        for (std::size_t i = 0; i < in.array(members).size(); ++i) {
            const std::string member = item_pointer(members, i);
            const Rank rank = in.whole(member, 0, ranks - 1);
            int& label = labels[static_cast<std::size_t>(rank)];
            if (label >= 0)
                throw in.wrong(member, fmt::format("repeats rank {}", rank), "put each rank into one group");
            label = static_cast<int>(group);
        }
    }
    const auto missing = std::find(labels.begin(), labels.end(), -1);
    if (missing != labels.end()) {
        throw in.wrong(pointer, fmt::format("does not name rank {}", missing - labels.begin()),
                       "name every rank in every level");
    }
    return labels;
}

Topology parse_topology_json(const JsonDocument& document) {
    const JsonReader in(document, kModelFormat);
    const int ranks = in.whole("/ranks", 1, kMaxRanks);
    std::vector<std::vector<int>> labels;
    for (std::size_t level = 0; level < in.array("/levels").size(); ++level) {
        labels.push_back(read_groups(in, item_pointer("/levels", level), ranks));
    }
    try {
        return Topology::from_labels(ranks, labels);
    } catch (const Error& error) {
        throw in.wrong("/levels", "do not fit together", error.what());
    }
}

void write_topology_json(const Topology& topology, Json& document) {
    document["ranks"] = topology.size();
    Json& levels = document["levels"] = Json::array();
    for (int level = 0; level < topology.level_count(); ++level) {
        Json groups = Json::array();
        for (int group = 0; group < topology.group_count(level); ++group)
            groups.push_back(topology.members(level, group));
        levels.push_back(std::move(groups));
    }
}

}  // namespace laple
