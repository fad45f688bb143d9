// SPDX-License-Identifier: BSD-3-Clause
// Fortran. mpif.h and `use mpi` reach the C symbols by themselves. `use mpi_f08` calls PMPI_X directly where
// X has no buffer, so those calls are caught by name. What they are passed on to here is LaPle's. The shim of
// mpif.h's MPI_Init only forwards, to the binding, which calls MPI_Init: a program whose own objects name a
// symbol of liblaple keeps it under the linker's --as-needed, and every Fortran program names one of these.
//
// MPI's standard ABI has no Fortran of its own: what is above it calls C.
#include <cstddef>
#include <vector>

#include <dlfcn.h>
#include <mpi.h>

#ifndef MPI_ABI

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

/// `ierror` is optional in mpi_f08, and may be absent.
void give(int code, MPI_Fint* ierror) {
    if (ierror != nullptr) *ierror = code;
}

}  // namespace

LAPLE_EXPORT void mpi_init_(MPI_Fint* ierror) {
    using Init = void (*)(MPI_Fint*);
    const auto next = reinterpret_cast<Init>(dlsym(RTLD_NEXT, "mpi_init_"));
    if (next != nullptr) return next(ierror);
    give(MPI_Init(nullptr, nullptr), ierror);
}

LAPLE_EXPORT void mpi_init_f08_(MPI_Fint* ierror) {
    give(MPI_Init(nullptr, nullptr), ierror);
}

LAPLE_EXPORT void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
    int level = MPI_THREAD_SINGLE;
    give(MPI_Init_thread(nullptr, nullptr, *required, &level), ierror);
    *provided = level;
}

LAPLE_EXPORT void mpi_finalize_f08_(MPI_Fint* ierror) {
    give(MPI_Finalize(), ierror);
}

LAPLE_EXPORT void mpi_comm_free_f08_(MPI_Fint* comm, MPI_Fint* ierror) {
    MPI_Comm handle = MPI_Comm_f2c(*comm);
    give(MPI_Comm_free(&handle), ierror);
    *comm = MPI_Comm_c2f(handle);
}

LAPLE_EXPORT void mpi_comm_disconnect_f08_(MPI_Fint* comm, MPI_Fint* ierror) {
    MPI_Comm handle = MPI_Comm_f2c(*comm);
    give(MPI_Comm_disconnect(&handle), ierror);
    *comm = MPI_Comm_c2f(handle);
}

/// `comm` is a TYPE(MPI_Comm), whose one member is the handle.
LAPLE_EXPORT void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* ierror) {
    give(MPI_Barrier(MPI_Comm_f2c(*comm)), ierror);
}

// The same for calls without a buffer that start collectives, or free what these use. A TYPE(MPI_Request),
// ... holds nothing but the handle.

LAPLE_EXPORT void mpi_ibarrier_f08_(const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror) {
    MPI_Request handle = MPI_REQUEST_NULL;
    give(MPI_Ibarrier(MPI_Comm_f2c(*comm), &handle), ierror);
    *request = MPI_Request_c2f(handle);
}

#if MPI_VERSION >= 4
LAPLE_EXPORT void mpi_barrier_init_f08_(const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                                        MPI_Fint* ierror) {
    MPI_Request handle = MPI_REQUEST_NULL;
    give(MPI_Barrier_init(MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &handle), ierror);
    *request = MPI_Request_c2f(handle);
}
#endif

LAPLE_EXPORT void mpi_start_f08_(MPI_Fint* request, MPI_Fint* ierror) {
    MPI_Request handle = MPI_Request_f2c(*request);
    give(MPI_Start(&handle), ierror);
    *request = MPI_Request_c2f(handle);
}

LAPLE_EXPORT void mpi_startall_f08_(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* ierror) {
    std::vector<MPI_Request> handles;
    for (MPI_Fint i = 0; i < *count; ++i) handles.push_back(MPI_Request_f2c(requests[i]));
    give(MPI_Startall(*count, handles.data()), ierror);
    for (std::size_t i = 0; i < handles.size(); ++i) requests[i] = MPI_Request_c2f(handles[i]);
}

LAPLE_EXPORT void mpi_request_free_f08_(MPI_Fint* request, MPI_Fint* ierror) {
    MPI_Request handle = MPI_Request_f2c(*request);
    give(MPI_Request_free(&handle), ierror);
    *request = MPI_Request_c2f(handle);
}

LAPLE_EXPORT void mpi_cancel_f08_(const MPI_Fint* request, MPI_Fint* ierror) {
    MPI_Request handle = MPI_Request_f2c(*request);
    give(MPI_Cancel(&handle), ierror);
}

LAPLE_EXPORT void mpi_op_free_f08_(MPI_Fint* op, MPI_Fint* ierror) {
    MPI_Op handle = MPI_Op_f2c(*op);
    give(MPI_Op_free(&handle), ierror);
    *op = MPI_Op_c2f(handle);
}

#endif
