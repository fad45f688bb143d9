// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/schedule/schedule.hpp"
#include "mpi/exec/operands.hpp"
#include "mpi/exec/scratch.hpp"

namespace laple::mpi {

/// Where the buffers of a schedule are: the user's, and temporary ones, in scratch memory. They all hold
/// units as the user's do: one after the other, wherever the datatype puts its bytes, also before its
/// address.
class StepMemory {
  public:
    /// Takes what `scratch` has for as long as this exists. The references must outlive this.
    StepMemory(const Schedule& schedule, const Operands& operands, Scratch& scratch);

    std::byte* address(Place place) const {
        return moved(buffers_[place.buffer],
                     static_cast<std::ptrdiff_t>(place.offset) * operands_.layout.extent);
    }
    /// Units as MPI counts them: of units without bytes none.
    int count_of(const Step& step) const {
        return schedule_.unit_bytes == 0 ? 0 : static_cast<int>(step.units);
    }

  private:
    const Schedule& schedule_;
    const Operands& operands_;
    std::vector<std::byte*>& buffers_;  // by number: address of unit 0
};

}  // namespace laple::mpi
