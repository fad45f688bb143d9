// SPDX-License-Identifier: BSD-3-Clause
// liblaple_deep: PMPI_X beside MPI_X, for callers that never use MPI_X: profilers that stand above LaPle, and
// the calls of Fortran's mpi_f08 that have no buffers.
//
//     application -> MPI_X, a profiler's -> PMPI_X, here -> MPI_X of LaPle -> MPI's own PMPI_X
//
// LaPle's own code says PMPI_X when it means MPI's own. The linker's --wrap turns each of those references
// into __wrap_PMPI_X, which asks the dynamic linker for the next definition after this library. What MPI
// itself calls (its files and windows use collectives) is left alone: its communicators are not the
// application's, and its locks may be held.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

namespace {

/// MPI's own function; ends the process where there is none: nothing that is right could be returned.
void* next_definition(const char* name) {
    void* found = dlsym(RTLD_NEXT, name);
    if (found != nullptr) return found;
    std::fprintf(stderr,
                 "[laple] liblaple_deep finds no %s behind it; preload it, or link it before MPI, and use a "
                 "shared MPI\n",
                 name);
    std::abort();
}

struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool holds(std::uintptr_t address) const { return begin <= address && address < end; }
};

struct Search {
    std::uintptr_t inside;
    Range found;
};

/// Where the object that holds an address is loaded.
Range object_around(std::uintptr_t address) {
    Search search{address, {}};
    const auto look = [](dl_phdr_info* object, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        Range range{UINTPTR_MAX, 0};
        for (int i = 0; i < object->dlpi_phnum; ++i) {
            const auto& header = object->dlpi_phdr[i];
            if (header.p_type != PT_LOAD) continue;
            const std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
            if (begin < range.begin) range.begin = begin;
            if (begin + header.p_memsz > range.end) range.end = begin + header.p_memsz;
        }
        if (!range.holds(wanted.inside)) return 0;
        wanted.found = range;
        return 1;
    };
    dl_iterate_phdr(look, &search);
    return search.found;
}

/// Whether a call that returns to `address` was made by MPI's own library.
bool is_of_mpi(const void* address) {
    static const Range mpi = object_around(reinterpret_cast<std::uintptr_t>(next_definition("PMPI_Bcast")));
    return mpi.holds(reinterpret_cast<std::uintptr_t>(address));
}

}  // namespace

// --wrap makes the names of the inner functions; this library is linked with -Bsymbolic-functions, so MPI_X
// is LaPle's own here, not that of a profiler above.
#define LAPLE_DEEP(name, parameters, arguments)                                                           \
    extern "C" int __wrap_PMPI_##name parameters {                                                        \
        static const auto next = reinterpret_cast<decltype(&MPI_##name)>(next_definition("PMPI_" #name)); \
        return next arguments;                                                                            \
    }                                                                                                     \
    extern "C" __attribute__((visibility("default"))) int PMPI_##name parameters {                        \
        if (is_of_mpi(__builtin_return_address(0))) return __wrap_PMPI_##name arguments;                  \
        return MPI_##name arguments;                                                                      \
    }

#define LAPLE_DEEP_STARTED(name, parameters, arguments) \
    LAPLE_DEEP(name, (LAPLE_UNWRAP parameters, MPI_Request * request), (LAPLE_UNWRAP arguments, request))
#define LAPLE_DEEP_PERSISTENT(name, parameters, arguments)                            \
    LAPLE_DEEP(name, (LAPLE_UNWRAP parameters, MPI_Info info, MPI_Request * request), \
               (LAPLE_UNWRAP arguments, info, request))

namespace with_int {
using Count = int;
using Displacement = int;
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, ...) \
    LAPLE_DEEP(name, parameters, arguments)                             \
    LAPLE_DEEP_STARTED(started, parameters, arguments)
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS LAPLE_COLLECTIVE
#include "mpi/exec/collectives.def"
}  // namespace with_int

#if MPI_VERSION >= 4
namespace persistent_with_int {
using Count = int;
using Displacement = int;
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, ...) \
    LAPLE_DEEP_PERSISTENT(name##_init, parameters, arguments)
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS LAPLE_COLLECTIVE
#include "mpi/exec/collectives.def"
}  // namespace persistent_with_int

namespace with_large_count {
using Count = MPI_Count;
using Displacement = MPI_Aint;
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, ...) \
    LAPLE_DEEP(name##_c, parameters, arguments)                         \
    LAPLE_DEEP_STARTED(started##_c, parameters, arguments)              \
    LAPLE_DEEP_PERSISTENT(name##_init_c, parameters, arguments)
#define LAPLE_WITHOUT_COUNT(...)
#define LAPLE_OF_COUNTS LAPLE_COLLECTIVE
#include "mpi/exec/collectives.def"
}  // namespace with_large_count
#endif

LAPLE_DEEP(Start, (MPI_Request * request), (request))
LAPLE_DEEP(Startall, (int count, MPI_Request requests[]), (count, requests))
LAPLE_DEEP(Request_free, (MPI_Request * request), (request))
LAPLE_DEEP(Cancel, (MPI_Request * request), (request))
LAPLE_DEEP(Op_free, (MPI_Op * op), (op))
LAPLE_DEEP(Init, (int* argc, char*** argv), (argc, argv))
LAPLE_DEEP(Init_thread, (int* argc, char*** argv, int required, int* provided),
           (argc, argv, required, provided))
LAPLE_DEEP(Finalize, (void), ())
LAPLE_DEEP(Comm_set_info, (MPI_Comm comm, MPI_Info info), (comm, info))
LAPLE_DEEP(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* copy), (comm, info, copy))
LAPLE_DEEP(Comm_free, (MPI_Comm * comm), (comm))
LAPLE_DEEP(Comm_disconnect, (MPI_Comm * comm), (comm))

// By hand: what follows the level is for other tools, and cannot be passed on.
extern "C" int __wrap_PMPI_Pcontrol(const int level, ...) {
    static const auto next = reinterpret_cast<decltype(&MPI_Pcontrol)>(next_definition("PMPI_Pcontrol"));
    return next(level);
}
extern "C" __attribute__((visibility("default"))) int PMPI_Pcontrol(const int level, ...) {
    return MPI_Pcontrol(level);
}
