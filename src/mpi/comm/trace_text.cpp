// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/trace_text.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/json.hpp"
#include "base/trace_events.hpp"
#include "collectives/simulation/message_tracks.hpp"
#include "mpi/comm/report.hpp"

namespace laple::mpi {
namespace {

using CallKey = std::pair<std::uint64_t, std::uint64_t>;

constexpr int kMostCallTracks = MessageTracks::kFirstTrack;
constexpr std::size_t kMostPredicted = 100'000;

std::string name_of(const CallKey& key) {
    return fmt::format("{:x}-{}", key.first, key.second);
}

/// One call on all its ranks.
struct WholeCall {
    std::string name;
    Seconds last_begin{0};
    std::vector<SimulatedMessage> messages;   // their two ends
    std::vector<SimulatedMessage> predicted;  // from `last_begin` on
};

/// They are in the order of their ends.
std::vector<const TracedCall*> by_begin(const std::vector<TracedCall>& calls) {
    std::vector<const TracedCall*> sorted;
    for (const TracedCall& call : calls) sorted.push_back(&call);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const TracedCall* a, const TracedCall* b) { return a->begin < b->begin; });
    return sorted;
}

class Timeline {
  public:
    explicit Timeline(const TracedJob& job) : job_(job), ranks_(static_cast<int>(job.calls_of.size())) {}

    std::string text() {
        find_origin();
        join_ends();
        for (Rank rank = 0; rank < ranks_; ++rank) {
            for (const TracedCall* call : by_begin(job_.calls_of[at(rank)])) add_call(rank, *call);
        }
        add_messages();
        name_ranks();
        return events_.text(about());
    }

  private:
    void find_origin();
    void join_ends();
    void add_call(Rank rank, const TracedCall& call);
    void add_steps(const TracedCall& call, TraceEvents::Place place);
    void add_connections(Rank rank, const TracedCall& call);
    void add_messages();
    void add_bytes_under_way();
    void name_ranks();
    TraceEvents::Place track_for(Rank rank, Seconds begin, Seconds end);
    Json about() const;

    const TracedJob& job_;
    int ranks_;
    Seconds origin_{0};
    TraceEvents events_;
    std::map<CallKey, WholeCall> calls_;
    std::map<Rank, SideBySide> tracks_;  // of calls
    std::uint64_t without_other_end_ = 0;
    std::size_t predicted_ = 0;  // messages
};

/// The first call's begin.
void Timeline::find_origin() {
    bool is_first = true;
    for (const auto& calls : job_.calls_of) {
        for (const TracedCall& call : calls) {
            if (is_first || call.begin < origin_) origin_ = call.begin;
            is_first = false;
        }
    }
}

/// Messages of one channel from one rank to another are in the same order at both.
void Timeline::join_ends() {
    using Flow = std::tuple<CallKey, Rank, Rank, int>;
    std::map<Flow, std::pair<std::vector<const StepTime*>, std::vector<const StepTime*>>> flows;
    for (Rank rank = 0; rank < ranks_; ++rank) {
        for (const TracedCall& call : job_.calls_of[at(rank)]) {
            if (call.number == 0) continue;
            WholeCall& whole = calls_[call.key()];
            whole.name = name_of(call.key());
            whole.last_begin = std::max(whole.last_begin, call.begin - origin_);
            for (const StepTime& step : call.steps) {
                if (step.kind == StepKind::send)
                    flows[{call.key(), rank, step.peer, step.channel}].first.push_back(&step);
                if (step.kind == StepKind::recv)
                    flows[{call.key(), step.peer, rank, step.channel}].second.push_back(&step);
            }
            if (!call.simulate || predicted_ > kMostPredicted) continue;
            whole.predicted = call.simulate();
            predicted_ += whole.predicted.size();
        }
    }
    const auto is_earlier = [](const StepTime* a, const StepTime* b) { return a->start < b->start; };
    for (auto& [flow, ends] : flows) {
        const auto& [key, from, to, channel] = flow;
        auto& [sends, receives] = ends;
        std::stable_sort(sends.begin(), sends.end(), is_earlier);
        std::stable_sort(receives.begin(), receives.end(), is_earlier);
        const std::size_t count = std::min(sends.size(), receives.size());
        without_other_end_ += std::max(sends.size(), receives.size()) - count;
        for (std::size_t i = 0; i < count; ++i) {
            calls_[key].messages.push_back({from, to, sends[i]->offset, sends[i]->bytes,
                                            sends[i]->start - origin_, sends[i]->end - origin_,
                                            receives[i]->end - origin_});
        }
    }
}

/// Calls that are started may be under way together: each has a track.
TraceEvents::Place Timeline::track_for(Rank rank, Seconds begin, Seconds end) {
    return {rank, std::min(tracks_[rank].take(begin, end), kMostCallTracks - 1)};
}

void Timeline::add_call(Rank rank, const TracedCall& call) {
    const Seconds begin = call.begin - origin_;
    const Seconds end = call.end - origin_;
    const auto place = track_for(rank, begin, end);
    Json args = {{"algorithm", call.algorithm == kNativeCall ? "MPI's own" : call.algorithm},
                 {"bytes", call.bytes}};
    if (call.predicted > Seconds(0)) args["predicted"] = format_seconds(call.predicted);
    if (call.native > Seconds(0)) args["MPI's own"] = format_seconds(call.native);
    if (call.number != 0) args["call"] = name_of(call.key());
    events_.slice(place, fmt::format("{} {}", call.function, format_bytes(call.bytes)), begin, end, args);
    add_steps(call, place);
    add_connections(rank, call);
}

/// What is no message.
void Timeline::add_steps(const TracedCall& call, TraceEvents::Place place) {
    for (const StepTime& step : call.steps) {
        if (step.kind == StepKind::send || step.kind == StepKind::recv) continue;
        const char* const what = step.kind == StepKind::reduce ? "combine" : "MPI's own in the cluster:";
        events_.slice(place, fmt::format("{} {}", what, format_bytes(step.bytes)), step.start - origin_,
                      step.end - origin_, {{"bytes", step.bytes}, {"offset", step.offset}});
    }
}

void Timeline::add_connections(Rank rank, const TracedCall& call) {
    for (const auto& each : call.connections) {
        const auto count = [&](const char* what, double value) {
            events_.counter(rank, fmt::format("streams to {}: {}", each.peer, what), call.end - origin_,
                            {{"value", value}});
        };
        count("round trip (ms)", each.round_trip.count() * 1e3);
        count("windows (KiB)", static_cast<double>(each.windows) / 1024);
        count("segments sent again", static_cast<double>(each.sent_again));
    }
}

void Timeline::add_messages() {
    std::vector<const WholeCall*> calls;
    for (const auto& [key, call] : calls_) calls.push_back(&call);
    std::sort(calls.begin(), calls.end(),
              [](const WholeCall* a, const WholeCall* b) { return a->last_begin < b->last_begin; });
    MessageTracks real(events_, 0);
    MessageTracks predicted(events_, ranks_);
    for (const WholeCall* call : calls) {
        real.add(call->messages, Seconds(0), call->name);
        predicted.add(call->predicted, call->last_begin, call->name);
    }
    real.finish();
    predicted.finish();
    add_bytes_under_way();
}

void Timeline::add_bytes_under_way() {
    std::map<int, std::map<Seconds, double>> changes;  // by cluster
    for (const auto& [key, call] : calls_) {
        for (const SimulatedMessage& message : call.messages) {
            const int from = job_.machine.cluster_of_rank(message.from);
            if (from == job_.machine.cluster_of_rank(message.to)) continue;
            changes[from][message.start] += static_cast<double>(message.bytes);
            changes[from][message.arrived] -= static_cast<double>(message.bytes);
        }
    }
    for (const auto& [cluster, times] : changes) {
        double bytes = 0;
        for (const auto& [time, change] : times) {
            bytes += change;
            events_.counter(2 * ranks_, fmt::format("bytes under way from cluster {}", cluster), time,
                            {{"bytes", bytes}});
        }
    }
    if (!changes.empty()) events_.name_process(2 * ranks_, "network", -1);
}

void Timeline::name_ranks() {
    for (Rank rank = 0; rank < ranks_; ++rank) {
        const std::string where = fmt::format("cluster {}, host {}", job_.machine.cluster_of_rank(rank),
                                              job_.machine.host_of(rank));
        events_.name_process(rank, fmt::format("rank {} ({})", rank, where), 2 * rank);
        for (int track = 0; track < std::min(tracks_[rank].count(), kMostCallTracks); ++track)
            events_.name_track({rank, track}, "collectives");
        if (predicted_ > 0)
            events_.name_process(ranks_ + rank, fmt::format("rank {}, predicted", rank), 2 * rank + 1);
    }
}

Json Timeline::about() const {
    std::vector<int> clusters;
    std::vector<int> hosts;
    for (Rank rank = 0; rank < ranks_; ++rank) {
        clusters.push_back(job_.machine.cluster_of_rank(rank));
        hosts.push_back(job_.machine.host_of(rank));
    }
    return {{"format", "laple-trace-1"},
            {"versions", job_.versions},
            {"clock", job_.clock},
            {"ranks", ranks_},
            {"cluster_of", clusters},
            {"host_of", hosts},
            {"calls_without_messages", job_.left_out},
            {"messages_without_other_end", without_other_end_}};
}

}  // namespace

std::string text_of(const TracedJob& job) {
    return Timeline(job).text();
}

}  // namespace laple::mpi
