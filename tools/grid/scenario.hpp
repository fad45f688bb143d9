// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"
#include "grid/quantity.hpp"

namespace laple::grid {

/// A site: hosts on one local network, and one uplink to the wide-area network that they share.
struct Site {
    std::string name;
    int hosts = 0;
    double nic_bps = 0;     ///< of each host, each way
    double uplink_bps = 0;  ///< of the site, each way; 0 in a grid of a single site
    Bytes uplink_queue_bytes = 0;
};

/// The wide-area link between two sites; the same both ways.
struct SiteLink {
    Nanoseconds delay{};   ///< one way
    Nanoseconds jitter{};  ///< each packet's delay is uniform in delay ± jitter; order is kept
    double loss = 0;       ///< probability for each packet on the wire
    double rate_bps = 0;   ///< 0: only the uplinks limit it
    Bytes queue_bytes = 0;
};

/// A grid to raise, as a scenario file describes it.
struct Scenario {
    std::string name;
    std::string description;
    int mtu = 9000;
    Bytes nic_burst_bytes = 0;
    std::vector<Site> sites;
    std::vector<std::vector<SiteLink>> links;  ///< [site][site], symmetric; the diagonal is unused

    int host_count() const;
};

/// Reads a scenario of format "laple-grid-1" (see docs and bench/grid). Throws Error naming file and line.
Scenario parse_scenario(const JsonDocument& document);
Scenario load_scenario(const std::string& file);

}  // namespace laple::grid
