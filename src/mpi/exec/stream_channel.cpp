// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/stream_channel.hpp"

#include <algorithm>

#include <sched.h>

#include "mpi/exec/packing.hpp"
#include "mpi/exec/transport.hpp"

namespace laple::mpi {

StreamChannel::StreamChannel(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
                             const StreamRoutes& routes)
    : prepared_(prepared),
      operands_(operands),
      ways_(ways),
      routes_(routes),
      messages_(prepared.schedule.steps.size()),
      is_oldest_(prepared.graph.first_in_channel()) {}

std::uint64_t StreamChannel::bytes_of(const Transfer& transfer) const {
    return static_cast<std::uint64_t>(transfer.count) * static_cast<std::uint64_t>(operands_.layout.size);
}

streams::MessageKey StreamChannel::next_key(Turns& turns, const Transfer& transfer) const {
    return {routes_.to(transfer.peer).context, ways_.call, static_cast<std::uint32_t>(transfer.tag),
            turns[{transfer.peer, transfer.tag}]++};
}

StreamChannel::Message& StreamChannel::start(std::uint32_t step, const Transfer& transfer) {
    streams::Link* const link = routes_.to(transfer.peer).link;
    if (std::find(links_.begin(), links_.end(), link) == links_.end()) links_.push_back(link);
    messages_[step] = std::make_unique<Message>();
    Message& message = *messages_[step];
    message.link = link;
    message.transfer = transfer;
    message.bytes = bytes_of(transfer);
    if (!operands_.layout.is_contiguous) message.packed.resize(message.bytes);
    return message;
}

int StreamChannel::send(std::uint32_t step, const Transfer& transfer) {
    Message& message = start(step, transfer);
    const auto* data = static_cast<const std::byte*>(transfer.data);
    if (!operands_.layout.is_contiguous) {
        const int code = pack_all(data, transfer.count, transfer.type, operands_.layout,
                                  message.packed.data(), ways_.comm);
        if (code != MPI_SUCCESS) return messages_[step].reset(), code;
        data = message.packed.data();
    }
    if (is_oldest_[step] != 0) watched_.push_back(step);
    message.link->send(next_key(sent_, transfer), data, message.bytes, message.posted);
    return MPI_SUCCESS;
}

int StreamChannel::recv(std::uint32_t step, const Transfer& transfer) {
    Message& message = start(step, transfer);
    std::byte* const data =
        operands_.layout.is_contiguous ? static_cast<std::byte*>(transfer.data) : message.packed.data();
    if (is_oldest_[step] != 0) watched_.push_back(step);
    message.link->receive(next_key(received_, transfer), data, message.bytes, message.posted);
    return MPI_SUCCESS;
}

std::optional<Channel::Completion> StreamChannel::look() {
    const auto is_done = [this](std::uint32_t step) {
        return messages_[step]->posted.is_done.load(std::memory_order_acquire);
    };
    auto found = std::find_if(watched_.begin(), watched_.end(), is_done);
    if (found == watched_.end()) {
        const Seconds now = clock_time();
        for (streams::Link* link : links_) link->progress(now);
        found = std::find_if(watched_.begin(), watched_.end(), is_done);
    }
    if (found == watched_.end()) return std::nullopt;
    const std::uint32_t step = *found;
    watched_.erase(found);
    return completed(step);
}

/// Yields between looks: ranks may share cores.
Channel::Completion StreamChannel::wait() {
    while (true) {
        if (const auto completion = look()) return *completion;
        sched_yield();
    }
}

Channel::Completion StreamChannel::completed(std::uint32_t number) {
    const Step& step = prepared_.schedule.steps[number];
    if (step.next_in_channel >= 0) {
        const auto oldest = static_cast<std::uint32_t>(step.next_in_channel);
        is_oldest_[oldest] = 1;
        if (messages_[oldest] != nullptr) watched_.push_back(oldest);
    }
    const std::unique_ptr<Message> message = std::move(messages_[number]);
    return {number, code_of(*message, step.kind == StepKind::recv)};
}

int StreamChannel::code_of(const Message& message, bool is_received) const {
    if (message.posted.has_failed) return MPI_ERR_OTHER;
    if (!is_received) return MPI_SUCCESS;
    if (message.posted.total != message.bytes) return MPI_ERR_TRUNCATE;
    if (operands_.layout.is_contiguous || message.bytes == 0) return MPI_SUCCESS;
    const Transfer& transfer = message.transfer;
    return unpack_all(message.packed.data(), static_cast<std::byte*>(transfer.data), transfer.count,
                      transfer.type, operands_.layout, ways_.comm);
}

void StreamChannel::send_nothing(const Transfer& transfer) {
    streams::Link& link = *routes_.to(transfer.peer).link;
    streams::Posted posted;
    link.send(next_key(sent_, transfer), nullptr, 0, posted);
    link.forget(posted);
    link.progress(clock_time());
}

void StreamChannel::abandon() {
    for (const std::unique_ptr<Message>& message : messages_) {
        if (message != nullptr) message->link->forget(message->posted);
    }
    for (streams::Link* link : links_) link->progress(clock_time());
    std::fill(messages_.begin(), messages_.end(), nullptr);
    watched_.clear();
}

}  // namespace laple::mpi
