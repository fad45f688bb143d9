// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/own_request.hpp"

#include <cstddef>
#include <mutex>
#include <vector>

namespace laple::mpi {
namespace {

/// What requests of this process share.
struct Shared {
    std::mutex mutex;
    MPI_Comm comm = MPI_COMM_NULL;  // of this rank alone
    std::vector<int> unused_tags;   // of those below next_tag
    int next_tag = 0;
};

// Never destroyed: a program may call MPI from destructors of its own, after main.
Shared& shared() {
    static auto& shared = *new Shared;
    return shared;
}

MPI_Comm communicator() {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    return all.comm;
}

/// MPICH 4.0 counts what its progress completes, and a call that waits looks at its requests when that has
/// changed. A message to itself is not counted, so that the call would wait on although its request is
/// complete; a generalized request is.
void wake_waiting_calls() {
    constexpr auto kQuery = [](void*, MPI_Status* status) -> int {
        PMPI_Status_set_elements(status, MPI_BYTE, 0);
        return PMPI_Status_set_cancelled(status, 0);
    };
    constexpr auto kFree = [](void*) -> int { return MPI_SUCCESS; };
    constexpr auto kCancel = [](void*, int) -> int { return MPI_SUCCESS; };
    MPI_Request request = MPI_REQUEST_NULL;
    if (PMPI_Grequest_start(kQuery, kFree, kCancel, nullptr, &request) != MPI_SUCCESS) return;
    PMPI_Grequest_complete(request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace

/// Not from MPI_COMM_SELF: that would need another error handler meanwhile, and MPI cannot give back "none",
/// by which errors of calls without a communicator go to that of MPI_COMM_WORLD.
void OwnRequest::begin(MPI_Comm comm) {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    if (all.comm != MPI_COMM_NULL) return;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_SELF, &group);
    PMPI_Comm_create_group(comm, group, 0, &all.comm);
    PMPI_Group_free(&group);
    if (all.comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(all.comm, MPI_ERRORS_RETURN);
}

OwnRequest::OwnRequest() {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    if (all.unused_tags.empty()) {
        tag_ = all.next_tag++;
        return;
    }
    tag_ = all.unused_tags.back();
    all.unused_tags.pop_back();
}

OwnRequest::~OwnRequest() {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    all.unused_tags.push_back(tag_);
}

int OwnRequest::start(MPI_Request& request) const {
    return PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag_, communicator(), &request);
}

int OwnRequest::init(MPI_Request& request) const {
    return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag_, communicator(), &request);
}

/// A message that is longer than the receive expects is an error of the receive.
void OwnRequest::complete(int code) const {
    const std::byte surplus{};
    PMPI_Send(&surplus, code == MPI_SUCCESS ? 0 : 1, MPI_BYTE, 0, tag_, communicator());
    wake_waiting_calls();
}

void OwnRequest::end() {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    if (all.comm != MPI_COMM_NULL) PMPI_Comm_free(&all.comm);
}

}  // namespace laple::mpi
