// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/units.hpp"
#include "collectives/hierarchy.hpp"
#include "collectives/schedule.hpp"
#include "topology/topology.hpp"

namespace laple {

/// The network of a simulation. A sender's port is busy for gap(m), then the message travels for the latency,
/// and a receiver's port takes messages gap(m) apart (pLogP without overheads; algorithms.md 3d). Messages
/// that wait for a port leave it in turns, one to each receiver, as the connections of a NIC share it. On the
/// way they may pass links that they share with others, one message after the other.
struct SimulatedNetwork {
    struct SharedLink {
        std::size_t number;  ///< 0 ...
        double bytes_per_second;
    };

    std::function<Seconds(Rank from, Rank to, Bytes)> gap;
    std::function<Seconds(Rank from, Rank to)> latency;
    std::function<std::vector<SharedLink>(Rank from, Rank to)> shared_links = {};  ///< none where empty
    /// How long a rank's processor combines so many bytes, one reduction after the other. No time where
    /// empty.
    std::function<Seconds(Rank, Bytes)> combining = {};
    /// Time that a rank's ports, which have rested, save at their first messages. None where empty.
    std::function<Seconds(Rank)> credit = {};
};

/// One message of a simulation with a network.
struct SimulatedMessage {
    Rank from = 0;
    Rank to = 0;
    std::uint32_t block = 0;  ///< the first one
    Bytes bytes = 0;
    Seconds start{0};    ///< its first byte leaves
    Seconds left{0};     ///< the sender's port is free again
    Seconds arrived{0};  ///< its last byte is there
};

struct SimulationOptions {
    /// Without a network nothing takes time and events happen in an order drawn from `seed`: any order
    /// that the dependencies allow may be the one that a real network brings about.
    std::optional<SimulatedNetwork> network;
    std::uint64_t seed = 1;
    /// Whether a send is complete once its data are through the links that they share (else when its receiver
    /// takes them, and the data are read then: the latest moment that MPI allows).
    bool eager = true;
    std::function<void(const SimulatedMessage&)> observe;  ///< told of every message, where it is not empty
};

struct SimulationResult {
    std::string failure;  ///< empty when every rank did all its steps and no message was left over
    Seconds makespan{0};
    std::uint64_t messages = 0;
    bool ok() const { return failure.empty(); }
};

/// Data that are nothing, where time alone is asked for (`Memory` below).
struct NoMemory {
    using Value = char;
    static Value load(Rank, Place, std::uint32_t) { return 0; }
    static void store(Rank, Place, std::uint32_t, Value) {}
    static Value combine(Value, Value) { return 0; }
};

/// Runs the schedules of all ranks of a communicator in one process. `Memory` says what data are:
///
///     using Value = …;                                       one block's content
///     Value load(Rank, Place, std::uint32_t block)
///     void store(Rank, Place, std::uint32_t block, Value)
///     Value combine(const Value& left, const Value& right)    the operation
///
/// and may throw std::exception for an access that it knows to be wrong, which becomes the failure.
template <typename Memory>
class Simulator {
  public:
    /// `topology` gives the groups of native steps. The references must outlive the simulator.
    Simulator(std::span<const Schedule> schedules, const Topology& topology, Memory& memory,
              const SimulationOptions& options);
    SimulationResult run();

  private:
    using Value = typename Memory::Value;
    struct Event {
        Seconds time;
        std::uint64_t order;  // among events of the same time
        std::function<void()> action;
        bool operator>(const Event& other) const {
            return time != other.time ? time > other.time : order > other.order;
        }
    };
    struct Pending {  // a send or receive that has been started
        std::uint32_t step;
        Seconds ready;
        std::vector<Value> values;  // of an eager send, block by block
    };
    struct Message {  // on its way
        Pending pending;
        std::vector<SimulatedNetwork::SharedLink> links;
        std::size_t next_link = 0;
        Seconds full_gap{0};
        Seconds start{0};   ///< leaves its port
        Seconds left{0};    ///< has left it
        Seconds passed{0};  ///< is through the links so far
    };
    struct Traffic {
        std::queue<Pending> sends;
        std::queue<Pending> recvs;
    };
    struct Waiting {  // for a rank's port
        Rank to;
        std::queue<Pending> sends;
    };
    struct RankState {
        std::vector<std::uint32_t> waits_for;  // by step: dependencies and channel predecessor
        std::vector<std::vector<std::uint32_t>> successors;
        std::size_t done = 0;
        std::vector<Waiting> waiting;  // in the order of their first messages
        std::size_t turn = 0;          // whose it is
        bool is_sending = false;
        Seconds recv_port{0};
        Seconds processor{0};
        Seconds send_credit{0};  // what is left of it
        Seconds recv_credit{0};
    };

    void prepare(Rank rank);
    void at(Seconds time, std::function<void()> action);
    void release(Rank rank, std::uint32_t step);
    void start(Rank rank, std::uint32_t step);
    void complete(Rank rank, std::uint32_t step);
    static Seconds rested(Seconds& credit, Seconds gap) {
        const Seconds saved = std::min(credit, gap);
        credit -= saved;
        return gap - saved;
    }
    Seconds combined(Rank rank, const Step& step);
    void start_send(Rank rank, std::uint32_t index);
    void send_next(Rank rank);
    void leave(Rank rank, Pending pending);
    void arrive(Rank from, Pending pending);
    void pass_links(Rank rank, Message message);
    void travel(Rank rank, Message message);
    void start_recv(Rank rank, std::uint32_t index);
    void match(Rank from, Rank to, Channel number);
    void start_native(Rank rank, std::uint32_t index);
    std::vector<Value> load(Rank rank, const Step& step, Place place);
    void store(Rank rank, const Step& step, const std::vector<Value>& values);
    Bytes bytes_of(Rank rank, const Step& step) const {
        return schedules_[static_cast<std::size_t>(rank)].blocks.bytes_in(step.block, step.run);
    }
    const Step& step_of(Rank rank, std::uint32_t index) const {
        return schedules_[static_cast<std::size_t>(rank)].steps[index];
    }
    RankState& state(Rank rank) { return states_[static_cast<std::size_t>(rank)]; }
    std::string stuck() const;

    std::span<const Schedule> schedules_;
    const Topology& topology_;
    Memory& memory_;
    const SimulationOptions& options_;
    std::mt19937_64 random_;
    Seconds now_{0};
    std::uint64_t serial_ = 0;
    std::vector<RankState> states_;
    std::map<std::size_t, Seconds> link_busy_;  // by number of the shared link, until then
    std::map<std::tuple<Rank, Rank, Channel>, Traffic> channels_;
    std::map<Rank, std::map<Rank, std::uint32_t>> natives_;  // by first rank of the group: who has arrived
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    SimulationResult result_;
};

template <typename Memory>
Simulator<Memory>::Simulator(std::span<const Schedule> schedules, const Topology& topology, Memory& memory,
                             const SimulationOptions& options)
    : schedules_(schedules), topology_(topology), memory_(memory), options_(options), random_(options.seed) {
    states_.resize(schedules.size());
}

template <typename Memory>
SimulationResult Simulator<Memory>::run() {
    try {
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) prepare(static_cast<Rank>(rank));
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            now_ = event.time;
            event.action();
        }
        result_.failure = stuck();
    } catch (const std::exception& error) {
        result_.failure = error.what();
    }
    result_.makespan = now_;
    return result_;
}

template <typename Memory>
void Simulator<Memory>::prepare(Rank rank) {
    const Schedule& schedule = schedules_[static_cast<std::size_t>(rank)];
    RankState& s = state(rank);
    s.waits_for.resize(schedule.steps.size());
    s.successors.resize(schedule.steps.size());
    if (options_.network && options_.network->credit)
        s.send_credit = s.recv_credit = options_.network->credit(rank);
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        s.waits_for[i] = step.dependency_count;
        const bool is_message = step.kind == StepKind::send || step.kind == StepKind::recv;
        if (is_message && !step.is_first_in_channel) ++s.waits_for[i];
        for (const std::uint32_t dependency : schedule.dependencies_of(step)) {
            if (dependency >= i)
                throw std::runtime_error(fmt::format("rank {} step {} depends on a later one", rank, i));
            s.successors[dependency].push_back(i);
        }
    }
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
        if (s.waits_for[i] == 0) at(now_, [this, rank, i] { start(rank, i); });
    }
}

template <typename Memory>
void Simulator<Memory>::at(Seconds time, std::function<void()> action) {
    events_.push({time, options_.network ? serial_++ : random_(), std::move(action)});
}

template <typename Memory>
void Simulator<Memory>::release(Rank rank, std::uint32_t step) {
    if (--state(rank).waits_for[step] == 0) at(now_, [this, rank, step] { start(rank, step); });
}

template <typename Memory>
void Simulator<Memory>::start(Rank rank, std::uint32_t index) {
    const Step& step = step_of(rank, index);
    switch (step.kind) {
        case StepKind::send:
            return start_send(rank, index);
        case StepKind::recv:
            return start_recv(rank, index);
        case StepKind::copy:
            store(rank, step, load(rank, step, step.from));
            return complete(rank, index);
        case StepKind::reduce: {
            const std::vector<Value> left = load(rank, step, step.from);
            std::vector<Value> values = load(rank, step, step.to);
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = memory_.combine(left[i], values[i]);
            store(rank, step, values);
            return at(combined(rank, step), [this, rank, index] { complete(rank, index); });
        }
        case StepKind::native_bcast:
        case StepKind::native_reduce:
            return start_native(rank, index);
    }
}

/// When the rank has done a reduction that starts now.
template <typename Memory>
Seconds Simulator<Memory>::combined(Rank rank, const Step& step) {
    if (!options_.network || !options_.network->combining) return now_;
    Seconds& processor = state(rank).processor;
    processor = std::max(processor, now_) + options_.network->combining(rank, bytes_of(rank, step));
    return processor;
}

/// All blocks of a step that are at `place` and after it.
template <typename Memory>
auto Simulator<Memory>::load(Rank rank, const Step& step, Place place) -> std::vector<Value> {
    std::vector<Value> values;
    values.reserve(step.run);
    for (std::uint32_t i = 0; i < step.run; ++i)
        values.push_back(memory_.load(rank, {place.buffer, place.slot + i}, step.block + i));
    return values;
}

template <typename Memory>
void Simulator<Memory>::store(Rank rank, const Step& step, const std::vector<Value>& values) {
    for (std::uint32_t i = 0; i < step.run; ++i)
        memory_.store(rank, {step.to.buffer, step.to.slot + i}, step.block + i, values[i]);
}

template <typename Memory>
void Simulator<Memory>::complete(Rank rank, std::uint32_t step) {
    RankState& s = state(rank);
    ++s.done;
    for (const std::uint32_t successor : s.successors[step]) release(rank, successor);
}

template <typename Memory>
void Simulator<Memory>::start_send(Rank rank, std::uint32_t index) {
    const Step& step = step_of(rank, index);
    Pending pending{index, now_, {}};
    if (options_.eager) pending.values = load(rank, step, step.from);
    ++result_.messages;
    if (options_.network) {
        std::vector<Waiting>& waiting = state(rank).waiting;
        auto to =
            std::find_if(waiting.begin(), waiting.end(), [&](const Waiting& w) { return w.to == step.peer; });
        if (to == waiting.end()) to = waiting.insert(to, {step.peer, {}});
        to->sends.push(std::move(pending));
        if (!state(rank).is_sending) send_next(rank);
    } else {
        if (options_.eager) at(now_, [this, rank, index] { complete(rank, index); });
        arrive(rank, std::move(pending));
    }
    if (step.next_in_channel >= 0) release(rank, static_cast<std::uint32_t>(step.next_in_channel));
}

/// The rank's port is free.
template <typename Memory>
void Simulator<Memory>::send_next(Rank rank) {
    RankState& s = state(rank);
    s.is_sending = false;
    for (std::size_t i = 0; i < s.waiting.size(); ++i) {
        std::queue<Pending>& sends = s.waiting[(s.turn + i) % s.waiting.size()].sends;
        if (sends.empty()) continue;
        s.turn = (s.turn + i + 1) % s.waiting.size();
        s.is_sending = true;
        Pending next = std::move(sends.front());
        sends.pop();
        return leave(rank, std::move(next));
    }
}

template <typename Memory>
void Simulator<Memory>::leave(Rank rank, Pending pending) {
    const Step& step = step_of(rank, pending.step);
    Message message;
    message.full_gap = options_.network->gap(rank, step.peer, bytes_of(rank, step));
    message.start = now_;
    message.left = message.passed = now_ + rested(state(rank).send_credit, message.full_gap);
    if (options_.network->shared_links) message.links = options_.network->shared_links(rank, step.peer);
    message.pending = std::move(pending);
    at(message.left, [this, rank] { send_next(rank); });
    pass_links(rank, std::move(message));
}

/// Each link when the first byte is there: before, others may come that have been sent later. What a port has
/// saved up is left out of that: a message would be overtaken by the next one, which has less of it.
template <typename Memory>
void Simulator<Memory>::pass_links(Rank rank, Message message) {
    if (message.next_link == message.links.size()) return travel(rank, std::move(message));
    const Step& step = step_of(rank, message.pending.step);
    const auto& link = message.links[message.next_link++];
    Seconds& busy = link_busy_[link.number];
    busy = std::max(busy, now_) + Seconds(static_cast<double>(bytes_of(rank, step)) / link.bytes_per_second);
    busy = message.passed = std::max(busy, message.passed);
    at(std::max(message.passed - message.full_gap, now_),
       [this, rank, message = std::move(message)]() mutable { pass_links(rank, std::move(message)); });
}

/// Through all links: the way is left, and the receiver's port, which takes messages as they come, not as
/// they were sent.
template <typename Memory>
void Simulator<Memory>::travel(Rank rank, Message message) {
    if (options_.eager)
        at(message.passed, [this, rank, index = message.pending.step] { complete(rank, index); });
    const Rank to = step_of(rank, message.pending.step).peer;
    at(message.passed + options_.network->latency(rank, to),
       [this, rank, message = std::move(message)]() mutable {
           const Step& sent = step_of(rank, message.pending.step);
           Seconds& recv_port = state(sent.peer).recv_port;
           recv_port = std::max(recv_port + rested(state(sent.peer).recv_credit, message.full_gap), now_);
           message.pending.ready = recv_port;
           if (options_.observe) {
               options_.observe({rank, sent.peer, sent.block, bytes_of(rank, sent), message.start,
                                 message.left, recv_port});
           }
           arrive(rank, std::move(message.pending));
       });
}

template <typename Memory>
void Simulator<Memory>::arrive(Rank from, Pending pending) {
    const Step& step = step_of(from, pending.step);
    channels_[{from, step.peer, step.channel}].sends.push(std::move(pending));
    match(from, step.peer, step.channel);
}

template <typename Memory>
void Simulator<Memory>::start_recv(Rank rank, std::uint32_t index) {
    const Step& step = step_of(rank, index);
    channels_[{step.peer, rank, step.channel}].recvs.push({index, now_, {}});
    if (step.next_in_channel >= 0) release(rank, static_cast<std::uint32_t>(step.next_in_channel));
    match(step.peer, rank, step.channel);
}

template <typename Memory>
void Simulator<Memory>::match(Rank from, Rank to, Channel number) {
    Traffic& channel = channels_[{from, to, number}];
    if (channel.sends.empty() || channel.recvs.empty()) return;
    Pending send = std::move(channel.sends.front());
    const Pending recv = channel.recvs.front();
    channel.sends.pop();
    channel.recvs.pop();
    const Step& source = step_of(from, send.step);
    const Step& target = step_of(to, recv.step);
    if (bytes_of(from, source) != bytes_of(to, target) || source.run != target.run) {
        throw std::runtime_error(fmt::format("rank {} sends block {} where rank {} expects block {}", from,
                                             source.block, to, target.block));
    }
    at(std::max(now_, send.ready), [this, from, to, send = std::move(send), recv] {
        const Step& out = step_of(from, send.step);
        const Step& in = step_of(to, recv.step);
        store(to, in, options_.eager ? send.values : load(from, out, out.from));
        complete(to, recv.step);
        if (!options_.eager) complete(from, send.step);
    });
}

template <typename Memory>
void Simulator<Memory>::start_native(Rank rank, std::uint32_t index) {
    const std::vector<Rank> group = innermost_group(topology_, rank);
    auto& arrived = natives_[group.front()];
    arrived[rank] = index;
    if (arrived.size() < group.size()) return;
    const std::map<Rank, std::uint32_t> all = std::exchange(arrived, {});
    const Step& first = step_of(rank, index);
    for (const auto& [member, at_step] : all) {
        const Step& step = step_of(member, at_step);
        if (step.kind != first.kind || step.peer != first.peer) {
            throw std::runtime_error(
                fmt::format("ranks {} and {} call different native collectives", rank, member));
        }
    }
    const std::uint32_t blocks = schedules_.front().blocks.count();
    for (std::uint32_t block = 0; block < blocks; ++block) {
        if (first.kind == StepKind::native_bcast) {
            const Step& root = step_of(first.peer, all.at(first.peer));
            const Value value = memory_.load(first.peer, root.from, block);
            for (const auto& [member, at_step] : all) {
                if (member != first.peer) memory_.store(member, step_of(member, at_step).to, block, value);
            }
        } else {
            std::optional<Value> sum;
            for (const auto& [member, at_step] : all) {
                const Value value = memory_.load(member, step_of(member, at_step).from, block);
                sum = sum ? memory_.combine(*sum, value) : value;
            }
            memory_.store(first.peer, step_of(first.peer, all.at(first.peer)).to, block, *sum);
        }
    }
    for (const auto& [member, at_step] : all) complete(member, at_step);
}

template <typename Memory>
std::string Simulator<Memory>::stuck() const {
    for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
        const RankState& s = states_[rank];
        if (s.done == schedules_[rank].steps.size()) continue;
        return fmt::format("rank {} is stuck after {} of {} steps", rank, s.done,
                           schedules_[rank].steps.size());
    }
    for (const auto& [ends, channel] : channels_) {
        if (!channel.sends.empty())
            return fmt::format("rank {} never receives from rank {}", std::get<1>(ends), std::get<0>(ends));
    }
    return {};
}

}  // namespace laple
