// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/schedule/schedule.hpp"

#include <fmt/format.h>

namespace laple {
namespace {

std::string describe(Region region) {
    const std::string units = region.units == 1
                                  ? fmt::format("{}", region.offset)
                                  : fmt::format("{}-{}", region.offset, region.offset + region.units - 1);
    if (region.buffer == kInput) return fmt::format("input[{}]", units);
    if (region.buffer == kResult) return fmt::format("result[{}]", units);
    return fmt::format("temp{}[{}]", region.buffer - kFirstTemporary, units);
}

std::string describe(const Step& step) {
    switch (step.kind) {
        case StepKind::send:
            return fmt::format("send {} -> rank {}", describe(step.from_region()), step.peer);
        case StepKind::recv:
            return fmt::format("recv rank {} -> {}", step.peer, describe(step.to_region()));
        case StepKind::copy:
            return fmt::format("copy {} -> {}", describe(step.from_region()), describe(step.to_region()));
        case StepKind::reduce:
            return fmt::format("reduce {} into {}", describe(step.from_region()), describe(step.to_region()));
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

}  // namespace laple
