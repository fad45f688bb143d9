// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/mpi_channel.hpp"

#include <utility>

#include "mpi/exec/transport.hpp"

namespace laple::mpi {

MpiChannel::MpiChannel(const PreparedSchedule& prepared, MPI_Comm comm, Scratch::Lists& lists)
    : prepared_(prepared), comm_(comm), lists_(lists) {
    lists_.under_way.assign(prepared.schedule.steps.size(), MPI_REQUEST_NULL);
    lists_.is_oldest = prepared.graph.first_in_channel();
    lists_.watched.clear();
    lists_.step_of_watched.clear();
    // How many there are at a time differs from run to run.
    lists_.watched.reserve(prepared.graph.channel_count());
    lists_.step_of_watched.reserve(prepared.graph.channel_count());
}

int MpiChannel::send(std::uint32_t step, const Transfer& transfer) {
    const int code = start_send(transfer.data, transfer.count, transfer.type, transfer.peer, transfer.tag,
                                comm_, lists_.under_way[step]);
    if (code == MPI_SUCCESS) has_started(step);
    return code;
}

int MpiChannel::recv(std::uint32_t step, const Transfer& transfer) {
    if (type_ != transfer.type) {
        int size = 0;
        type_ = transfer.type;
        PMPI_Type_size(type_, &size);
        has_size_ = size > 0;
    }
    const int code = PMPI_Irecv(transfer.data, transfer.count, transfer.type, transfer.peer, transfer.tag,
                                comm_, &lists_.under_way[step]);
    if (code == MPI_SUCCESS) has_started(step);
    return code;
}

void MpiChannel::has_started(std::uint32_t step) {
    if (lists_.is_oldest[step] != 0) watch(step);
}

void MpiChannel::watch(std::uint32_t step) {
    lists_.watched.push_back(std::exchange(lists_.under_way[step], MPI_REQUEST_NULL));
    lists_.step_of_watched.push_back(step);
}

std::optional<Channel::Completion> MpiChannel::look() {
    int finished = MPI_UNDEFINED;
    MPI_Status status{};
    const int code = look_for_any(lists_.watched, finished, &status);
    if (code == MPI_SUCCESS && finished == MPI_UNDEFINED) return std::nullopt;
    return completed(finished, code, status);
}

Channel::Completion MpiChannel::wait() {
    int finished = MPI_UNDEFINED;
    MPI_Status status{};
    const int code = wait_for_any(lists_.watched, finished, &status);
    return completed(finished, code, status);
}

Channel::Completion MpiChannel::completed(int finished, int code, const MPI_Status& status) {
    if (code != MPI_SUCCESS) return {0, code};
    const std::uint32_t number = lists_.step_of_watched[static_cast<std::size_t>(finished)];
    const Step& step = prepared_.schedule.steps[number];
    lists_.watched.erase(lists_.watched.begin() + finished);
    lists_.step_of_watched.erase(lists_.step_of_watched.begin() + finished);
    if (step.next_in_channel >= 0) {
        const auto oldest = static_cast<std::uint32_t>(step.next_in_channel);
        lists_.is_oldest[oldest] = 1;
        if (lists_.under_way[oldest] != MPI_REQUEST_NULL) watch(oldest);
    }
    return {number, step.kind == StepKind::recv ? check_length(step, status) : MPI_SUCCESS};
}

/// A shorter message is no error to MPI: the ranks give different lengths, or its sender has met an error.
int MpiChannel::check_length(const Step& step, const MPI_Status& status) const {
    if (!has_size_ || prepared_.schedule.unit_bytes == 0) return MPI_SUCCESS;
    int count = 0;
    const int code = PMPI_Get_count(&status, type_, &count);
    if (code != MPI_SUCCESS) return code;
    return count == static_cast<int>(step.units) ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

void MpiChannel::send_nothing(const Transfer& transfer) {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Isend(nullptr, 0, MPI_BYTE, transfer.peer, transfer.tag, comm_, &request);
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
}

void MpiChannel::abandon() {
    for (std::size_t i = 0; i < lists_.watched.size(); ++i)
        lists_.under_way[lists_.step_of_watched[i]] = lists_.watched[i];
    lists_.watched.clear();
    lists_.step_of_watched.clear();
    complete_most();
    for (std::size_t step = 0; step < lists_.under_way.size(); ++step) {
        MPI_Request& request = lists_.under_way[step];
        if (request == MPI_REQUEST_NULL) continue;
        if (prepared_.schedule.steps[step].kind == StepKind::recv) PMPI_Cancel(&request);
        PMPI_Request_free(&request);
    }
}

/// The others send what they must, if only empty messages: then nothing is left for a later communicator, and
/// MPI does not go on with a message that it can cancel no more. But some may never come.
void MpiChannel::complete_most() {
    constexpr Seconds kPatience(2);
    const Seconds begin = clock_time();
    bool are_complete = false;
    while (!are_complete && clock_time() - begin < kPatience) {
        are_complete = true;
        for (MPI_Request& request : lists_.under_way) {
            int is_complete = 1;
            if (request != MPI_REQUEST_NULL) PMPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
            are_complete = are_complete && is_complete != 0;
        }
    }
}

}  // namespace laple::mpi
