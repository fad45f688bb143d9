// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/prober.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "mpi/probe/burst_probe.hpp"
#include "mpi/probe/connect.hpp"
#include "mpi/probe/flow_probe.hpp"
#include "mpi/probe/link_probe.hpp"
#include "mpi/probe/reduction_probe.hpp"
#include "mpi/probe/volley.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

// Far from the tags of the probes, which a fast node may use before a slow one has its order.
enum Tag { kOrderSize = 101, kOrder, kAnswerSize, kAnswer };

// One way: from here on what disturbs a volley, some milliseconds on a busy machine, does not matter.
constexpr Seconds kFar = std::chrono::milliseconds(8);

/// What a node is to do: the first number of an order. Those after it:
enum Kind {
    kGoHome,     ///< the end of follow()
    kLatencies,  ///< settle, seconds left, peers ...                       answer: a latency for each peer
    kVolley,     ///< seconds left, peers ...                               answer: a latency for each peer
    kLink,       ///< peer, asks?, far?, round trip, longest, seconds left  answer: samples, if it asks
    kFlows,  ///< message, window, duration, then peer and sends? for each end   answer: early and late rates
             ///< received
    kBurst,  ///< bytes, rest, senders, each of them, then as kFlows           answer: a time for each end
             ///< that sends
    kReduction,  ///< none                                                  answer: seconds per byte
};

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

Kind kind_of(const std::vector<double>& order) {
    return static_cast<Kind>(static_cast<int>(order.front()));
}

std::vector<double> receive_numbers(MPI_Comm comm, int from, int size_tag, int tag) {
    int count = 0;
    receive_quietly(&count, 1, MPI_INT, from, size_tag, comm);
    std::vector<double> numbers(at(count));
    if (count > 0) receive_quietly(numbers.data(), count, MPI_DOUBLE, from, tag, comm);
    return numbers;
}

void send_numbers(const std::vector<double>& numbers, MPI_Comm comm, int to, int size_tag, int tag) {
    const int count = static_cast<int>(numbers.size());
    send_quietly(&count, 1, MPI_INT, to, size_tag, comm);
    if (count > 0) send_quietly(numbers.data(), count, MPI_DOUBLE, to, tag, comm);
}

/// The curves of a link's samples one after the other: length, then sizes and times.
constexpr std::map<Bytes, Seconds> PlogpSamples::*kSampleCurves[] = {
    &PlogpSamples::round_trip, &PlogpSamples::send,       &PlogpSamples::receive, &PlogpSamples::flood,
    &PlogpSamples::cold,       &PlogpSamples::confidence, &PlogpSamples::rested};

std::vector<double> encode(const PlogpSamples& samples) {
    std::vector<double> numbers;
    for (const auto curve : kSampleCurves) {
        numbers.push_back(static_cast<double>((samples.*curve).size()));
        for (const auto& [bytes, time] : samples.*curve) {
            numbers.push_back(static_cast<double>(bytes));
            numbers.push_back(time.count());
        }
    }
    return numbers;
}

PlogpSamples decode(const std::vector<double>& numbers) {
    PlogpSamples samples;
    auto next = numbers.begin();
    for (const auto curve : kSampleCurves) {
        for (auto left = static_cast<int>(*next++); left > 0; --left, next += 2)
            (samples.*curve)[static_cast<Bytes>(next[0])] = Seconds(next[1]);
    }
    return samples;
}

/// Calls `meet(node, peer)` for each pair of `rounds` and each of its ends, in their order.
template <typename Meet>
void for_both_ends(const std::vector<ProbeRound>& rounds, Meet meet) {
    for (const ProbeRound& round : rounds) {
        for (const NodePair& pair : round) {
            meet(pair.a, pair.b);
            meet(pair.b, pair.a);
        }
    }
}

}  // namespace

Prober::Prober(MPI_Comm probes, const Patience& patience) : probes_(probes), patience_(patience) {
    PMPI_Comm_size(probes_, &nodes_);
    PMPI_Comm_rank(probes_, &rank_);
}

double Prober::seconds_left() const {
    return (patience_.until - now()).count();
}

/// Clocks of different nodes have nothing in common: what is left of the time is told, not its end.
Patience Prober::patience_for(double seconds_left) const {
    return {now() + Seconds(seconds_left), patience_.is_interrupted};
}

/// One order for each node; nodes without one are left alone. Returns their answers.
std::vector<Prober::Numbers> Prober::run(const std::vector<Numbers>& works, const Progress& progress) {
    for (int node = 1; node < nodes_; ++node) {
        if (!works[at(node)].empty()) send_numbers(works[at(node)], probes_, node, kOrderSize, kOrder);
    }
    std::vector<Numbers> answers(works.size());
    if (!works.front().empty()) answers.front() = work(works.front(), progress);
    for (int node = 1; node < nodes_; ++node) {
        if (!works[at(node)].empty())
            answers[at(node)] = receive_numbers(probes_, node, kAnswerSize, kAnswer);
    }
    return answers;
}

bool Prober::survey(Survey& survey, Seconds settle, const Progress& progress) {
    while (true) {
        const std::vector<ProbeRound> rounds = survey.next();
        if (rounds.empty()) return true;
        if (!measure_rounds(survey, rounds, settle, progress)) return false;
    }
}

bool Prober::survey_in_a_hurry(Survey& survey, Seconds settle) {
    while (true) {
        const std::vector<ProbeRound> rounds = survey.next();
        if (rounds.empty()) return true;
        if (patience_.is_over()) return false;
        const std::vector<ProbeRound> near = measure_far(survey, rounds);
        if (!near.empty() && !measure_rounds(survey, near, settle, {})) return false;
    }
}

/// False when patience was over before all was measured.
bool Prober::measure_rounds(Survey& survey, const std::vector<ProbeRound>& rounds, Seconds settle,
                            const Progress& progress) {
    if (patience_.is_over()) return false;
    std::vector<Numbers> orders(at(nodes_));
    for_both_ends(rounds, [&](int node, int peer) {
        Numbers& order = orders[at(node)];
        if (order.empty()) order = {kLatencies, settle.count(), seconds_left()};
        order.push_back(peer);
    });
    const std::vector<Numbers> latencies = run(orders, progress);
    // Both of a pair have measured it; the survey takes the shorter one.
    bool is_complete = true;
    for (int node = 0; node < nodes_; ++node) {
        for (std::size_t i = 0; i < latencies[at(node)].size(); ++i) {
            const double latency = latencies[at(node)][i];
            const int peer = static_cast<int>(orders[at(node)][3 + i]);
            if (std::isfinite(latency)) survey.add({{node, peer}, Seconds(latency)});
            // Who answers may have seen the last message only; who asks knows.
            if (node < peer) is_complete = is_complete && std::isfinite(latency);
        }
    }
    return is_complete;
}

/// Measures all pairs of `rounds` at once. Those that are far are known then; returns the rounds of the
/// others.
std::vector<ProbeRound> Prober::measure_far(Survey& survey, const std::vector<ProbeRound>& rounds) {
    std::vector<Numbers> orders(at(nodes_));
    for_both_ends(rounds, [&](int node, int peer) {
        Numbers& order = orders[at(node)];
        if (order.empty()) order = {kVolley, seconds_left()};
        order.push_back(peer);
    });
    const std::vector<Numbers> latencies = run(orders);
    std::set<std::pair<int, int>> far;
    for (int node = 0; node < nodes_; ++node) {
        for (std::size_t i = 0; i < latencies[at(node)].size(); ++i) {
            const Seconds latency(latencies[at(node)][i]);
            const int peer = static_cast<int>(orders[at(node)][2 + i]);
            if (node > peer || !std::isfinite(latency.count()) || latency < kFar) continue;
            survey.add({{node, peer}, latency});
            far.emplace(node, peer);
        }
    }
    std::vector<ProbeRound> near = rounds;
    for (ProbeRound& round : near) {
        std::erase_if(round, [&](const NodePair& pair) { return far.contains(std::minmax(pair.a, pair.b)); });
    }
    std::erase_if(near, [](const ProbeRound& round) { return round.empty(); });
    return near;
}

std::vector<PlogpSamples> Prober::links(const std::vector<Link>& links) {
    std::vector<Numbers> orders(at(nodes_));
    for (const Link& link : links) {
        const auto order = [&](int peer, bool asks) {
            return Numbers{kLink,
                           static_cast<double>(peer),
                           asks ? 1.0 : 0.0,
                           link.options.is_far ? 1.0 : 0.0,
                           link.options.round_trip.count(),
                           link.options.longest_trip.count(),
                           seconds_left()};
        };
        orders[at(link.a)] = order(link.b, true);
        orders[at(link.b)] = order(link.a, false);
    }
    const std::vector<Numbers> answers = run(orders);
    std::vector<PlogpSamples> samples;
    for (const Link& link : links) samples.push_back(decode(answers[at(link.a)]));
    return samples;
}

std::vector<FlowRate> Prober::rates(const std::vector<Flow>& flows, const FlowOptions& options) {
    std::vector<Numbers> orders(at(nodes_));
    const auto add = [&](int node, int peer, bool sends) {
        Numbers& order = orders[at(node)];
        if (order.empty()) {
            order = {kFlows, static_cast<double>(options.message_bytes),
                     static_cast<double>(options.window_bytes), options.duration.count()};
        }
        order.push_back(peer);
        order.push_back(sends ? 1 : 0);
    };
    for (const Flow& flow : flows) {
        add(flow.from, flow.to, true);
        add(flow.to, flow.from, false);
    }
    const std::vector<Numbers> answers = run(orders);
    // Each receiver answers for its flows in the order in which they were given.
    std::vector<std::size_t> next(at(nodes_), 0);
    std::vector<FlowRate> rates;
    for (const Flow& flow : flows) {
        const auto rate = answers[at(flow.to)].begin() + static_cast<std::ptrdiff_t>(next[at(flow.to)]);
        rates.push_back({rate[0], rate[1]});
        next[at(flow.to)] += 2;
    }
    return rates;
}

std::vector<Seconds> Prober::bursts(const std::vector<Flow>& flows, Bytes bytes, Seconds rest) {
    std::vector<double> senders;
    for (const Flow& flow : flows) {
        if (std::find(senders.begin(), senders.end(), flow.from) == senders.end())
            senders.push_back(flow.from);
    }
    std::vector<Numbers> orders(at(nodes_));
    const auto add = [&](int node, int peer, bool sends) {
        Numbers& order = orders[at(node)];
        if (order.empty()) {
            order = {kBurst, static_cast<double>(bytes), rest.count(), static_cast<double>(senders.size())};
            order.insert(order.end(), senders.begin(), senders.end());
        }
        order.push_back(peer);
        order.push_back(sends ? 1 : 0);
    };
    for (const Flow& flow : flows) {
        add(flow.from, flow.to, true);
        add(flow.to, flow.from, false);
    }
    const std::vector<Numbers> answers = run(orders);
    // Each sender answers for its flows in the order in which they were given.
    std::vector<std::size_t> next(at(nodes_), 0);
    std::vector<Seconds> times;
    for (const Flow& flow : flows) times.emplace_back(answers[at(flow.from)][next[at(flow.from)]++]);
    return times;
}

std::vector<double> Prober::reductions(const std::vector<int>& nodes) {
    std::vector<Numbers> orders(at(nodes_));
    for (const int node : nodes) orders[at(node)] = {kReduction};
    const std::vector<Numbers> answers = run(orders);
    std::vector<double> times;
    for (const int node : nodes) times.push_back(answers[at(node)].front());
    return times;
}

void Prober::dismiss() {
    for (int node = 1; node < nodes_; ++node) send_numbers({kGoHome}, probes_, node, kOrderSize, kOrder);
}

void Prober::follow() {
    while (true) {
        const Numbers order = receive_numbers(probes_, 0, kOrderSize, kOrder);
        if (kind_of(order) == kGoHome) return;
        send_numbers(work(order, {}), probes_, 0, kAnswerSize, kAnswer);
    }
}

Prober::Numbers Prober::work(const Numbers& order, const Progress& progress) const {
    switch (kind_of(order)) {
        case kLatencies:
            return work_on_latencies(order, progress);
        case kVolley:
            return work_on_volley(order);
        case kLink:
            return work_on_link(order);
        case kFlows:
            return work_on_flows(order);
        case kBurst:
            return work_on_burst(order);
        case kReduction:
            return {measure_reduction()};
        case kGoHome:
            break;
    }
    return {};
}

/// Whom this node meets, in order. The rounds need no barrier between them: who meets whom in which order is
/// the same on both sides, so no rank waits for ever.
Prober::Numbers Prober::work_on_latencies(const Numbers& order, const Progress& progress) const {
    const Seconds settle(order[1]);
    const Patience patience = patience_for(order[2]);
    const int peers = static_cast<int>(order.size()) - 3;
    std::vector<int> all;
    for (int i = 0; i < peers; ++i) all.push_back(static_cast<int>(order[3 + at(i)]));
    connect(probes_, all);
    Numbers latencies;
    for (int i = 0; i < peers; ++i) {
        const int peer = static_cast<int>(order[3 + at(i)]);
        const Seconds trip = rank_ < peer ? ask_latency(probes_, peer, settle, patience)
                                          : answer_latency(probes_, peer, settle);
        latencies.push_back(trip.count() / 2);
        if (progress) progress(i + 1, peers);
    }
    return latencies;
}

Prober::Numbers Prober::work_on_volley(const Numbers& order) const {
    std::vector<int> peers;
    for (std::size_t i = 2; i < order.size(); ++i) peers.push_back(static_cast<int>(order[i]));
    Numbers latencies;
    for (const Seconds latency : ping_all(probes_, peers, patience_for(order[1])))
        latencies.push_back(latency.count());
    return latencies;
}

Prober::Numbers Prober::work_on_link(const Numbers& order) const {
    const int peer = static_cast<int>(order[1]);
    if (order[2] == 0) {
        answer_link(probes_, peer);
        return {};
    }
    LinkProbeOptions options;
    options.is_far = order[3] != 0;
    options.round_trip = Seconds(order[4]);
    options.longest_trip = Seconds(order[5]);
    return encode(ask_link(probes_, peer, options, patience_for(order[6])));
}

Prober::Numbers Prober::work_on_flows(const Numbers& order) const {
    std::vector<FlowEnd> ends;
    for (std::size_t i = 4; i < order.size(); i += 2)
        ends.push_back({static_cast<int>(order[i]), order[i + 1] != 0});
    const FlowOptions options{static_cast<Bytes>(order[1]), static_cast<Bytes>(order[2]), Seconds(order[3])};
    Numbers rates;
    for (const FlowRate& rate : run_flows(probes_, ends, options)) {
        rates.push_back(rate.early);
        rates.push_back(rate.late);
    }
    return rates;
}

Prober::Numbers Prober::work_on_burst(const Numbers& order) const {
    const std::size_t senders = at(static_cast<int>(order[3]));
    std::vector<int> all;
    for (std::size_t i = 4; i < 4 + senders; ++i) all.push_back(static_cast<int>(order[i]));
    std::vector<FlowEnd> ends;
    for (std::size_t i = 4 + senders; i < order.size(); i += 2)
        ends.push_back({static_cast<int>(order[i]), order[i + 1] != 0});
    Numbers times;
    for (const Seconds time : run_bursts(probes_, ends, all, static_cast<Bytes>(order[1]), Seconds(order[2])))
        times.push_back(time.count());
    return times;
}

}  // namespace laple::mpi
