// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/prepared_schedule.hpp"

#include <utility>

namespace laple::mpi {

PreparedSchedule::PreparedSchedule(Schedule schedule) : schedule_(std::move(schedule)) {
    const std::size_t count = schedule_.steps.size();
    waits_.resize(count);
    first_in_channel_.assign(count, 0);
    first_successor_.assign(count + 1, 0);
    for (std::size_t i = 0; i < count; ++i) {
        const Step& step = schedule_.steps[i];
        waits_[i] = step.dependency_count;
        if (step.is_message()) {
            if (step.is_first_in_channel) {
                first_in_channel_[i] = 1;
                ++channel_count_;
            } else {
                ++waits_[i];
            }
        }
        if (step.is_native()) blocks_ = true;
        for (const std::uint32_t dependency : schedule_.dependencies_of(step))
            ++first_successor_[dependency + 1];
    }
    for (std::size_t i = 0; i < count; ++i) first_successor_[i + 1] += first_successor_[i];
    successors_.resize(schedule_.dependencies.size());
    std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
    for (std::uint32_t i = 0; i < count; ++i) {
        for (const std::uint32_t dependency : schedule_.dependencies_of(schedule_.steps[i]))
            successors_[next[dependency]++] = i;
    }
}

}  // namespace laple::mpi
