// SPDX-License-Identifier: BSD-3-Clause
// Stands before UCX and the C library in three places: see finalize.hpp. Where MPI is no MPICH, or one that
// is mended, nothing of it is there.
#include "mpi/comm/finalize.hpp"

#include <mpi.h>

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000 && MPICH_NUMVERSION < 40200000

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace laple::mpi {
namespace {

// As UCX declares them, with types of which nothing is used here.
using Status = signed char;
using CreateWorker = Status (*)(void* context, const void* parameters, void** worker);
using DestroyWorker = void (*)(void* worker);
using Progress = unsigned (*)(void* worker);
using Read = ssize_t (*)(int descriptor, void* buffer, std::size_t bytes);

/// Those that MPI has made and not destroyed yet.
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

thread_local bool is_finalizing = false;

/// The next definition of `name`; where an interpreter has loaded MPI for itself alone, the one that
/// `caller`, a place in MPI's code, would have reached without this one. nullptr: there is none.
void* next_definition(const char* name, const void* caller) {
    if (void* next = dlsym(RTLD_NEXT, name)) return next;
    Dl_info of_caller{};
    if (dladdr(caller, &of_caller) == 0) return nullptr;
    void* library = dlopen(of_caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return nullptr;
    void* next = dlsym(library, name);
    dlclose(library);  // stays loaded: it is calling
    return next;
}

template <typename Function>
Function find(std::atomic<Function>& kept, const char* name, const void* caller) {
    Function next = kept.load(std::memory_order_relaxed);
    if (next == nullptr) {
        next = reinterpret_cast<Function>(next_definition(name, caller));
        kept.store(next, std::memory_order_relaxed);
    }
    return next;
}

std::atomic<CreateWorker> create_worker{nullptr};
std::atomic<DestroyWorker> destroy_worker{nullptr};
std::atomic<Progress> progress{nullptr};
std::atomic<Read> next_read{nullptr};

/// UCX's own reads do not block, and must not come here.
bool would_block(int descriptor) {
    const int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

bool is_readable(int descriptor) {
    pollfd readable{descriptor, POLLIN, 0};
    return poll(&readable, 1, 0) != 0;
}

/// The library that runs may be another than the one that this was compiled for.
bool is_mended() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    int major = 0;
    int minor = 0;
    if (PMPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return true;
    if (std::sscanf(text.data(), "MPICH Version: %d.%d", &major, &minor) != 2) return true;
    return major != 4 || minor >= 2;
}

/// Until there is something to read; not at all when MPI has destroyed its workers.
void answer_others(int descriptor, Progress drive) {
    const std::vector<void*> all = workers().all();
    while (!all.empty() && !is_readable(descriptor)) {
        unsigned events = 0;
        for (void* worker : all) events += drive(worker);
        if (events == 0) sched_yield();
    }
}

}  // namespace

void answer_others_in_finalize() {
    is_finalizing = !is_mended();
}

}  // namespace laple::mpi

using namespace laple::mpi;

LAPLE_EXPORT Status ucp_worker_create(void* context, const void* parameters, void** worker) {
    constexpr Status kUnsupported = -22;  // UCS_ERR_UNSUPPORTED
    const CreateWorker next = find(create_worker, "ucp_worker_create", __builtin_return_address(0));
    find(progress, "ucp_worker_progress", __builtin_return_address(0));
    if (next == nullptr) return kUnsupported;
    const Status status = next(context, parameters, worker);
    if (status == 0) workers().add(*worker);
    return status;
}

LAPLE_EXPORT void ucp_worker_destroy(void* worker) {
    workers().remove(worker);
    const DestroyWorker next = find(destroy_worker, "ucp_worker_destroy", __builtin_return_address(0));
    if (next != nullptr) next(worker);
}

LAPLE_EXPORT ssize_t read(int descriptor, void* buffer, std::size_t bytes) {
    const Read next = find(next_read, "read", __builtin_return_address(0));
    const Progress drive = progress.load(std::memory_order_relaxed);
    if (is_finalizing && drive != nullptr && would_block(descriptor)) answer_others(descriptor, drive);
    return next != nullptr ? next(descriptor, buffer, bytes) : syscall(SYS_read, descriptor, buffer, bytes);
}

#else

namespace laple::mpi {

void answer_others_in_finalize() {}

}  // namespace laple::mpi

#endif
