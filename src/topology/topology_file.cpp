// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology_file.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "topology/magpie_file.hpp"
#include "topology/topology_json.hpp"

namespace laple {

bool is_json_topology(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first != std::string::npos && text[first] == '{';
}

Topology parse_topology(const std::string& text, const std::string& file, int world_size) {
    if (text.find('\0') != std::string::npos)
        throw Error({file, 0, 0}, "holds a NUL character", "use a text file");
    const Topology topology = is_json_topology(text) ? parse_topology_json(JsonDocument::parse(text, file))
                                                     : parse_magpie(text, file);
    if (world_size > 0 && topology.size() != world_size) {
        throw Error({file, 0, 0},
                    fmt::format("describes {} ranks, but this job has {}", topology.size(), world_size),
                    "run laple-discover with this job's hosts and number of ranks");
    }
    return topology;
}

}  // namespace laple
