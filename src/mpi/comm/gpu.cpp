// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/gpu.hpp"

#include <algorithm>
#include <array>

#include <mpi.h>

#ifdef MPIX_GPU_SUPPORT_CUDA

// Weak: the library that runs may be older than the one that this was compiled for.
extern "C" int PMPIX_GPU_query_support(int kind, int* is_supported) __attribute__((weak));

namespace laple::mpi {

bool may_have_gpu_buffers() {
    if (&PMPIX_GPU_query_support == nullptr) return false;
#ifdef MPIX_GPU_SUPPORT_HIP
    constexpr std::array kKinds{MPIX_GPU_SUPPORT_CUDA, MPIX_GPU_SUPPORT_ZE, MPIX_GPU_SUPPORT_HIP};
#else
    constexpr std::array kKinds{MPIX_GPU_SUPPORT_CUDA, MPIX_GPU_SUPPORT_ZE};
#endif
    return std::any_of(kKinds.begin(), kKinds.end(), [](int kind) {
        int is_supported = 0;
        return PMPIX_GPU_query_support(kind, &is_supported) == MPI_SUCCESS && is_supported != 0;
    });
}

}  // namespace laple::mpi

#else

namespace laple::mpi {

bool may_have_gpu_buffers() {
    return false;
}

}  // namespace laple::mpi

#endif
