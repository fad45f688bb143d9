// SPDX-License-Identifier: BSD-3-Clause
// The beginning of MPI: with LAPLE_PROGRESS=thread LaPle needs MPI_THREAD_MULTIPLE for its own thread,
// whatever the program asks for.
#include <algorithm>

#include <mpi.h>

#include "base/configuration.hpp"
#include "mpi/comm/process.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace laple::mpi {
namespace {

bool wants_thread() {
    const Settings& settings = configuration().settings;  // what is wrong is said when MPI is there
    return settings.has_progress_thread && !settings.is_disabled;
}

/// Where nothing is to be said, LaPle waits for the first collective. A report, or a trace, tells of the
/// whole job, also where it calls none; and a wrong setting is to be seen there, too. Which libraries are
/// loaded all ranks look at now, whatever their settings: later there may be others.
void begin() {
    if (is_disabled()) return;
    const Configuration& found = configuration();
    const Settings& settings = found.settings;
    const bool tells_of_job = !settings.report.empty() || !settings.trace.empty();
    const bool tells_of_settings =
        settings.debug >= 1 || !settings.algorithm.empty() || !found.warnings.empty();
    if (tells_of_job || tells_of_settings) Process::get();
}

}  // namespace
}  // namespace laple::mpi

LAPLE_EXPORT int MPI_Init(int* argc, char*** argv) {
    int provided = MPI_THREAD_SINGLE;
    const int code = laple::mpi::wants_thread() ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                                                : PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) laple::mpi::begin();
    return code;
}

LAPLE_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const bool wants_thread = laple::mpi::wants_thread();
    const int code =
        PMPI_Init_thread(argc, argv, wants_thread ? int{MPI_THREAD_MULTIPLE} : required, provided);
    if (code != MPI_SUCCESS) return code;
    // The program is promised what it asked for.
    if (wants_thread) *provided = std::min(*provided, required);
    laple::mpi::begin();
    return code;
}
