// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/burst_probe.hpp"

#include <algorithm>
#include <cstddef>

#include "mpi/exec/communicator.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

enum Tag { kBurst = 41, kReady, kSenderReady, kGo, kGot };

constexpr Bytes kMessage = 16 * 1024;  // sent without a handshake

/// All that this node sends in one burst, or gets.
class Burst {
  public:
    Burst(MPI_Comm probes, const std::vector<FlowEnd>& ends, Bytes bytes)
        : probes_(probes), ends_(ends), memory_(bytes), messages_((bytes + kMessage - 1) / kMessage) {}

    void get_all() {
        for (const FlowEnd& end : ends_) {
            if (end.sends) continue;
            auto& requests = receiving_.emplace_back(Receiving{end.peer, {}}).requests;
            for (std::size_t i = 0; i < messages_; ++i) {
                // The data do not matter, so one buffer would do, but MPI forbids overlapping receives.
                auto& memory = received_.emplace_back(length(i));
                PMPI_Irecv(memory.data(), static_cast<int>(length(i)), MPI_BYTE, end.peer, kBurst, probes_,
                           &requests.emplace_back());
            }
            send_signal(end.peer, kReady, probes_);
        }
    }

    /// The first messages to all peers come before the second ones.
    void send_all() {
        for (std::size_t i = 0; i < messages_; ++i) {
            for (const FlowEnd& end : ends_) {
                if (!end.sends) continue;
                PMPI_Isend(memory_.data() + i * kMessage, static_cast<int>(length(i)), MPI_BYTE, end.peer,
                           kBurst, probes_, &sending_.emplace_back());
            }
        }
    }

    void answer_all() {
        for (auto& [peer, requests] : receiving_) {
            for (MPI_Request& request : requests) wait_quietly(request);
            send_signal(peer, kGot, probes_);
        }
    }

    /// In the order in which answers come.
    std::vector<Seconds> times(Seconds start) {
        std::vector<MPI_Request> answers;
        std::vector<std::size_t> owners;
        for (const FlowEnd& end : ends_) {
            if (!end.sends) continue;
            owners.push_back(answers.size());
            PMPI_Irecv(nullptr, 0, MPI_BYTE, end.peer, kGot, probes_, &answers.emplace_back());
        }
        std::vector<Seconds> times(answers.size());
        while (!answers.empty()) {
            const std::size_t done = wait_for_any_quietly(answers);
            times[owners[done]] = now() - start;
            answers.erase(answers.begin() + static_cast<std::ptrdiff_t>(done));
            owners.erase(owners.begin() + static_cast<std::ptrdiff_t>(done));
        }
        for (MPI_Request& request : sending_) wait_quietly(request);
        return times;
    }

  private:
    struct Receiving {
        int peer;
        std::vector<MPI_Request> requests;
    };

    Bytes length(std::size_t message) const {
        return std::min(kMessage, memory_.size() - message * kMessage);
    }

    MPI_Comm probes_;
    const std::vector<FlowEnd>& ends_;
    std::vector<std::byte> memory_;
    std::size_t messages_;
    std::vector<std::vector<std::byte>> received_;
    std::vector<Receiving> receiving_;
    std::vector<MPI_Request> sending_;
};

/// Returns when all `senders` are here, of which this is one.
void wait_for_all(const std::vector<int>& senders, MPI_Comm probes) {
    const int rank = rank_in(probes);
    if (rank != senders.front()) {
        send_signal(senders.front(), kSenderReady, probes);
        wait_for_signal(senders.front(), kGo, probes);
        return;
    }
    for (const int sender : senders) {
        if (sender != rank) wait_for_signal(sender, kSenderReady, probes);
    }
    for (const int sender : senders) {
        if (sender != rank) send_signal(sender, kGo, probes);
    }
}

}  // namespace

std::vector<Seconds> run_bursts(MPI_Comm probes, const std::vector<FlowEnd>& ends,
                                const std::vector<int>& senders, Bytes bytes, Seconds rest_time) {
    Burst burst(probes, ends, bytes);
    burst.get_all();
    bool sends = false;
    for (const FlowEnd& end : ends) {
        if (!end.sends) continue;
        wait_for_signal(end.peer, kReady, probes);
        sends = true;
    }
    Seconds start{0};
    if (sends) {
        wait_for_all(senders, probes);
        rest(rest_time);
        start = now();
        burst.send_all();
    }
    burst.answer_all();
    return burst.times(start);
}

}  // namespace laple::mpi
