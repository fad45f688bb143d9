// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/network.hpp"

#include "target.hpp"

using namespace laple;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::run(data, size, [](const std::string& text) {
        const Network network = parse_network(JsonDocument::parse(text, fuzz::kFile));
        const int sites = static_cast<int>(network.sites.size());
        for (int c = 0; c < static_cast<int>(network.clusters.size()); ++c)
            fuzz::expect(network.site_of(c) >= 0 && network.site_of(c) < sites, "a cluster is in no site");
    });
}
