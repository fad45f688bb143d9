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
#include "streams/link.hpp"

namespace laple::mpi {
namespace {

constexpr Bytes kMessage = 64 * 1024;
constexpr std::size_t kExpected = 256;  // receives that wait
constexpr std::size_t kAhead = 2;  // messages that wait for each connection; what waits at the end takes time
constexpr Seconds kPatience(5);    // beyond the duration
// The last quarter of the duration counts: by then TCP has found the rate.
constexpr double kBegin = 0.75;

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
            count(clock_time());
            take();
        }
        return rate();
    }

  private:
    static streams::LinkOptions options_of(const StreamEnd& end) {
        streams::LinkOptions options;
        options.round_trip = end.round_trip;
        return options;
    }

    bool is_over() const { return last_ > 0 && come_ == last_ && has_sent_last_ && link_.is_flushed(); }

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

    /// Notes when bytes come; whole messages would be too few.
    void count(Seconds now) {
        const std::uint64_t come = link_.account().received;
        if (come == come_bytes_) return;
        come_bytes_ = come;
        if (first_ == Seconds(0)) first_ = now;
        const double part = (now - first_) / end_.duration;
        if (part >= 1) return;
        until_ = {now, come};
        if (part >= kBegin && since_.time == Seconds(0)) since_ = until_;
    }

    /// Between the first and the last arrival that count. Of what is so slow that there are no two of them,
    /// all counts.
    double rate() const {
        const Arrival since =
            since_.time > Seconds(0) && until_.time > since_.time ? since_ : Arrival{first_, 0};
        const Seconds time = until_.time - since.time;
        return time > Seconds(0) ? static_cast<double>(until_.bytes - since.bytes) / time.count() : 0;
    }

    struct Arrival {
        Seconds time{0};
        std::uint64_t bytes = 0;  // that have come by then
    };

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
    Seconds first_{0};  // when something came
    std::uint64_t come_bytes_ = 0;
    Arrival since_;  // the first that counts
    Arrival until_;  // the last
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
    join.mine.can = address && join.poller.is_open() ? 1 : 0;
    join.mine.number = 1;
    if (address) join.mine.endpoint = *address;
    join.mine.secret = streams::new_secret();
    join_streams(probes, joins, {settings.first_stream_port, settings.last_stream_port});
    if (join.lanes.size() != static_cast<std::size_t>(end.connections)) return std::nullopt;
    return StreamFlow(std::move(join.lanes), std::move(join.poller), end).run();
}

}  // namespace laple::mpi
