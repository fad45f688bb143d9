// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/block_streams.hpp"

#include <algorithm>
#include <utility>

#include "mpi/exec/transport.hpp"

namespace laple::mpi {

void BlockStreams::start(const StraightBlock& block, std::span<std::byte> memory, std::size_t number) {
    const StreamRoutes::Route& route = routes_->to(block.peer);
    const streams::MessageKey key{route.context, ways_.call, static_cast<std::uint32_t>(tag_), 0};
    if (std::find(links_.begin(), links_.end(), route.link) == links_.end()) links_.push_back(route.link);
    messages_.push_back(std::make_unique<Message>());
    Message& message = *messages_.back();
    message.link = route.link;
    message.is_sent = block.is_sent;
    message.bytes = memory.size();
    message.number = number;
    if (block.is_sent) {
        route.link->send(key, memory.data(), memory.size(), message.posted);
    } else {
        route.link->receive(key, memory.data(), memory.size(), message.posted);
    }
}

std::optional<BlockStreams::Completion> BlockStreams::look() {
    if (messages_.empty()) return std::nullopt;
    if (const auto completion = take_complete()) return completion;
    progress_links();
    return take_complete();
}

std::optional<BlockStreams::Completion> BlockStreams::take_complete() {
    const auto found = std::find_if(messages_.begin(), messages_.end(), [](const auto& message) {
        return message->posted.is_done.load(std::memory_order_acquire);
    });
    if (found == messages_.end()) return std::nullopt;
    const std::unique_ptr<Message> message = std::exchange(*found, std::move(messages_.back()));
    messages_.pop_back();
    if (message->posted.has_failed) return Completion{message->number, MPI_ERR_OTHER};
    const bool is_cut = !message->is_sent && message->posted.total != message->bytes;
    return Completion{message->number, is_cut ? MPI_ERR_TRUNCATE : MPI_SUCCESS};
}

void BlockStreams::progress_links() {
    const Seconds now = clock_time();
    for (streams::Link* link : links_) link->progress(now);
}

void BlockStreams::abandon() {
    if (messages_.empty()) return;
    for (const std::unique_ptr<Message>& message : messages_) message->link->forget(message->posted);
    messages_.clear();
    progress_links();
}

}  // namespace laple::mpi
