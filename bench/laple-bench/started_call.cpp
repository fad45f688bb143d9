// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/started_call.hpp"

#include <cstddef>

#include "base/error.hpp"

namespace laple::bench {
namespace {

using mpi::NativeArguments;
using Start = int (*)(const NativeArguments& a, MPI_Request* request);
using Starts = std::array<Start, kAllCollectives.size()>;

// In the order of kAllCollectives, by library.

#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(...)
constexpr Starts kStartStock{
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, native_arguments, ...) \
    [](const NativeArguments& a, MPI_Request* request) {                                  \
        return PMPI_##started(LAPLE_UNWRAP native_arguments, request);                    \
    },
#include "mpi/exec/collectives.def"
};

#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(...)
constexpr Starts kStartLaple{
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, native_arguments, ...) \
    [](const NativeArguments& a, MPI_Request* request) {                                  \
        return MPI_##started(LAPLE_UNWRAP native_arguments, request);                     \
    },
#include "mpi/exec/collectives.def"
};

#if MPI_VERSION >= 4
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(...)
constexpr Starts kInitStock{
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, native_arguments, ...) \
    [](const NativeArguments& a, MPI_Request* request) {                                  \
        return PMPI_##name##_init(LAPLE_UNWRAP native_arguments, MPI_INFO_NULL, request); \
    },
#include "mpi/exec/collectives.def"
};

#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(...)
constexpr Starts kInitLaple{
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, native_arguments, ...) \
    [](const NativeArguments& a, MPI_Request* request) {                                  \
        return MPI_##name##_init(LAPLE_UNWRAP native_arguments, MPI_INFO_NULL, request);  \
    },
#include "mpi/exec/collectives.def"
};
#endif

std::size_t number_of(const Call& call) {
    return static_cast<std::size_t>(call.benchmark.collective);
}

}  // namespace

StartedCall::StartedCall(const Call& call, MPI_Comm comm, bool is_persistent)
    : call_(call), comm_(comm), is_persistent_(is_persistent) {
    if (!is_persistent) return;
#if MPI_VERSION >= 4
    const NativeArguments arguments = arguments_of(call, comm);
    kInitStock[number_of(call)](arguments, &persistent_[0]);
    kInitLaple[number_of(call)](arguments, &persistent_[1]);
#else
    throw Error("this MPI has no persistent collectives", "leave --persistent out");
#endif
}

StartedCall::~StartedCall() {
    if (!is_persistent_) return;
    PMPI_Request_free(&persistent_[0]);
    MPI_Request_free(&persistent_[1]);
}

void StartedCall::start(Library library) {
    const bool is_stock = library == Library::stock;
    if (is_persistent_) {
        request_ = persistent_[is_stock ? 0 : 1];
        (is_stock ? PMPI_Start : MPI_Start)(&request_);
        return;
    }
    (is_stock ? kStartStock : kStartLaple)[number_of(call_)](arguments_of(call_, comm_), &request_);
}

bool StartedCall::test() {
    int is_complete = 0;
    MPI_Test(&request_, &is_complete, MPI_STATUS_IGNORE);
    return is_complete != 0;
}

void StartedCall::wait() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

}  // namespace laple::bench
