// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/own_comms.hpp"

#include <utility>

#include "collectives/algorithms/name.hpp"
#include "mpi/comm/own_request.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/join_host.hpp"

namespace laple::mpi {
namespace {

constexpr int kChannels = results(AlgorithmName::kMostLanes - 1) + 1;

/// Of the kinds of calls: blocking ones, started ones, persistent ones. Each has a third of the tags.
enum Kind { kBlocking, kStarted, kPersistent, kKinds };

/// Of each kind. MPI_TAG_UB of the standard's least: 32767.
int count_tag_sets() {
    void* value = nullptr;
    int is_there = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &is_there);
    const int most = is_there != 0 ? *static_cast<int*>(value) : 32767;
    return (most - kFirstTag) / kChannels / kKinds;
}

/// That nobody has received.
bool has_messages(MPI_Comm comm) {
    int is_there = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &is_there, MPI_STATUS_IGNORE);
    return is_there != 0;
}

}  // namespace

bool OwnComms::create() {
    if (std::exchange(has_tried_to_create_, true)) return ways_.comm != MPI_COMM_NULL;
    const ReturnErrors guard(parent_);
    OwnRequest::begin(parent_);
    ways_.comm = own_copy_of(parent_);
    if (ways_.comm == MPI_COMM_NULL) return false;
    tag_sets_ = count_tag_sets();
    return true;
}

/// All ranks make the same plans in the same order, and whether a context id is left is agreed by MPI.
bool OwnComms::join_cluster(const Machine& machine, int rank) {
    if (has_tried_to_join_) return ways_.cluster != MPI_COMM_NULL;
    has_tried_to_join_ = true;
    ways_.cluster_ranks = machine.ranks_in(machine.cluster_of_rank(rank));
    MPI_Comm cluster = MPI_COMM_NULL;
    if (PMPI_Comm_split(ways_.comm, ways_.cluster_ranks.front(), rank, &cluster) != MPI_SUCCESS) return false;
    PMPI_Comm_set_errhandler(cluster, MPI_ERRORS_RETURN);
    ways_.cluster = cluster;
    return true;
}

void OwnComms::set_host(std::span<const Rank> on_host, HostAllowance& allowance) {
    if (on_host.size() < 2) return;
    on_host_.assign(on_host.begin(), on_host.end());
    allowance_ = &allowance;
}

/// Two threads may find the same memory free: then a little more than is allowed is taken.
void OwnComms::join_host() {
    has_joined_host_ = true;
    if (allowance_ == nullptr) return;
    HostAllowance& allowance = *std::exchange(allowance_, nullptr);
    host_ = laple::mpi::join_host(ways_.comm, on_host_, allowance.left());
    if (host_ == nullptr) return;
    share_ = HostAllowance::Share(allowance, host_->bytes() / on_host_.size());
    ways_.host = host_.get();
    ways_.place_on_host.assign(static_cast<std::size_t>(size_of(ways_.comm)), -1);
    for (std::size_t i = 0; i < on_host_.size(); ++i)
        ways_.place_on_host[static_cast<std::size_t>(on_host_[i])] = static_cast<int>(i);
}

/// Two ranks that are each other's peers have the same plans, so each asks for the other at the same time.
std::shared_ptr<const StreamRoutes> OwnComms::join_streams(StreamLinks& links,
                                                           std::span<const StreamLinks::Peer> peers) {
    std::vector<StreamLinks::Peer> fresh;
    for (const StreamLinks::Peer& peer : peers) {
        int& connections = stream_peers_[peer.rank];
        if (connections >= peer.connections) continue;
        connections = peer.connections;
        fresh.push_back(peer);
    }
    if (fresh.empty() && routes_ != nullptr) return routes_;
    auto routes =
        std::make_shared<StreamRoutes>(routes_ != nullptr ? *routes_ : StreamRoutes(size_of(ways_.comm)));
    links.join(ways_.comm, fresh, *routes);
    return routes_ = std::move(routes);
}

void OwnComms::change_tags() {
    ++ways_.call;
    if (++tag_set_ >= tag_sets_) tag_set_ = 0;
    ways_.first_tag = kFirstTag + tag_set_ * kChannels;
}

/// Messages inside a host go by MPI: its memory is for one call at a time.
Ways OwnComms::ways_of(int kind, std::uint64_t number) const {
    Ways ways;
    ways.comm = ways_.comm;
    ways.call = number + 1;
    const int tag_set = kind * tag_sets_ + static_cast<int>(number % started_at_a_time());
    ways.first_tag = kFirstTag + tag_set * kChannels;
    return ways;
}

Ways OwnComms::ways_of_started(std::uint64_t number) const {
    return ways_of(kStarted, number);
}

std::optional<Ways> OwnComms::ways_of_persistent(std::uint64_t number) const {
    if (number >= started_at_a_time()) return std::nullopt;
    return ways_of(kPersistent, number);
}

/// What a collective has left unreceived because a rank called it wrongly is an error to MPICH 5, raised by
/// MPI_COMM_SELF's handler: the program's own communicator would be freed without one. Without need that
/// handler is left alone (own_request.cpp).
void OwnComms::free() {
    if (ways_.comm == MPI_COMM_NULL) return;
    std::optional<ReturnErrors> guard;
    if (has_failed_ || has_messages(ways_.comm)) guard.emplace(MPI_COMM_SELF);
    if (ways_.cluster != MPI_COMM_NULL) PMPI_Comm_free(&ways_.cluster);
    PMPI_Comm_free(&ways_.comm);
    host_.reset();
    share_.give_back();
    routes_ = nullptr;
    ways_ = {};
}

}  // namespace laple::mpi
