// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/join_host.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/index.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/transport.hpp"

namespace laple::mpi {
namespace {

constexpr int kTag = 2;  // below those of collectives, and not that of messages to oneself

/// Waits as a collective does; returns MPI's error code.
int exchange(void* data, int bytes, int peer, bool sends, MPI_Comm comm) {
    std::vector<MPI_Request> request{MPI_REQUEST_NULL};
    int code = sends ? PMPI_Isend(data, bytes, MPI_BYTE, peer, kTag, comm, request.data())
                     : PMPI_Irecv(data, bytes, MPI_BYTE, peer, kTag, comm, request.data());
    int finished = MPI_UNDEFINED;
    if (code == MPI_SUCCESS) code = wait_for_any(request, finished, MPI_STATUS_IGNORE);
    return code;
}

/// Between the first rank of a host and the others: what it gets from each, what all get from it.
class Host {
  public:
    Host(MPI_Comm comm, std::span<const Rank> ranks) : comm_(comm), ranks_(ranks), self_(rank_in(comm)) {}

    bool is_leader() const { return self_ == ranks_.front(); }

    /// The least of all, at the leader.
    std::int64_t least(std::int64_t mine) {
        if (!is_leader()) {
            exchange(&mine, sizeof mine, ranks_.front(), true, comm_);
            return mine;
        }
        for (const Rank rank : ranks_.subspan(1)) {
            std::int64_t other = 0;
            if (exchange(&other, sizeof other, rank, false, comm_) != MPI_SUCCESS) other = 0;
            mine = std::min(mine, other);
        }
        return mine;
    }

    template <typename Value>
    void tell(Value& value) {
        if (!is_leader()) {
            if (exchange(&value, sizeof value, ranks_.front(), false, comm_) != MPI_SUCCESS) value = {};
            return;
        }
        for (const Rank rank : ranks_.subspan(1)) exchange(&value, sizeof value, rank, true, comm_);
    }

  private:
    MPI_Comm comm_;
    std::span<const Rank> ranks_;
    Rank self_;
};

}  // namespace

std::unique_ptr<HostMemory> join_host(MPI_Comm comm, std::span<const Rank> on_host, std::size_t most) {
    Host host(comm, on_host);
    const int ranks = static_cast<int>(on_host.size());
    const auto allowed = static_cast<std::size_t>(std::max<std::int64_t>(
        host.least(static_cast<std::int64_t>(std::min<std::size_t>(most, INT64_MAX / 2))), 0));
    std::unique_ptr<SharedSegment> segment;
    SharedSegment::Handle handle;
    if (host.is_leader()) {
        const std::size_t bytes = HostMemory::bytes_for(ranks, allowed * at(ranks));
        if (bytes > 0) segment = SharedSegment::create(bytes);
        if (segment) handle = segment->handle();
    }
    host.tell(handle);
    if (handle.bytes == 0) return nullptr;
    if (!host.is_leader()) segment = SharedSegment::open(handle);
    std::int64_t is_good = host.least(segment ? 1 : 0);
    host.tell(is_good);
    if (is_good == 0) return nullptr;
    segment->close_descriptor();
    const auto self = std::lower_bound(on_host.begin(), on_host.end(), rank_in(comm)) - on_host.begin();
    return std::make_unique<HostMemory>(std::move(segment), ranks, static_cast<int>(self));
}

}  // namespace laple::mpi
