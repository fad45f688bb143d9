// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/ucx.hpp"

#include <mpi.h>

#ifdef MPICH_NUMVERSION

#include <atomic>
#include <mutex>

#include <dlfcn.h>

#include "mpi/comm/next_definition.hpp"

// Weak: where UCX is linked statically, and so is LaPle, both define these, and UCX's own are used.
#define LAPLE_EXPORT extern "C" __attribute__((visibility("default"), weak))

namespace laple::mpi {
namespace {

// As UCX declares them, with types of which nothing is used here.
using Status = signed char;
using CreateWorker = Status (*)(void* context, const void* parameters, void** worker);
using DestroyWorker = void (*)(void* worker);

class Workers {
  public:
    void add(void* worker) {
        const std::lock_guard lock(mutex_);
        workers_.push_back(worker);
    }
    void remove(void* worker) {
        const std::lock_guard lock(mutex_);
        std::erase(workers_, worker);
    }
    std::vector<void*> all() {
        const std::lock_guard lock(mutex_);
        return workers_;
    }

  private:
    std::mutex mutex_;
    std::vector<void*> workers_;
};

/// Never destroyed: MPI may end after static objects do.
Workers& workers() {
    static auto* const kWorkers = new Workers;
    return *kWorkers;
}

/// Whether `place` is in MPI's own code: a program may use UCX itself, on threads of its own.
bool is_in_mpi(const void* place) {
    Dl_info there{};
    Dl_info mpi{};
    if (dladdr(place, &there) == 0 || dladdr(reinterpret_cast<const void*>(&PMPI_Comm_size), &mpi) == 0)
        return true;
    return there.dli_fbase == mpi.dli_fbase;
}

std::atomic<CreateWorker> create_worker{nullptr};
std::atomic<DestroyWorker> destroy_worker{nullptr};
std::atomic<Progress> progress{nullptr};
/// The first one that MPI has made, which is the one that it always looks at.
std::atomic<void*> main_worker{nullptr};
std::atomic<bool> has_progressed{false};
std::atomic<void (*)()> work_at_progress{nullptr};

}  // namespace

Progress ucx_progress() {
    return progress.load(std::memory_order_relaxed);
}

std::vector<void*> ucx_workers() {
    return workers().all();
}

/// Until MPI has had something to wait for, it has not looked.
bool sees_progress() {
    int is_there = 0;
    if (!has_progressed.load(std::memory_order_relaxed))
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    return has_progressed.load(std::memory_order_relaxed);
}

void at_progress(void (*work)()) {
    work_at_progress.store(work, std::memory_order_release);
}

}  // namespace laple::mpi

using namespace laple::mpi;

LAPLE_EXPORT Status ucp_worker_create(void* context, const void* parameters, void** worker) {
    constexpr Status kUnsupported = -22;  // UCS_ERR_UNSUPPORTED
    const CreateWorker next =
        next_definition(create_worker, "ucp_worker_create", __builtin_return_address(0));
    next_definition(progress, "ucp_worker_progress", __builtin_return_address(0));
    if (next == nullptr) return kUnsupported;
    const Status status = next(context, parameters, worker);
    if (status != 0 || !is_in_mpi(__builtin_return_address(0))) return status;
    workers().add(*worker);
    void* none = nullptr;
    main_worker.compare_exchange_strong(none, *worker);
    return status;
}

LAPLE_EXPORT void ucp_worker_destroy(void* worker) {
    workers().remove(worker);
    void* expected = worker;
    main_worker.compare_exchange_strong(expected, nullptr);
    const DestroyWorker next =
        next_definition(destroy_worker, "ucp_worker_destroy", __builtin_return_address(0));
    if (next != nullptr) next(worker);
}

LAPLE_EXPORT unsigned ucp_worker_progress(void* worker) {
    const Progress next = next_definition(progress, "ucp_worker_progress", __builtin_return_address(0));
    const unsigned found = next != nullptr ? next(worker) : 0;
    if (worker == main_worker.load(std::memory_order_relaxed)) {
        if (!has_progressed.load(std::memory_order_relaxed)) has_progressed = true;
        if (auto* const work = work_at_progress.load(std::memory_order_acquire)) work();
    }
    return found;
}

#else

namespace laple::mpi {

Progress ucx_progress() {
    return nullptr;
}

std::vector<void*> ucx_workers() {
    return {};
}

bool sees_progress() {
    return false;
}

void at_progress(void (*)()) {}

}  // namespace laple::mpi

#endif
