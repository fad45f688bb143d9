// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/schedule/builder.hpp"

#include <algorithm>
#include <utility>

namespace laple {

ScheduleBuilder::ScheduleBuilder(const BufferSizes& sizes, Windows windows)
    : windows_(std::move(windows)), input_in_result_(sizes.input_in_result), memories_(1) {
    std::sort(windows_.cluster_ranks.begin(), windows_.cluster_ranks.end());
    schedule_.unit_bytes = sizes.unit_bytes;
    schedule_.result_units = sizes.result_units;
    constexpr std::size_t kUsual = 128;  // of steps
    schedule_.steps.reserve(kUsual);
    schedule_.dependencies.reserve(2 * kUsual);
}

void ScheduleBuilder::hold_sends(std::int64_t in_cluster, std::int64_t all) {
    hold_in_cluster_ = in_cluster;
    hold_all_ = all;
}

std::int64_t ScheduleBuilder::writer_of(Place place) {
    std::int64_t writer = -1;
    const std::uint64_t unit = place.offset + shift(place.buffer);
    memory(place.buffer).for_each(unit, unit + 1, [&](const AccessMap::Access& a) { writer = a.writer; });
    return writer;
}

Buffer ScheduleBuilder::add_temporary(std::uint64_t units) {
    schedule_.temporary_units.push_back(std::max<std::uint64_t>(units, 1));
    memories_.emplace_back();
    return static_cast<Buffer>(kFirstTemporary + schedule_.temporary_units.size() - 1);
}

void ScheduleBuilder::send(Rank peer, Region from, Channel channel) {
    const std::uint32_t step = begin(StepKind::send, peer, from.units, from.place(), {});
    if (step > 0) {
        const Step& previous = schedule_.steps[step - 1];
        schedule_.steps[step].repeats = previous.kind == StepKind::send && previous.from_region() == from;
    }
    reads(step, from);
    const bool is_inside = is_in_cluster(peer);
    enter_channel(step, channel, sends_[key(peer, channel)],
                  is_inside ? windows_.in_cluster : windows_.between_clusters);
    depends_on(step, hold_all_);
    if (is_inside) depends_on(step, hold_in_cluster_);
    schedule_.steps[step].is_paced = !is_inside && schedule_.seconds_per_unit > 0;
    end(step);
}

void ScheduleBuilder::recv(Rank peer, Region to, Channel channel) {
    const std::uint32_t step = begin(StepKind::recv, peer, to.units, {}, to.place());
    writes(step, to);
    enter_channel(step, channel, recvs_[key(peer, channel)], windows_.between_clusters);
    if (is_in_cluster(peer)) last_receive_in_cluster_ = step;
    end(step);
}

void ScheduleBuilder::local(StepKind kind, Region from, Place to) {
    const std::uint32_t step = begin(kind, -1, from.units, from.place(), to);
    reads(step, from);
    writes(step, {to.buffer, to.offset, from.units});
    end(step);
}

void ScheduleBuilder::native(StepKind kind, Rank root, Region from, Place to) {
    const std::uint32_t step = begin(kind, root, from.units, from.place(), to);
    for (std::int64_t earlier = fence_ + 1; earlier < step; ++earlier) depends_on(step, earlier);
    if (kind == StepKind::native_reduce) reads(step, from);
    writes(step, {to.buffer, to.offset, from.units});
    end(step);
    fence_ = step;
}

std::uint32_t ScheduleBuilder::begin(StepKind kind, Rank peer, std::uint64_t units, Place from, Place to) {
    Step& step = schedule_.steps.emplace_back();
    step.kind = kind;
    step.peer = peer;
    step.units = units;
    step.from = from;
    step.to = to;
    step.first_dependency = static_cast<std::uint32_t>(schedule_.dependencies.size());
    const auto index = static_cast<std::uint32_t>(schedule_.steps.size() - 1);
    depends_on(index, fence_);
    return index;
}

void ScheduleBuilder::reads(std::uint32_t step, Region region) {
    if (region.buffer == kInput && input_in_result_ == BufferSizes::kApart) return;  // nothing writes there
    const std::uint64_t begin = region.offset + shift(region.buffer);
    memory(region.buffer).for_each(begin, begin + region.units, [&](AccessMap::Access& access) {
        depends_on(step, access.writer);
        if (access.first_reader < 0) {
            access.first_reader = step;
        } else {
            access.others.push_back(step);
        }
    });
}

void ScheduleBuilder::writes(std::uint32_t step, Region region) {
    const std::uint64_t begin = region.offset + shift(region.buffer);
    memory(region.buffer).for_each(begin, begin + region.units, [&](AccessMap::Access& access) {
        depends_on(step, access.first_reader < 0 ? access.writer : access.first_reader);
        for (const std::uint32_t reader : access.others) depends_on(step, reader);
        access.first_reader = -1;
        access.others.clear();
        access.writer = step;
    });
}

void ScheduleBuilder::depends_on(std::uint32_t step, std::int64_t earlier) {
    if (earlier < 0 || earlier == step) return;
    const auto begin = schedule_.dependencies.begin() + schedule_.steps[step].first_dependency;
    const auto dependency = static_cast<std::uint32_t>(earlier);
    if (std::find(begin, schedule_.dependencies.end(), dependency) != schedule_.dependencies.end()) return;
    schedule_.dependencies.push_back(dependency);
}

void ScheduleBuilder::enter_channel(std::uint32_t step, Channel channel, Traffic& traffic,
                                    std::uint32_t window) {
    schedule_.steps[step].channel = channel;
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

bool ScheduleBuilder::is_in_cluster(Rank peer) const {
    return std::binary_search(windows_.cluster_ranks.begin(), windows_.cluster_ranks.end(), peer);
}

void ScheduleBuilder::end(std::uint32_t step) {
    Step& s = schedule_.steps[step];
    s.dependency_count = static_cast<std::uint32_t>(schedule_.dependencies.size()) - s.first_dependency;
}

AccessMap& ScheduleBuilder::memory(Buffer buffer) {
    return memories_[buffer < kFirstTemporary ? 0 : buffer - kFirstTemporary + 1];
}

}  // namespace laple
