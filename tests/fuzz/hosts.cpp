// SPDX-License-Identifier: BSD-3-Clause
#include "model/known_hosts.hpp"
#include "target.hpp"

using namespace laple;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr int kRanks = 5;
    return fuzz::run(data, size, [](const std::string& text) {
        const auto nodes = parse_hosts(JsonDocument::parse(text, fuzz::kFile), kRanks);
        const auto read = [](const std::string& written) {
            return parse_hosts(JsonDocument::parse(written, fuzz::kFile), kRanks);
        };
        fuzz::expect(rank_count(nodes) == kRanks, "each rank is on one host");
        fuzz::expect(fuzz::read_back(hosts_text(nodes), read) == nodes, "other hosts are read back");
    });
}
