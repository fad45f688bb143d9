// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/prober.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "base/index.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/probe/burst_probe.hpp"
#include "mpi/probe/eager_probe.hpp"
#include "mpi/probe/flow_probe.hpp"
#include "mpi/probe/link_probe.hpp"
#include "mpi/probe/native_probe.hpp"
#include "mpi/probe/stream_probe.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

// Far from the tags of the probes, which a fast node may use before a slow one has its order.
enum Tag { kOrderSize = 101, kOrder, kAnswerSize, kAnswer };

using Numbers = std::vector<double>;

/// What a node is to do: the first number of an order. Those after it:
enum Task {
    kFinish,     ///< the end of its work
    kLatencies,  ///< settle, seconds left, peers ...              answer: a latency for each peer
    kPingAll,    ///< seconds left, peers ...                      answer: a latency for each peer
    kLink,       ///< peer, asks?, far?, round trip, longest, seconds left    answer: samples, if it asks
    kFlows,      ///< message, window, duration, then peer, sends? and how much slower for each end
                 ///< answer: early and late rates received
    kBurst,      ///< bytes, rest, senders, each of them, then as kFlows
                 ///< answer: a time for each end that sends
    kReduction,  ///< none                                         answer: seconds per byte
    kEager,      ///< peer, asks?                                  answer: a limit, if it asks
    kStreams,    ///< peer, connections, round trip, duration      answer: the rate received
};

Task task_of(const Numbers& order) {
    return static_cast<Task>(static_cast<int>(order.front()));
}

Numbers receive_numbers(MPI_Comm comm, int from, int size_tag, int tag) {
    int count = 0;
    receive_quietly(&count, 1, MPI_INT, from, size_tag, comm);
    Numbers numbers(at(count));
    if (count > 0) receive_quietly(numbers.data(), count, MPI_DOUBLE, from, tag, comm);
    return numbers;
}

void send_numbers(const Numbers& numbers, MPI_Comm comm, int to, int size_tag, int tag) {
    const int count = static_cast<int>(numbers.size());
    send_quietly(&count, 1, MPI_INT, to, size_tag, comm);
    if (count > 0) send_quietly(numbers.data(), count, MPI_DOUBLE, to, tag, comm);
}

/// The curves of a link's samples one after the other: length, then sizes and times.
constexpr std::map<Bytes, Seconds> PlogpSamples::*kSampleCurves[] = {
    &PlogpSamples::round_trip, &PlogpSamples::send,       &PlogpSamples::receive, &PlogpSamples::flood,
    &PlogpSamples::cold,       &PlogpSamples::confidence, &PlogpSamples::rested};

Numbers encode(const PlogpSamples& samples) {
    Numbers numbers;
    for (const auto curve : kSampleCurves) {
        numbers.push_back(static_cast<double>((samples.*curve).size()));
        for (const auto& [bytes, time] : samples.*curve) {
            numbers.push_back(static_cast<double>(bytes));
            numbers.push_back(time.count());
        }
    }
    return numbers;
}

PlogpSamples decode_samples(const Numbers& numbers) {
    PlogpSamples samples;
    auto next = numbers.begin();
    for (const auto curve : kSampleCurves) {
        for (auto left = static_cast<int>(*next++); left > 0; --left, next += 2)
            (samples.*curve)[static_cast<Bytes>(next[0])] = Seconds(next[1]);
    }
    return samples;
}

/// Clocks of different nodes have nothing in common: what is left of the time is told, not its end.
Patience patience_for(const std::atomic<bool>* is_interrupted, double seconds_left) {
    return {now() + Seconds(seconds_left), is_interrupted};
}

std::vector<int> nodes_from(const Numbers& order, std::size_t begin, std::size_t end) {
    std::vector<int> nodes;
    for (std::size_t i = begin; i < end; ++i) nodes.push_back(static_cast<int>(order[i]));
    return nodes;
}

std::vector<FlowEnd> ends_from(const Numbers& order, std::size_t begin) {
    std::vector<FlowEnd> ends;
    for (std::size_t i = begin; i < order.size(); i += 3)
        ends.push_back({static_cast<int>(order[i]), order[i + 1] != 0, static_cast<int>(order[i + 2])});
    return ends;
}

/// With all peers, in order. The rounds need no barrier between them: the order of pairs is the same on both
/// sides, so no rank waits for ever.
Numbers work_on_latencies(const Numbers& order, MPI_Comm probes, const std::atomic<bool>* is_interrupted,
                          const Progress& progress) {
    const int rank = rank_in(probes);
    const Seconds settle(order[1]);
    const Patience patience = patience_for(is_interrupted, order[2]);
    const std::vector<int> peers = nodes_from(order, 3, order.size());
    connect(probes, peers);
    Numbers latencies;
    for (const int peer : peers) {
        const Seconds trip = rank < peer ? measure_latency(probes, peer, settle, patience)
                                         : answer_latency(probes, peer, settle);
        latencies.push_back(trip.count() / 2);
        if (progress) progress(static_cast<int>(latencies.size()), static_cast<int>(peers.size()));
    }
    return latencies;
}

Numbers work_on_pings(const Numbers& order, MPI_Comm probes, const std::atomic<bool>* is_interrupted) {
    const std::vector<int> peers = nodes_from(order, 2, order.size());
    Numbers latencies;
    for (const Seconds latency : ping_all(probes, peers, patience_for(is_interrupted, order[1])))
        latencies.push_back(latency.count());
    return latencies;
}

Numbers work_on_link(const Numbers& order, MPI_Comm probes, const std::atomic<bool>* is_interrupted) {
    const int peer = static_cast<int>(order[1]);
    if (order[2] == 0) {
        answer_link(probes, peer);
        return {};
    }
    LinkProbeOptions options;
    options.is_far = order[3] != 0;
    options.round_trip = Seconds(order[4]);
    options.longest_trip = Seconds(order[5]);
    return encode(measure_link(probes, peer, options, patience_for(is_interrupted, order[6])));
}

Numbers work_on_flows(const Numbers& order, MPI_Comm probes) {
    const std::vector<FlowEnd> ends = ends_from(order, 4);
    const FlowOptions options{static_cast<Bytes>(order[1]), static_cast<Bytes>(order[2]), Seconds(order[3])};
    Numbers rates;
    for (const FlowRate& rate : run_flows(probes, ends, options)) {
        rates.push_back(rate.early);
        rates.push_back(rate.late);
    }
    return rates;
}

Numbers work_on_burst(const Numbers& order, MPI_Comm probes) {
    const std::size_t first_end = 4 + static_cast<std::size_t>(order[3]);
    const std::vector<int> senders = nodes_from(order, 4, first_end);
    const std::vector<FlowEnd> ends = ends_from(order, first_end);
    Numbers times;
    for (const Seconds time :
         run_bursts(probes, ends, senders, static_cast<Bytes>(order[1]), Seconds(order[2])))
        times.push_back(time.count());
    return times;
}

Numbers work_on_eager_limit(const Numbers& order, MPI_Comm probes) {
    const int peer = static_cast<int>(order[1]);
    if (order[2] != 0) return {static_cast<double>(measure_eager_limit(probes, peer))};
    answer_eager_limit(probes, peer);
    return {};
}

Numbers work_on_streams(const Numbers& order, MPI_Comm probes) {
    const StreamEnd end{static_cast<int>(order[1]), static_cast<int>(order[2]), Seconds(order[3]),
                        Seconds(order[4])};
    return {run_streams(probes, end).value_or(0)};
}

/// Does on this node, a rank of `probes`, what `order` says, with the others that it names; returns its
/// answer.
Numbers carry_out(const Numbers& order, MPI_Comm probes, const std::atomic<bool>* is_interrupted,
                  const Progress& progress) {
    switch (task_of(order)) {
        case kLatencies:
            return work_on_latencies(order, probes, is_interrupted, progress);
        case kPingAll:
            return work_on_pings(order, probes, is_interrupted);
        case kLink:
            return work_on_link(order, probes, is_interrupted);
        case kFlows:
            return work_on_flows(order, probes);
        case kBurst:
            return work_on_burst(order, probes);
        case kReduction:
            return {measure_reduction()};
        case kEager:
            return work_on_eager_limit(order, probes);
        case kStreams:
            return work_on_streams(order, probes);
        case kFinish:
            break;
    }
    return {};
}

/// Adds to the order of `node`, which begins with `head`.
void add(std::vector<Numbers>& orders, int node, const Numbers& head, std::initializer_list<int> more) {
    Numbers& order = orders[at(node)];
    if (order.empty()) order = head;
    order.insert(order.end(), more.begin(), more.end());
}

/// One order for each node of `rounds`: `head`, then its peers, in their order. Nodes without peers have
/// none.
std::vector<Numbers> orders_of_pairs(const std::vector<ProbeRound>& rounds, int nodes, const Numbers& head) {
    std::vector<Numbers> orders(at(nodes));
    for (const ProbeRound& round : rounds) {
        for (const NodePair& pair : round) {
            add(orders, pair.a, head, {pair.b});
            add(orders, pair.b, head, {pair.a});
        }
    }
    return orders;
}

/// One order for each node at an end of `flows`: `head`, then its peers, each with whether it sends and how
/// much slower the flow is.
std::vector<Numbers> orders_of_flows(const std::vector<Flow>& flows, int nodes, const Numbers& head) {
    std::vector<Numbers> orders(at(nodes));
    for (const Flow& flow : flows) {
        add(orders, flow.from, head, {flow.to, 1, flow.slower});
        add(orders, flow.to, head, {flow.from, 0, flow.slower});
    }
    return orders;
}

/// Answers of nodes, number by number: each node answers for its flows in the order in which they were given.
class Answers {
  public:
    explicit Answers(std::vector<Numbers> answers)
        : answers_(std::move(answers)), next_(answers_.size(), 0) {}

    double next_of(int node) { return answers_[at(node)][next_[at(node)]++]; }

  private:
    std::vector<Numbers> answers_;
    std::vector<std::size_t> next_;
};

}  // namespace

Prober::Prober(MPI_Comm probes, const Patience& patience) : probes_(probes), patience_(patience) {
    nodes_ = size_of(probes_);
}

double Prober::seconds_left() const {
    return (patience_.until - now()).count();
}

/// One order for each node; nodes without one are left alone. Returns their answers.
std::vector<Prober::Numbers> Prober::run(const std::vector<Numbers>& works, const Progress& progress) {
    for (int node = 1; node < nodes_; ++node) {
        if (!works[at(node)].empty()) send_numbers(works[at(node)], probes_, node, kOrderSize, kOrder);
    }
    std::vector<Numbers> answers(works.size());
    if (!works.front().empty())
        answers.front() = carry_out(works.front(), probes_, patience_.is_interrupted, progress);
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

bool Prober::survey_quickly(Survey& survey, Seconds settle) {
    while (true) {
        std::vector<ProbeRound> rounds = survey.next();
        if (rounds.empty()) return true;
        if (patience_.is_over()) return survey.is_usable();
        const std::vector<ProbeRound> near = measure_far(survey, std::move(rounds));
        if (!near.empty() && !measure_rounds(survey, near, settle, {})) return survey.is_usable();
    }
}

/// Gives the pairs of `rounds` to `use`, node by node: once for each of both ends.
template <typename Use>
void Prober::measure_pairs(const std::vector<ProbeRound>& rounds, const Numbers& head,
                           const Progress& progress, Use use) {
    const auto orders = orders_of_pairs(rounds, nodes_, head);
    const std::vector<Numbers> latencies = run(orders, progress);
    for (int node = 0; node < nodes_; ++node) {
        for (std::size_t i = 0; i < latencies[at(node)].size(); ++i)
            use({node, static_cast<int>(orders[at(node)][head.size() + i])}, latencies[at(node)][i]);
    }
}

/// False when patience was over before all was measured.
bool Prober::measure_rounds(Survey& survey, const std::vector<ProbeRound>& rounds, Seconds settle,
                            const Progress& progress) {
    if (patience_.is_over()) return false;
    // Both of a pair have measured it; the survey takes the shorter one.
    bool is_complete = true;
    measure_pairs(rounds, {kLatencies, settle.count(), seconds_left()}, progress,
                  [&](NodePair pair, double latency) {
                      if (std::isfinite(latency)) survey.add({pair, Seconds(latency)});
                      // Who answers may have seen the last message only; who asks knows.
                      if (pair.a < pair.b) is_complete = is_complete && std::isfinite(latency);
                  });
    return is_complete;
}

/// Measures all pairs of `rounds` at once. Those that are far are known then; returns the rounds of the
/// others.
std::vector<ProbeRound> Prober::measure_far(Survey& survey, std::vector<ProbeRound> rounds) {
    std::set<NodePair> far;
    measure_pairs(rounds, {kPingAll, seconds_left()}, {}, [&](NodePair pair, double latency) {
        if (pair.a > pair.b || !std::isfinite(latency) || Seconds(latency) < kFar) return;
        survey.add({pair, Seconds(latency)});
        far.insert(pair);
    });
    take_out(rounds, [&](const NodePair& pair) {
        return far.contains({std::min(pair.a, pair.b), std::max(pair.a, pair.b)});
    });
    return rounds;
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
    for (const Link& link : links) samples.push_back(decode_samples(answers[at(link.a)]));
    return samples;
}

std::vector<FlowRate> Prober::rates(const std::vector<Flow>& flows, const FlowOptions& options) {
    Answers answers(
        run(orders_of_flows(flows, nodes_,
                            {kFlows, static_cast<double>(options.message_bytes),
                             static_cast<double>(options.window_bytes), options.duration.count()})));
    std::vector<FlowRate> rates;
    for (const Flow& flow : flows) rates.push_back({answers.next_of(flow.to), answers.next_of(flow.to)});
    return rates;
}

std::vector<Seconds> Prober::bursts(const std::vector<Flow>& flows, Bytes bytes, Seconds rest) {
    Numbers senders;
    for (const Flow& flow : flows) {
        if (std::find(senders.begin(), senders.end(), flow.from) == senders.end())
            senders.push_back(flow.from);
    }
    Numbers head{kBurst, static_cast<double>(bytes), rest.count(), static_cast<double>(senders.size())};
    head.insert(head.end(), senders.begin(), senders.end());
    Answers answers(run(orders_of_flows(flows, nodes_, head)));
    std::vector<Seconds> times;
    for (const Flow& flow : flows) times.emplace_back(answers.next_of(flow.from));
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

std::vector<Bytes> Prober::eager_limits(const std::vector<Flow>& flows) {
    Answers answers(run(orders_of_flows(flows, nodes_, {kEager})));
    std::vector<Bytes> limits;
    for (const Flow& flow : flows) limits.push_back(static_cast<Bytes>(answers.next_of(flow.from)));
    return limits;
}

std::vector<StreamRates> Prober::streams(const ProbeRound& pairs, int connections, Seconds round_trip,
                                         Seconds duration) {
    std::vector<Numbers> orders(at(nodes_));
    for (const auto& [a, b] : pairs) {
        const auto order = [&](int peer) {
            return Numbers{kStreams, static_cast<double>(peer), static_cast<double>(connections),
                           round_trip.count(), duration.count()};
        };
        orders[at(a)] = order(b);
        orders[at(b)] = order(a);
    }
    const std::vector<Numbers> answers = run(orders);
    std::vector<StreamRates> rates;
    for (const auto& [a, b] : pairs) {
        rates.push_back({answers[at(b)].front(), answers[at(a)].front()});
    }
    return rates;
}

void Prober::dismiss() {
    for (int node = 1; node < nodes_; ++node) send_numbers({kFinish}, probes_, node, kOrderSize, kOrder);
}

void Prober::follow() {
    while (true) {
        const Numbers order = receive_numbers(probes_, 0, kOrderSize, kOrder);
        if (task_of(order) == kFinish) return;
        send_numbers(carry_out(order, probes_, patience_.is_interrupted, {}), probes_, 0, kAnswerSize,
                     kAnswer);
    }
}

}  // namespace laple::mpi
