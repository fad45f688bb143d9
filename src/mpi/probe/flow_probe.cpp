// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/flow_probe.hpp"

#include <algorithm>
#include <cstddef>

#include "mpi/exec/transport.hpp"
#include "mpi/probe/waiting.hpp"
#include "plogp/flow_parts.hpp"

namespace laple::mpi {
namespace {

enum Tag { kReady = 1, kFlow };

constexpr Bytes kMostInFlight = 256;
constexpr Bytes kLeastInFlight = 4;
constexpr Bytes kFirstBytes = 64 * 1024;  // under way at once

/// One end while it runs: a window of requests, each with memory of its own.
struct Running {
    FlowEnd end;
    Bytes bytes = 0;   // of a message
    Bytes window = 0;  // messages
    std::vector<std::byte> memory;
    Seconds start{0};
    bool is_ending = false;  // sends: the last message is under way
    Bytes used = 0;          // sends: slots of the window
    FlowParts come;          // receives
};

/// All requests of all ends of this node: each end has as many in a row.
class Flows {
  public:
    Flows(MPI_Comm probes, const std::vector<FlowEnd>& ends, const FlowOptions& options)
        : probes_(probes), duration_(options.duration) {
        for (const FlowEnd& end : ends) {
            const auto slower = static_cast<Bytes>(std::max(end.slower, 1));
            const Bytes bytes = std::max<Bytes>(options.message_bytes / slower, 1);
            const Bytes window =
                std::clamp(options.window_bytes / slower / bytes, kLeastInFlight, kMostInFlight);
            running_.push_back({end, bytes, window, std::vector<std::byte>(window * bytes), Seconds(0), false,
                                0, FlowParts(duration_)});
        }
    }

    std::vector<FlowRate> run() {
        start_all();
        // Requests that are done for good are taken out, so that none is MPI_REQUEST_NULL.
        while (!requests_.empty()) {
            int finished = 0;
            if (wait_for_any(requests_, finished, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
                finished == MPI_UNDEFINED) {
                break;
            }
            go_on(static_cast<std::size_t>(finished));
        }
        std::vector<FlowRate> rates;
        for (const Running& flow : running_) {
            if (!flow.end.sends) rates.push_back(flow.come.rates());
        }
        return rates;
    }

  private:
    struct Slot {
        std::size_t flow;
        std::size_t index;
    };

    std::byte* memory(const Slot& slot) {
        Running& flow = running_[slot.flow];
        return flow.memory.data() + slot.index * flow.bytes;
    }

    /// Receivers post their windows, then tell the senders, who begin when they hear it. Before that, every
    /// pair exchanges a message, so that no time of the flow goes into making the connection.
    void start_all() {
        for (Running& flow : running_) {
            if (flow.end.sends) send_signal(flow.end.peer, kReady, probes_);
        }
        for (std::size_t f = 0; f < running_.size(); ++f) {
            Running& flow = running_[f];
            if (flow.end.sends) continue;
            for (std::size_t i = 0; i < flow.window; ++i) receive({f, i});
            wait_for_signal(flow.end.peer, kReady, probes_);
            flow.start = now();
            send_signal(flow.end.peer, kReady, probes_);
        }
        for (Running& flow : running_) {
            if (!flow.end.sends) continue;
            wait_for_signal(flow.end.peer, kReady, probes_);
            flow.start = now();
        }
        for (std::size_t f = 0; f < running_.size(); ++f) {
            Running& flow = running_[f];
            if (!flow.end.sends) continue;
            const Bytes at_once = kFirstBytes / static_cast<Bytes>(std::max(flow.end.slower, 1));
            const Bytes first = std::clamp(at_once / flow.bytes, kLeastInFlight, flow.window);
            while (flow.used < first) send({f, flow.used++});
        }
    }

    void receive(const Slot& slot) {
        MPI_Request request = MPI_REQUEST_NULL;
        const Running& flow = running_[slot.flow];
        PMPI_Irecv(memory(slot), static_cast<int>(flow.bytes), MPI_BYTE, flow.end.peer, kFlow, probes_,
                   &request);
        add(slot, request);
    }

    /// Synchronous: done when it has arrived, so that the window is one of data under way and not of what
    /// waits in buffers of this node, which would take its time to leave them in the end.
    void send(const Slot& slot) {
        Running& flow = running_[slot.flow];
        memory(slot)[0] = std::byte{flow.is_ending};
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Issend(memory(slot), static_cast<int>(flow.bytes), MPI_BYTE, flow.end.peer, kFlow, probes_,
                    &request);
        add(slot, request);
    }

    void add(const Slot& slot, MPI_Request request) {
        requests_.push_back(request);
        slots_.push_back(slot);
    }

    Slot take(std::size_t finished) {
        const Slot slot = slots_[finished];
        requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(finished));
        slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(finished));
        return slot;
    }

    /// The receiver has a whole window posted when the last message comes: a sender ends with a window of
    /// messages that say so, one for each.
    void go_on(std::size_t finished) {
        const Slot slot = take(finished);
        Running& flow = running_[slot.flow];
        if (flow.end.sends) {
            if (flow.is_ending) return;
            if (now() - flow.start < duration_) return send_more(slot);
            flow.is_ending = true;
            for (std::size_t i = 0; i < flow.window; ++i) send_end(slot);
            return;
        }
        const bool is_end = memory(slot)[0] != std::byte{0};
        if (is_end) return;
        flow.come.add(now() - flow.start, flow.bytes);
        receive(slot);
    }

    /// Two for each message that has arrived until the window is full, as TCP does: a thin link must not be
    /// given a window that it takes seconds to carry.
    void send_more(const Slot& slot) {
        Running& flow = running_[slot.flow];
        send(slot);
        if (flow.used < flow.window) send({slot.flow, flow.used++});
    }

    /// One byte, from memory that is not touched any more.
    void send_end(const Slot& slot) {
        static const std::byte kEnd{1};
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Isend(&kEnd, 1, MPI_BYTE, running_[slot.flow].end.peer, kFlow, probes_, &request);
        add(slot, request);
    }

    MPI_Comm probes_;
    Seconds duration_;
    std::vector<Running> running_;
    std::vector<MPI_Request> requests_;
    std::vector<Slot> slots_;
};

}  // namespace

std::vector<FlowRate> run_flows(MPI_Comm probes, const std::vector<FlowEnd>& ends,
                                const FlowOptions& options) {
    return Flows(probes, ends, options).run();
}

}  // namespace laple::mpi
