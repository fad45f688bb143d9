// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/simulator.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "collectives/schedule/step_graph.hpp"
#include "collectives/simulation/event_queue.hpp"
#include "collectives/simulation/transit.hpp"

namespace laple {
namespace {

using Values = SimulatedMemory::Values;

/// Messages and receives that wait for each other, by sender, receiver and channel.
class Channels {
  public:
    struct Waiting {
        std::deque<std::uint32_t> sends;  // messages
        std::deque<std::uint32_t> recvs;  // steps
    };

    Waiting& of(Rank from, Rank to, Channel channel) {
        constexpr std::uint64_t kRankBits = 24;
        const auto a = static_cast<std::uint64_t>(from);
        const auto b = static_cast<std::uint64_t>(to);
        return waiting_[(std::uint64_t{channel} << (2 * kRankBits)) | (a << kRankBits) | b];
    }

    /// A message that nobody has received.
    std::optional<std::uint32_t> left_over() const {
        for (const auto& [key, waiting] : waiting_) {
            if (!waiting.sends.empty()) return waiting.sends.front();
        }
        return std::nullopt;
    }

  private:
    std::unordered_map<std::uint64_t, Waiting> waiting_;
};

/// A rank's part of the schedules, and how far it is.
struct RankState {
    explicit RankState(const Schedule& its_schedule)
        : schedule(its_schedule), graph(its_schedule), waits_for(graph.waits()) {}

    const Schedule& schedule;
    StepGraph graph;
    std::vector<std::uint32_t> waits_for;  // by step: how many others are still missing
    std::size_t done = 0;
    Seconds processor{0};                                          // combines until then
    Seconds next_paced{-std::numeric_limits<double>::infinity()};  // when the next paced send may start
};

/// A native collective of a cluster: the steps of the ranks that have arrived.
using NativeCall = std::map<Rank, const Step*>;

void check(const Schedule& schedule, Rank rank) {
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
        for (const std::uint32_t dependency : schedule.dependencies_of(schedule.steps[i])) {
            if (dependency >= i)
                throw std::runtime_error(fmt::format("rank {} step {} depends on a later one", rank, i));
        }
    }
}

/// `last`: who has arrived last.
void check(const NativeCall& call, Rank last) {
    const Step& its_step = *call.at(last);
    for (const auto& [rank, step] : call) {
        if (step->kind != its_step.kind || step->peer != its_step.peer)
            throw std::runtime_error(
                fmt::format("ranks {} and {} call different native collectives", last, rank));
    }
}

void combine(const Step& step, Rank rank, SimulatedMemory& memory) {
    memory.store(rank, step.to_region(),
                 memory.combine(memory.load(rank, step.from_region()), memory.load(rank, step.to_region())));
}

void carry_out(const NativeCall& call, SimulatedMemory& memory) {
    const Rank root = call.begin()->second->peer;
    const Step& at_root = *call.at(root);
    std::optional<Values> sum;
    for (const auto& [rank, step] : call) {
        if (step->kind == StepKind::native_reduce) {
            const Values values = memory.load(rank, step->from_region());
            sum = sum ? memory.combine(*sum, values) : values;
        } else if (rank != root) {
            memory.store(rank, step->to_region(), memory.load(root, at_root.from_region()));
        }
    }
    if (sum) memory.store(root, at_root.to_region(), *sum);
}

class Simulation {
  public:
    Simulation(std::span<const Schedule> schedules, const Machine& machine, SimulatedMemory* memory,
               const SimulationOptions& options)
        : schedules_(schedules),
          machine_(machine),
          memory_(memory),
          options_(options),
          events_(!options.network, options.seed) {
        if (options.network) {
            transit_.emplace(*options.network, options.eager, messages_, events_,
                             [this](std::uint32_t number) { is_there(number); });
        }
    }

    SimulationResult run() {
        SimulationResult result;
        try {
            for (const Schedule& schedule : schedules_) prepare(schedule);
            while (!events_.is_empty()) happen(events_.next());
            result.failure = stuck();
        } catch (const std::exception& error) {
            result.failure = error.what();
        }
        result.makespan = events_.now();
        result.messages = messages_.size();
        return result;
    }

  private:
    void happen(const Event& event) {
        switch (event.kind) {
            case EventKind::start:
                return start(event.rank, event.number);
            case EventKind::start_paced:
                return start_send(event.rank, event.number);
            case EventKind::complete:
                return complete(event.rank, event.number);
            case EventKind::port_changes:
                return transit_->port_changes(event.number);
            case EventKind::pass_link:
                return transit_->pass_link(event.number);
            case EventKind::arrive:
                return transit_->arrive(event.number);
            case EventKind::deliver:
                return deliver(messages_[event.number]);
        }
    }

    void prepare(const Schedule& schedule) {
        const auto rank = static_cast<Rank>(states_.size());
        check(schedule, rank);
        const RankState& state = states_.emplace_back(schedule);
        for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
            if (state.waits_for[i] == 0) events_.add(events_.now(), EventKind::start, rank, i);
        }
    }

    void release(Rank rank, std::uint32_t step) {
        if (--state(rank).waits_for[step] == 0) events_.add(events_.now(), EventKind::start, rank, step);
    }

    void start(Rank rank, std::uint32_t index) {
        const Step& step = step_of(rank, index);
        switch (step.kind) {
            case StepKind::send:
                return step.is_paced && options_.network ? pace(rank, index) : start_send(rank, index);
            case StepKind::recv:
                return start_recv(rank, index);
            case StepKind::copy:
                if (memory_ != nullptr)
                    memory_->store(rank, step.to_region(), memory_->load(rank, step.from_region()));
                return complete(rank, index);
            case StepKind::reduce:
                if (memory_ != nullptr) combine(step, rank, *memory_);
                return events_.add(combined(rank, step), EventKind::complete, rank, index);
            case StepKind::native_bcast:
            case StepKind::native_reduce:
                return start_native(rank, step);
        }
    }

    void pace(Rank rank, std::uint32_t index) {
        RankState& s = state(rank);
        events_.add(std::max(s.next_paced, events_.now()), EventKind::start_paced, rank, index);
        s.next_paced = std::max(s.next_paced, events_.now() - s.schedule.ahead) +
                       Seconds(s.schedule.seconds_per_unit * static_cast<double>(step_of(rank, index).units));
    }

    /// When the rank has done a reduction that starts now.
    Seconds combined(Rank rank, const Step& step) {
        if (!options_.network || !options_.network->combining) return events_.now();
        Seconds& processor = state(rank).processor;
        processor =
            std::max(processor, events_.now()) + options_.network->combining(rank, bytes_of(rank, step));
        return processor;
    }

    void complete(Rank rank, std::uint32_t step) {
        RankState& s = state(rank);
        ++s.done;
        for (const std::uint32_t successor : s.graph.successors(step)) release(rank, successor);
    }

    void start_send(Rank rank, std::uint32_t index) {
        const Step& step = step_of(rank, index);
        const auto number = static_cast<std::uint32_t>(messages_.size());
        Message& message = messages_.emplace_back();
        message.from = rank;
        message.to = step.peer;
        message.bytes = bytes_of(rank, step);
        message.send = index;
        message.arrived = events_.now();
        if (options_.eager && memory_ != nullptr) message.values = memory_->load(rank, step.from_region());
        if (options_.eager && !transit_) events_.add(events_.now(), EventKind::complete, rank, index);
        channels_.of(rank, step.peer, step.channel).sends.push_back(number);
        transit_ ? transit_->send(number) : is_there(number);
        release_next_in_channel(rank, step);
    }

    void start_recv(Rank rank, std::uint32_t index) {
        const Step& step = step_of(rank, index);
        channels_.of(step.peer, rank, step.channel).recvs.push_back(index);
        release_next_in_channel(rank, step);
        match(step.peer, rank, step.channel);
    }

    void release_next_in_channel(Rank rank, const Step& step) {
        if (step.next_in_channel >= 0) release(rank, static_cast<std::uint32_t>(step.next_in_channel));
    }

    /// A message's time is known. One that is sent later may be there before, over links that the earlier one
    /// has to wait for: it is received after that, as MPI does.
    void is_there(std::uint32_t number) {
        Message& message = messages_[number];
        message.is_there = true;
        match(message.from, message.to, step_of(message.from, message.send).channel);
    }

    void match(Rank from, Rank to, Channel channel) {
        auto& [sends, recvs] = channels_.of(from, to, channel);
        while (!sends.empty() && !recvs.empty() && messages_[sends.front()].is_there) {
            const std::uint32_t number = sends.front();
            messages_[number].recv = recvs.front();
            sends.pop_front();
            recvs.pop_front();
            receive(from, to, number);
        }
    }

    void receive(Rank from, Rank to, std::uint32_t number) {
        Message& message = messages_[number];
        const Step& source = step_of(from, message.send);
        const Step& target = step_of(to, message.recv);
        if (message.bytes != bytes_of(to, target) || source.units != target.units) {
            throw std::runtime_error(fmt::format("rank {} sends {} units where rank {} expects {}", from,
                                                 source.units, to, target.units));
        }
        message.offset = (source.from.buffer < kFirstTemporary ? source.from : target.to).offset;
        if (options_.observe && transit_) options_.observe(message);
        events_.add(std::max(events_.now(), message.arrived), EventKind::deliver, to, number);
    }

    void deliver(const Message& message) {
        if (memory_ != nullptr) {
            const Region sent = step_of(message.from, message.send).from_region();
            const Region received = step_of(message.to, message.recv).to_region();
            memory_->store(message.to, received,
                           options_.eager ? message.values : memory_->load(message.from, sent));
        }
        complete(message.to, message.recv);
        if (!options_.eager) complete(message.from, message.send);
    }

    void start_native(Rank rank, const Step& step) {
        const std::vector<Rank> cluster = machine_.ranks_in(machine_.cluster_of_rank(rank));
        NativeCall& arrived = natives_[cluster.front()];
        arrived[rank] = &step;
        if (arrived.size() < cluster.size()) return;
        const NativeCall call = std::exchange(arrived, {});
        check(call, rank);
        if (memory_ != nullptr) carry_out(call, *memory_);
        for (const auto& [member, its_step] : call)
            complete(member, static_cast<std::uint32_t>(its_step - &step_of(member, 0)));
    }

    std::string stuck() const {
        for (std::size_t rank = 0; rank < states_.size(); ++rank) {
            const RankState& s = states_[rank];
            const std::size_t steps = s.schedule.steps.size();
            if (s.done != steps)
                return fmt::format("rank {} is stuck after {} of {} steps", rank, s.done, steps);
        }
        if (const auto number = channels_.left_over()) {
            const Message& message = messages_[*number];
            return fmt::format("rank {} never receives from rank {}", message.to, message.from);
        }
        return {};
    }

    RankState& state(Rank rank) { return states_[static_cast<std::size_t>(rank)]; }
    const Step& step_of(Rank rank, std::uint32_t index) { return state(rank).schedule.steps[index]; }
    Bytes bytes_of(Rank rank, const Step& step) { return step.units * state(rank).schedule.unit_bytes; }

    std::span<const Schedule> schedules_;
    const Machine& machine_;
    SimulatedMemory* memory_;
    const SimulationOptions& options_;
    EventQueue events_;
    std::deque<Message> messages_;
    std::optional<Transit> transit_;  // where there is a network
    std::vector<RankState> states_;   // by rank
    Channels channels_;
    std::map<Rank, NativeCall> natives_;  // by first rank of the cluster
};

}  // namespace

SimulationResult simulate(std::span<const Schedule> schedules, const Machine& machine,
                          SimulatedMemory* memory, const SimulationOptions& options) {
    return Simulation(schedules, machine, memory, options).run();
}

}  // namespace laple
