// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/packing.hpp"

#include <algorithm>

#include "mpi/exec/communicator.hpp"

namespace laple::mpi {
namespace {

/// MPI counts bytes in an int.
constexpr MPI_Count kMostPacked = 1 << 30;

/// Calls `use(first element, count, bytes)` for elements that follow each other, as many as one call can do.
template <typename Use>
int in_pieces(int count, MPI_Count size, Use use) {
    const int most = static_cast<int>(std::max<MPI_Count>(kMostPacked / std::max<MPI_Count>(size, 1), 1));
    for (int first = 0; first < count; first += most) {
        const int piece = std::min(most, count - first);
        const int code = use(first, piece, static_cast<int>(piece * size));
        if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
}

}  // namespace

int pack_all(const std::byte* from, int count, MPI_Datatype type, const TypeLayout& layout, std::byte* to,
             MPI_Comm comm) {
    return in_pieces(count, layout.size, [&](int first, int piece, int bytes) {
        return pack(moved(from, first * layout.extent), piece, type, to + first * layout.size, bytes, comm);
    });
}

int unpack_all(const std::byte* from, std::byte* to, int count, MPI_Datatype type, const TypeLayout& layout,
               MPI_Comm comm) {
    return in_pieces(count, layout.size, [&](int first, int piece, int bytes) {
        return unpack(from + first * layout.size, bytes, moved(to, first * layout.extent), piece, type, comm);
    });
}

}  // namespace laple::mpi
