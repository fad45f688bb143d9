// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"
#include "mpi/comm/messages.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

/// The parts of a machine between which messages are counted: its clusters; its hosts where it has one
/// cluster. None where there are too many.
struct Parts {
    static constexpr std::size_t kMost = 256;

    std::string_view kind = "cluster";  ///< or "host"
    std::vector<std::vector<Rank>> ranks;

    bool is_known() const { return !ranks.empty(); }
};
Parts parts_of(const Machine& machine);

/// Where a rank's time went, of its job's. Sent from rank to rank as it is.
struct RankTimes {
    double counts_messages = 0;  ///< 1: liblaple_profile is there; 0: nothing is known of its messages
    double wall = 0;
    double set_up = 0;       ///< in which LaPle has looked at the network
    double collectives = 0;  ///< in blocking ones
    double late = 0;         ///< of that, waiting for late ranks (Report::Times)
    // In point-to-point calls, with ranks of other clusters, of other hosts of its own, of its own host, and
    // where that is not known.
    double between_clusters = 0;
    double in_cluster = 0;
    double on_host = 0;
    double elsewhere = 0;

    double messages() const { return between_clusters + in_cluster + on_host + elsewhere; }
    /// In none of these calls.
    double outside() const { return wall - set_up - collectives - messages(); }
};

/// Messages and their bytes from part to part, row by row.
struct TrafficMatrix {
    std::vector<std::uint64_t> messages;
    std::vector<std::uint64_t> bytes;

    explicit TrafficMatrix(std::size_t parts = 0) : messages(parts * parts), bytes(parts * parts) {}
    /// Of what `rank` has sent. What went to other worlds is left out.
    void add(const Parts& parts, Rank rank, const std::vector<Messages::Traffic>& traffic);
};

/// Adds what point-to-point calls of `rank` took, by where the others are. nullptr: that is not known.
void add_messages(const Messages& messages, const Machine* machine, Rank rank, RankTimes& times);

/// What a job does without LaPle (LAPLE_PROFILE), as far as its point-to-point calls go, and what LaPle
/// cannot change of it.
struct Profile {
    std::map<std::string_view, Messages::Line> lines;  ///< of this rank
    std::vector<RankTimes> ranks;  ///< all, in the order of MPI_COMM_WORLD; or this one alone
    bool has_all_ranks = false;
    Parts parts;  ///< known only with all ranks, as the next
    TrafficMatrix traffic;

    /// For people: a table of calls, and who has sent how much to whom.
    std::string table() const;
    /// Lines on what no collective library changes.
    std::string remainder() const;
    /// Members to be added to `json`.
    void add_to(Json& json) const;

  private:
    /// On all ranks that are here.
    bool counts_messages() const;
    std::string matrix() const;
};

}  // namespace laple::mpi
