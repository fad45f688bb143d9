// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/network.hpp"

#include <cstddef>
#include <limits>

#include "base/index.hpp"
#include "base/json.hpp"

namespace laple {
namespace {

constexpr const char* kFormat = "laple-network-1";

std::vector<std::string> read_clusters(const JsonReader& in, Network& network) {
    std::vector<std::string> names;
    for (const std::string& cluster : in.items("/clusters")) {
        names.push_back(in.text(cluster + "/name"));
        network.clusters.push_back({names.back(), -1});
        for (const std::string& host : in.items(cluster + "/hosts")) {
            if (!network.cluster_of_host.emplace(in.text(host), static_cast<int>(names.size()) - 1).second)
                throw in.wrong(host, "is given twice", "put each host into one cluster");
        }
    }
    return names;
}

void read_sites(const JsonReader& in, const std::vector<std::string>& clusters, Network& network) {
    for (const std::string& item : in.items("/sites")) {
        network.sites.push_back(
            {in.text(item + "/name"), in.positive(item + "/uplink_Bps", "bytes a second")});
        for (const std::string& member : in.items(item + "/clusters")) {
            int& site = network.clusters[at(in.named(member, clusters))].site;
            if (site >= 0) throw in.wrong(member, "is in a site already", "put each cluster into one");
            site = static_cast<int>(network.sites.size()) - 1;
        }
    }
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        if (network.clusters[c].site < 0)
            throw in.wrong(item_pointer("/clusters", c), "is in no site", "name it in /sites");
    }
}

void read_links(const JsonReader& in, Network& network) {
    std::vector<std::string> names;
    for (const Network::Site& site : network.sites) names.push_back(site.name);
    network.link.assign(names.size(),
                        std::vector<double>(names.size(), std::numeric_limits<double>::infinity()));
    for (const std::string& item : in.items("/links")) {
        const std::size_t a = at(in.named(item + "/between/0", names));
        const std::size_t b = at(in.named(item + "/between/1", names));
        network.link[a][b] = network.link[b][a] = in.positive(item + "/rate_Bps", "bytes a second");
    }
}

void read_latencies(const JsonReader& in, Network& network) {
    const std::size_t count = network.clusters.size();
    if (in.array("/latency_s").size() != count)
        throw in.wrong("/latency_s", "is not as long as /clusters", "give a row for each cluster");
    for (const std::string& row : in.items("/latency_s")) {
        if (in.array(row).size() != count)
            throw in.wrong(row, "is not as long as /clusters", "give a latency for each cluster");
        std::vector<Seconds>& latencies = network.latency.emplace_back();
        for (const std::string& item : in.items(row)) latencies.emplace_back(in.positive(item, "seconds"));
    }
}

}  // namespace

Network parse_network(const JsonDocument& document) {
    const JsonReader in(document, kFormat);
    Network network;
    network.name = in.text("/name");
    network.nic = in.positive("/nic_Bps", "bytes a second");
    const std::vector<std::string> clusters = read_clusters(in, network);
    read_sites(in, clusters, network);
    read_links(in, network);
    read_latencies(in, network);
    return network;
}

}  // namespace laple
