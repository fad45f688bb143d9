// SPDX-License-Identifier: BSD-3-Clause
// Names and addresses of a raised grid, and the commands that configure it. Text only: nothing is done here.
//
//    host namespace               site namespace                                   keeper process
//    veth0 10.S.0.H/24 ---------- pH --+-- br0 10.S.0.254/24 --- wan0 (tun) ------ relay ------ other sites
//                                 ...--+
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "grid/scenario.hpp"

namespace laple::grid {

struct HostLayout {
    std::string name;     ///< "<site>-<number>", from 1
    std::string netns;    ///< name of its network namespace
    std::string address;  ///< IPv4
};

struct SiteLayout {
    std::string name;
    std::string netns;
    std::string address;  ///< of the router, IPv4
    std::vector<HostLayout> hosts;
};

struct GridLayout {
    std::string id;
    std::vector<SiteLayout> sites;

    std::vector<HostLayout> hosts() const;         ///< of all sites, in order
    std::vector<std::string> netns_names() const;  ///< of all sites and hosts
};

/// Addresses are the same in every grid: grids do not see each other.
GridLayout make_layout(const Scenario& scenario, const std::string& id);

Json to_json(const GridLayout& layout);
GridLayout layout_from_json(const Json& json);

/// Input for `ip -batch` in the site's namespace: bridge, cables to the hosts, router address, wan0.
std::string site_ip_commands(const Scenario& scenario, const GridLayout& layout, std::size_t site);
/// Input for `ip -batch` in a host's namespace, once the site's commands are done.
std::string host_ip_commands(const Scenario& scenario, const SiteLayout& site, const HostLayout& host);
/// How much TCP may hand down at once: what the slowest part of the grid passes in 5 ms, as 64 KB are of
/// 100 Mbit/s, but at least one packet. A train arrives as a whole, and a pipeline would wait for the rest of
/// a longer one, which real networks pass packet by packet.
Bytes longest_train(const Scenario& scenario);
/// Input for `tc -batch` in the site's namespace: the rate towards each host.
std::string site_tc_commands(const Scenario& scenario, std::size_t site);
/// Input for `tc -batch` in a host's namespace: the rate from it.
std::string host_tc_commands(const Scenario& scenario, std::size_t site);

/// The /etc/hosts of a grid.
std::string hosts_text(const GridLayout& layout);

/// The site of an address "10.S.x.x" in network byte order, or -1.
int site_of_address(const unsigned char* address);

}  // namespace laple::grid
