// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/simulator.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <random>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "collectives/simulation/simulated_ports.hpp"

namespace laple {
namespace {

using Values = SimulatedMemory::Values;

enum class EventKind : std::uint8_t { start, complete, port_is_free, pass_link, arrive, deliver };

struct Event {
    Seconds time;
    std::uint64_t order;  // among events of the same time
    EventKind kind;
    Rank rank;             // of start and complete
    std::uint32_t number;  // a step, a message or a port
    bool operator>(const Event& other) const {
        return time != other.time ? time > other.time : order > other.order;
    }
};

struct Message {
    Rank from;
    std::uint32_t send;  // step of the sender
    std::uint32_t recv = 0;
    Values values;  // of an eager send
    std::vector<SimulatedNetwork::SharedLink> links;
    std::size_t next_link = 0;
    Seconds full_gap{0};
    Seconds start{0};   // leaves its port
    Seconds left{0};    // has left it
    Seconds passed{0};  // is through the links so far
    Seconds ready{0};   // is through the receiver's port
};

/// Messages and receives of one channel that wait for each other.
struct Traffic {
    std::deque<std::uint32_t> sends;  // messages
    std::deque<std::uint32_t> recvs;  // steps
};

struct RankState {
    std::vector<std::uint32_t> waits_for;  // by step: dependencies and channel predecessor
    std::vector<std::uint32_t> first_successor;
    std::vector<std::uint32_t> successors;
    std::size_t done = 0;
    Seconds processor{0};
};

class Simulation {
  public:
    Simulation(std::span<const Schedule> schedules, const Machine& machine, SimulatedMemory* memory,
               const SimulationOptions& options)
        : schedules_(schedules),
          machine_(machine),
          memory_(memory),
          options_(options),
          random_(options.seed),
          states_(schedules.size()) {
        if (options.network) ports_.emplace(*options.network);
    }

    SimulationResult run() {
        try {
            for (std::size_t rank = 0; rank < schedules_.size(); ++rank) prepare(static_cast<Rank>(rank));
            while (!events_.empty()) {
                const Event event = events_.top();
                events_.pop();
                now_ = event.time;
                happen(event);
            }
            result_.failure = stuck();
        } catch (const std::exception& error) {
            result_.failure = error.what();
        }
        result_.makespan = now_;
        return result_;
    }

  private:
    void at(Seconds time, EventKind kind, Rank rank, std::uint32_t number) {
        events_.push({time, options_.network ? serial_++ : random_(), kind, rank, number});
    }

    void happen(const Event& event) {
        switch (event.kind) {
            case EventKind::start:
                return start(event.rank, event.number);
            case EventKind::complete:
                return complete(event.rank, event.number);
            case EventKind::port_is_free:
                return send_next(event.number);
            case EventKind::pass_link:
                return pass_links(event.number);
            case EventKind::arrive:
                return come_in(event.number);
            case EventKind::deliver:
                return deliver(event.number);
        }
    }

    void prepare(Rank rank) {
        const Schedule& schedule = schedules_[static_cast<std::size_t>(rank)];
        RankState& s = state(rank);
        s.waits_for.resize(schedule.steps.size());
        s.first_successor.assign(schedule.steps.size() + 1, 0);
        for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
            const Step& step = schedule.steps[i];
            s.waits_for[i] = step.dependency_count;
            if (step.is_message() && !step.is_first_in_channel) ++s.waits_for[i];
            for (const std::uint32_t dependency : schedule.dependencies_of(step)) {
                if (dependency >= i)
                    throw std::runtime_error(fmt::format("rank {} step {} depends on a later one", rank, i));
                ++s.first_successor[dependency + 1];
            }
        }
        for (std::size_t i = 1; i < s.first_successor.size(); ++i)
            s.first_successor[i] += s.first_successor[i - 1];
        s.successors.resize(schedule.dependencies.size());
        std::vector<std::uint32_t> next(s.first_successor.begin(), s.first_successor.end() - 1);
        for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
            for (const std::uint32_t dependency : schedule.dependencies_of(schedule.steps[i]))
                s.successors[next[dependency]++] = i;
        }
        for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
            if (s.waits_for[i] == 0) at(now_, EventKind::start, rank, i);
        }
    }

    void release(Rank rank, std::uint32_t step) {
        if (--state(rank).waits_for[step] == 0) at(now_, EventKind::start, rank, step);
    }

    void start(Rank rank, std::uint32_t index) {
        const Step& step = step_of(rank, index);
        switch (step.kind) {
            case StepKind::send:
                return start_send(rank, index);
            case StepKind::recv:
                return start_recv(rank, index);
            case StepKind::copy:
                if (memory_ != nullptr)
                    memory_->store(rank, step.to_region(), memory_->load(rank, step.from_region()));
                return complete(rank, index);
            case StepKind::reduce:
                if (memory_ != nullptr) {
                    memory_->store(rank, step.to_region(),
                                   memory_->combine(memory_->load(rank, step.from_region()),
                                                    memory_->load(rank, step.to_region())));
                }
                return at(combined(rank, step), EventKind::complete, rank, index);
            case StepKind::native_bcast:
            case StepKind::native_reduce:
                return start_native(rank, index);
        }
    }

    /// When the rank has done a reduction that starts now.
    Seconds combined(Rank rank, const Step& step) {
        if (!options_.network || !options_.network->combining) return now_;
        Seconds& processor = state(rank).processor;
        processor = std::max(processor, now_) + options_.network->combining(rank, bytes_of(rank, step));
        return processor;
    }

    void complete(Rank rank, std::uint32_t step) {
        RankState& s = state(rank);
        ++s.done;
        for (std::uint32_t i = s.first_successor[step]; i < s.first_successor[step + 1]; ++i)
            release(rank, s.successors[i]);
    }

    void start_send(Rank rank, std::uint32_t index) {
        const Step& step = step_of(rank, index);
        const auto number = static_cast<std::uint32_t>(messages_.size());
        Message& message = messages_.emplace_back();
        message.from = rank;
        message.send = index;
        message.ready = now_;
        if (options_.eager && memory_ != nullptr) message.values = memory_->load(rank, step.from_region());
        ++result_.messages;
        if (options_.network) {
            const std::size_t port = options_.network->port_out(rank, step.peer);
            ports_->wait(port, rank, step.peer, number);
            if (!ports_->is_sending(port)) send_next(static_cast<std::uint32_t>(port));
        } else {
            if (options_.eager) at(now_, EventKind::complete, rank, index);
            enter_channel(number);
        }
        if (step.next_in_channel >= 0) release(rank, static_cast<std::uint32_t>(step.next_in_channel));
    }

    /// The port is free.
    void send_next(std::uint32_t port) {
        const std::optional<std::uint32_t> next = ports_->next(port);
        if (!next) return;
        Message& message = messages_[*next];
        const Step& step = step_of(message.from, message.send);
        message.full_gap = options_.network->gap(message.from, step.peer, bytes_of(message.from, step));
        message.start = now_;
        message.left = message.passed = now_ + ports_->sending(port, message.full_gap);
        if (options_.network->shared_links)
            message.links = options_.network->shared_links(message.from, step.peer);
        at(message.left, EventKind::port_is_free, 0, port);
        pass_links(*next);
    }

    /// Each link when the first byte is there: before, others may come that have been sent later. What a port
    /// has saved up is left out of that: a message would be overtaken by the next one, which has less of it.
    void pass_links(std::uint32_t number) {
        Message& message = messages_[number];
        if (message.next_link == message.links.size()) return travel(number);
        const Step& step = step_of(message.from, message.send);
        const auto& link = message.links[message.next_link++];
        Seconds& busy = link_busy_[link.number];
        busy = std::max(busy, now_) +
               Seconds(static_cast<double>(bytes_of(message.from, step)) / link.bytes_per_second);
        busy = message.passed = std::max(busy, message.passed);
        at(std::max(message.passed - message.full_gap, now_), EventKind::pass_link, 0, number);
    }

    /// Through all links: the way is left, and the receiver's port.
    void travel(std::uint32_t number) {
        const Message& message = messages_[number];
        if (options_.eager) at(message.passed, EventKind::complete, message.from, message.send);
        const Rank to = step_of(message.from, message.send).peer;
        at(message.passed + options_.network->latency(message.from, to), EventKind::arrive, 0, number);
    }

    /// A port takes messages as they come, not as they were sent.
    void come_in(std::uint32_t number) {
        Message& message = messages_[number];
        const Step& sent = step_of(message.from, message.send);
        message.ready =
            ports_->receiving(options_.network->port_in(message.from, sent.peer), message.full_gap, now_);
        enter_channel(number);
    }

    void enter_channel(std::uint32_t number) {
        const Message& message = messages_[number];
        const Step& step = step_of(message.from, message.send);
        traffic(message.from, step.peer, step.channel).sends.push_back(number);
        match(message.from, step.peer, step.channel);
    }

    void start_recv(Rank rank, std::uint32_t index) {
        const Step& step = step_of(rank, index);
        traffic(step.peer, rank, step.channel).recvs.push_back(index);
        if (step.next_in_channel >= 0) release(rank, static_cast<std::uint32_t>(step.next_in_channel));
        match(step.peer, rank, step.channel);
    }

    void match(Rank from, Rank to, Channel channel) {
        Traffic& waiting = traffic(from, to, channel);
        if (waiting.sends.empty() || waiting.recvs.empty()) return;
        const std::uint32_t number = waiting.sends.front();
        Message& message = messages_[number];
        message.recv = waiting.recvs.front();
        waiting.sends.pop_front();
        waiting.recvs.pop_front();
        const Step& source = step_of(from, message.send);
        const Step& target = step_of(to, message.recv);
        if (bytes_of(from, source) != bytes_of(to, target) || source.units != target.units) {
            throw std::runtime_error(fmt::format("rank {} sends {} units where rank {} expects {}", from,
                                                 source.units, to, target.units));
        }
        if (options_.observe && options_.network) observe(message, source, target);
        at(std::max(now_, message.ready), EventKind::deliver, to, number);
    }

    void observe(const Message& message, const Step& source, const Step& target) {
        const Place& known = source.from.buffer < kFirstTemporary ? source.from : target.to;
        options_.observe({message.from, source.peer, known.offset, bytes_of(message.from, source),
                          message.start, message.left, message.ready});
    }

    void deliver(std::uint32_t number) {
        const Message& message = messages_[number];
        const Step& out = step_of(message.from, message.send);
        const Rank to = out.peer;
        if (memory_ != nullptr) {
            memory_->store(to, step_of(to, message.recv).to_region(),
                           options_.eager ? message.values : memory_->load(message.from, out.from_region()));
        }
        complete(to, message.recv);
        if (!options_.eager) complete(message.from, message.send);
    }

    void start_native(Rank rank, std::uint32_t index) {
        const std::vector<Rank> cluster = machine_.ranks_in(machine_.cluster_of_rank(rank));
        auto& arrived = natives_[cluster.front()];
        arrived[rank] = index;
        if (arrived.size() < cluster.size()) return;
        const std::map<Rank, std::uint32_t> all = std::exchange(arrived, {});
        const Step& first = step_of(rank, index);
        for (const auto& [member, at_step] : all) {
            const Step& step = step_of(member, at_step);
            if (step.kind != first.kind || step.peer != first.peer) {
                throw std::runtime_error(
                    fmt::format("ranks {} and {} call different native collectives", rank, member));
            }
        }
        if (memory_ != nullptr) run_native(first, all);
        for (const auto& [member, at_step] : all) complete(member, at_step);
    }

    void run_native(const Step& first, const std::map<Rank, std::uint32_t>& all) {
        const Step& root = step_of(first.peer, all.at(first.peer));
        std::optional<Values> sum;
        for (const auto& [member, at_step] : all) {
            const Step& step = step_of(member, at_step);
            if (first.kind == StepKind::native_bcast) {
                if (member != first.peer)
                    memory_->store(member, step.to_region(), memory_->load(first.peer, root.from_region()));
            } else {
                const Values values = memory_->load(member, step.from_region());
                sum = sum ? memory_->combine(*sum, values) : values;
            }
        }
        if (sum) memory_->store(first.peer, root.to_region(), *sum);
    }

    std::string stuck() const {
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
            const std::size_t done = states_[rank].done;
            if (done != schedules_[rank].steps.size())
                return fmt::format("rank {} is stuck after {} of {} steps", rank, done,
                                   schedules_[rank].steps.size());
        }
        for (const auto& [key, waiting] : traffic_) {
            if (waiting.sends.empty()) continue;
            const Message& message = messages_[waiting.sends.front()];
            return fmt::format("rank {} never receives from rank {}",
                               step_of(message.from, message.send).peer, message.from);
        }
        return {};
    }

    Traffic& traffic(Rank from, Rank to, Channel channel) {
        constexpr std::uint64_t kRankBits = 24;
        const auto a = static_cast<std::uint64_t>(from);
        const auto b = static_cast<std::uint64_t>(to);
        return traffic_[(std::uint64_t{channel} << (2 * kRankBits)) | (a << kRankBits) | b];
    }
    Bytes bytes_of(Rank rank, const Step& step) const {
        return step.units * schedules_[static_cast<std::size_t>(rank)].unit_bytes;
    }
    const Step& step_of(Rank rank, std::uint32_t index) const {
        return schedules_[static_cast<std::size_t>(rank)].steps[index];
    }
    RankState& state(Rank rank) { return states_[static_cast<std::size_t>(rank)]; }

    std::span<const Schedule> schedules_;
    const Machine& machine_;
    SimulatedMemory* memory_;
    const SimulationOptions& options_;
    std::mt19937_64 random_;
    Seconds now_{0};
    std::uint64_t serial_ = 0;
    std::vector<RankState> states_;
    std::optional<SimulatedPorts> ports_;
    std::deque<Message> messages_;
    std::unordered_map<std::size_t, Seconds> link_busy_;     // by number of the shared link, until then
    std::unordered_map<std::uint64_t, Traffic> traffic_;     // by sender, receiver and channel
    std::map<Rank, std::map<Rank, std::uint32_t>> natives_;  // by first rank of the cluster: who has arrived
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    SimulationResult result_;
};

}  // namespace

SimulationResult simulate(std::span<const Schedule> schedules, const Machine& machine,
                          SimulatedMemory* memory, const SimulationOptions& options) {
    return Simulation(schedules, machine, memory, options).run();
}

}  // namespace laple
