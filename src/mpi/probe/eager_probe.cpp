// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/eager_probe.hpp"

#include <array>
#include <chrono>
#include <vector>

#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

enum Tag { kData = 31, kLooked };

constexpr std::array<int, 10> kSizes{4096, 8192, 12288, 16384, 24576, 32768, 49152, 65536, 131072, 262144};
constexpr int kLast = kSizes.back();
// A copy takes microseconds; a message that no receive waits for stays where it is for ever.
constexpr Seconds kPause = std::chrono::microseconds(300);
constexpr int kLooks = 3;

/// Whether `request` is complete soon.
bool is_done_soon(MPI_Request& request) {
    int done = 0;
    for (int look = 0; look < kLooks && done == 0; ++look) {
        rest(kPause);
        PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    return done != 0;
}

}  // namespace

Bytes measure_eager_limit(MPI_Comm probes, int peer) {
    const std::vector<char> data(kLast);
    Bytes limit = 0;
    for (const int bytes : kSizes) {
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Isend(data.data(), bytes, MPI_BYTE, peer, kData, probes, &request);
        const bool is_eager = is_done_soon(request);
        const std::array<int, 2> told{bytes, is_eager && bytes < kLast ? 1 : 0};
        send_quietly(told.data(), 2, MPI_INT, peer, kLooked, probes);
        wait_quietly(request);
        if (!is_eager) break;
        limit = static_cast<Bytes>(bytes);
    }
    return limit;
}

void answer_eager_limit(MPI_Comm probes, int peer) {
    std::vector<char> data(kLast);
    std::array<int, 2> told{0, 1};  // bytes, and whether others follow
    while (told[1] != 0) {
        receive_quietly(told.data(), 2, MPI_INT, peer, kLooked, probes);
        receive_quietly(data.data(), told[0], MPI_BYTE, peer, kData, probes);
    }
}

}  // namespace laple::mpi
