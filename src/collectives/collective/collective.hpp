// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "collectives/collective/buffers.hpp"
#include "collectives/collective/request.hpp"

namespace laple {

/// The operations that LaPle replaces.
enum class Collective : std::uint8_t {
    bcast,
    reduce,
    allreduce,
    barrier,
    allgather,
    gather,
    scatter,
    alltoall,
    reduce_scatter,
    scan,
    exscan
};

inline constexpr std::array kAllCollectives{
    Collective::bcast,          Collective::reduce, Collective::allreduce, Collective::barrier,
    Collective::allgather,      Collective::gather, Collective::scatter,   Collective::alltoall,
    Collective::reduce_scatter, Collective::scan,   Collective::exscan};

/// All that depends on which collective it is, but for its algorithms, its bound, and what MPI calls it
/// (mpi/exec/collectives.def).
struct CollectiveRow {
    Collective collective{};
    std::string_view name;   ///< "bcast", "reduce", ...: in settings, reports and benchmarks
    bool is_rooted = false;  ///< one rank is the source or the destination of all data
    bool combines = false;   ///< contributions of all ranks are combined; in a barrier those of no bytes
    bool has_data = true;    ///< false: ranks only wait for each other
    bool has_input = true;   ///< ranks contribute from memory of its own; false: from the result's (bcast)
    /// Data come in blocks, each from one rank to one other: personalized communication.
    bool is_personalized = false;
    bool is_in_parts = false;   ///< of what is combined, each rank gets a block of its own
    bool is_prefix = false;     ///< each rank gets what the ranks up to it have contributed, combined
    bool excludes_own = false;  ///< but not its own: rank 0 gets nothing
    /// No rank can leave before all have come: what the slowest rank measures is the network's time.
    bool waits_for_all = false;
    /// Whether time runs backwards from the root: a tree towards the root is planned as one from it, with
    /// every message reversed.
    bool runs_to_root = false;

    BufferSizes (*buffers)(const Request& request, int size, Rank rank) = nullptr;
    /// What `rank` of `size` holds before the collective, and must hold after it.
    std::vector<Piece> (*before)(const Request& request, int size, Rank rank) = nullptr;
    std::vector<Piece> (*after)(const Request& request, int size, Rank rank) = nullptr;
};

const CollectiveRow& row_of(Collective collective);

/// "bcast", "reduce", ...
inline std::string_view name_of(Collective collective) {
    return row_of(collective).name;
}

/// The inverse; nothing for any other text.
std::optional<Collective> collective_named(std::string_view name);

/// LaPle's name of what programs and other tools call a collective: "allreduce" of "MPI_Allreduce_c",
/// "MPI_Iallreduce", "Allreduce_init" or "iallreduce"; "alltoallv" of "MPI_Alltoallv". Any other
/// text comes back as it is.
std::string plain_name(std::string_view function);

/// Whether a function of that name only starts a collective: MPI_Iallreduce, MPI_Allreduce_init. With or
/// without "MPI_".
bool is_started(std::string_view function);

/// "bcast, reduce, ... or alltoall": for error messages and --help.
std::string collective_names();

/// Whether each rank contributes a block of its own to a message that all get: data that are gathered.
inline bool is_gathered(Collective collective) {
    const CollectiveRow& row = row_of(collective);
    return row.has_data && !row.is_rooted && !row.combines && !row.is_personalized;
}

/// Whether each block of the data is for one rank only.
inline bool is_personalized(Collective collective) {
    return row_of(collective).is_personalized;
}

/// Whether data are combined, and each rank gets a block of the result.
inline bool is_combined_in_parts(Collective collective) {
    return row_of(collective).is_in_parts;
}

/// Whether each rank gets what the ranks up to it have contributed, combined.
inline bool is_prefix(Collective collective) {
    return row_of(collective).is_prefix;
}

/// Whether all data are one message, from a root to all, from all to a root or from all to all: what trees
/// are for.
inline bool is_one_message(Collective collective) {
    return !is_gathered(collective) && !is_personalized(collective) && !is_combined_in_parts(collective) &&
           !is_prefix(collective);
}

/// A request for `bytes` of data, of each block where they are in blocks: bytes, or as many elements of 8
/// bytes as hold them where data are combined.
/// `root` counts in rooted collectives only.
Request request_for(Collective collective, Bytes bytes, Rank root = 0);

/// The request that stands for all calls with blocks of different sizes (Request::is_varied). `collective` is
/// personalized.
Request varied_request(Collective collective, Rank root = 0);

}  // namespace laple
