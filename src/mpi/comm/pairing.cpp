// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/pairing.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <mpi.h>

namespace laple::mpi {
namespace {

/// libmpich.so.12 (Debian), libmpi.so.12 (MPICH, Intel), libmpi.so.40 (Open MPI), libmpi_abi.so.1 (MPI 5's
/// ABI).
bool is_mpi(const std::string& name) {
    return name.starts_with("libmpi.so") || name.starts_with("libmpich.so") ||
           name.starts_with("libmpi_abi.so");
}

std::set<std::string> loaded_mpis() {
    std::set<std::string> found;
    const auto look = [](dl_phdr_info* object, std::size_t, void* data) {
        const std::string name = std::filesystem::path(object->dlpi_name).filename();
        if (is_mpi(name)) static_cast<std::set<std::string>*>(data)->insert(name);
        return 0;
    };
    dl_iterate_phdr(look, &found);
    return found;
}

/// Whether this is the job's first rank as its launcher has it, Hydra or Open MPI's: MPI's handles are in
/// question.
bool may_speak() {
    for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"}) {
        if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
    }
    return true;
}

/// The library or program that holds what `address` points to.
Dl_info object_of(const void* address) {
    Dl_info info{};
    if (dladdr(address, &info) == 0) return {};
    return info;
}

/// Where this library's own calls of MPI end up.
std::string own_mpi() {
    const Dl_info info = object_of(reinterpret_cast<const void*>(&PMPI_Comm_size));
    return info.dli_fname == nullptr ? "?" : std::filesystem::path(info.dli_fname).filename();
}

}  // namespace

bool is_beside_another_mpi() {
    static const bool is_so = [] {
        const std::set<std::string> mpis = loaded_mpis();
        if (mpis.size() < 2) return false;
        int is_initialized = 0;
        PMPI_Initialized(&is_initialized);
        if (may_speak()) {
            std::string names;
            for (const std::string& name : mpis) names += (names.empty() ? "" : " and ") + name;
            fmt::print(
                stderr,
                "[laple] {} are loaded both: liblaple was built for another MPI than this program, and does "
                "nothing. Build it with the program's: cmake --fresh --preset release "
                "-DMPI_C_COMPILER=/path/to/its/mpicc\n",
                names);
            if (is_initialized == 0)
                fmt::print(stderr,
                           "[laple] calls end up in {}, which the program has not initialised: run without "
                           "liblaple\n",
                           own_mpi());
        }
        if (is_initialized == 0) std::abort();
        return true;
    }();
    return is_so;
}

bool is_behind_another_laple() {
    const void* first = dlsym(RTLD_DEFAULT, "laple_version");
    // A function of this object that nothing can step before.
    const auto* own = reinterpret_cast<const void*>(&is_behind_another_laple);
    return first != nullptr && object_of(first).dli_fbase != object_of(own).dli_fbase;
}

}  // namespace laple::mpi
