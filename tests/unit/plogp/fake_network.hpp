// SPDX-License-Identifier: BSD-3-Clause
// A network of clusters that answers what a survey asks, without clocks.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "plogp/link_survey.hpp"

namespace laple::testing {

/// A network that shares its limits fairly: NICs and uplinks, each way.
struct FakeNetwork {
    std::vector<std::vector<int>> clusters;
    double nic = 0;
    std::vector<double> uplink;
    Seconds one_way{10e-3};
    Seconds lan{50e-6};
    double far_flow = std::numeric_limits<double>::infinity();  ///< the most of one flow between clusters
    std::vector<double> uplink_in = {};                         ///< empty: as `uplink`
    double lone_nic = 0;                    ///< of hosts alone in their clusters; 0: `nic`
    std::map<int, double> other_nics = {};  ///< of single nodes
    double thin_pair = 0;                   ///< of clusters 0 and 1, each way; 0: their uplinks hold them up

    double nic_of(int node) const {
        if (const auto other = other_nics.find(node); other != other_nics.end()) return other->second;
        const bool is_lone = clusters[static_cast<std::size_t>(cluster_of(node))].size() == 1;
        return is_lone && lone_nic > 0 ? lone_nic : nic;
    }

    double into(int cluster) const {
        return (uplink_in.empty() ? uplink : uplink_in)[static_cast<std::size_t>(cluster)];
    }

    int cluster_of(int node) const {
        for (std::size_t c = 0; c < clusters.size(); ++c) {
            if (std::count(clusters[c].begin(), clusters[c].end(), node) > 0) return static_cast<int>(c);
        }
        return -1;
    }
};

class FakeProbes final : public LinkProbes {
  public:
    explicit FakeProbes(FakeNetwork network) : network_(std::move(network)) {}

    std::vector<PlogpSamples> links(const std::vector<Link>& links) override {
        std::set<int> clusters;
        std::vector<PlogpSamples> samples;
        for (const Link& link : links) {
            const int a = network_.cluster_of(link.a);
            const int b = network_.cluster_of(link.b);
            // What shares an uplink disturbs each other.
            CHECK(clusters.insert(a).second);
            CHECK((a == b || clusters.insert(b).second));
            CHECK(link.options.is_far == (a != b && !is_near({link.a, link.b})));
            const bool is_over = ++measured_links > most_links;
            auto& one = samples.emplace_back();
            const Seconds latency = a == b                      ? network_.lan
                                    : is_near({link.a, link.b}) ? 2 * network_.lan
                                                                : network_.one_way;
            for (const Bytes bytes : {0u, 1024u, 16384u, 1048576u}) {
                if (is_over && bytes > 0) break;  // as a probe whose time is over
                const Seconds gap(1e-6 + static_cast<double>(bytes) / network_.nic);
                one.round_trip[bytes] = 2 * latency + gap + Seconds(1e-6);
                one.flood[bytes] = gap;
            }
            if (a == b && reserve > 0) {
                const auto bytes = static_cast<Bytes>(2 * reserve);
                one.rested[bytes] = one.round_trip[0] + Seconds(reserve / network_.nic);
            }
        }
        return samples;
    }

    std::vector<FlowRate> rates(const std::vector<Flow>& flows, const FlowOptions& options) override {
        CHECK(options.duration > Seconds(0));
        CHECK(options.message_bytes > 0);
        CHECK(options.window_bytes >= options.message_bytes);
        ++flow_trials;
        most_bytes = std::max(most_bytes, flows.size() * options.window_bytes);
        std::set<int> nodes;
        for (const Flow& flow : flows) nodes.insert({flow.from, flow.to});
        const bool are_lanes = network_.cluster_of(flows[0].from) != network_.cluster_of(flows[0].to);
        if (are_lanes && nodes.size() == 2 * flows.size()) lanes.emplace_back(flows, options);
        if (are_lanes && nodes.size() < 2 * flows.size()) ++uplink_trials;
        if (!are_lanes) inside.insert(inside.end(), flows.begin(), flows.end());
        least_window = std::min(least_window, options.window_bytes);
        std::map<std::pair<std::string, int>, int> users;
        const auto limits = [&](const Flow& flow) {
            std::vector<std::pair<std::string, int>> all{{"out", flow.from}, {"in", flow.to}};
            const int from = network_.cluster_of(flow.from);
            const int to = network_.cluster_of(flow.to);
            if (from != to) {
                all.emplace_back("uplink out", from);
                all.emplace_back("uplink in", to);
            }
            return all;
        };
        for (const Flow& flow : flows) {
            CHECK(flow.from != flow.to);
            if (flow.slower > 1 && flows.size() <= nodes.size()) slower_flows.push_back(flow);
            for (const auto& limit : limits(flow)) ++users[limit];
        }
        std::vector<FlowRate> rates;
        std::map<int, int> flows_of;  // by cluster that sends
        for (const Flow& flow : flows) {
            double rate = std::min(network_.nic_of(flow.from), network_.nic_of(flow.to));
            if (network_.cluster_of(flow.from) != network_.cluster_of(flow.to)) {
                rate = std::min(rate, network_.far_flow);
                const auto window = static_cast<double>(options.window_bytes) / flow.slower;
                if (busy_trip > Seconds(0)) rate = std::min(rate, window / busy_trip.count());
                if (network_.lone_nic > 0) rate = std::min(rate, window / (2 * network_.one_way.count()));
            } else {
                const auto window = static_cast<double>(options.window_bytes);
                rate = std::min(rate, window / (2 * network_.lan.count()));
            }
            for (const auto& limit : limits(flow)) {
                const bool is_nic = limit.first == "out" || limit.first == "in";
                const double capacity = is_nic ? network_.nic_of(limit.second)
                                        : limit.first == "uplink in"
                                            ? network_.into(limit.second)
                                            : network_.uplink[static_cast<std::size_t>(limit.second)];
                rate = std::min(rate, capacity / users[limit]);
            }
            const bool is_of_pair = network_.cluster_of(flow.from) + network_.cluster_of(flow.to) == 1;
            if (network_.thin_pair > 0 && is_of_pair)
                rate = std::min(rate, network_.thin_pair / static_cast<double>(flows.size()));
            // The first times somebody measures, TCP is still slow.
            double part = flow_trials <= slow_trials ? slow_start : 1;
            const bool is_far = network_.cluster_of(flow.from) != network_.cluster_of(flow.to);
            const bool is_disturbed = is_far && static_cast<int>(flows.size()) == disturb_lanes_once;
            if (is_disturbed) part *= 0.85;
            rates.push_back({part * rate / 2, part * rate});
            if (part == 1 || is_disturbed) rates.back().early = part * rate;
            if (is_far && !is_near(flow) && far_part < 1)
                rates.back() = {far_part * rate / 2, far_part * rate};
            if (!is_far && flow_trials <= stalled_trials) rates.back() = {rate, 0};
            // Acknowledgements wait behind what the receiver's cluster sends.
            const bool is_two_way = std::any_of(flows.begin(), flows.end(), [&](const Flow& other) {
                return network_.cluster_of(other.from) == network_.cluster_of(flow.to);
            });
            if (is_far && is_two_way && two_way_part < 1)
                rates.back() = {two_way_part * rate, two_way_part * rate};
            // Of an overfilled uplink: what waits for a lost packet arrives at once, then little does.
            if (is_far && options.window_bytes > lossless_window) rates.back() = {1.17 * rate, 0.6 * rate};
            // Of flows that share an uplink one is fast while the next is slow.
            const bool is_first = flows_of[network_.cluster_of(flow.from)]++ % 2 == 0;
            if (is_far && early_share != 1) rates.back() = {early_share * rate, (2 - early_share) * rate};
            if (is_far && flows_take_turns)
                rates.back() = {(is_first ? 1.5 : 0.5) * rate, (is_first ? 0.5 : 1.5) * rate};
        }
        const bool is_far = network_.cluster_of(flows[0].from) != network_.cluster_of(flows[0].to);
        if (is_far && static_cast<int>(flows.size()) == disturb_lanes_once) disturb_lanes_once = 0;
        return rates;
    }

    std::vector<Seconds> bursts(const std::vector<Flow>& flows, Bytes bytes, Seconds rest) override {
        CHECK(rest >= Seconds(15e-3));
        if (network_.cluster_of(flows[0].from) == network_.cluster_of(flows[0].to)) {
            inside.insert(inside.end(), flows.begin(), flows.end());
            const double waiting = std::max(static_cast<double>(bytes) - reserve, 0.0);
            return std::vector<Seconds>(flows.size(), 2 * network_.lan + Seconds(waiting / network_.nic));
        }
        ++burst_trials;
        double all = 0;
        for (const Flow& flow : flows) {
            CHECK(network_.cluster_of(flow.from) == network_.cluster_of(flows[0].from));
            CHECK(network_.cluster_of(flow.from) != network_.cluster_of(flow.to));
            all += static_cast<double>(bytes);
        }
        const bool is_disturbed = burst_trials == disturb_burst;
        std::vector<Seconds> times(flows.size(), 2 * network_.one_way);
        if (all > most_at_once || is_disturbed) times.back() += Seconds(0.3);
        return times;
    }

    std::vector<double> reductions(const std::vector<int>& nodes) override {
        return std::vector<double>(nodes.size(), 1e-9);
    }

    std::vector<Bytes> eager_limits(const std::vector<Flow>& flows) override {
        std::set<int> nodes;
        for (const Flow& flow : flows) {
            if (network_.cluster_of(flow.from) == network_.cluster_of(flow.to)) inside.push_back(flow);
            CHECK(nodes.insert(flow.from).second);
            CHECK(nodes.insert(flow.to).second);
        }
        return std::vector<Bytes>(flows.size(), eager_limit);
    }

    /// Connections of LaPle's own, as fast as flows to all others together.
    std::vector<StreamRates> streams(const ProbeRound& pairs, int connections, Seconds round_trip,
                                     Seconds duration) override {
        CHECK(round_trip > Seconds(0));
        CHECK(duration > 2 * round_trip);
        std::vector<StreamRates> found;
        for (const auto& [a, b] : pairs) {
            stream_trials[connections].push_back({network_.cluster_of(a), network_.cluster_of(b)});
            const auto from_to = [&](int from, int to) {
                const double rate =
                    std::min({network_.nic, connections * network_.far_flow,
                              network_.uplink[static_cast<std::size_t>(from)], network_.into(to)});
                return can_connect ? rate : 0;
            };
            found.push_back({from_to(network_.cluster_of(a), network_.cluster_of(b)),
                             from_to(network_.cluster_of(b), network_.cluster_of(a))});
        }
        return found;
    }
    std::map<int, std::vector<NodePair>> stream_trials;  ///< pairs of clusters, by connections
    bool can_connect = true;

    bool is_near(const Flow& flow) const {
        return has_near_pair && network_.cluster_of(flow.from) < 2 && network_.cluster_of(flow.to) < 2;
    }

    std::vector<Flow> inside;        ///< clusters
    std::vector<Flow> slower_flows;  ///< that were said to be likely to be
    bool has_near_pair = false;      ///< clusters 0 and 1 are near each other
    double reserve = 0;
    int uplink_trials = 0;
    Bytes least_window = std::numeric_limits<Bytes>::max();
    Bytes most_bytes = 0;  ///< under way at a time
    std::vector<std::pair<std::vector<Flow>, FlowOptions>>
        lanes;  ///< trials that no two flows share a node in
    int measured_links = 0;
    int most_links = std::numeric_limits<int>::max();  ///< then time is over
    Bytes eager_limit = 16384;
    int flow_trials = 0;
    double slow_start = 1;
    int slow_trials = 1;
    int stalled_trials = 0;  ///< so many, at first, in which flows inside clusters stop
    double far_part = 1;  ///< of their rate that far flows reach: less than 1, they are still on their way up
    double two_way_part = 1;  ///< of their rate that far flows reach against others
    bool flows_take_turns = false;
    Seconds busy_trip{
        0};  ///< of far flows, whose ranks wait for cores: it takes longer than at rest; 0: it does not
    double early_share = 1;      ///< of their mean rate that far flows have at first
    int disturb_lanes_once = 0;  ///< so many flows between clusters are slower, the first time
    double most_at_once = std::numeric_limits<double>::infinity();  ///< bytes that cluster send to others
    int burst_trials = 0;
    int disturb_burst = 0;                                      ///< this trial is held up
    Bytes lossless_window = std::numeric_limits<Bytes>::max();  // of far flows

  private:
    FakeNetwork network_;
};

inline LinkSurveyInput input_for(const FakeNetwork& network) {
    LinkSurveyInput input{network.clusters, {}};
    for (std::size_t a = 0; a < network.clusters.size(); ++a) {
        auto& row = input.latency.emplace_back(network.clusters.size(), network.one_way);
        row[a] = network.lan;
    }
    return input;
}

/// Sites of 5, 4, 2 and 1 hosts of 12.5 MB/s.
inline FakeNetwork four_sites() {
    return {{{0, 1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10}, {11}}, 12.5e6, {50e6, 37.5e6, 12.5e6, 6e6}};
}

}  // namespace laple::testing
