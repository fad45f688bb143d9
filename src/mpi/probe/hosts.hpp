// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "topology/node.hpp"

namespace laple::mpi {

/// The boot id of the running kernel; empty where there is none.
std::string boot_id();

/// A number of 63 bits, so that it has a negative, that is equal on ranks of one host and almost surely not
/// on those with another name, kernel or network. Local. Where there is no boot id, it says nothing else than
/// the name.
std::int64_t host_number();

/// The hosts of the ranks of `comm`, ordered by their first rank: ranks that share memory, as MPI says
/// (MPI_Comm_split_type), and those on one kernel with one network. Containers and cloned machines may share
/// a name, and then have labels (label_hosts) and ids. On other ranks than `root` nothing, and nothing after
/// an MPI error. Collective, with MPI's own calls.
std::optional<std::vector<Node>> gather_hosts(MPI_Comm comm, int root);

/// The same without asking MPI, which takes many messages between far sites: ranks that share memory, but not
/// their host's name, are on several hosts. Nothing where names alone tell hosts apart, without a boot id.
std::optional<std::vector<Node>> gather_hosts_by_name(MPI_Comm comm, int root);

/// Two sums over all ranks of a communicator, modulo 2^64, which are almost surely equal only where the same
/// ranks are on the same hosts: by name, kernel and network.
using PlaceSums = std::array<std::uint64_t, 2>;

/// What this process adds to them as `rank`; nothing without a boot id, where hosts of one name cannot be
/// told apart. Local.
std::optional<PlaceSums> place_sums(Rank rank);
std::string text_of(const PlaceSums& sums);

struct HostIdentity;

/// Who shares a node with whom in a communicator, and the communicators to measure on. Owns them, so it ends
/// before MPI_Finalize.
class NodeLayout {
  public:
    /// Collective over `comm`. Takes few collectives, and no copy of `comm`, which would run the copy
    /// callbacks of the user's attributes: between far sites each of them counts.
    explicit NodeLayout(MPI_Comm comm);
    ~NodeLayout();
    NodeLayout(const NodeLayout&) = delete;
    NodeLayout& operator=(const NodeLayout&) = delete;

    /// False, on all ranks, when MPI had no communicator left; then there is nothing else to ask for.
    bool is_good() const { return is_good_; }

    /// The first ranks of all nodes, in the order of nodes(); MPI_COMM_NULL on other ranks.
    MPI_Comm probes() const { return probes_; }
    /// The ranks of this rank's node.
    MPI_Comm node() const { return node_; }

    /// All nodes, ordered by their first rank, with ranks of `comm`; empty except on rank 0.
    const std::vector<Node>& nodes() const { return nodes_; }

    /// Blocks all ranks of a node until their first one gets here, without keeping the processor busy.
    void sleep_until_measured() const;

  private:
    bool join_hosts(MPI_Comm comm, const std::vector<Rank>& first_of_rank);
    void make_probes(MPI_Comm comm, const HostIdentity& mine, const std::vector<Rank>& first_of_rank);

    bool is_good_ = false;
    MPI_Comm node_ = MPI_COMM_NULL;
    MPI_Comm probes_ = MPI_COMM_NULL;
    std::vector<Node> nodes_;
};

}  // namespace laple::mpi
