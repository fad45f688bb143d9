// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/requests.hpp"

#include <utility>

#include "mpi/call/startable_call.hpp"

namespace laple::mpi {

// Never destroyed: a program may call MPI from destructors of its own, after main.
Requests& Requests::get() {
    static auto& all = *new Requests;
    return all;
}

std::optional<Requests::Persistent> Requests::start(MPI_Request request) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(request);
    if (found == entries_.end() || !found->second.persistent) return std::nullopt;
    found->second.is_under_way = true;
    ++found->second.persistent->ways.call;
    return found->second.persistent;
}

bool Requests::complete(MPI_Request request) {
    std::optional<Entry> removed;  // whose call frees communicators and types: not under the lock
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(request);
    found->second.is_under_way = false;
    const bool is_given_up = found->second.is_given_up;
    if (!found->second.persistent || is_given_up) removed = remove(found);
    return is_given_up;
}

bool Requests::is_under_way(MPI_Request request) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(request);
    return found != entries_.end() && found->second.is_under_way;
}

Requests::Free Requests::free(MPI_Request request) {
    std::optional<Entry> removed;  // likewise
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(request);
    if (found == entries_.end()) return Free::by_mpi;
    if (!found->second.persistent) return Free::never;
    found->second.is_given_up = true;
    if (found->second.is_under_way) return Free::when_complete;
    removed = remove(found);
    return Free::by_mpi;
}

void Requests::insert(MPI_Request request, Entry entry) {
    const std::lock_guard lock(mutex_);
    entries_.insert_or_assign(request, std::move(entry));
    is_empty_ = false;
}

Requests::Entry Requests::remove(Entries::iterator found) {
    Entry entry = std::move(found->second);
    entries_.erase(found);
    is_empty_ = entries_.empty();
    return entry;
}

}  // namespace laple::mpi
