// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/messages.hpp"

#include <algorithm>
#include <utility>

#include "base/index.hpp"

namespace laple::mpi {

// Never destroyed: a program may call MPI from destructors of its own, after main.
Messages& Messages::get() {
    static auto& all = *new Messages;
    return all;
}

void Messages::learn(Places places) {
    const std::lock_guard lock(mutex_);
    places_ = std::move(places);
}

Messages::Line& Messages::line(std::string_view function) {
    const std::lock_guard lock(mutex_);
    return lines_[function];
}

void Messages::received(Line& line, Seconds time, Rank from) {
    const std::lock_guard lock(mutex_);
    add(line, time);
    with(from).time += time;
}

void Messages::sent(Line& line, Seconds time, const Message& message) {
    const std::lock_guard lock(mutex_);
    add(line, time);
    add(line, message);
    with(message.to).time += time;
}

void Messages::exchanged(Line& line, Seconds time, const Message& message, Rank from) {
    const std::lock_guard lock(mutex_);
    add(line, time);
    add(line, message);
    with(farther_of(message.to, from)).time += time;
}

void Messages::opened(Line& line, Seconds time, Request request, Pending pending) {
    const std::lock_guard lock(mutex_);
    add(line, time);
    if (pending.is_sent && !pending.is_persistent) add(line, pending.message);
    with(pending.peer).time += time;
    const auto former = requests_.find(request);
    if (former != requests_.end() && former->second.is_sent && !former->second.is_persistent)
        pending.is_shared = pending.is_sent && !pending.is_persistent;
    if (requests_.size() < kMostRequests || requests_.contains(request)) requests_[request] = pending;
}

void Messages::started(Line& line, Seconds time, std::span<const Request> requests) {
    const std::lock_guard lock(mutex_);
    add(line, time);
    for (const Request request : requests) {
        const auto found = requests_.find(request);
        if (found != requests_.end() && found->second.is_sent) add(line, found->second.message);
    }
    if (!requests.empty()) with(peer_of(requests.front())).time += time;
}

void Messages::waited_for_all(Line& line, Seconds time, std::span<const Request> requests) {
    const std::vector<int> all = all_below(requests.size());
    waited(line, time, requests, all);
}

/// What is sent is often complete at once: what is waited for are rather the others' messages.
void Messages::waited(Line& line, Seconds time, std::span<const Request> requests,
                      std::span<const int> completed) {
    const std::lock_guard lock(mutex_);
    add(line, time);
    Rank sender = completed.empty() && !requests.empty() ? peer_of(requests.front()) : kNobody;
    Rank receiver = kNobody;
    for (const int position : completed) {
        const Request request = requests[at(position)];
        const auto found = requests_.find(request);
        const bool is_sent = found != requests_.end() && found->second.is_sent;
        Rank& farthest = is_sent ? receiver : sender;
        farthest = farther_of(farthest, complete(request));
    }
    with(sender != kNobody ? sender : receiver).time += time;
}

void Messages::forget(Request request) {
    const std::lock_guard lock(mutex_);
    requests_.erase(request);
}

Rank Messages::farther(Rank one, Rank other) const {
    const std::lock_guard lock(mutex_);
    return farther_of(one, other);
}

std::map<std::string_view, Messages::Line> Messages::lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
}

std::vector<Messages::Traffic> Messages::traffic() const {
    const std::lock_guard lock(mutex_);
    return traffic_;
}

Messages::Traffic Messages::elsewhere() const {
    const std::lock_guard lock(mutex_);
    return elsewhere_;
}

void Messages::add(Line& line, Seconds time) {
    ++line.calls;
    line.total += time;
    line.longest = std::max(line.longest, time);
}

void Messages::add(Line& line, const Message& message) {
    if (message.to == kNobody) return;
    ++line.messages;
    line.bytes += message.bytes;
    Traffic& traffic = with(message.to);
    ++traffic.messages;
    traffic.bytes += message.bytes;
}

Messages::Traffic& Messages::with(Rank peer) {
    if (peer < 0) return elsewhere_;
    if (at(peer) >= traffic_.size()) traffic_.resize(at(peer) + 1);
    return traffic_[at(peer)];
}

/// In levels; -1: not known.
int Messages::distance(Rank peer) const {
    if (peer < 0 || at(peer) >= places_.cluster_of.size()) return -1;
    const Rank own = places_.own;
    if (places_.cluster_of[at(peer)] != places_.cluster_of[at(own)]) return 2;
    return places_.host_of[at(peer)] != places_.host_of[at(own)] ? 1 : 0;
}

/// The first one where both are as far.
Rank Messages::farther_of(Rank one, Rank other) const {
    if (one < 0) return other;
    return distance(other) > distance(one) ? other : one;
}

/// Returns its peer. Another thread may have been given its handle for a request of its own since: then that
/// one is not known any more.
Rank Messages::complete(Request request) {
    const auto found = requests_.find(request);
    if (found == requests_.end()) return kElsewhere;
    if (found->second.is_shared) return kNobody;
    const Rank peer = found->second.peer;
    if (!found->second.is_persistent) requests_.erase(found);
    return peer;
}

Rank Messages::peer_of(Request request) const {
    const auto found = requests_.find(request);
    return found != requests_.end() ? found->second.peer : kElsewhere;
}

}  // namespace laple::mpi
