// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/schedule.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

namespace laple {
namespace {

std::string describe(Place place, std::uint32_t run) {
    const std::string slots =
        run == 1 ? fmt::format("{}", place.slot) : fmt::format("{}-{}", place.slot, place.slot + run - 1);
    if (place.buffer == kInput) return fmt::format("input[{}]", slots);
    if (place.buffer == kResult) return fmt::format("result[{}]", slots);
    return fmt::format("temp{}[{}]", place.buffer - kFirstTemporary, slots);
}

std::string describe(const Step& step) {
    switch (step.kind) {
        case StepKind::send:
            return fmt::format("send {} -> rank {}", describe(step.from, step.run), step.peer);
        case StepKind::recv:
            return fmt::format("recv rank {} -> {}", step.peer, describe(step.to, step.run));
        case StepKind::copy:
            return fmt::format("copy {} -> {}", describe(step.from, step.run), describe(step.to, step.run));
        case StepKind::reduce:
            return fmt::format("reduce {} into {}", describe(step.from, step.run),
                               describe(step.to, step.run));
        case StepKind::native_bcast:
            return fmt::format("native bcast from rank {}", step.peer);
        case StepKind::native_reduce:
            return fmt::format("native reduce to rank {}", step.peer);
    }
    return "";
}

}  // namespace

std::string describe(const Schedule& schedule) {
    std::string text;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        text += fmt::format("{}: {}", i, describe(step));
        if (step.dependency_count > 0) {
            text += " after";
            for (const auto dependency : schedule.dependencies_of(step))
                text += fmt::format(" {}", dependency);
        }
        text += '\n';
    }
    return text;
}

ScheduleBuilder::ScheduleBuilder(const Blocks& blocks, std::uint32_t window)
    : window_(std::max<std::uint32_t>(window, 1)) {
    schedule_.blocks = blocks;
    // About as many as a rank with some neighbours has; they grow from there.
    constexpr std::size_t kPerBlock = 8;
    const std::size_t likely = kPerBlock * std::min<std::size_t>(blocks.count(), 256);
    schedule_.steps.reserve(likely);
    schedule_.dependencies.reserve(2 * likely);
    accesses_.emplace_back(blocks.count());  // kInput and kResult
}

void ScheduleBuilder::set_near(std::vector<Rank> ranks, std::uint32_t window) {
    near_ = std::move(ranks);
    std::sort(near_.begin(), near_.end());
    near_window_ = std::max<std::uint32_t>(window, 1);
}

void ScheduleBuilder::hold_sends(std::int64_t near, std::int64_t all) {
    hold_near_ = near;
    hold_all_ = all;
}

std::uint32_t ScheduleBuilder::add_temporary(std::uint32_t slots) {
    const std::uint32_t useful = std::clamp<std::uint32_t>(slots, 1, schedule_.blocks.count());
    schedule_.temporary_slots.push_back(useful);
    accesses_.emplace_back(useful);
    return static_cast<std::uint32_t>(kFirstTemporary + schedule_.temporary_slots.size() - 1);
}

Place ScheduleBuilder::at(std::uint32_t buffer, std::uint32_t block) const {
    if (buffer < kFirstTemporary) return {buffer, block};
    return {buffer, block % schedule_.temporary_slots[buffer - kFirstTemporary]};
}

void ScheduleBuilder::send(Rank peer, std::uint32_t block, Place from, std::uint32_t run, Channel channel) {
    const std::uint32_t step = begin(StepKind::send, peer, block, run);
    schedule_.steps[step].from = from;
    schedule_.steps[step].channel = channel;
    reads(step, from);
    const bool near = is_near(peer);
    enter_channel(step, sends_[key(peer, channel)], near ? near_window_ : window_);
    depends_on(step, hold_all_);
    if (near) depends_on(step, hold_near_);
    end(step);
}

void ScheduleBuilder::recv(Rank peer, std::uint32_t block, Place to, std::uint32_t run, Channel channel) {
    const std::uint32_t step = begin(StepKind::recv, peer, block, run);
    schedule_.steps[step].to = to;
    schedule_.steps[step].channel = channel;
    writes(step, to);
    enter_channel(step, recvs_[key(peer, channel)], window_);
    if (is_near(peer)) last_near_receive_ = step;
    end(step);
}

void ScheduleBuilder::copy(std::uint32_t block, Place from, Place to, std::uint32_t run) {
    local(StepKind::copy, block, from, to, run);
}

void ScheduleBuilder::reduce(std::uint32_t block, Place from, Place to, std::uint32_t run) {
    local(StepKind::reduce, block, from, to, run);
}

void ScheduleBuilder::local(StepKind kind, std::uint32_t block, Place from, Place to, std::uint32_t run) {
    const std::uint32_t step = begin(kind, -1, block, run);
    schedule_.steps[step].from = from;
    schedule_.steps[step].to = to;
    reads(step, from);
    writes(step, to);
    end(step);
}

void ScheduleBuilder::native(StepKind kind, Rank root, Place from, Place to) {
    const std::uint32_t step = begin(kind, root, 0, 1);
    schedule_.steps[step].from = from;
    schedule_.steps[step].to = to;
    for (std::int64_t earlier = fence_ + 1; earlier < step; ++earlier) depends_on(step, earlier);
    if (kind == StepKind::native_reduce) reads(step, from);
    writes(step, to);
    end(step);
    fence_ = step;
}

Schedule ScheduleBuilder::finish() && {
    return std::move(schedule_);
}

std::uint32_t ScheduleBuilder::begin(StepKind kind, Rank peer, std::uint32_t block, std::uint32_t run) {
    Step step;
    step.kind = kind;
    step.peer = peer;
    step.block = block;
    step.run = run;
    step.first_dependency = static_cast<std::uint32_t>(schedule_.dependencies.size());
    schedule_.steps.push_back(step);
    const auto index = static_cast<std::uint32_t>(schedule_.steps.size() - 1);
    depends_on(index, fence_);
    return index;
}

void ScheduleBuilder::reads(std::uint32_t step, Place place) {
    for (std::uint32_t i = 0; i < schedule_.steps[step].run; ++i) {
        Access& a = access({place.buffer, place.slot + i});
        depends_on(step, a.writer);
        if (a.first_reader < 0) {
            a.first_reader = step;
        } else {
            a.others.push_back(step);
        }
    }
}

void ScheduleBuilder::writes(std::uint32_t step, Place place) {
    for (std::uint32_t i = 0; i < schedule_.steps[step].run; ++i) {
        Access& a = access({place.buffer, place.slot + i});
        depends_on(step, a.first_reader < 0 ? a.writer : a.first_reader);
        for (const std::uint32_t reader : a.others) depends_on(step, reader);
        a.first_reader = -1;
        a.others.clear();
        a.writer = step;
    }
}

void ScheduleBuilder::depends_on(std::uint32_t step, std::int64_t earlier) {
    if (earlier < 0 || earlier == step) return;
    const auto begin = schedule_.dependencies.begin() + schedule_.steps[step].first_dependency;
    const auto dependency = static_cast<std::uint32_t>(earlier);
    if (std::find(begin, schedule_.dependencies.end(), dependency) != schedule_.dependencies.end()) return;
    schedule_.dependencies.push_back(dependency);
}

void ScheduleBuilder::enter_channel(std::uint32_t step, Traffic& traffic, std::uint32_t window) {
    if (traffic.count == 0) traffic.under_way.resize(window);
    if (traffic.count > 0) {
        const std::uint32_t previous = traffic.under_way[(traffic.count - 1) % window];
        schedule_.steps[previous].next_in_channel = step;
        schedule_.steps[step].is_first_in_channel = false;
    }
    std::uint32_t& slot = traffic.under_way[traffic.count % window];
    if (traffic.count >= window) depends_on(step, slot);
    slot = step;
    ++traffic.count;
}

bool ScheduleBuilder::is_near(Rank peer) const {
    return std::binary_search(near_.begin(), near_.end(), peer);
}

void ScheduleBuilder::end(std::uint32_t step) {
    Step& s = schedule_.steps[step];
    s.dependency_count = static_cast<std::uint32_t>(schedule_.dependencies.size()) - s.first_dependency;
}

ScheduleBuilder::Access& ScheduleBuilder::access(Place place) {
    const std::size_t memory = place.buffer < kFirstTemporary ? 0 : place.buffer - kFirstTemporary + 1u;
    assert(memory < accesses_.size() && place.slot < accesses_[memory].size());
    return accesses_[memory][place.slot];
}

}  // namespace laple
