// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/schedule/step_graph.hpp"

#include <cstddef>

namespace laple {

StepGraph::StepGraph(const Schedule& schedule)
    : first_successor_(schedule.steps.size() + 1, 0), successors_(schedule.dependencies.size()) {
    for (const Step& step : schedule.steps) {
        const bool is_first = step.is_message() && step.is_first_in_channel;
        first_in_channel_.push_back(is_first ? 1 : 0);
        channel_count_ += is_first ? 1 : 0;
        waits_.push_back(step.dependency_count + (step.is_message() && !is_first ? 1 : 0));
        for (const std::uint32_t dependency : schedule.dependencies_of(step))
            ++first_successor_[dependency + 1];
    }
    for (std::size_t i = 1; i < first_successor_.size(); ++i) first_successor_[i] += first_successor_[i - 1];
    std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
        for (const std::uint32_t dependency : schedule.dependencies_of(schedule.steps[i]))
            successors_[next[dependency]++] = i;
    }
}

}  // namespace laple
