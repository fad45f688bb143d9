// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"

namespace laple {

/// What a network can do at best. Not measured: given, by those who built or simulate it.
///
///     site A                        site B
///     ┌──────────────┐  uplinks   ┌─────────────┐    A host sends, and receives, `nic` bytes a second.
///     │ cluster 0  1 ├────────────┤ cluster 2   │    All that leaves or enters a site passes its uplink.
///     └──────────────┘ link(A, B) └─────────────┘    What goes from site to site passes their link.
///
/// Inside a site only NICs are limits.
struct Network {
    struct Cluster {
        std::string name;
        int site = 0;
    };
    struct Site {
        std::string name;
        double uplink = 0;  ///< bytes a second, each way
    };

    std::string name;
    double nic = 0;  ///< bytes a second, each way
    std::vector<Cluster> clusters;
    std::vector<Site> sites;
    std::vector<std::vector<Seconds>> latency;  ///< one way, cluster by cluster; diagonal: inside a cluster
    std::vector<std::vector<double>> link;      ///< bytes a second, site by site; infinite: no limit
    std::map<std::string, int> cluster_of_host;

    int site_of(int cluster) const { return clusters[static_cast<std::size_t>(cluster)].site; }
};

/// Reads the format "laple-network-1" (bench/smpi/platforms/*.network.json). Throws Error, with the line, for
/// whatever is missing, unknown or absurd.
Network parse_network(const JsonDocument& document);

}  // namespace laple
