// SPDX-License-Identifier: BSD-3-Clause
// The symbols that an application's calls arrive at. MPICH exports MPI_X as a weak alias of PMPI_X; these are
// the strong ones, found first when liblaple comes before MPI in the link or is preloaded.
#include <mpi.h>

#include "mpi/call/pcontrol.hpp"
#include "mpi/call/started.hpp"
#include "mpi/call/treat.hpp"
#include "mpi/comm/bypass.hpp"
#include "mpi/comm/comm_state.hpp"
#include "mpi/comm/finalize.hpp"
#include "mpi/comm/kept_handles.hpp"
#include "mpi/comm/process.hpp"
#include "mpi/comm/progress_engine.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace laple::mpi {
namespace {

/// Only read from, whatever its type says.
void* as_input(const void* buffer) {
    return const_cast<void*>(buffer);
}

}  // namespace

#define LAPLE_CALL(id, its_name, native_call, ...) \
    { .collective = Collective::id, .function = #its_name, .native = native_call, .comm = comm, __VA_ARGS__ }

// What MPI's function `symbol` does: treat(), start() or init() the call; `straight` is MPI's own where LaPle
// has nothing to do. `...`: members of Call.
#define LAPLE_BLOCKING(id, name, symbol, straight, parameters, arguments, ...) \
    LAPLE_EXPORT int MPI_##symbol parameters {                                 \
        if (is_bypassed(comm)) return straight arguments;                      \
        const BoundCall native([=] { return PMPI_##symbol arguments; });       \
        return treat(LAPLE_CALL(id, name, native, __VA_ARGS__));               \
    }
#define LAPLE_STARTED(id, name, symbol, parameters, arguments, ...)                             \
    LAPLE_EXPORT int MPI_##symbol(LAPLE_UNWRAP parameters, MPI_Request* request) {              \
        if (is_bypassed(comm)) return PMPI_##symbol(LAPLE_UNWRAP arguments, request);           \
        const BoundCall native([=] { return PMPI_##symbol(LAPLE_UNWRAP arguments, request); }); \
        return start(LAPLE_CALL(id, name, native, __VA_ARGS__), request);                       \
    }
#define LAPLE_PERSISTENT(id, name, symbol, parameters, arguments, ...)                                \
    LAPLE_EXPORT int MPI_##symbol(LAPLE_UNWRAP parameters, MPI_Info info, MPI_Request* request) {     \
        if (is_bypassed(comm)) return PMPI_##symbol(LAPLE_UNWRAP arguments, info, request);           \
        const BoundCall native([=] { return PMPI_##symbol(LAPLE_UNWRAP arguments, info, request); }); \
        return init(LAPLE_CALL(id, name, native, __VA_ARGS__), request);                              \
    }

namespace with_int {

using Count = int;
using Displacement = int;
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, native_arguments, ...) \
    LAPLE_BLOCKING(id, name, name, bypass.name, parameters, arguments, __VA_ARGS__)       \
    LAPLE_STARTED(id, started, started, parameters, arguments, __VA_ARGS__)
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(id, name, started, parameters, arguments, ...) \
    LAPLE_COLLECTIVE(id, name, started, parameters, arguments, (), __VA_ARGS__)
#include "mpi/exec/collectives.def"

}  // namespace with_int

#if MPI_VERSION >= 4
namespace persistent_with_int {

using Count = int;
using Displacement = int;
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, native_arguments, ...) \
    LAPLE_PERSISTENT(id, name##_init, name##_init, parameters, arguments, __VA_ARGS__)
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(id, name, started, parameters, arguments, ...) \
    LAPLE_COLLECTIVE(id, name, started, parameters, arguments, (), __VA_ARGS__)
#include "mpi/exec/collectives.def"

}  // namespace persistent_with_int

namespace with_large_count {

using Count = MPI_Count;
using Displacement = MPI_Aint;
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, native_arguments, ...)   \
    LAPLE_BLOCKING(id, name, name##_c, PMPI_##name##_c, parameters, arguments, __VA_ARGS__) \
    LAPLE_STARTED(id, started, started##_c, parameters, arguments, __VA_ARGS__)             \
    LAPLE_PERSISTENT(id, name##_init, name##_init_c, parameters, arguments, __VA_ARGS__)
#define LAPLE_WITHOUT_COUNT(...)
#define LAPLE_OF_COUNTS(id, name, started, parameters, arguments, ...) \
    LAPLE_COLLECTIVE(id, name, started, parameters, arguments, (), __VA_ARGS__)
#include "mpi/exec/collectives.def"

}  // namespace with_large_count
#endif

}  // namespace laple::mpi

using laple::mpi::DyingComm;
using laple::mpi::KeptHandles;

LAPLE_EXPORT int MPI_Cancel(MPI_Request* request) {
    return laple::mpi::cancel(request);
}

LAPLE_EXPORT int MPI_Op_free(MPI_Op* op) {
    if (op == nullptr || !KeptHandles::free_later(*op)) return PMPI_Op_free(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

/// Before any delete callback of the user's runs: collectives in those are MPI's own, on all ranks alike.
/// Where this is bypassed (some Fortran bindings), the attribute on MPI_COMM_SELF ends LaPle.
LAPLE_EXPORT int MPI_Finalize(void) {
    if (laple::mpi::is_disabled()) return PMPI_Finalize();
    // Before LaPle's end, from which on this thread answers, too: with a session open, the program goes on.
    const laple::mpi::AnsweringOthers answering;
    laple::mpi::end_started_calls();
    laple::mpi::Process::end();
    return PMPI_Finalize();
}

#if MPI_VERSION >= 4
/// The last one ends MPI, where MPI_Finalize has come before.
LAPLE_EXPORT int MPI_Session_finalize(MPI_Session* session) {
    if (laple::mpi::is_disabled()) return PMPI_Session_finalize(session);
    const laple::mpi::AnsweringOthers answering;
    return PMPI_Session_finalize(session);
}
#endif

/// What follows the level is for other tools, and cannot be passed on; MPI's own ignores it.
LAPLE_EXPORT int MPI_Pcontrol(const int level, ...) {
    laple::mpi::is_switched_off = level == 0;
    return PMPI_Pcontrol(level);
}

LAPLE_EXPORT int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
    const int code = PMPI_Comm_set_info(comm, info);
    if (code == MPI_SUCCESS) laple::mpi::heed_info(comm, info);
    return code;
}

LAPLE_EXPORT int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* copy) {
    const int code = PMPI_Comm_dup_with_info(comm, info, copy);
    if (code == MPI_SUCCESS) laple::mpi::heed_info(*copy, info);
    return code;
}

LAPLE_EXPORT int MPI_Comm_free(MPI_Comm* comm) {
    if (comm != nullptr) laple::mpi::CommState::end(*comm);
    const DyingComm dying(comm != nullptr ? *comm : MPI_COMM_NULL);
    return PMPI_Comm_free(comm);
}

LAPLE_EXPORT int MPI_Comm_disconnect(MPI_Comm* comm) {
    if (comm != nullptr) laple::mpi::CommState::end(*comm);
    const DyingComm dying(comm != nullptr ? *comm : MPI_COMM_NULL);
    return PMPI_Comm_disconnect(comm);
}
