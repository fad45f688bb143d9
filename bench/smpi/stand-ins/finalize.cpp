// SPDX-License-Identifier: BSD-3-Clause
// SMPI runs no delete callbacks of attributes in MPI_Finalize, which LaPle ends by elsewhere.
#include <mpi.h>

#include "mpi/process.hpp"

extern "C" int MPI_Finalize(void) {
    laple::mpi::Process::end();
    return PMPI_Finalize();
}
