// SPDX-License-Identifier: BSD-3-Clause
// The beginning of MPI: with LAPLE_PROGRESS=thread LaPle needs MPI_THREAD_MULTIPLE for its own thread,
// whatever the program asks for.
#include <algorithm>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/options.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace laple::mpi {
namespace {

bool wants_thread() {
    std::vector<std::string> warnings;  // said later, when MPI is there
    const Settings settings = read_settings(laple_environment(), warnings);
    return settings.has_progress_thread && !settings.is_disabled;
}

}  // namespace
}  // namespace laple::mpi

LAPLE_EXPORT int MPI_Init(int* argc, char*** argv) {
    int provided = MPI_THREAD_SINGLE;
    if (!laple::mpi::wants_thread()) return PMPI_Init(argc, argv);
    return PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
}

LAPLE_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    if (!laple::mpi::wants_thread()) return PMPI_Init_thread(argc, argv, required, provided);
    const int code = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
    // The program is promised what it asked for.
    if (code == MPI_SUCCESS) *provided = std::min(*provided, required);
    return code;
}
