// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include <mpi.h>

#include "collectives/collective/collective.hpp"

namespace laple::mpi {

/// What a plan depends on in a call of predefined types and operations, whose handles mean the same for ever.
struct CallKey {
    Collective collective{};
    bool is_in_place = false;
    MPI_Count input_count = 0;
    MPI_Count result_count = 0;
    MPI_Datatype input_type = MPI_DATATYPE_NULL;
    MPI_Datatype result_type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    int root = 0;

    bool operator==(const CallKey&) const = default;
};

/// Some of the last calls of a communicator that were MPI's own: they go there again without a look at their
/// arguments, since MPI's short calls inside a host take less than a microsecond.
class NativeCalls {
  public:
    bool contains(const CallKey& key) const {
        const Entry& entry = entries_[place_of(key)];
        return entry.is_used && entry.key == key;
    }
    void add(const CallKey& key) { entries_[place_of(key)] = {true, key}; }
    void clear() { entries_ = {}; }

  private:
    struct Entry {
        bool is_used = false;
        CallKey key;
    };
    static constexpr std::size_t kEntries = 32;

    static std::size_t place_of(const CallKey& key) {
        return (static_cast<std::size_t>(key.collective) * 5 + static_cast<std::size_t>(key.root) +
                static_cast<std::size_t>(key.result_count)) %
               kEntries;
    }

    std::array<Entry, kEntries> entries_{};
};

}  // namespace laple::mpi
