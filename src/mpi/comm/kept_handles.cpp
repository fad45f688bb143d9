// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/kept_handles.hpp"

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace laple::mpi {
namespace {

/// How often each handle of one kind is in use. MPI does not give a handle to another object before it is
/// freed.
template <typename Handle>
class Uses {
  public:
    explicit Uses(int (*free)(Handle*)) : free_(free) {}

    void add(Handle handle) {
        const std::lock_guard lock(mutex_);
        ++uses_[handle].count;
        is_empty_ = false;
    }
    void remove(Handle handle) {
        {
            const std::lock_guard lock(mutex_);
            const auto found = uses_.find(handle);
            if (--found->second.count > 0) return;
            const bool is_freed = found->second.is_freed;
            uses_.erase(found);
            is_empty_ = uses_.empty();
            if (!is_freed) return;
        }
        free_(&handle);
    }
    bool free_later(Handle handle) {
        if (is_empty_) return false;
        const std::lock_guard lock(mutex_);
        const auto found = uses_.find(handle);
        if (found == uses_.end()) return false;
        return !std::exchange(found->second.is_freed, true);  // MPI says what is wrong with a second time
    }

  private:
    struct Use {
        std::size_t count = 0;
        bool is_freed = false;
    };
    int (*free_)(Handle*);
    std::mutex mutex_;
    std::map<Handle, Use> uses_;
    std::atomic<bool> is_empty_{true};
};

// Never destroyed: a program may call MPI from destructors of its own, after main.
Uses<MPI_Datatype>& type_uses() {
    static auto& uses = *new Uses<MPI_Datatype>(PMPI_Type_free);
    return uses;
}

Uses<MPI_Op>& op_uses() {
    static auto& uses = *new Uses<MPI_Op>(PMPI_Op_free);
    return uses;
}

}  // namespace

KeptHandles::KeptHandles(std::vector<MPI_Datatype> types, std::vector<MPI_Op> ops)
    : types_(std::move(types)), ops_(std::move(ops)) {
    for (MPI_Datatype type : types_) type_uses().add(type);
    for (MPI_Op op : ops_) op_uses().add(op);
}

KeptHandles::~KeptHandles() {
    for (MPI_Datatype type : types_) type_uses().remove(type);
    for (MPI_Op op : ops_) op_uses().remove(op);
}

bool KeptHandles::free_later(MPI_Datatype type) {
    return type_uses().free_later(type);
}

bool KeptHandles::free_later_op(MPI_Op op) {
    return op_uses().free_later(op);
}

}  // namespace laple::mpi
