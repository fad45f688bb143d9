// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/network.hpp"

#include <cstddef>
#include <limits>

#include "base/json_reader.hpp"

namespace laple {
namespace {

constexpr const char* kFormat = "laple-network-1";

std::vector<std::string> read_clusters(const JsonReader& in, Network& network) {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < in.array("/clusters").size(); ++c) {
        names.push_back(in.text(item_pointer("/clusters", c, "/name")));
        network.clusters.push_back({names.back(), -1});
        const std::string hosts = item_pointer("/clusters", c, "/hosts");
        for (std::size_t h = 0; h < in.array(hosts).size(); ++h) {
            if (!network.cluster_of_host.emplace(in.text(item_pointer(hosts, h)), static_cast<int>(c)).second)
                throw in.wrong(item_pointer(hosts, h), "is given twice", "put each host into one cluster");
        }
    }
    return names;
}

void read_sites(const JsonReader& in, const std::vector<std::string>& clusters, Network& network) {
    for (std::size_t s = 0; s < in.array("/sites").size(); ++s) {
        network.sites.push_back({in.text(item_pointer("/sites", s, "/name")),
                                 in.positive(item_pointer("/sites", s, "/uplink_Bps"), "bytes a second")});
        const std::string members = item_pointer("/sites", s, "/clusters");
        for (std::size_t i = 0; i < in.array(members).size(); ++i) {
            const int cluster = in.named(item_pointer(members, i), clusters);
            int& site = network.clusters[static_cast<std::size_t>(cluster)].site;
            if (site >= 0)
                throw in.wrong(item_pointer(members, i), "is in a site already", "put each cluster into one");
            site = static_cast<int>(s);
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
    for (std::size_t i = 0; i < in.array("/links").size(); ++i) {
        const auto a = static_cast<std::size_t>(in.named(item_pointer("/links", i, "/between/0"), names));
        const auto b = static_cast<std::size_t>(in.named(item_pointer("/links", i, "/between/1"), names));
        network.link[a][b] = network.link[b][a] =
            in.positive(item_pointer("/links", i, "/rate_Bps"), "bytes a second");
    }
}

void read_latencies(const JsonReader& in, Network& network) {
    const std::size_t count = network.clusters.size();
    if (in.array("/latency_s").size() != count)
        throw in.wrong("/latency_s", "is not as long as /clusters", "give a row for each cluster");
    for (std::size_t a = 0; a < count; ++a) {
        const std::string row = item_pointer("/latency_s", a);
        if (in.array(row).size() != count)
            throw in.wrong(row, "is not as long as /clusters", "give a latency for each cluster");
        std::vector<Seconds>& latencies = network.latency.emplace_back();
        for (std::size_t b = 0; b < count; ++b)
            latencies.emplace_back(in.positive(item_pointer(row, b), "seconds"));
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
