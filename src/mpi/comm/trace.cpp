// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/trace.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <iterator>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/json.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/result_file.hpp"
#include "mpi/comm/trace_text.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/stream_routes.hpp"
#include "mpi/probe/waiting.hpp"
#include "streams/link.hpp"

namespace laple::mpi {
namespace {

// Of all ranks together, messages twice: a file of some 80 MB with what was predicted.
constexpr std::size_t kMostSteps = 200'000;
constexpr std::size_t kLeastRoom = 500;
constexpr std::size_t kMostCalls = 5'000;  // of a rank

// What is sent of a call, and of its steps and connections, in the order of the lists below.

std::vector<std::uint8_t> packed_calls(const std::vector<TracedCall>& calls, std::size_t left_out) {
    Json list = Json::array();
    for (const TracedCall& call : calls) {
        Json steps = Json::array();
        for (const StepTime& step : call.steps) {
            steps.push_back({static_cast<int>(step.kind), step.channel, step.peer, step.bytes, step.offset,
                             step.start.count(), step.end.count()});
        }
        Json connections = Json::array();
        for (const auto& each : call.connections)
            connections.push_back({each.peer, each.round_trip.count(), each.windows, each.sent_again});
        list.push_back({call.function, call.bytes, call.algorithm, call.predicted.count(),
                        call.native.count(), call.communicator, call.number, call.begin.count(),
                        call.end.count(), std::move(steps), std::move(connections)});
    }
    return Json::to_cbor({std::move(list), left_out});
}

/// Adds to `left_out`.
std::vector<TracedCall> unpacked_calls(const std::vector<std::uint8_t>& packed, std::uint64_t& left_out) {
    if (packed.empty()) return {};
    const Json message = Json::from_cbor(packed);
    left_out += message[1].get<std::uint64_t>();
    std::vector<TracedCall> calls;
    for (const Json& from : message[0]) {
        TracedCall& call = calls.emplace_back();
        call.function = from[0].get<std::string>();
        call.bytes = from[1].get<Bytes>();
        call.algorithm = from[2].get<std::string>();
        call.predicted = Seconds(from[3].get<double>());
        call.native = Seconds(from[4].get<double>());
        call.communicator = from[5].get<std::uint64_t>();
        call.number = from[6].get<std::uint64_t>();
        call.begin = Seconds(from[7].get<double>());
        call.end = Seconds(from[8].get<double>());
        for (const Json& step : from[9]) {
            call.steps.push_back({static_cast<StepKind>(step[0].get<int>()), step[1].get<std::uint16_t>(),
                                  step[2].get<Rank>(), step[3].get<Bytes>(), step[4].get<std::uint64_t>(),
                                  Seconds(step[5].get<double>()), Seconds(step[6].get<double>())});
        }
        for (const Json& each : from[10]) {
            call.connections.push_back({each[0].get<Rank>(), Seconds(each[1].get<double>()),
                                        each[2].get<Bytes>(), each[3].get<std::uint64_t>()});
        }
    }
    return calls;
}

bool is_drawn(const StepTime& step) {
    return step.kind != StepKind::copy && step.end > Seconds(0);
}

}  // namespace

Trace::Trace(std::string file)
    : file_(std::move(file)), room_(std::max(kMostSteps / at(size_of(MPI_COMM_WORLD)), kLeastRoom)) {}

Trace::~Trace() {
    if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
}

void Trace::begin(MPI_Comm comm, const Machine& machine) {
    MPI_Comm own = own_copy_of(comm);
    if (own == MPI_COMM_NULL) return;
    Clock clock(own, ClockChoice::automatic);
    const std::lock_guard lock(mutex_);
    comm_ = own;
    machine_ = machine;
    clock_.emplace(std::move(clock));
    compared_before_ = compared_after_ = clock_time();
    offset_before_ = offset_after_ = Seconds(static_cast<double>(clock_->now_ns() - local_now_ns()) * 1e-9);
}

void Trace::add(TracedCall call) {
    const std::lock_guard lock(mutex_);
    if (calls_.size() == kMostCalls || call.steps.size() + call.connections.size() > room_) {
        ++left_out_;
        call.steps.clear();
        call.connections.clear();
        call.simulate = nullptr;
    }
    if (calls_.size() == kMostCalls) return;
    room_ -= call.steps.size() + call.connections.size();
    calls_.push_back(std::move(call));
}

/// By rank 0's clock: clocks drift at a steady rate.
std::vector<TracedCall> Trace::calls_in_common_time() const {
    const Seconds between = compared_after_ - compared_before_;
    const auto change = [&](Seconds& time) {
        const double share = between > Seconds(0) ? (time - compared_before_) / between : 0;
        time += offset_before_ + share * (offset_after_ - offset_before_);
    };
    std::vector<TracedCall> calls = calls_;
    for (TracedCall& call : calls) {
        change(call.begin);
        change(call.end);
        for (StepTime& step : call.steps) {
            change(step.start);
            change(step.end);
        }
    }
    return calls;
}

/// On rank 0 those of all ranks, on others nothing.
std::vector<std::vector<std::uint8_t>> Trace::gather(const std::vector<std::uint8_t>& mine) const {
    const auto ranks = at(size_of(comm_));
    const int bytes = static_cast<int>(mine.size());
    std::vector<int> sizes(ranks);
    PMPI_Gather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm_);
    constexpr int kTag = 1;
    if (rank_in(comm_) != 0) {
        PMPI_Send(mine.data(), bytes, MPI_BYTE, 0, kTag, comm_);
        return {};
    }
    std::vector<std::vector<std::uint8_t>> all(ranks);
    all.front() = mine;
    for (std::size_t rank = 1; rank < ranks; ++rank) {
        all[rank].resize(at(sizes[rank]));
        PMPI_Recv(all[rank].data(), sizes[rank], MPI_BYTE, static_cast<int>(rank), kTag, comm_,
                  MPI_STATUS_IGNORE);
    }
    return all;
}

void Trace::write(const std::string& versions) {
    if (comm_ == MPI_COMM_NULL) {
        if (rank_in(MPI_COMM_WORLD) == 0)
            say(fmt::format(
                "LAPLE_TRACE: {} is not written: no communicator of all ranks was used, or not all "
                "ranks have LAPLE_TRACE",
                file_));
        return;
    }
    clock_->synchronize();
    compared_after_ = clock_time();
    offset_after_ = Seconds(static_cast<double>(clock_->now_ns() - local_now_ns()) * 1e-9);
    std::vector<TracedCall> calls;
    std::vector<std::uint8_t> packed;
    try {
        calls = calls_in_common_time();
        packed = packed_calls(calls, left_out_);
    } catch (const std::bad_alloc&) {
        // Rank 0 waits for something.
    }
    const auto packed_of = gather(packed);
    if (packed_of.empty()) return;
    TracedJob job{machine_, {}, 0, versions, clock_->description()};
    for (const auto& each : packed_of) job.calls_of.push_back(unpacked_calls(each, job.left_out));
    job.calls_of.front() = calls;  // with what cannot be sent
    const std::string problem = write_result(file_, text_of(job));
    if (!problem.empty()) throw Error(problem, "give another name");
    say(fmt::format("timeline: {} (open it at ui.perfetto.dev, or draw it: laple-plot timeline)", file_));
}

/// Rank 0 chooses the identity, by its rank in MPI_COMM_WORLD and how many it has chosen; and whether the
/// trace begins here: several threads may set up communicators of all ranks at the same time, in any order.
CommTrace::CommTrace(Trace& trace, MPI_Comm comm, std::vector<Rank> in_world, bool is_like_world)
    : trace_(trace), in_world_(std::move(in_world)) {
    static std::atomic<std::uint32_t> chosen{0};
    std::array<std::uint64_t, 2> choice{};
    if (rank_in(comm) == 0) {
        choice = {static_cast<std::uint64_t>(rank_in(MPI_COMM_WORLD)) << 32U | ++chosen,
                  is_like_world && trace.may_begin() ? 1U : 0U};
    }
    PMPI_Bcast(choice.data(), static_cast<int>(choice.size()), MPI_UINT64_T, 0, comm);
    identity_ = choice[0];
    begins_ = choice[1] != 0;
}

bool CommTrace::wants(std::string_view function, Bytes bytes, const std::string& algorithm) {
    const Bytes most = std::bit_ceil(bytes);
    // Programs repeat one call: it need not be looked for.
    if (last_ == nullptr || last_->first.function != function || last_->first.bytes != most ||
        last_->first.algorithm != algorithm)
        last_ = &*calls_.try_emplace({std::string(function), most, algorithm}, 0).first;
    return std::has_single_bit(++last_->second);
}

void CommTrace::add(TracedCall call, const StepTimes* times, const StreamRoutes* routes) {
    call.communicator = identity_;
    if (call.simulate) {
        call.simulate = [simulate = std::move(call.simulate), in_world = in_world_] {
            std::vector<SimulatedMessage> messages = simulate();
            for (SimulatedMessage& message : messages) {
                message.from = in_world[at(message.from)];
                message.to = in_world[at(message.to)];
            }
            return messages;
        };
    }
    if (times != nullptr) {
        std::copy_if(times->steps().begin(), times->steps().end(), std::back_inserter(call.steps), is_drawn);
        for (StepTime& step : call.steps) step.peer = step.peer < 0 ? step.peer : in_world_[at(step.peer)];
    }
    for (Rank rank = 0; routes != nullptr && rank < static_cast<Rank>(in_world_.size()); ++rank) {
        const streams::Link* const link = routes->to(rank).link;
        const auto state = link != nullptr ? link->tcp_state() : std::nullopt;
        if (state)
            call.connections.push_back(
                {in_world_[at(rank)], state->round_trip, state->window, state->sent_again});
    }
    trace_.add(std::move(call));
}

}  // namespace laple::mpi
