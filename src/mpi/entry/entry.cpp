// SPDX-License-Identifier: BSD-3-Clause
// The symbols that an application's calls arrive at. MPICH exports MPI_X as a weak alias of PMPI_X; these are
// the strong ones, found first when liblaple comes before MPI in the link or is preloaded.
#include <mpi.h>

#include "mpi/call/treat.hpp"
#include "mpi/comm/bypass.hpp"
#include "mpi/comm/finalize.hpp"
#include "mpi/comm/process.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace laple::mpi {
namespace {

/// Only read from, whatever its type says.
void* as_input(const void* buffer) {
    return const_cast<void*>(buffer);
}

}  // namespace

namespace with_int {

using Count = int;
using Displacement = int;
#define LAPLE_COLLECTIVE(id, name, parameters, arguments, native_arguments, ...)                             \
    LAPLE_EXPORT int MPI_##name parameters {                                                                 \
        if (is_bypassed(comm)) return bypass.name arguments;                                                 \
        const BoundCall native([=] { return PMPI_##name arguments; });                                       \
        return treat(                                                                                        \
            {.collective = Collective::id, .function = #name, .native = native, .comm = comm, __VA_ARGS__}); \
    }
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(id, name, parameters, arguments, ...) \
    LAPLE_COLLECTIVE(id, name, parameters, arguments, (), __VA_ARGS__)
#include "mpi/exec/collectives.def"

}  // namespace with_int

#if MPI_VERSION >= 4
namespace with_large_count {

using Count = MPI_Count;
using Displacement = MPI_Aint;
#define LAPLE_COLLECTIVE(id, name, parameters, arguments, native_arguments, ...)                             \
    LAPLE_EXPORT int MPI_##name##_c parameters {                                                             \
        if (is_bypassed(comm)) return PMPI_##name##_c arguments;                                             \
        const BoundCall native([=] { return PMPI_##name##_c arguments; });                                   \
        return treat(                                                                                        \
            {.collective = Collective::id, .function = #name, .native = native, .comm = comm, __VA_ARGS__}); \
    }
#define LAPLE_WITHOUT_COUNT(...)
#define LAPLE_OF_COUNTS(id, name, parameters, arguments, ...) \
    LAPLE_COLLECTIVE(id, name, parameters, arguments, (), __VA_ARGS__)
#include "mpi/exec/collectives.def"

}  // namespace with_large_count
#endif

}  // namespace laple::mpi

using laple::mpi::DyingComm;

/// Before any delete callback of the user's runs: collectives in those are MPI's own, on all ranks alike.
/// Where this is bypassed (some Fortran bindings), the attribute on MPI_COMM_SELF ends LaPle.
LAPLE_EXPORT int MPI_Finalize(void) {
    laple::mpi::Process::end();
    if (!laple::mpi::is_disabled()) laple::mpi::answer_others_in_finalize();
    return PMPI_Finalize();
}

/// What follows the level is for other tools, and cannot be passed on; MPI's own ignores it.
LAPLE_EXPORT int MPI_Pcontrol(const int level, ...) {
    laple::mpi::switch_by(level);
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
    const DyingComm dying(comm != nullptr ? *comm : MPI_COMM_NULL);
    return PMPI_Comm_free(comm);
}

LAPLE_EXPORT int MPI_Comm_disconnect(MPI_Comm* comm) {
    const DyingComm dying(comm != nullptr ? *comm : MPI_COMM_NULL);
    return PMPI_Comm_disconnect(comm);
}
