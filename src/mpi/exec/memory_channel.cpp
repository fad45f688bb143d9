// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/memory_channel.hpp"

#include <algorithm>
#include <cstring>

#include <sched.h>

#include "mpi/exec/packing.hpp"

namespace laple::mpi {
namespace {

/// Messages without data may have no address.
void copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
}

constexpr std::size_t kUsualWindow = 4;
constexpr int kIdle = 256;  // looks in which nothing happens

}  // namespace

MemoryChannel::MemoryChannel(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
                             Scratch::MemoryLists& lists)
    : schedule_(prepared.schedule),
      operands_(operands),
      ways_(ways),
      call_(ways.call),
      memory_(*ways.host),
      lists_(lists) {
    lists_.sends.clear();
    lists_.receives.clear();
    lists_.completed.clear();
    lists_.repeats.clear();
    // How many there are at a time differs from run to run.
    const std::size_t most =
        std::min(prepared.schedule.steps.size(), kUsualWindow * prepared.graph.channel_count());
    lists_.sends.reserve(most);
    lists_.receives.reserve(most);
    lists_.completed.reserve(most);
    lists_.repeats.reserve(most);
}

int MemoryChannel::send(std::uint32_t step, const Transfer& transfer) {
    const TypeLayout& layout = operands_.layout;
    const auto bytes = static_cast<std::uint64_t>(transfer.count) * static_cast<std::uint64_t>(layout.size);
    Sending& sending = lists_.sends.emplace_back();
    sending = {step, place_of(transfer.peer), static_cast<const std::byte*>(transfer.data), bytes, 0, false,
               {}};
    if (!layout.is_contiguous && bytes > 0) {
        sending.packed.resize(bytes);
        const int code =
            pack_all(sending.data, transfer.count, transfer.type, layout, sending.packed.data(), ways_.comm);
        if (code != MPI_SUCCESS) {
            lists_.sends.pop_back();
            return code;
        }
        sending.data = sending.packed.data();
    }
    send_more();
    return MPI_SUCCESS;
}

int MemoryChannel::recv(std::uint32_t step, const Transfer& transfer) {
    const TypeLayout& layout = operands_.layout;
    Receiving& receiving = lists_.receives.emplace_back();
    receiving = {step,
                 place_of(transfer.peer),
                 static_cast<std::byte*>(transfer.data),
                 static_cast<std::uint64_t>(transfer.count) * static_cast<std::uint64_t>(layout.size),
                 transfer.count,
                 transfer.type,
                 false,
                 {}};
    if (!layout.is_contiguous) receiving.packed.resize(receiving.bytes);
    take_unexpected(receiving);
    return MPI_SUCCESS;
}

/// What is sent to one rank arrives in its order: none overtakes another.
bool MemoryChannel::is_waiting_before(std::size_t index) const {
    for (std::size_t i = 0; i < index; ++i) {
        if (lists_.sends[i].to == lists_.sends[index].to) return true;
    }
    return false;
}

void MemoryChannel::send_more() {
    for (std::size_t i = 0; i < lists_.sends.size();) {
        if (is_waiting_before(i) || !go_on(lists_.sends[i])) {
            ++i;
            continue;
        }
        complete(lists_.sends[i].step, MPI_SUCCESS);
        lists_.sends.erase(lists_.sends.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

/// Copies in as much as there is room for; whether nothing is left to do.
bool MemoryChannel::go_on(Sending& sending) {
    while (!sending.has_begun || sending.sent < sending.bytes) {
        HostMemory::Cell* const cell = memory_.free_cell(sending.to);
        // Blocks in the rings of ranks that do not read would be missing to others.
        const bool takes_block = sending.bytes - sending.sent > HostMemory::kInline;
        if ((cell == nullptr || takes_block) && memory_.has_left(sending.to, call_)) {
            drop(sending);
            return true;
        }
        if (cell == nullptr) return false;
        const auto bytes = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(sending.bytes - sending.sent, memory_.fragment_bytes()));
        cell->block = HostMemory::kNoBlock;
        if (bytes > HostMemory::kInline) {
            const auto block = block_for(sending, bytes);
            if (!block) return false;
            cell->block = *block;
        } else if (bytes > 0) {
            copy(cell->data, sending.data + sending.sent, bytes);
        }
        cell->bytes = bytes;
        cell->total = sending.bytes;
        cell->call = call_;
        cell->channel = schedule_.steps[sending.step].channel;
        cell->is_first = !sending.has_begun;
        memory_.post(sending.to);
        sending.has_begun = true;
        sending.sent += bytes;
    }
    return true;
}

void MemoryChannel::drop(const Sending& sending) {
    const bool is_whole = !sending.has_begun && sending.bytes <= memory_.fragment_bytes();
    if (!is_whole || sending.bytes <= HostMemory::kInline) return;
    Repeats* const repeats = repeats_of(sending);
    if (repeats == nullptr) return;
    const std::uint32_t block = count_sent(*repeats, repeats->block);
    if (block != HostMemory::kNoBlock) memory_.release_own(block, 1);
}

std::uint32_t MemoryChannel::first_of_repeats(std::uint32_t step) const {
    while (schedule_.steps[step].repeats) --step;
    return step;
}

/// Those that go to ranks of this host.
std::uint32_t MemoryChannel::count_repeats(std::uint32_t first) const {
    std::uint32_t count = 0;
    std::uint32_t step = first;
    do {
        if (place_of(schedule_.steps[step].peer) >= 0) ++count;
    } while (++step < schedule_.steps.size() && schedule_.steps[step].repeats);
    return count;
}

/// A block with the next `bytes`.
std::optional<std::uint32_t> MemoryChannel::block_for(const Sending& sending, std::uint32_t bytes) {
    Repeats* const repeats = bytes == sending.bytes ? repeats_of(sending) : nullptr;
    const bool is_shared = repeats != nullptr && repeats->is_shared;
    if (is_shared && repeats->block != HostMemory::kNoBlock) return count_sent(*repeats, repeats->block);
    const auto block = memory_.allocate(bytes, is_shared ? repeats->unsent : 1);
    if (!block) return std::nullopt;
    copy(memory_.block_data(*block), sending.data + sending.sent, bytes);
    if (is_shared) repeats->block = *block;
    return repeats != nullptr ? count_sent(*repeats, *block) : *block;
}

/// The messages with the same data; nullptr where there is one only.
MemoryChannel::Repeats* MemoryChannel::repeats_of(const Sending& sending) {
    const std::uint32_t first = first_of_repeats(sending.step);
    for (Repeats& known : lists_.repeats) {
        if (known.first_step == first) return &known;
    }
    const std::uint32_t count = count_repeats(first);
    if (count == 1) return nullptr;
    lists_.repeats.push_back({first, HostMemory::kNoBlock, sending.bytes, count, may_share(sending.bytes)});
    return &lists_.repeats.back();
}

std::uint32_t MemoryChannel::count_sent(Repeats& repeats, std::uint32_t block) {
    if (--repeats.unsent == 0)
        lists_.repeats.erase(lists_.repeats.begin() + (&repeats - lists_.repeats.data()));
    return block;
}

/// What is to be sent to one rank may wait behind what needs a block: blocks that wait for that must leave
/// some free.
bool MemoryChannel::may_share(std::uint64_t bytes) const {
    std::uint32_t waiting = 0;
    for (const Repeats& repeats : lists_.repeats) {
        if (repeats.is_shared && memory_.is_small(repeats.bytes) == memory_.is_small(bytes)) ++waiting;
    }
    return waiting < memory_.count_blocks(bytes) / 2;
}

std::optional<Channel::Completion> MemoryChannel::look() {
    if (lists_.completed.empty()) {
        if (!lists_.sends.empty()) send_more();
        for (std::size_t i = 0; i < lists_.receives.size(); ++i) read(lists_.receives[i].from, Wanted::yes);
        if (lists_.completed.empty() && !lists_.receives.empty()) find_failures();
    }
    if (lists_.completed.empty()) {
        if (++idle_looks_ % kIdle == 0) make_room();
        return std::nullopt;
    }
    idle_looks_ = 0;
    const auto [step, code] = lists_.completed.front();
    lists_.completed.erase(lists_.completed.begin());
    return Completion{step, code};
}

/// Yields between looks: ranks may share cores.
Channel::Completion MemoryChannel::wait() {
    while (true) {
        if (const auto completion = look()) return *completion;
        sched_yield();
    }
}

/// A rank whose blocks are all taken by messages that this one does not want yet cannot send to others, for
/// whom this one may be waiting.
void MemoryChannel::make_room() {
    for (int from = 0; from < memory_.ranks(); ++from) {
        if (from != memory_.self()) read(from, Wanted::no);
    }
}

/// Reads what has come from a rank, as far as it is wanted, or all of it. Erases receives that complete.
void MemoryChannel::read(int from, Wanted wanted) {
    while (const HostMemory::Cell* cell = memory_.oldest(from)) {
        HostMemory::Incoming& incoming = memory_.incoming(from);
        if (cell->is_first && !begin(from, *cell, wanted)) return;
        const std::uint64_t total = cell->total;
        const std::uint32_t bytes = cell->bytes;
        if (Receiving* receiving = receive_of(incoming.step)) {
            take(*receiving, memory_.data(from, *cell), incoming.received, bytes);
        } else if (incoming.kept != nullptr) {
            copy(incoming.kept->data.data() + incoming.received, memory_.data(from, *cell), bytes);
        }
        memory_.drop_oldest(from);
        incoming.received += bytes;
        if (incoming.received < total) continue;
        const std::int64_t step = incoming.step;
        incoming = {};
        if (step >= 0) received(static_cast<std::uint32_t>(step), total);
    }
}

/// The oldest receive that takes a message which begins with that cell; nullptr where there is none.
MemoryChannel::Receiving* MemoryChannel::receive_for(int from, const HostMemory::Cell& cell) {
    if (cell.call != call_) return nullptr;
    const auto found = std::find_if(lists_.receives.begin(), lists_.receives.end(), [&](const Receiving& r) {
        return r.from == from && !r.is_matched && schedule_.steps[r.step].channel == cell.channel;
    });
    return found != lists_.receives.end() ? &*found : nullptr;
}

/// Finds the place for a message of which the first cell has come. False where it may stay where it is: no
/// receive waits for it, or for one that may be behind it.
bool MemoryChannel::begin(int from, const HostMemory::Cell& cell, Wanted wanted) {
    Receiving* const receiving = receive_for(from, cell);
    const auto waits = [&](const Receiving& r) { return r.from == from && !r.is_matched; };
    if (receiving == nullptr && wanted == Wanted::yes &&
        std::none_of(lists_.receives.begin(), lists_.receives.end(), waits))
        return false;
    // A rank in a later call has already sent all that this call needs, so it can wait until this rank gets
    // there. Else a rank that runs ahead would fill the memory of this one.
    if (wanted == Wanted::no && cell.call > call_) return false;
    HostMemory::Incoming& incoming = memory_.incoming(from);
    // What has come of an unfinished message is of no use.
    if (incoming.is_active && incoming.kept != nullptr) memory_.drop_unexpected(*incoming.kept);
    incoming = {true, 0, -1, nullptr};
    if (receiving != nullptr) {
        receiving->is_matched = true;
        incoming.step = receiving->step;
        return true;
    }
    incoming.kept = &memory_.add_unexpected(cell.total);
    incoming.kept->from = from;
    incoming.kept->call = cell.call;
    incoming.kept->channel = cell.channel;
    return true;
}

MemoryChannel::Receiving* MemoryChannel::receive_of(std::int64_t step) {
    if (step < 0) return nullptr;
    const auto found = std::find_if(lists_.receives.begin(), lists_.receives.end(),
                                    [&](const Receiving& receiving) { return receiving.step == step; });
    return found != lists_.receives.end() ? &*found : nullptr;
}

/// A longer message than was expected is cut.
void MemoryChannel::take(Receiving& receiving, const std::byte* data, std::uint64_t at, std::uint64_t bytes) {
    if (at >= receiving.bytes || bytes == 0) return;
    std::byte* const to = operands_.layout.is_contiguous ? receiving.data : receiving.packed.data();
    copy(to + at, data, std::min(bytes, receiving.bytes - at));
}

void MemoryChannel::received(std::uint32_t step, std::uint64_t total) {
    Receiving* const receiving = receive_of(step);
    if (receiving == nullptr) return;
    int code = total == receiving->bytes ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
    const TypeLayout& layout = operands_.layout;
    if (code == MPI_SUCCESS && !layout.is_contiguous && total > 0) {
        code = unpack_all(receiving->packed.data(), receiving->data, receiving->count, receiving->type,
                          layout, ways_.comm);
    }
    lists_.receives.erase(lists_.receives.begin() + (receiving - lists_.receives.data()));
    complete(step, code);
}

/// Whether a message for this receive had come before it.
bool MemoryChannel::take_unexpected(Receiving& receiving) {
    const auto& all = memory_.unexpected();
    const std::uint16_t channel = schedule_.steps[receiving.step].channel;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& kept) {
        return kept->from == receiving.from && kept->call == call_ && kept->channel == channel;
    });
    if (found == all.end()) return false;
    const HostMemory::Unexpected& kept = **found;
    const std::uint64_t total = kept.total;
    receiving.is_matched = true;
    HostMemory::Incoming& incoming = memory_.incoming(receiving.from);
    const bool is_still_coming = incoming.is_active && incoming.kept == &kept;
    take(receiving, kept.data.data(), 0, is_still_coming ? incoming.received : total);
    memory_.drop_unexpected(kept);
    if (is_still_coming) {
        incoming.kept = nullptr;
        incoming.step = receiving.step;
    } else {
        received(receiving.step, total);
    }
    return true;
}

/// A rank that has met an error, or has returned from the call, sends no more. What it sent before is read
/// first.
void MemoryChannel::find_failures() {
    for (std::size_t i = 0; i < lists_.receives.size(); ++i) {
        const int from = lists_.receives[i].from;
        if (!memory_.has_failed(from, call_) && !memory_.has_left(from, call_)) continue;
        read(from, Wanted::yes);
        if (lists_.completed.empty()) complete(lists_.receives[i].step, MPI_ERR_TRUNCATE);
        return;
    }
}

void MemoryChannel::send_nothing(const Transfer& transfer) {
    memory_.fail(place_of(transfer.peer), call_);
}

void MemoryChannel::abandon() {
    for (const Sending& sending : lists_.sends) memory_.fail(sending.to, call_);
    for (const Repeats& repeats : lists_.repeats) {
        if (repeats.block != HostMemory::kNoBlock) memory_.release_own(repeats.block, repeats.unsent);
    }
    for (const Receiving& receiving : lists_.receives) {
        HostMemory::Incoming& incoming = memory_.incoming(receiving.from);
        if (incoming.is_active && incoming.step == receiving.step) incoming.step = -1;
    }
    lists_.sends.clear();
    lists_.receives.clear();
    lists_.completed.clear();
    lists_.repeats.clear();
}

}  // namespace laple::mpi
