// SPDX-License-Identifier: BSD-3-Clause
#include "grid/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "grid/probe.hpp"

namespace laple::grid {
namespace {

constexpr double kTolerance = 0.1;
constexpr Seconds kRoundTripSlack{0.5e-3};  // what switching between processes costs on a local network
constexpr double kMostAtOnceBps = 400e6;    // more than that is for two cores alone
constexpr int kTcpIpHeader = 52;            // with TCP's timestamps
constexpr int kEthernetHeader = 14;
constexpr Seconds kSettle{1.5};
constexpr double kSettleRoundTrips = 20;
constexpr Seconds kWindow{2};

struct Measured {
    std::optional<Seconds> round_trip;
    double rate_bps = 0;
    bool lacks_bbr = false;  ///< on a lossy link: what it would let pass is not known
};

/// What one TCP flow gets of the NICs, the uplinks and the link between two sites.
double stated_rate(const Scenario& scenario, std::size_t a, std::size_t b) {
    const double payload = scenario.mtu - kTcpIpHeader;
    const double of_nic = payload / (scenario.mtu + kEthernetHeader);  // a NIC's shaper sees Ethernet frames,
    const double of_link = payload / scenario.mtu;                     // the relay IP packets
    double rate = of_nic * std::min(scenario.sites[a].nic_bps, scenario.sites[b].nic_bps);
    if (a == b) return rate;
    rate = std::min({rate, of_link * scenario.sites[a].uplink_bps, of_link * scenario.sites[b].uplink_bps});
    const double link_bps = scenario.links[a][b].rate_bps;
    return link_bps > 0 ? std::min(rate, of_link * link_bps) : rate;
}

CheckedPair make_pair_of(const Scenario& scenario, const GridLayout& layout, std::size_t a, std::size_t b) {
    const auto& from = layout.sites[a].hosts;
    const auto& to = layout.sites[b].hosts;
    if (a == b) {
        // The last two hosts, for the first is busy with other sites.
        return {a, b, from[from.size() - 2], from.back(), Seconds(0), stated_rate(scenario, a, b), 0};
    }
    const SiteLink& link = scenario.links[a][b];
    return {a, b, from.front(), to.front(), 2 * Seconds(link.delay), stated_rate(scenario, a, b), link.loss};
}

std::set<std::string> resources(const CheckedPair& pair) {
    std::set<std::string> used{pair.from.netns, pair.to.netns};
    if (pair.from_site != pair.to_site) {
        used.insert({fmt::format("uplink {}", pair.from_site), fmt::format("uplink {}", pair.to_site)});
    }
    return used;
}

Seconds longest_round_trip(const std::vector<CheckedPair>& pairs, const std::vector<std::size_t>& round) {
    Seconds longest{0};
    for (const std::size_t i : round) longest = std::max(longest, pairs[i].round_trip);
    return longest;
}

bool round_trip_ok(const CheckedPair& stated, const Measured& measured) {
    if (!measured.round_trip) return false;
    const Seconds difference = *measured.round_trip - stated.round_trip;
    return std::abs(difference.count()) <= kTolerance * stated.round_trip.count() + kRoundTripSlack.count();
}

bool rate_ok(const CheckedPair& stated, const Measured& measured) {
    return std::abs(measured.rate_bps - stated.rate_bps) <= kTolerance * stated.rate_bps;
}

void measure_round(const std::vector<CheckedPair>& pairs, const std::vector<std::size_t>& round,
                   std::vector<Measured>& measured) {
    std::vector<Connection> connections;
    for (const std::size_t i : round) {
        Connection& connection = connections.emplace_back(pairs[i].from, pairs[i].to);
        if (pairs[i].loss > 0) measured[i].lacks_bbr = !connection.use_congestion_control("bbr");
        measured[i].round_trip = connection.round_trip();
    }
    std::vector<const Connection*> flows;
    for (const Connection& connection : connections) flows.push_back(&connection);
    const Seconds settle = kSettle + kSettleRoundTrips * longest_round_trip(pairs, round);
    const std::vector<double> rates = measure_rates(flows, settle, kWindow);
    for (std::size_t k = 0; k < round.size(); ++k) measured[round[k]].rate_bps = rates[k];
}

bool print_row(const CheckedPair& pair, const Measured& measured) {
    const bool time_ok = round_trip_ok(pair, measured);
    const bool speed_ok = measured.lacks_bbr || rate_ok(pair, measured);
    const char* const speed_mark = measured.lacks_bbr ? "-" : speed_ok ? "ok" : "OFF";
    const char* const note = measured.lacks_bbr ? "lossy, no bbr" : pair.loss > 0 ? "lossy: bbr" : "";
    const std::string time =
        measured.round_trip ? fmt::format("{:.2f}", measured.round_trip->count() * 1e3) : "none";
    fmt::print("{:<14} {:<14} {:>9.2f} {:>9}  {:<4} {:>9.1f} {:>9.1f}  {:<4} {}\n", pair.from.name,
               pair.to.name, pair.round_trip.count() * 1e3, time, time_ok ? "ok" : "OFF", pair.rate_bps / 1e6,
               measured.rate_bps / 1e6, speed_mark, note);
    return time_ok && speed_ok;
}

}  // namespace

std::vector<CheckedPair> pairs_to_check(const Scenario& scenario, const GridLayout& layout) {
    std::vector<CheckedPair> pairs;
    const std::size_t count = layout.sites.size();
    for (std::size_t a = 0; a < count; ++a) {
        if (layout.sites[a].hosts.size() > 1) pairs.push_back(make_pair_of(scenario, layout, a, a));
        for (std::size_t b = a + 1; b < count; ++b) {
            // In both directions by turns, so that each uplink is tried each way.
            const bool backwards = (a + b) % 2 == 0;
            pairs.push_back(make_pair_of(scenario, layout, backwards ? b : a, backwards ? a : b));
        }
    }
    return pairs;
}

std::vector<std::vector<std::size_t>> rounds_to_check(const std::vector<CheckedPair>& pairs) {
    std::vector<std::vector<std::size_t>> rounds;
    std::vector<bool> done(pairs.size());
    for (std::size_t first = 0; first < pairs.size(); ++first) {
        if (done[first]) continue;
        std::vector<std::size_t> round;
        std::set<std::string> busy;
        double sum_bps = 0;
        for (std::size_t i = first; i < pairs.size(); ++i) {
            const auto needs = resources(pairs[i]);
            const bool free =
                std::none_of(needs.begin(), needs.end(), [&](const auto& r) { return busy.count(r); });
            if (done[i] || !free || (!round.empty() && sum_bps + pairs[i].rate_bps > kMostAtOnceBps))
                continue;
            round.push_back(i);
            busy.insert(needs.begin(), needs.end());
            sum_bps += pairs[i].rate_bps;
            done[i] = true;
        }
        rounds.push_back(round);
    }
    return rounds;
}

bool check_grid(const Scenario& scenario, const GridLayout& layout,
                const std::function<void()>& check_wanted) {
    const auto pairs = pairs_to_check(scenario, layout);
    std::vector<Measured> measured(pairs.size());
    for (const auto& round : rounds_to_check(pairs)) {
        check_wanted();
        measure_round(pairs, round, measured);
    }
    fmt::print("{:<14} {:<14} {:>9} {:>9}  {:<4} {:>9} {:>9}\n", "from", "to", "rtt ms", "measured", "",
               "Mbit/s", "measured");
    bool all_ok = true;
    for (std::size_t i = 0; i < pairs.size(); ++i) all_ok = print_row(pairs[i], measured[i]) && all_ok;
    fmt::print("{}: {}\n", scenario.name,
               all_ok ? "every figure is as stated"
                      : "some figure is off by more than 10 %; is the machine busy with other work?");
    const bool lossy = std::any_of(pairs.begin(), pairs.end(), [](const auto& p) { return p.loss > 0; });
    const bool lacks_bbr =
        std::any_of(measured.begin(), measured.end(), [](const Measured& m) { return m.lacks_bbr; });
    if (lacks_bbr) {
        fmt::print(
            "Rates of lossy links are not judged: this kernel has no bbr. As root: modprobe tcp_bbr\n");
    } else if (lossy) {
        fmt::print("Lossy links are measured with TCP's bbr: others slow down at each loss.\n");
    }
    std::fflush(stdout);
    return all_ok;
}

}  // namespace laple::grid
