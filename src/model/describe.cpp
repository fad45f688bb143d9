// SPDX-License-Identifier: BSD-3-Clause
#include "model/describe.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace laple {
namespace {

constexpr std::array<Bytes, 3> kShownSizes{1024, 64 * 1024, 1024 * 1024};

std::string rate_or_dash(double rate) {
    return rate > 0 ? format_rate(rate) : "-";
}

/// How long a single message takes, by the model.
std::string time_of(const Plogp& plogp, Bytes bytes) {
    return plogp.gap.is_empty() ? "-" : format_seconds(plogp.latency + plogp.gap.at(bytes));
}

std::string describe_latencies(const Model& model) {
    Seconds widest(0);
    Seconds nearest = Seconds::max();
    Seconds farthest(0);
    for (const Seconds inside : model.inside) widest = std::max(widest, inside);
    for (int a = 0; a < model.between.nodes(); ++a) {
        for (int b = 0; b < a; ++b) {
            nearest = std::min(nearest, model.between.at(a, b));
            farthest = std::max(farthest, model.between.at(a, b));
        }
    }
    std::string text;
    if (widest > Seconds(0))
        text += fmt::format("median latency in a cluster: up to {}\n", format_seconds(widest));
    if (model.between.nodes() > 1) {
        text += fmt::format("median latency between clusters: {} to {}\n", format_seconds(nearest),
                            format_seconds(farthest));
    }
    return text;
}

std::vector<Node> hosts_of(const Model& model, int cluster) {
    std::vector<Node> hosts;
    for (const Node& node : model.nodes) {
        if (model.topology.cluster_of(node.ranks.front()) == cluster) hosts.push_back(node);
    }
    return hosts;
}

std::string names_of(const std::vector<Node>& hosts) {
    std::vector<std::string> names;
    for (const Node& host : hosts) names.push_back(host.host);
    return list_names(names);
}

/// "0-3", or "0, 4, 8 and 5 more".
std::string list_ranks(const std::vector<Rank>& ranks) {
    if (ranks.size() > 2 && ranks.back() - ranks.front() + 1 == static_cast<Rank>(ranks.size()))
        return fmt::format("{}-{}", ranks.front(), ranks.back());
    std::vector<std::string> numbers;
    for (const Rank rank : ranks) numbers.push_back(fmt::format("{}", rank));
    return list_names(numbers);
}

/// Hosts that the map divides: host_of_ranks() takes their ranks one by one.
std::string describe_divided_hosts(const Model& model) {
    std::string text;
    for (const Node& host : model.nodes) {
        if (is_divided(host, model.topology))
            text +=
                fmt::format("ranks {} of host {} are in several clusters: each counts as a host of its own\n",
                            list_ranks(host.ranks), host.host);
    }
    return text;
}

/// Which ranks are on which host; nothing where each has one.
std::string describe_hosts(const Model& model) {
    if (model.nodes.empty()) return "";
    const Machine machine = machine_of(model);
    std::string text = describe_divided_hosts(model);
    if (machine.has_single_ranks()) return text;
    for (int cluster = 0; cluster < machine.cluster_count(); ++cluster) {
        std::vector<std::string> hosts;
        for (const Node& host : hosts_of(model, cluster))
            hosts.push_back(fmt::format("{} ({})", host.host, list_ranks(host.ranks)));
        text += fmt::format("ranks on hosts of cluster {}: {}\n", cluster, list_names(hosts));
    }
    return text;
}

std::string describe_clusters(const Model& model) {
    std::string text = fmt::format("{:<8} {:>10} {:>10} {:>10} {:>11} {:>23} {:>23}  {}\n", "cluster", "0 B",
                                   "1 KiB", "64 KiB", "1 MiB", "NIC out/in", "uplink out/in", "hosts");
    for (std::size_t c = 0; c < model.links.clusters.size(); ++c) {
        const ClusterModel& cluster = model.links.clusters[c];
        text += fmt::format("{:<8} {:>10}", c, time_of(cluster.inside, 0));
        for (const Bytes bytes : kShownSizes) text += fmt::format(" {:>10}", time_of(cluster.inside, bytes));
        text += fmt::format("  {:>11}/{:>11} {:>11}/{:>11}  {}\n", rate_or_dash(cluster.nic_out),
                            rate_or_dash(cluster.nic_in), rate_or_dash(cluster.uplink_out),
                            rate_or_dash(cluster.uplink_in), names_of(hosts_of(model, static_cast<int>(c))));
    }
    for (std::size_t c = 0; c < model.links.clusters.size(); ++c) {
        if (const double reserve = model.links.clusters[c].reserve; reserve > 0)
            text += fmt::format("NICs of cluster {} let {:.0f} kB pass at once when they have rested\n", c,
                                reserve / 1000);
    }
    for (std::size_t c = 0; c < model.links.clusters.size(); ++c) {
        if (const double limit = model.links.clusters[c].eager_limit; limit > 0)
            text += fmt::format("in cluster {} MPI sends up to {} without a handshake\n", c,
                                format_bytes(static_cast<Bytes>(limit)));
    }
    for (std::size_t c = 0; c < model.links.clusters.size(); ++c) {
        if (const double burst = model.links.clusters[c].burst; burst > 0)
            text +=
                fmt::format("the uplink of cluster {} loses packets when more than {:.0f} kB come at once\n",
                            c, burst / 1000);
    }
    return text;
}

std::string describe_lanes(const Lanes& lanes, bool carries_more) {
    if (lanes.rate.empty()) return "-";
    const char* at_least = carries_more ? "at least " : "";
    if (lanes.useful() == 1) return fmt::format("1 lane, {}{}", at_least, format_rate(lanes.of_one()));
    return fmt::format("{} lanes, {}{} (one: {})", lanes.useful(), at_least, format_rate(lanes.most()),
                       rate_or_dash(lanes.of_one()));
}

/// "1: 28 MB/s, 8: 82 MB/s": by the number of connections.
std::string describe_streams(const Lanes& streams) {
    std::string text;
    for (const auto& [count, rate] : streams.rate)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", count, rate_or_dash(rate));
    return text.empty() ? "-" : text;
}

std::string describe_links(const Model& model) {
    if (model.links.links.empty()) return "";
    std::string text = fmt::format("{:<8} {:>10} {:>10} {:>10} {:>11}  {:<38} {}\n", "link", "0 B", "1 KiB",
                                   "64 KiB", "1 MiB", "there", "back");
    for (const LinkPair& link : model.links.links) {
        text += fmt::format("{:<8} {:>10}", fmt::format("{}-{}", link.a, link.b), time_of(link.plogp, 0));
        for (const Bytes bytes : kShownSizes) text += fmt::format(" {:>10}", time_of(link.plogp, bytes));
        text += fmt::format("  {:<38} {}\n", describe_lanes(link.there, link.carries_more),
                            describe_lanes(link.back, link.carries_more));
    }
    for (const LinkPair& link : model.links.links) {
        if (link.streams_there.rate.empty() && link.streams_back.rate.empty()) continue;
        text += fmt::format("link {}-{} by streams between two hosts: there {}, back {}\n", link.a, link.b,
                            describe_streams(link.streams_there), describe_streams(link.streams_back));
    }
    return text;
}

std::string describe_natives(const JobTimes& native) {
    if (native.ranks == 0) return "";
    std::string text;
    if (!native.memory.gap.is_empty()) {
        const Curve& gap = native.memory.flood_gap.is_empty() ? native.memory.gap : native.memory.flood_gap;
        const auto [bytes, time] = *gap.known().rbegin();
        text += fmt::format("between two ranks of a host, while all are at work: {} of 0 bytes, {}\n",
                            format_seconds(native.memory.latency + native.memory.gap.at(0)),
                            format_rate(static_cast<double>(bytes) / std::max(time.count(), 1e-12)));
    }
    if (native.exchange > Seconds(0))
        text += fmt::format("an empty message from each rank to each other one: {}\n",
                            format_seconds(native.exchange));
    if (!native.times.empty())
        text += fmt::format("MPI's own on {} ranks{}:\n", native.ranks,
                            native.is_unfinished ? ", not all of it yet" : "");
    for (const auto& [name, curve] : native.times) {
        text += fmt::format("  {:<10}", name);
        for (const auto& [bytes, time] : curve.known())
            text += fmt::format(" {:>4} {:>7}", format_bytes(bytes), format_seconds(time));
        text += '\n';
    }
    return text;
}

/// Those of one kind together, the best plan first.
std::string describe_calls(const std::vector<CallTime>& calls) {
    if (calls.empty()) return "";
    std::string text = "plans that jobs have tried, the best one first:\n";
    std::string last;
    for (const CallTime& call : calls) {
        const std::string kind =
            fmt::format("{} {} root {}", call.collective, format_bytes(call.bytes), call.root);
        text += fmt::format("  {:<22} {:<28} {:>8} (predicted {}), {} times\n", kind != last ? kind : "",
                            call.algorithm, format_seconds(usual_time(call)), format_seconds(call.predicted),
                            call.times.size());
        last = kind;
    }
    return text;
}

}  // namespace

std::string format_rate(double bytes_per_second) {
    constexpr std::array<const char*, 4> kUnits{"B/s", "kB/s", "MB/s", "GB/s"};
    std::size_t unit = 0;
    double rate = bytes_per_second;
    while (rate >= 999.5 && unit + 1 < kUnits.size()) {
        rate /= 1000;
        ++unit;
    }
    return fmt::format("{:.3g} {}", rate, kUnits[unit]);
}

std::string describe_model(const Model& model) {
    std::string text = describe(model) + "\n" + describe_hosts(model);
    text += describe(model.node_levels) + describe_latencies(model);
    if (!model.links.clusters.empty()) {
        text += describe_clusters(model) + describe_links(model) + describe_natives(model.links.job) +
                describe_calls(model.links.job.calls);
        for (const std::string& warning : model.links.warnings) text += fmt::format("note: {}\n", warning);
    }
    return text;
}

}  // namespace laple
