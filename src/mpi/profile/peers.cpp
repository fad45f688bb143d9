// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/profile/peers.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/index.hpp"
#include "mpi/comm/messages.hpp"

namespace laple::mpi {
namespace {

/// Of a communicator's other ranks, their ranks in MPI_COMM_WORLD.
using Peers = std::vector<Rank>;

/// Counts communicators that are gone: their handles may be those of others since.
std::atomic<std::uint64_t> gone{0};

int on_delete(MPI_Comm, int, void* value, void*) {
    ++gone;
    delete static_cast<Peers*>(value);
    return MPI_SUCCESS;
}

Peers peers_of(MPI_Comm comm) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    if (is_inter != 0) {
        PMPI_Comm_remote_group(comm, &group);
    } else {
        PMPI_Comm_group(comm, &group);
    }
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    int size = 0;
    PMPI_Group_size(group, &size);
    const std::vector<int> ranks = all_below(at(size));
    Peers peers(ranks.size());
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, peers.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    for (Rank& peer : peers) {
        if (peer == MPI_UNDEFINED) peer = Messages::kElsewhere;
    }
    return peers;
}

/// nullptr where MPI keeps no attribute.
const Peers* kept_peers_of(MPI_Comm comm) {
    static std::mutex mutex;
    static int keyval = MPI_KEYVAL_INVALID;
    const std::lock_guard lock(mutex);
    if (keyval == MPI_KEYVAL_INVALID)
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_delete, &keyval, nullptr);
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, keyval, &value, &found);
    if (found != 0) return static_cast<Peers*>(value);
    auto peers = std::make_unique<Peers>(peers_of(comm));
    return PMPI_Comm_set_attr(comm, keyval, peers.get()) == MPI_SUCCESS ? peers.release() : nullptr;
}

}  // namespace

Rank peer_in_world(MPI_Comm comm, int peer) {
    if (peer == MPI_PROC_NULL) return Messages::kNobody;
    if (peer < 0) return Messages::kElsewhere;
    if (comm == MPI_COMM_WORLD) return peer;
    // Programs stay with one communicator for long.
    struct Last {
        MPI_Comm comm = MPI_COMM_NULL;
        std::uint64_t gone = 0;
        const Peers* peers = nullptr;
    };
    thread_local Last last;
    const std::uint64_t gone_now = gone.load(std::memory_order_acquire);
    if (last.comm != comm || last.gone != gone_now) last = {comm, gone_now, kept_peers_of(comm)};
    const bool is_known = last.peers != nullptr && at(peer) < last.peers->size();
    return is_known ? (*last.peers)[at(peer)] : Messages::kElsewhere;
}

}  // namespace laple::mpi
