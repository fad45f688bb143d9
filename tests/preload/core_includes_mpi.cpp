// SPDX-License-Identifier: BSD-3-Clause
// Must not compile: tests/preload/CMakeLists.txt says why.
#include <mpi.h>
