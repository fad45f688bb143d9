// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/kept_handles.hpp"

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace laple::mpi {
namespace {

/// How often each operation is in use. MPI does not give a handle to another object before it is freed.
class Uses {
  public:
    void add(MPI_Op op) {
        const std::lock_guard lock(mutex_);
        ++uses_[op].count;
        is_empty_ = false;
    }
    void remove(MPI_Op op) {
        {
            const std::lock_guard lock(mutex_);
            const auto found = uses_.find(op);
            if (--found->second.count > 0) return;
            const bool is_freed = found->second.is_freed;
            uses_.erase(found);
            is_empty_ = uses_.empty();
            if (!is_freed) return;
        }
        PMPI_Op_free(&op);
    }
    bool free_later(MPI_Op op) {
        if (is_empty_) return false;
        const std::lock_guard lock(mutex_);
        const auto found = uses_.find(op);
        if (found == uses_.end()) return false;
        return !std::exchange(found->second.is_freed, true);  // MPI says what is wrong with a second time
    }

  private:
    struct Use {
        std::size_t count = 0;
        bool is_freed = false;
    };
    std::mutex mutex_;
    std::map<MPI_Op, Use> uses_;
    std::atomic<bool> is_empty_{true};
};

// Never destroyed: a program may call MPI from destructors of its own, after main.
Uses& op_uses() {
    static auto& uses = *new Uses;
    return uses;
}

}  // namespace

KeptHandles::KeptHandles(const std::vector<MPI_Datatype>& types, std::vector<MPI_Op> ops)
    : ops_(std::move(ops)) {
    // Not MPI_Type_dup: it calls the program, to copy attributes.
    for (MPI_Datatype type : types) PMPI_Type_contiguous(1, type, &holders_.emplace_back(MPI_DATATYPE_NULL));
    for (MPI_Op op : ops_) op_uses().add(op);
}

KeptHandles::~KeptHandles() {
    for (MPI_Datatype holder : holders_) {
        if (holder != MPI_DATATYPE_NULL) PMPI_Type_free(&holder);
    }
    for (MPI_Op op : ops_) op_uses().remove(op);
}

bool KeptHandles::free_later(MPI_Op op) {
    return op_uses().free_later(op);
}

}  // namespace laple::mpi
