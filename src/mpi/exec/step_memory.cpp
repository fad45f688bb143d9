// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/step_memory.hpp"

namespace laple::mpi {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::ptrdiff_t bytes) {
    return (static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

StepMemory::StepMemory(const Schedule& schedule, const Operands& operands, Scratch& scratch)
    : schedule_(schedule), operands_(operands), buffers_(scratch.lists().buffers) {
    const auto for_each_span = [&](auto&& use) {
        if (!operands_.has_result) use(operands_.layout.span_of(schedule_.result_units));
        for (const std::uint64_t units : schedule_.temporary_units) use(operands_.layout.span_of(units));
    };
    std::size_t total = 0;
    for_each_span([&](const TypeLayout::Span& span) { total += aligned(span.bytes); });
    std::byte* next = scratch.get(total);

    buffers_.clear();
    // Only read from: no step writes to kInput.
    buffers_.push_back(const_cast<std::byte*>(operands_.input));
    if (operands_.has_result) buffers_.push_back(operands_.result);
    for_each_span([&](const TypeLayout::Span& span) {
        buffers_.push_back(moved(next, -span.low));
        next += aligned(span.bytes);
    });
}

}  // namespace laple::mpi
