// SPDX-License-Identifier: BSD-3-Clause
#include "target.hpp"
#include "topology/magpie_file.hpp"
#include "topology/topology_file.hpp"

using namespace laple;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::run(data, size, [](const std::string& text) { parse_topology(text, fuzz::kFile, 4); });
    return fuzz::run(data, size, [](const std::string& text) {
        const Topology topology = parse_magpie(text, fuzz::kFile);
        const auto read = [](const std::string& written) { return parse_magpie(written, fuzz::kFile); };
        fuzz::expect(fuzz::read_back(format_magpie(topology), read) == topology, "another map is read back");
    });
}
