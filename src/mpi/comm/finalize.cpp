// SPDX-License-Identifier: BSD-3-Clause
// Stands before the C library's read: see finalize.hpp. Where MPI is no MPICH, or one that is mended, nothing
// of it is there.
#include "mpi/comm/finalize.hpp"

#include <mpi.h>

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000 && MPICH_NUMVERSION < 40200000

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "mpi/comm/next_definition.hpp"
#include "mpi/comm/ucx.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace laple::mpi {
namespace {

using Read = ssize_t (*)(int descriptor, void* buffer, std::size_t bytes);

thread_local bool is_finalizing = false;

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
    const std::vector<void*> all = ucx_workers();
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

AnsweringOthers::AnsweringOthers() : was_answering_(is_finalizing) {
    answer_others_in_finalize();
}

/// With a session open, MPI goes on, and the program may wait in a read of its own.
AnsweringOthers::~AnsweringOthers() {
    is_finalizing = was_answering_;
}

}  // namespace laple::mpi

using namespace laple::mpi;

LAPLE_EXPORT ssize_t read(int descriptor, void* buffer, std::size_t bytes) {
    const Read next = next_definition(next_read, "read", __builtin_return_address(0));
    const Progress drive = ucx_progress();
    if (is_finalizing && drive != nullptr && would_block(descriptor)) answer_others(descriptor, drive);
    return next != nullptr ? next(descriptor, buffer, bytes) : syscall(SYS_read, descriptor, buffer, bytes);
}

#else

namespace laple::mpi {

void answer_others_in_finalize() {}

AnsweringOthers::AnsweringOthers() : was_answering_(false) {}

AnsweringOthers::~AnsweringOthers() = default;

}  // namespace laple::mpi

#endif
