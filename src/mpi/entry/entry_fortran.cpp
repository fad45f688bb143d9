// SPDX-License-Identifier: BSD-3-Clause
// Fortran. mpif.h and `use mpi` reach the C symbols by themselves. `use mpi_f08` calls PMPI_Barrier directly,
// so its barrier is caught by name. The two MPI_Init shims only forward: a program whose own objects name a
// symbol of liblaple keeps it under the linker's --as-needed, and every Fortran program names one of these.
//
// MPI's standard ABI has no Fortran of its own: what is above it calls C.
#include <dlfcn.h>
#include <mpi.h>

#ifndef MPI_ABI

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using FortranInit = void (*)(MPI_Fint*);

void forward_init(const char* symbol, MPI_Fint* ierror) {
    const auto next = reinterpret_cast<FortranInit>(dlsym(RTLD_NEXT, symbol));
    if (next != nullptr) return next(ierror);
    const int code = MPI_Init(nullptr, nullptr);
    if (ierror != nullptr) *ierror = code;
}

}  // namespace

LAPLE_EXPORT void mpi_init_(MPI_Fint* ierror) {
    forward_init("mpi_init_", ierror);
}

LAPLE_EXPORT void mpi_init_f08_(MPI_Fint* ierror) {
    forward_init("mpi_init_f08_", ierror);
}

/// `comm` is a TYPE(MPI_Comm), whose one member is the handle; `ierror` is optional and may be absent.
LAPLE_EXPORT void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* ierror) {
    const int code = MPI_Barrier(MPI_Comm_f2c(*comm));
    if (ierror != nullptr) *ierror = code;
}

#endif
