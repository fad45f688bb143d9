// SPDX-License-Identifier: BSD-3-Clause
#include "situation.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/index.hpp"
#include "collectives/cost/one_host.hpp"
#include "collectives/cost/rank_delay.hpp"
#include "grid/quantity.hpp"
#include "model/model_file.hpp"

namespace laple::plan {
namespace {

constexpr auto kGrammar =
    "write LEVEL:COUNT[:LATENCY[:RATE]] from the outermost level to the innermost, as in "
    "\"site:6:10ms:100Mbit node:16:50us:1Gbit\"; a last level rank:8 puts eight ranks on each host";
constexpr int kMostRanks = 1 << 16;
constexpr auto kRanks = "rank";  // the level of the ranks of a host

/// Members of one level are so far from each other.
struct Level {
    int count = 0;
    double latency = 0;
    double rate = 0;
};

[[noreturn]] void refuse(const std::string& text, const std::string& problem) {
    throw Error(fmt::format("\"{}\": {}", text, problem), kGrammar);
}

double latency_of(const std::string& text) {
    const double latency = Seconds(grid::parse_duration(text)).count();
    if (!(latency > 0)) refuse(text, "no latency is 0");
    return latency;
}

/// Bytes a second.
double rate_of(const std::string& text) {
    const double rate = grid::parse_rate_bps(text) / 8;
    if (!(rate > 0)) refuse(text, "no rate is 0");
    return rate;
}

int count_of(const std::string& text) {
    int count = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (status != std::errc{} || end != text.data() + text.size() || count < 1 || count > kMostRanks)
        refuse(text, fmt::format("is no number of members from 1 to {}", kMostRanks));
    return count;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

std::vector<std::string> parts_of(const std::string& text) {
    auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 4) refuse(text, "is no level");
    return parts;
}

Level level_of(const std::string& text, bool is_innermost, bool is_outermost) {
    const auto parts = parts_of(text);
    if (parts[0] == kRanks) refuse(text, "is the last level, after one of hosts");
    Level level;
    level.count = count_of(parts[1]);
    level.latency = parts.size() > 2 ? latency_of(parts[2])
                    : is_innermost   ? 50e-6
                    : is_outermost   ? 10e-3
                                     : 1e-3;
    level.rate = parts.size() > 3 ? rate_of(parts[3]) : is_innermost ? 125e6 : 12.5e6;
    return level;
}

Curve line(Seconds overhead, double rate) {
    constexpr Bytes kEnd = 1 << 20;
    const Seconds end(static_cast<double>(kEnd) / rate);
    return Curve({{0, overhead}, {kEnd, overhead + end}});
}

void set_link(MachineCosts::Link& link, const Level& level) {
    link.latency = level.latency;
    link.gap = link.stream = line(kLikelyOverhead, level.rate);
}

/// How many ranks each host has, and its memory.
struct OnHost {
    int ranks = 1;
    MachineCosts::Link memory = MachineCosts::usual_memory();
};

/// `text` is a level of ranks.
OnHost on_host(const std::string& text) {
    const auto parts = parts_of(text);
    OnHost host;
    host.ranks = count_of(parts[1]);
    if (parts.size() > 2) host.memory.latency = latency_of(parts[2]);
    if (parts.size() > 3)
        host.memory.gap = host.memory.stream = line(host.memory.gap.at(0), rate_of(parts[3]));
    return host;
}

/// The host of each rank.
std::vector<Host> hosts_of(int hosts, int ranks_each, RankOrder order) {
    std::vector<Host> host_of;
    for (Rank rank = 0; rank < hosts * ranks_each; ++rank)
        host_of.push_back(order == RankOrder::block ? rank / ranks_each : rank % hosts);
    return host_of;
}

}  // namespace

Situation situation_of_file(const std::string& file) {
    const Model model = parse_model_file(read_file(file), file);
    Situation situation{machine_of(model), {}, file};
    situation.costs = costs_of(model.links, cluster_latencies(model));
    if (situation.costs.is_empty()) {
        throw Error({file, 0, 0}, "holds no rates",
                    "measure them: mpiexec ... laple-discover --model > model.json, on several hosts");
    }
    if (situation.machine.host_count() > 1) {
        add_rank_delay(situation.machine, situation.costs);
        add_message_time(situation.machine, situation.costs);
    }
    take_ranks_for_hosts(situation.machine, situation.costs);
    if (at(situation.machine.host_count()) == model.nodes.size()) {
        situation.host_names.resize(model.nodes.size());
        for (const Node& node : model.nodes)
            situation.host_names[at(situation.machine.host_of(node.ranks.front()))] = node.host;
    }
    return situation;
}

Situation synthetic_situation(const std::string& text, RankOrder order) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    OnHost each;
    const bool has_ranks = words.size() > 1 && split(words.back(), ':').front() == kRanks;
    if (order != RankOrder::block && !has_ranks) {
        throw Error("--placement is for hosts of several ranks, and no last level gives them any",
                    "add one to --synthetic, such as rank:8");
    }
    if (has_ranks) {
        each = on_host(words.back());
        words.pop_back();
    }
    if (words.empty()) refuse(text, "needs one level at least");
    std::vector<Level> levels;
    double ranks = each.ranks;
    for (std::size_t i = 0; i < words.size(); ++i) {
        levels.push_back(level_of(words[i], i + 1 == words.size(), i == 0));
        ranks *= levels.back().count;
    }
    if (ranks > kMostRanks) refuse(text, fmt::format("has more than {} ranks", kMostRanks));

    const int size = static_cast<int>(ranks);
    const std::vector<Host> host_of = hosts_of(size / each.ranks, each.ranks, order);
    std::vector<std::vector<int>> labels;
    int group_size = size / each.ranks;  // in hosts
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        group_size /= levels[i].count;
        auto& row = labels.emplace_back();
        for (const Host host : host_of) row.push_back(host / group_size);
    }
    Situation situation{Machine(Topology::from_labels(size, labels), host_of), {}, text};
    const Machine& machine = situation.machine;
    situation.costs = MachineCosts(machine.cluster_count());
    for (int a = 0; a < situation.costs.count(); ++a) {
        situation.costs.cluster(a).memory = each.memory;
        for (int b = 0; b < situation.costs.count(); ++b) {
            const Rank rank_a = machine.ranks_on(machine.hosts_in(a).front()).front();
            // Inside a cluster its ends: the innermost level is not seen where it has single hosts.
            const Rank rank_b = machine.ranks_on(machine.hosts_in(b).back()).front();
            std::size_t level = 0;  // the outermost one that divides them
            while (level < labels.size() && labels[level][static_cast<std::size_t>(rank_a)] ==
                                                labels[level][static_cast<std::size_t>(rank_b)])
                ++level;
            set_link(situation.costs.link(a, b), levels[std::min(level, levels.size() - 1)]);
        }
    }
    return situation;
}

}  // namespace laple::plan
