// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace laple {
namespace {

constexpr const char* kFormat = "laple-network-1";

/// The members of one document, with their checks. Pointers are JSON pointers.
class Reader {
  public:
    explicit Reader(const JsonDocument& document) : document_(document) {}

    const Json& at(const std::string& pointer) const {
        const Json::json_pointer path(pointer);
        if (!document_.root().contains(path))
            throw document_.error(pointer, fmt::format("there is no {}", pointer), "add it");
        return document_.root().at(path);
    }
    const Json& array(const std::string& pointer) const {
        const Json& value = at(pointer);
        if (!value.is_array()) throw wrong(pointer, "is not a list", "write [ ... ]");
        return value;
    }
    std::string text(const std::string& pointer) const {
        const Json& value = at(pointer);
        if (!value.is_string()) throw wrong(pointer, "is not a string", "write it in quotes");
        return value.get<std::string>();
    }
    double positive(const std::string& pointer) const {
        const Json& value = at(pointer);
        if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>()))
            throw wrong(pointer, "is not a positive number", "give bytes a second, or seconds");
        return value.get<double>();
    }
    /// The index in `names` of the name at `pointer`.
    int named(const std::string& pointer, const std::vector<std::string>& names) const {
        const std::string name = text(pointer);
        const auto found = std::find(names.begin(), names.end(), name);
        if (found != names.end()) return static_cast<int>(found - names.begin());
        const std::string nearest = nearest_name(name, names);
        throw wrong(pointer, fmt::format("names no {}", name),
                    nearest.empty() ? "use a name of this file" : fmt::format("did you mean {}?", nearest));
    }
    Error wrong(const std::string& pointer, const std::string& problem, const std::string& advice) const {
        return document_.error(pointer, fmt::format("{} {}", pointer, problem), advice);
    }

  private:
    const JsonDocument& document_;
};

std::string item(const std::string& list, std::size_t index, const char* member = "") {
    return fmt::format("{}/{}{}", list, index, member);
}

std::vector<std::string> read_clusters(const Reader& in, Network& network) {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < in.array("/clusters").size(); ++c) {
        names.push_back(in.text(item("/clusters", c, "/name")));
        network.clusters.push_back({names.back(), -1});
        const std::string hosts = item("/clusters", c, "/hosts");
        for (std::size_t h = 0; h < in.array(hosts).size(); ++h) {
            if (!network.cluster_of_host.emplace(in.text(item(hosts, h)), static_cast<int>(c)).second)
                throw in.wrong(item(hosts, h), "is given twice", "put each host into one cluster");
        }
    }
    return names;
}

void read_sites(const Reader& in, const std::vector<std::string>& clusters, Network& network) {
    for (std::size_t s = 0; s < in.array("/sites").size(); ++s) {
        network.sites.push_back(
            {in.text(item("/sites", s, "/name")), in.positive(item("/sites", s, "/uplink_Bps"))});
        const std::string members = item("/sites", s, "/clusters");
        for (std::size_t i = 0; i < in.array(members).size(); ++i) {
            const int cluster = in.named(item(members, i), clusters);
            int& site = network.clusters[static_cast<std::size_t>(cluster)].site;
            if (site >= 0)
                throw in.wrong(item(members, i), "is in a site already", "put each cluster into one");
            site = static_cast<int>(s);
        }
    }
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        if (network.clusters[c].site < 0)
            throw in.wrong(item("/clusters", c), "is in no site", "name it in /sites");
    }
}

void read_links(const Reader& in, Network& network) {
    std::vector<std::string> names;
    for (const Network::Site& site : network.sites) names.push_back(site.name);
    network.link.assign(names.size(),
                        std::vector<double>(names.size(), std::numeric_limits<double>::infinity()));
    for (std::size_t i = 0; i < in.array("/links").size(); ++i) {
        const auto a = static_cast<std::size_t>(in.named(item("/links", i, "/between/0"), names));
        const auto b = static_cast<std::size_t>(in.named(item("/links", i, "/between/1"), names));
        network.link[a][b] = network.link[b][a] = in.positive(item("/links", i, "/rate_Bps"));
    }
}

void read_latencies(const Reader& in, Network& network) {
    const std::size_t count = network.clusters.size();
    if (in.array("/latency_s").size() != count)
        throw in.wrong("/latency_s", "is not as long as /clusters", "give a row for each cluster");
    for (std::size_t a = 0; a < count; ++a) {
        const std::string row = item("/latency_s", a);
        if (in.array(row).size() != count)
            throw in.wrong(row, "is not as long as /clusters", "give a latency for each cluster");
        std::vector<Seconds>& latencies = network.latency.emplace_back();
        for (std::size_t b = 0; b < count; ++b) latencies.emplace_back(in.positive(item(row, b)));
    }
}

}  // namespace

Network parse_network(const JsonDocument& document) {
    const Reader in(document);
    if (in.text("/format") != kFormat)
        throw in.wrong("/format", "is unknown", fmt::format("write \"{}\"", kFormat));
    Network network;
    network.name = in.text("/name");
    network.nic = in.positive("/nic_Bps");
    const std::vector<std::string> clusters = read_clusters(in, network);
    read_sites(in, clusters, network);
    read_links(in, network);
    read_latencies(in, network);
    return network;
}

}  // namespace laple
