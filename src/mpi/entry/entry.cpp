// SPDX-License-Identifier: BSD-3-Clause
// The symbols that an application's calls arrive at. MPICH exports MPI_X as a weak alias of PMPI_X; these are
// the strong ones, found first when liblaple comes before MPI in the link or is preloaded.
#include <mpi.h>

#include "mpi/call/treat.hpp"
#include "mpi/comm/bypass.hpp"
#include "mpi/comm/process.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

using laple::Collective;
using laple::mpi::BoundCall;
using laple::mpi::bypass;
using laple::mpi::Call;
using laple::mpi::DyingComm;
using laple::mpi::is_bypassed;
using laple::mpi::NativeCall;
using laple::mpi::treat;

namespace {

/// Only read from, whatever its type says.
void* input(const void* buffer) {
    return const_cast<void*>(buffer);
}

/// The arguments of MPI_X and MPI_X_c alike.
Call bcast_call(const NativeCall& native, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                MPI_Comm comm) {
    return {.collective = Collective::bcast,
            .native = native,
            .comm = comm,
            .result = {buffer, count, datatype},
            .root = root};
}
Call reduce_call(const NativeCall& native, const void* sendbuf, void* recvbuf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    return {.collective = Collective::reduce,
            .native = native,
            .comm = comm,
            .input = {input(sendbuf), count, datatype},
            .result = {recvbuf, count, datatype},
            .op = op,
            .root = root};
}
Call allreduce_call(const NativeCall& native, const void* sendbuf, void* recvbuf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return {.collective = Collective::allreduce,
            .native = native,
            .comm = comm,
            .input = {input(sendbuf), count, datatype},
            .result = {recvbuf, count, datatype},
            .op = op};
}

}  // namespace

LAPLE_EXPORT int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    if (is_bypassed(comm)) return bypass.bcast(buffer, count, datatype, root, comm);
    const BoundCall native([=] { return PMPI_Bcast(buffer, count, datatype, root, comm); });
    return treat(bcast_call(native, buffer, count, datatype, root, comm));
}

LAPLE_EXPORT int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            int root, MPI_Comm comm) {
    if (is_bypassed(comm)) return bypass.reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
    const BoundCall native([=] { return PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm); });
    return treat(reduce_call(native, sendbuf, recvbuf, count, datatype, op, root, comm));
}

LAPLE_EXPORT int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm) {
    if (is_bypassed(comm)) return bypass.allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    const BoundCall native([=] { return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm); });
    return treat(allreduce_call(native, sendbuf, recvbuf, count, datatype, op, comm));
}

LAPLE_EXPORT int MPI_Barrier(MPI_Comm comm) {
    if (is_bypassed(comm)) return bypass.barrier(comm);
    const BoundCall native([=] { return PMPI_Barrier(comm); });
    return treat({.collective = Collective::barrier, .native = native, .comm = comm});
}

/// Before any delete callback of the user's runs: collectives in those are MPI's own, on all ranks alike.
/// Where this is bypassed (some Fortran bindings), the attribute on MPI_COMM_SELF ends LaPle.
LAPLE_EXPORT int MPI_Finalize(void) {
    laple::mpi::Process::end();
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

#if MPI_VERSION >= 4

LAPLE_EXPORT int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    if (is_bypassed(comm)) return PMPI_Bcast_c(buffer, count, datatype, root, comm);
    const BoundCall native([=] { return PMPI_Bcast_c(buffer, count, datatype, root, comm); });
    return treat(bcast_call(native, buffer, count, datatype, root, comm));
}

LAPLE_EXPORT int MPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Op op, int root, MPI_Comm comm) {
    if (is_bypassed(comm)) return PMPI_Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm);
    const BoundCall native([=] { return PMPI_Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm); });
    return treat(reduce_call(native, sendbuf, recvbuf, count, datatype, op, root, comm));
}

LAPLE_EXPORT int MPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                 MPI_Op op, MPI_Comm comm) {
    if (is_bypassed(comm)) return PMPI_Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
    const BoundCall native([=] { return PMPI_Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm); });
    return treat(allreduce_call(native, sendbuf, recvbuf, count, datatype, op, comm));
}

#endif
