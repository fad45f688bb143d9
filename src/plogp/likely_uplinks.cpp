// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/likely_uplinks.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/index.hpp"

namespace laple {
namespace {

constexpr double kFaster = 1.25;  // clearly: measured rates differ, and bursts of token buckets count
constexpr double kEnough = 1.5;   // what links of a trial carry, of what was seen
static_assert(kEnough > kFaster, "a trial that nothing holds up must show more than was seen");
constexpr int kFewClusters = 8;  // of which each may have several trials

enum class Way { out, in };
constexpr std::array kWays{Way::out, Way::in};

double& rate_of(UplinkRates& rates, Way way) {
    return way == Way::out ? rates.out : rates.in;
}

double rate_of(const UplinkRates& rates, Way way) {
    return way == Way::out ? rates.out : rates.in;
}

/// Of a link from a cluster to another, or back; where that way was not measured, of the other one. 0: not
/// known.
double link_rate(const LinkModel& model, int cluster, int other, Way way) {
    const LinkPair* link = model.between(cluster, other);
    if (link == nullptr) return 0;
    const int from = way == Way::out ? cluster : other;
    const double rate = link->lanes_from(from).most();
    return rate > 0 ? rate : link->lanes_from(link->other(from)).most();
}

/// What flows to some others carry if no uplink holds them up. All begin at the same hosts (lane()): their
/// NICs do.
double rate_of_links(const LinkModel& model, const LinkSurveyInput& input, int cluster,
                     const std::vector<int>& others, Way way) {
    double rate = 0;
    int hosts = 0;
    for (const int other : others) {
        rate += link_rate(model, cluster, other, way);
        hosts = std::max(hosts, std::min(input.most_lanes(cluster, other), kMostLanes));
    }
    const double nic = model.clusters[at(cluster)].nic_out;
    return nic > 0 ? std::min(rate, nic * hosts) : rate;
}

std::vector<int> all_others(const LinkSurveyInput& input, int cluster) {
    std::vector<int> others;
    for (int other = 0; other < input.count(); ++other) {
        if (other != cluster) others.push_back(other);
    }
    return others;
}

/// The most that has left a cluster, or come there, by MPI's connections: what flows of some links are only
/// likely to carry must not overrule what a trial of all has shown.
double seen(const LinkModel& model, const std::vector<UplinkRates>& together, int cluster, Way way) {
    double most = together.empty() ? 0 : rate_of(together[at(cluster)], way);
    for (const LinkPair& link : model.links) {
        if (link.joins(cluster))
            most = std::max(most, link.lanes_from(way == Way::out ? cluster : link.other(cluster)).seen());
    }
    return most;
}

/// The same by streams; 0: not known.
double seen_by_streams(const LinkModel& model, int cluster, Way way) {
    double most = 0;
    for (const LinkPair& link : model.links) {
        if (link.joins(cluster))
            most = std::max(most, link.streams_from(way == Way::out ? cluster : link.other(cluster)).most());
    }
    return most;
}

bool is_open(const LinkModel& model, const LinkSurveyInput& input, const std::vector<UplinkRates>& together,
             int cluster, Way way) {
    return kFaster * seen(model, together, cluster, way) <
           rate_of_links(model, input, cluster, all_others(input, cluster), way);
}

/// As many of `free` as it takes to tell how fast the uplink of `cluster` is, the fastest links first; empty
/// where they do not suffice.
std::vector<int> others_that_tell(const LinkModel& model, const LinkSurveyInput& input,
                                  const std::vector<UplinkRates>& together, int cluster,
                                  std::vector<int> free) {
    const auto slower_way = [&](int other) {
        return std::min(link_rate(model, cluster, other, Way::out),
                        link_rate(model, cluster, other, Way::in));
    };
    std::stable_sort(free.begin(), free.end(), [&](int a, int b) { return slower_way(a) > slower_way(b); });
    std::vector<int> others;
    for (const int other : free) {
        others.push_back(other);
        const bool is_enough = std::all_of(kWays.begin(), kWays.end(), [&](Way way) {
            return !is_open(model, input, together, cluster, way) ||
                   rate_of_links(model, input, cluster, others, way) >=
                       kEnough * seen(model, together, cluster, way);
        });
        if (is_enough) return others;
    }
    return at(input.count()) == others.size() + 1 ? others : std::vector<int>();
}

UplinkTrial trial_with(const LinkModel& model, const LinkSurveyInput& input, int cluster,
                       std::vector<int> others) {
    UplinkTrial trial{cluster, std::move(others), {}};
    for (const Way way : kWays)
        rate_of(trial.links, way) = rate_of_links(model, input, cluster, trial.others, way);
    return trial;
}

}  // namespace

std::optional<UplinkTrial> trial_of_fastest(const LinkModel& model, const LinkSurveyInput& input,
                                            const std::vector<UplinkRates>& together,
                                            const std::set<int>& tried) {
    constexpr double kMuchFaster = 1.6;
    constexpr std::size_t kMost = 2;    // more than that do not stand out
    constexpr std::size_t kFewest = 5;  // links of fewer clusters are soon known
    if (together.size() < kFewest) return std::nullopt;
    const auto faster_way = [&](int c) { return std::max(together[at(c)].out, together[at(c)].in); };
    std::vector<int> clusters(together.size());
    std::iota(clusters.begin(), clusters.end(), 0);
    std::stable_sort(clusters.begin(), clusters.end(),
                     [&](int a, int b) { return faster_way(a) > faster_way(b); });
    for (std::size_t i = 0; i < kMost; ++i) {
        const int c = clusters[i];
        if (model.clusters[at(c)].is_uplink_sure || tried.contains(c)) continue;
        if (faster_way(c) <= kMuchFaster * faster_way(clusters[kMost])) break;
        return trial_with(model, input, c, all_others(input, c));
    }
    return std::nullopt;
}

std::vector<UplinkTrial> uplink_trials(const LinkModel& model, const LinkSurveyInput& input,
                                       const std::vector<UplinkRates>& together) {
    std::vector<UplinkTrial> trials;
    std::vector<bool> is_busy(at(input.count()), false);
    for (int c = 0; c < input.count(); ++c) {
        const auto is_open_way = [&](Way way) { return is_open(model, input, together, c, way); };
        if (is_busy[at(c)] || model.clusters[at(c)].is_uplink_sure) continue;
        if (std::none_of(kWays.begin(), kWays.end(), is_open_way)) continue;
        std::vector<int> free = all_others(input, c);
        std::erase_if(free, [&](int other) { return is_busy[at(other)]; });
        const std::vector<int> others = others_that_tell(model, input, together, c, free);
        if (others.empty()) continue;
        is_busy[at(c)] = true;
        for (const int other : others) is_busy[at(other)] = true;
        trials.push_back(trial_with(model, input, c, others));
    }
    return trials;
}

void take_trial(const UplinkTrial& trial, const UplinkRates& measured, LinkModel& model,
                const LinkSurveyInput& input, std::vector<UplinkRates>& together) {
    together.resize(at(input.count()));
    UplinkRates& all = together[at(trial.cluster)];
    for (const Way way : kWays) rate_of(all, way) = std::max(rate_of(all, way), rate_of(measured, way));
    bool is_settled = trial.others.size() + 1 == at(input.count());
    if (!is_settled) {
        is_settled = std::all_of(kWays.begin(), kWays.end(), [&](Way way) {
            const bool is_held_up = kFaster * rate_of(measured, way) < rate_of(trial.links, way);
            return is_held_up || !is_open(model, input, together, trial.cluster, way);
        });
    }
    if (!is_settled && input.count() > kFewClusters) {
        const std::vector<int> others = all_others(input, trial.cluster);
        for (const Way way : kWays) {
            if (kFaster * rate_of(measured, way) >= rate_of(trial.links, way))
                rate_of(all, way) = rate_of_links(model, input, trial.cluster, others, way);
        }
        is_settled = true;
    }
    model.clusters[at(trial.cluster)].is_uplink_sure = is_settled;
}

void set_uplinks(LinkModel& model, const LinkSurveyInput& input, const std::vector<UplinkRates>& together,
                 bool is_finished) {
    const auto uplink = [&](int c, Way way) {
        if (is_finished) {
            const bool is_known = is_open(model, input, together, c, way);
            return is_known ? std::max(seen(model, together, c, way), seen_by_streams(model, c, way)) : 0;
        }
        const bool are_seen = !together.empty() && rate_of(together[at(c)], way) > 0;
        return are_seen ? seen(model, together, c, way) : 0;
    };
    for (int c = 0; c < input.count(); ++c) {
        ClusterModel& cluster = model.clusters[at(c)];
        cluster.uplink_out = uplink(c, Way::out);
        cluster.uplink_in = uplink(c, Way::in);
    }
}

}  // namespace laple
