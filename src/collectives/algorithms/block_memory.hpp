// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "collectives/collective/request.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Whether a rank has room for so many blocks of others (LAPLE_BLOCK_MEMORY), whatever the size of those
/// calls that go by the same plan: they have up to a quarter more units than the request that it was chosen
/// for (size_class_of()).
inline bool has_room_for(std::size_t blocks, const Request& request, const Machine& machine) {
    const Bytes longest = request.bytes() + request.bytes() / 4;
    return blocks * longest <= machine.block_memory();
}

}  // namespace laple
