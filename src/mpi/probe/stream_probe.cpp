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

constexpr Bytes kMessage = 256 * 1024;
constexpr std::size_t kUnderWay = 64;
constexpr Seconds kPatience(5);  // beyond the duration
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
            take(clock_time());
        }
        return bytes_ / (1 - kBegin) / end_.duration.count();
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
        while (!has_sent_last_ && (sent_.size() < kUnderWay || !has_time)) {
            has_sent_last_ = !has_time;
            sent_.push_back(std::make_unique<Message>());
            link_.send({1, 1, 1, next_sent_++}, memory_.data(), has_time ? kMessage : 0,
                       sent_.back()->posted);
        }
    }

    /// What comes is of no interest: all messages have the same room.
    void receive() {
        while (last_ == 0 && expected_.size() < kUnderWay) {
            expected_.push_back(std::make_unique<Message>());
            expected_.back()->turn = next_expected_;
            link_.receive({1, 1, 1, next_expected_++}, room_.data(), kMessage, expected_.back()->posted);
        }
    }

    void take(Seconds now) {
        std::erase_if(expected_, [&](const std::unique_ptr<Message>& message) {
            if (!message->posted.is_done) return false;
            ++come_;
            if (message->posted.total == 0) last_ = message->turn + 1;
            count(message->posted.total, now);
            return true;
        });
        if (last_ == 0) return;
        for (const auto& message : expected_) {
            if (message->turn >= last_) link_.forget(message->posted);
        }
        std::erase_if(expected_, [&](const auto& message) { return message->turn >= last_; });
    }

    void count(std::uint64_t bytes, Seconds now) {
        if (first_ == Seconds(0)) first_ = now;
        const double part = (now - first_) / end_.duration;
        if (part >= kBegin && part < 1) bytes_ += static_cast<double>(bytes);
    }

    StreamEnd end_;
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
    double bytes_ = 0;  // that came in the time that counts
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
