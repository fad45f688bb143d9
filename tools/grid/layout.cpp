// SPDX-License-Identifier: BSD-3-Clause
#include "grid/layout.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace laple::grid {
namespace {

constexpr unsigned kNetwork = 10;

std::string prefix(const GridLayout& layout) {
    return "laple-" + layout.id + "-";
}

std::string shape(const std::string& device, double rate_bps, Bytes burst_bytes) {
    // A bucket must hold a millisecond of its rate, for a millisecond is what a late timer costs.
    const Bytes millisecond_bytes = static_cast<Bytes>(rate_bps / 8e3);
    return fmt::format("qdisc add dev {} root tbf rate {:.0f}bit burst {} limit 4000000\n", device, rate_bps,
                       std::max(burst_bytes, millisecond_bytes));
}

}  // namespace

std::vector<HostLayout> GridLayout::hosts() const {
    std::vector<HostLayout> all;
    for (const SiteLayout& site : sites) all.insert(all.end(), site.hosts.begin(), site.hosts.end());
    return all;
}

std::vector<std::string> GridLayout::netns_names() const {
    std::vector<std::string> names;
    for (const SiteLayout& site : sites) {
        names.push_back(site.netns);
        for (const HostLayout& host : site.hosts) names.push_back(host.netns);
    }
    return names;
}

GridLayout make_layout(const Scenario& scenario, const std::string& id) {
    GridLayout layout{id, {}};
    for (const Site& site : scenario.sites) {
        const std::size_t number = layout.sites.size() + 1;
        SiteLayout place{
            site.name, prefix(layout) + site.name, fmt::format("{}.{}.0.254", kNetwork, number), {}};
        for (int h = 1; h <= site.hosts; ++h) {
            const std::string name = fmt::format("{}-{}", site.name, h);
            place.hosts.push_back(
                {name, prefix(layout) + name, fmt::format("{}.{}.0.{}", kNetwork, number, h)});
        }
        layout.sites.push_back(std::move(place));
    }
    return layout;
}

Json to_json(const GridLayout& layout) {
    Json json = Json::array();
    for (const SiteLayout& site : layout.sites) {
        Json hosts = Json::array();
        for (const HostLayout& host : site.hosts) {
            hosts.push_back({{"name", host.name}, {"netns", host.netns}, {"address", host.address}});
        }
        json.push_back(
            {{"name", site.name}, {"netns", site.netns}, {"address", site.address}, {"hosts", hosts}});
    }
    return json;
}

GridLayout layout_from_json(const Json& json) {
    GridLayout layout;
    for (const Json& site : json) {
        SiteLayout place{site.at("name"), site.at("netns"), site.at("address"), {}};
        for (const Json& host : site.at("hosts")) {
            place.hosts.push_back({host.at("name"), host.at("netns"), host.at("address")});
        }
        layout.sites.push_back(std::move(place));
    }
    return layout;
}

std::string site_ip_commands(const Scenario& scenario, const GridLayout& layout, std::size_t site) {
    const SiteLayout& place = layout.sites[site];
    const int mtu = scenario.mtu;
    std::string text = fmt::format(
        "link set lo up\n"
        "link add br0 mtu {} type bridge stp_state 0 forward_delay 0 mcast_snooping 0\n"
        "address add {}/24 dev br0\n"
        "link set br0 up\n",
        mtu, place.address);
    for (std::size_t h = 1; h <= place.hosts.size(); ++h) {
        text += fmt::format(
            "link add p{} mtu {} type veth peer name veth0 mtu {} netns {}\n"
            "link set p{} master br0 up\n",
            h, mtu, mtu, place.hosts[h - 1].netns, h);
    }
    if (layout.sites.size() > 1) {
        text += fmt::format(
            "tuntap add dev wan0 mode tun vnet_hdr\n"
            "link set wan0 mtu {} txqueuelen 10000 up\n"
            "route add {}.0.0.0/8 dev wan0\n",
            mtu, kNetwork);
    }
    return text;
}

std::string host_ip_commands(const Scenario& scenario, const SiteLayout& site, const HostLayout& host) {
    return fmt::format(
        "link set lo up\n"
        "address add {}/24 dev veth0\n"
        "link set veth0 gso_max_size {} up\n"
        "route add default via {}\n",
        host.address, longest_train(scenario), site.address);
}

Bytes longest_train(const Scenario& scenario) {
    constexpr double kMost = 64 * 1024;  // Linux's own
    constexpr double kSeconds = kMost * 8 / 100e6;
    double slowest_bps = std::numeric_limits<double>::infinity();
    const auto passes = [&](double rate_bps) {
        if (rate_bps > 0) slowest_bps = std::min(slowest_bps, rate_bps);
    };
    for (std::size_t s = 0; s < scenario.sites.size(); ++s) {
        passes(scenario.sites[s].nic_bps);
        passes(scenario.sites[s].uplink_bps);
        for (const SiteLink& link : scenario.links[s]) passes(link.rate_bps);
    }
    const double one_packet = scenario.mtu;
    return static_cast<Bytes>(std::clamp(slowest_bps / 8 * kSeconds, one_packet, kMost));
}

std::string site_tc_commands(const Scenario& scenario, std::size_t site) {
    std::string text;
    for (int h = 1; h <= scenario.sites[site].hosts; ++h) {
        text += shape(fmt::format("p{}", h), scenario.sites[site].nic_bps, scenario.nic_burst_bytes);
    }
    return text;
}

std::string host_tc_commands(const Scenario& scenario, std::size_t site) {
    return shape("veth0", scenario.sites[site].nic_bps, scenario.nic_burst_bytes);
}

std::string hosts_text(const GridLayout& layout) {
    std::string text = "127.0.0.1 localhost\n";
    for (const SiteLayout& site : layout.sites) {
        text += fmt::format("{} {}\n", site.address, site.name);
        for (const HostLayout& host : site.hosts) text += fmt::format("{} {}\n", host.address, host.name);
    }
    return text;
}

int site_of_address(const unsigned char* address) {
    return address[0] == kNetwork ? static_cast<int>(address[1]) - 1 : -1;
}

}  // namespace laple::grid
