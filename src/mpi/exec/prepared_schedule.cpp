// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/prepared_schedule.hpp"

#include <utility>

namespace laple::mpi {

PreparedSchedule::PreparedSchedule(Schedule schedule) : schedule_(std::move(schedule)), graph_(schedule_) {
    for (const Step& step : schedule_.steps) {
        const bool is_first = step.is_message() && step.is_first_in_channel;
        first_in_channel_.push_back(is_first ? 1 : 0);
        channel_count_ += is_first ? 1 : 0;
    }
}

}  // namespace laple::mpi
