// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/stream_probe.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/configuration.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/join_streams.hpp"
#include "mpi/exec/transport.hpp"
#include "plogp/arrival_rate.hpp"
#include "streams/link.hpp"

namespace laple::mpi {
namespace {

constexpr Bytes kMessage = 64 * 1024;
constexpr std::size_t kExpected = 256;  // receives that wait
constexpr std::size_t kAhead = 2;  // messages that wait for each connection; what waits at the end takes time
constexpr Seconds kPatience(5);    // beyond the duration

struct Message {
    std::uint32_t turn = 0;
    streams::Posted posted;
};

/// Both directions at once. The last message of each is empty.
class StreamFlow {
  public:
    StreamFlow(std::vector<streams::Descriptor> lanes, streams::Descriptor poller, const StreamEnd& end)
        : end_(end),
          link_(std::move(lanes), options_of(end), std::move(poller)),
          memory_(kMessage),
          room_(kMessage) {}

    std::optional<double> run() {
        const Seconds start = clock_time();
        while (!is_over()) {
            const Seconds now = clock_time();
            if (link_.is_broken() || now - start > end_.duration + kPatience) return std::nullopt;
            send(now < start + end_.duration);
            receive();
            if (!link_.progress(now)) let_time_pass(Seconds(1e-4));
            take();
            count(clock_time());
        }
        return has_failed_ ? std::nullopt : std::optional(rate());
    }

  private:
    static streams::LinkOptions options_of(const StreamEnd& end) {
        streams::LinkOptions options;
        options.round_trip = end.round_trip;
        return options;
    }

    bool is_over() const { return has_all_come() && has_sent_last_ && link_.is_flushed(); }

    void send(bool has_time) {
        while (!sent_.empty() && sent_.front()->posted.is_done) sent_.pop_front();
        while (!has_sent_last_ && (sent_.size() < most_sent_ || !has_time)) {
            has_sent_last_ = !has_time;
            sent_.push_back(std::make_unique<Message>());
            link_.send({1, 1, 1, next_sent_++}, memory_.data(), has_time ? kMessage : 0,
                       sent_.back()->posted);
        }
    }

    /// What comes is of no interest: all messages have the same room.
    void receive() {
        while (last_ == 0 && expected_.size() < kExpected) {
            expected_.push_back(std::make_unique<Message>());
            expected_.back()->turn = next_expected_;
            link_.receive({1, 1, 1, next_expected_++}, room_.data(), kMessage, expected_.back()->posted);
        }
    }

    void take() {
        std::erase_if(expected_, [&](const std::unique_ptr<Message>& message) {
            if (!message->posted.is_done) return false;
            has_failed_ = has_failed_ || message->posted.has_failed;
            ++come_;
            if (message->posted.total == 0) last_ = message->turn + 1;
            return true;
        });
        if (last_ == 0) return;
        for (const auto& message : expected_) {
            if (message->turn >= last_) link_.forget(message->posted);
        }
        std::erase_if(expected_, [&](const auto& message) { return message->turn >= last_; });
    }

    bool has_all_come() const { return last_ > 0 && come_ == last_; }

    /// What the kernel has got counts, if it says so: it may wait there until this process has a core. Its
    /// clock has steps of some milliseconds.
    void count(Seconds now) {
        constexpr Seconds kSurelyQuiet(10e-3);
        const bool is_last = has_all_come();
        const std::uint64_t received = link_.account().received;
        if (by_link_.wants(now, is_last)) by_link_.note(now, received, is_last);
        if (received == 0 || !by_kernel_.wants(now, is_last)) return;
        const auto state = link_.tcp_state();
        const Seconds looked = clock_time();
        if (state)
            by_kernel_.note(state->quiet > kSurelyQuiet ? looked - state->quiet : looked, state->received,
                            is_last);
    }

    /// Lanes that broke have taken their counts with them.
    double rate() const {
        const double rate = link_.account().broken_lanes == 0 ? by_kernel_.rate() : 0;
        return rate > 0 ? rate : by_link_.rate();
    }

    StreamEnd end_;
    std::size_t most_sent_ =
        kAhead * static_cast<std::size_t>(end_.connections);  // at one time, not on their way
    streams::Link link_;
    std::vector<std::byte> memory_;
    std::vector<std::byte> room_;
    std::deque<std::unique_ptr<Message>> sent_;
    std::vector<std::unique_ptr<Message>> expected_;
    std::uint32_t next_sent_ = 0;
    std::uint32_t next_expected_ = 0;
    std::uint32_t come_ = 0;
    std::uint32_t last_ = 0;  // messages that come, once that is known
    bool has_sent_last_ = false;
    bool has_failed_ = false;
    ArrivalRate by_link_{clock_time(), end_.duration};
    ArrivalRate by_kernel_{by_link_};
};

}  // namespace

std::optional<double> run_streams(MPI_Comm probes, const StreamEnd& end) {
    const Settings& settings = configuration().settings;
    const auto address = streams::own_address(settings.stream_interface);
    std::vector<StreamJoin> joins(1);
    StreamJoin& join = joins.front();
    join.peer = end.peer;
    join.connections = end.connections;
    join.round_trip = end.round_trip;
    join.listens = rank_in(probes) < end.peer;
    join.poller = streams::Link::new_poller();
    join.mine.can = address && join.poller.is_open() ? static_cast<std::uint64_t>(end.connections) : 0;
    join.mine.number = 1;
    if (address) join.mine.endpoint = *address;
    join.mine.secret = streams::new_secret();
    join_streams(probes, joins, {streams::PortRange{settings.first_stream_port, settings.last_stream_port}});
    if (join.lanes.size() != static_cast<std::size_t>(end.connections)) return std::nullopt;
    return StreamFlow(std::move(join.lanes), std::move(join.poller), end).run();
}

}  // namespace laple::mpi
