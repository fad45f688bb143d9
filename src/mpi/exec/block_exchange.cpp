// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/block_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include <sched.h>

#include "mpi/exec/transport.hpp"

namespace laple::mpi {
namespace {

using Length = std::uint32_t;

enum Way { kTogether, kStraight, kNote };  // after Ways::first_tag

constexpr std::size_t kFarSegment = 16 * 1024;  // needs no handshake, and lets connections begin with one
constexpr std::size_t kNearSegment = 64 * 1024;
constexpr std::size_t kManySegments = 512;  // under way, of all blocks

std::size_t segment_of(const StraightBlock& block) {
    return block.is_far ? kFarSegment : kNearSegment;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

}  // namespace

BlockExchange::BlockExchange(const PreparedSchedule& prepared, const BlockPlan& plan,
                             const BlockOperands& operands, const Ways& ways, const StreamRoutes* routes,
                             StepTimes* times)
    : prepared_(prepared),
      plan_(plan),
      operands_(operands),
      ways_(ways),
      streams_(ways, routes, ways.first_tag + kStraight),
      times_(times) {
    add_straight();
    if (plan.longest_together == 0) return;
    const Schedule& schedule = prepared.schedule;
    waits_ = prepared.graph.waits();
    steps_left_ = schedule.steps.size();
    messages_.resize(schedule.steps.size());
    slots_.resize(kFirstTemporary);
    for (const BlockMemory& block : operands.input)
        slots_[kInput].push_back(goes_together(block) ? block : BlockMemory{});
    for (const std::uint64_t units : schedule.temporary_units) slots_.emplace_back(blocks_of(units));
    for (std::uint32_t step = 0; step < waits_.size(); ++step) {
        if (waits_[step] == 0) ready_.push_back(step);
    }
}

void BlockExchange::note_begin(std::size_t number, StepKind kind, int way, Rank peer, Bytes bytes) {
    if (times_ == nullptr) return;
    StepTime time;
    time.kind = kind;
    time.channel = static_cast<std::uint16_t>(way);
    time.peer = peer;
    time.bytes = bytes;
    times_->begin(number, time);
}

void BlockExchange::note_begin(const Straight& straight) {
    note_begin(straight.number, straight.block->is_sent ? StepKind::send : StepKind::recv, kStraight,
               straight.block->peer, straight.memory.bytes);
}

void BlockExchange::add_straight() {
    std::size_t number = prepared_.schedule.steps.size();
    for (const StraightBlock& block : plan_.straight) {
        const BlockMemory& memory = (block.is_sent ? operands_.input : operands_.result)[block.number];
        if (goes_together(memory) || memory.bytes == 0) continue;
        Straight straight;
        straight.block = &block;
        straight.memory = memory;
        straight.number = number++;
        if (streams_.reach(block.peer)) {
            note_begin(straight);
            streams_.start(block, {memory.data, memory.bytes}, straight.number);
            continue;
        }
        (block.is_sent ? sends_ : receives_).push_back(straight);
        bytes_left_ += memory.bytes;
    }
    const std::size_t blocks = std::max<std::size_t>(sends_.size() + receives_.size(), 1);
    add_notes();
    std::size_t near_bytes = 0;
    for (Straight& send : sends_) {
        if (send.block->is_far) {
            far_left_ += send.memory.bytes;
            far_.push_back(&send);
        } else {
            near_bytes += send.memory.bytes;
            near_.push_back(&send);
        }
    }
    far_that_may_start_ = far_.size();
    if (far_left_ > 0) near_for_far_ = static_cast<double>(near_bytes) / static_cast<double>(far_left_);
    window_ = static_cast<int>(std::clamp<std::size_t>(kManySegments / blocks, 2, 8));
    pace_ = pace();
}

/// Both ends know which blocks are so long. A note is no part of the cluster's traffic to others.
void BlockExchange::add_notes() {
    const bool is_root = is_root_of_gather();
    if (!is_root && !is_gathered()) return;
    std::vector<Straight>& long_blocks = is_root ? receives_ : sends_;
    note_blocks_.reserve(long_blocks.size());
    for (const Straight& each : long_blocks) {
        if (each.block->is_far && each.memory.bytes > kFarSegment)
            note_blocks_.push_back({each.block->peer, is_root, false, 0});
    }
    mean_bytes_ = std::make_unique<std::uint64_t>(is_root ? mean_of_blocks() : 0);
    for (const StraightBlock& block : note_blocks_) {
        Straight note;
        note.block = &block;
        note.memory = {reinterpret_cast<std::byte*>(mean_bytes_.get()), sizeof(std::uint64_t)};
        note.is_note = true;
        (is_root ? sends_ : receives_).push_back(note);
        bytes_left_ += note.memory.bytes;
    }
}

/// At the root, whose port all of them share: the pace is that of as many blocks.
std::uint64_t BlockExchange::mean_of_blocks() const {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    for (const StraightBlock& block : plan_.straight) {
        if (block.is_sent) continue;
        bytes += operands_.result[block.number].bytes;
        ++blocks;
    }
    return bytes / std::max<std::uint64_t>(blocks, 1);
}

/// The pace is for blocks that are alike. Where they are not, the own cluster's uplink still carries no more.
void BlockExchange::heed_note() {
    const auto own = static_cast<double>(operands_.input.front().bytes);
    const double usual = plan_.pace.seconds_per_byte;
    if (own <= 0 || usual <= 0) return;
    const double of_uplink = std::min(1.0, plan_.uplink * plan_.near_ranks / usual);
    pace_ = plan_.pace.scaled(std::clamp(static_cast<double>(*mean_bytes_) / own, of_uplink, 1.0));
    next_paced_ = std::min(next_paced_, clock_time());
}

std::vector<FarBlock> BlockExchange::far_blocks() const {
    std::set<const StraightBlock*> paced;
    for (const std::vector<Straight>* straight : {&sends_, &receives_}) {
        for (const Straight& each : *straight) paced.insert(each.block);
    }
    std::vector<FarBlock> blocks;
    for (std::size_t i = 0; i < plan_.straight.size(); ++i) {
        const StraightBlock& block = plan_.straight[i];
        if (!block.is_far) continue;
        const BlockMemory& memory = (block.is_sent ? operands_.input : operands_.result)[block.number];
        const BlockPlan::Way way = plan_.ways.empty() ? BlockPlan::Way() : plan_.ways[i];
        blocks.push_back(
            {memory.bytes, block.is_sent, paced.contains(&block), way.cluster, way.uplink, way.link});
    }
    return blocks;
}

Pace BlockExchange::pace() const {
    if (plan_.pace.seconds_per_byte <= 0) return plan_.pace;
    const bool is_root_of_scatter = is_rooted() && operands_.input.size() > 1;
    if (is_root_of_scatter) return varied_pace_of_root(plan_.pace, far_blocks(), plan_.uplink);
    if (is_rooted()) return plan_.pace;
    return varied_pace(plan_.pace, far_blocks(), plan_.near_ranks, plan_.uplink);
}

void BlockExchange::progress() {
    if (is_complete()) return;
    do {
        start_what_can_start();
    } while (!is_complete() && look());
    if (has_failed_) abandon();
}

int BlockExchange::to_end() try {
    while (!is_complete()) {
        start_what_can_start();
        if (!is_complete()) wait();
        if (has_failed_) abandon();
    }
    return code_;
} catch (const std::bad_alloc&) {
    check(MPI_ERR_NO_MEM);
    abandon();
    return code_;
}

void BlockExchange::start_what_can_start() {
    start_ready();
    start_straight();
}

void BlockExchange::start_ready() {
    while (!ready_.empty()) {
        const std::uint32_t step = ready_.front();
        ready_.pop_front();
        start(step);
    }
}

void BlockExchange::start(std::uint32_t number) {
    const Step& step = prepared_.schedule.steps[number];
    if (!step.is_message()) {
        copy(step);
        return complete(number);
    }
    if (step.kind == StepKind::send) {
        send(step, number);
    } else {
        receive(step, number);
    }
    if (step.next_in_channel >= 0) release(static_cast<std::uint32_t>(step.next_in_channel));
}

void BlockExchange::send(const Step& step, std::uint32_t number) {
    const std::size_t blocks = blocks_of(step.units);
    std::size_t bytes = blocks * sizeof(Length);
    for (std::size_t i = 0; i < blocks; ++i) bytes += slot(step.from, i).bytes;
    auto& message = messages_[number] = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::byte* end = message.get() + blocks * sizeof(Length);
    for (std::size_t i = 0; i < blocks; ++i) {
        const BlockMemory& block = slot(step.from, i);
        const auto length = static_cast<Length>(block.bytes);
        std::memcpy(message.get() + i * sizeof(Length), &length, sizeof(Length));
        copy_bytes(end, block.data, block.bytes);
        end += block.bytes;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    note_begin(number, step.kind, kTogether, step.peer, bytes);
    check(start_send(message.get(), static_cast<int>(bytes), MPI_BYTE, step.peer, ways_.first_tag + kTogether,
                     ways_.comm, request));
    requests_.push_back(request);
    under_way_.push_back({number, nullptr, bytes});
}

void BlockExchange::receive(const Step& step, std::uint32_t number) {
    const std::size_t most = blocks_of(step.units) * (sizeof(Length) + plan_.longest_together);
    messages_[number] = std::make_unique_for_overwrite<std::byte[]>(most);
    MPI_Request request = MPI_REQUEST_NULL;
    note_begin(number, step.kind, kTogether, step.peer, most);
    check(PMPI_Irecv(messages_[number].get(), static_cast<int>(most), MPI_BYTE, step.peer,
                     ways_.first_tag + kTogether, ways_.comm, &request));
    requests_.push_back(request);
    under_way_.push_back({number, nullptr, most});
}

/// What the rank has for itself is the caller's.
void BlockExchange::copy(const Step& step) {
    for (std::size_t i = 0; i < blocks_of(step.units); ++i) {
        if (step.to.buffer != kResult) {
            slot(step.to, i) = slot(step.from, i);
        } else if (step.from.buffer != kInput) {
            put(slot(step.from, i), blocks_of(step.to.offset) + i);
        }
    }
}

void BlockExchange::put(const BlockMemory& from, std::uint64_t unit) {
    const BlockMemory& to = operands_.result[unit];
    if (from.bytes > to.bytes) check(MPI_ERR_TRUNCATE);
    copy_bytes(to.data, from.data, std::min(from.bytes, to.bytes));
}

void BlockExchange::take_apart(const Step& step, std::span<std::byte> message) {
    const std::size_t blocks = blocks_of(step.units);
    std::size_t begin = blocks * sizeof(Length);
    if (message.size() < begin) return check(MPI_ERR_TRUNCATE);
    for (std::size_t i = 0; i < blocks; ++i) {
        Length length = 0;
        std::memcpy(&length, message.data() + i * sizeof(Length), sizeof(Length));
        if (length > message.size() - begin) return check(MPI_ERR_TRUNCATE);
        const BlockMemory block{message.data() + begin, length};
        begin += length;
        if (step.to.buffer == kResult) {
            put(block, blocks_of(step.to.offset) + i);
        } else {
            slot(step.to, i) = block;
        }
    }
}

void BlockExchange::complete(std::uint32_t number) {
    --steps_left_;
    for (const std::uint32_t successor : prepared_.graph.successors(number)) release(successor);
}

void BlockExchange::release(std::uint32_t number) {
    if (--waits_[number] == 0) ready_.push_back(number);
}

/// What is received goes on as its segments complete (take_message).
void BlockExchange::start_straight() {
    const bool is_first = !std::exchange(has_begun_, true);
    for (std::size_t i = 0; is_first && i < receives_.size(); ++i) start_segments(receives_[i]);
    start_far();
    start_near();
}

/// Sends inside the cluster take turns, too. While others have a pace they get no more ahead of these than
/// their part: all at once they would fill the NIC, and what the pace let go meanwhile would come after them
/// all together, and overrun an uplink's queue.
void BlockExchange::start_near() {
    for (std::size_t waiting = 0; waiting < near_.size() && !has_failed_;) {
        if (is_near_held() && near_share_ <= 0) return;
        Straight& send = *near_.front();
        const std::size_t before = send.started;
        const bool has_started = start_segment(send);
        near_share_ -= static_cast<double>(send.started - before);
        waiting = has_started ? 0 : waiting + 1;
        near_.pop_front();
        if (send.started < send.memory.bytes) near_.push_back(&send);
    }
}

/// Sends to other clusters take turns, one segment each.
void BlockExchange::start_far() {
    while (far_that_may_start_ > 0 && !has_failed_ && clock_time() >= next_paced_) {
        next_far_ %= far_.size();
        Straight& send = *far_[next_far_];
        if (send.started == send.memory.bytes) {
            far_[next_far_] = far_.back();
            far_.pop_back();
            continue;
        }
        start_segment(send);
        ++next_far_;
    }
}

void BlockExchange::start_segments(Straight& straight) {
    while (start_segment(straight)) {
    }
}

/// False where nothing is left, or enough under way.
bool BlockExchange::start_segment(Straight& straight) {
    const StraightBlock& block = *straight.block;
    if (!may_start(straight) || has_failed_) return false;
    const std::size_t bytes = std::min(segment_of(block), straight.memory.bytes - straight.started);
    std::byte* const data = straight.memory.data + straight.started;
    MPI_Request request = MPI_REQUEST_NULL;
    const int tag = ways_.first_tag + (straight.is_note ? kNote : kStraight);
    if (straight.started == 0 && !straight.is_note) note_begin(straight);
    if (block.is_sent) {
        check(start_send(data, static_cast<int>(bytes), MPI_BYTE, block.peer, tag, ways_.comm, request));
        if (block.is_far) {
            next_paced_ = Pacer::after(
                next_paced_, Seconds(pace_.seconds_per_byte * static_cast<double>(bytes)), pace_.ahead);
            near_share_ += near_for_far_ * static_cast<double>(bytes);
            far_left_ -= bytes;
        }
    } else {
        check(PMPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, block.peer, tag, ways_.comm, &request));
    }
    straight.started += bytes;
    ++straight.under_way;
    if (is_far_send(straight) && !may_start(straight)) --far_that_may_start_;
    requests_.push_back(request);
    under_way_.push_back({0, &straight, bytes});
    return true;
}

/// A segment of it is done.
void BlockExchange::go_on(Straight& straight) {
    const bool had_to_wait = !may_start(straight);
    --straight.under_way;
    if (!straight.block->is_sent) {
        start_segments(straight);
    } else if (!is_far_send(straight)) {
        start_near();
    } else if (had_to_wait && may_start(straight)) {
        ++far_that_may_start_;
    }
}

/// Whether something has completed, with an error or without.
bool BlockExchange::look() {
    if (look_at_streams()) return true;
    if (requests_.empty()) return false;
    int finished = MPI_UNDEFINED;
    MPI_Status status{};
    const int code = look_for_any(requests_, finished, &status);
    return take(code, finished, status);
}

bool BlockExchange::look_at_streams() {
    const auto completion = streams_.look();
    if (!completion) return false;
    if (completion->code != MPI_SUCCESS) note_error(completion->code);
    note_end(completion->number);
    return true;
}

/// While streams alone are waited for: the program's own messages go on.
void BlockExchange::look_at_mpi_now_and_then() {
    constexpr int kLooksWithoutMpi = 64;
    if (++looks_ % kLooksWithoutMpi != 0) return;
    int is_there = 0;
    check(PMPI_Iprobe(MPI_ANY_SOURCE, ways_.first_tag, ways_.comm, &is_there, MPI_STATUS_IGNORE));
}

/// Until something has completed, or the next segment may start. Streams are not waited for but by looking at
/// them.
void BlockExchange::wait() {
    if (!streams_.is_idle()) {
        if (look()) return;
        if (requests_.empty()) look_at_mpi_now_and_then();
        sched_yield();
        return;
    }
    const bool is_paced = far_that_may_start_ > 0;
    if (is_paced || requests_.empty()) {
        if (!look()) let_time_pass(next_paced_ - clock_time());
        return;
    }
    int finished = MPI_UNDEFINED;
    MPI_Status status{};
    const int code = wait_for_any(requests_, finished, &status);
    take(code, finished, status);
}

/// What a look has found; false where it is nothing.
bool BlockExchange::take(int code, int finished, const MPI_Status& status) {
    if (code != MPI_SUCCESS) {
        // A message that is too long has come all the same: the others go on, and must not wait for this
        // rank.
        int error_class = MPI_SUCCESS;
        PMPI_Error_class(code, &error_class);
        if (error_class != MPI_ERR_TRUNCATE || finished == MPI_UNDEFINED) {
            check(code);
            return true;
        }
        check(MPI_ERR_TRUNCATE);
    }
    if (finished == MPI_UNDEFINED) return false;
    take_message(finished, status);
    return true;
}

void BlockExchange::take_message(int finished, const MPI_Status& status) {
    const auto index = static_cast<std::size_t>(finished);
    const Message message = std::exchange(under_way_[index], under_way_.back());
    requests_[index] = requests_.back();
    requests_.pop_back();
    under_way_.pop_back();
    int count = 0;
    if (message.straight != nullptr) {
        Straight& straight = *message.straight;
        if (!straight.block->is_sent) {
            check(PMPI_Get_count(&status, MPI_BYTE, &count));
            if (static_cast<std::size_t>(count) != message.bytes) check(MPI_ERR_TRUNCATE);
        }
        bytes_left_ -= message.bytes;
        if (straight.is_note) {
            if (!straight.block->is_sent) heed_note();
            return;
        }
        go_on(straight);
        if (straight.under_way == 0 && straight.started == straight.memory.bytes) note_end(straight.number);
        return;
    }
    const Step& step = prepared_.schedule.steps[message.step];
    if (step.kind == StepKind::recv) {
        check(PMPI_Get_count(&status, MPI_BYTE, &count));
        take_apart(step, {messages_[message.step].get(), static_cast<std::size_t>(count)});
    } else {
        messages_[message.step].reset();
    }
    note_end(message.step);
    complete(message.step);
}

/// MPI has failed. What it may still use is left to it.
void BlockExchange::abandon() {
    streams_.abandon();
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        const Message& message = under_way_[i];
        const bool is_received = message.straight != nullptr
                                     ? !message.straight->block->is_sent
                                     : prepared_.schedule.steps[message.step].kind == StepKind::recv;
        if (is_received && requests_[i] != MPI_REQUEST_NULL) PMPI_Cancel(&requests_[i]);
        if (requests_[i] != MPI_REQUEST_NULL) PMPI_Request_free(&requests_[i]);
    }
    for (auto& message : messages_) static_cast<void>(message.release());
    static_cast<void>(mean_bytes_.release());
}

/// An error of MPI's ends the call, but for a message that was too long.
void BlockExchange::check(int code) {
    if (code == MPI_SUCCESS) return;
    has_failed_ = has_failed_ || code != MPI_ERR_TRUNCATE;
    note_error(code);
}

/// The first error stands, but others count for more than what was too long.
void BlockExchange::note_error(int code) {
    if (code_ == MPI_SUCCESS || code_ == MPI_ERR_TRUNCATE) code_ = code;
}

}  // namespace laple::mpi
