// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/stream_links.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "mpi/exec/communicator.hpp"
#include "mpi/exec/transport.hpp"
#include "streams/endpoint.hpp"
#include "streams/hello.hpp"
#include "streams/tcp_state.hpp"
#include "streams/time_looked.hpp"

namespace laple::mpi {
namespace {

constexpr int kMostConnections = 512;
/// With a link that has lost all connections: firewalls and tunnels that begin anew are back by then.
constexpr Seconds kPatience(60);
constexpr Seconds kLongestSilence(30);  // at the end
constexpr Seconds kTimeToRepair(2);
constexpr auto kWatchPause = std::chrono::milliseconds(50);
constexpr auto kShortWatchPause = std::chrono::milliseconds(2);
constexpr Seconds kRecently(2);

Rank rank_in_world(MPI_Comm comm, Rank rank) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    Rank in_world = MPI_UNDEFINED;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &rank, world, &in_world);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return in_world;
}

/// Of all its connections, by the kernel.
std::string state_of(const streams::Link& link) {
    const auto state = link.tcp_state();
    if (!state) return "";
    return fmt::format("; round trip {}, windows of {} in all, {} segments sent again",
                       format_seconds(state->round_trip), format_bytes_about(state->window),
                       state->sent_again);
}

/// Where it does not yet: another rank of this host, or a join that waits for a late rank, may have a port
/// (LAPLE_STREAM_PORTS).
void listen_at_all(const std::vector<streams::Endpoint>& endpoints,
                   std::vector<streams::Listener>& listeners) {
    for (const streams::Endpoint& endpoint : endpoints) {
        const auto is_there = [&](const auto& one) { return one.endpoint() == endpoint; };
        if (std::any_of(listeners.begin(), listeners.end(), is_there)) continue;
        auto listener = streams::Listener::open(endpoint, {endpoint.port, endpoint.port});
        if (listener) listeners.push_back(std::move(*listener));
    }
}

}  // namespace

StreamLinks::StreamLinks(const Settings& settings)
    : interface_(settings.stream_interface), ports_{settings.first_stream_port, settings.last_stream_port} {}

StreamLinks::~StreamLinks() {
    wait_for_all(&streams::Link::is_flushed, kLongestSilence);
    // All connections may just be down: one that does not learn that this end leaves waits for as long as
    // above for the receipts that were lost with them.
    wait_for_all(&streams::Link::can_say_end, kTimeToRepair);
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    wakes_.notify_one();
    if (watch_) watch_->join();
}

/// What this end says to the other one. All that a link takes, but its connections, is there then: nobody
/// could be told later that it is not. `room` is what there is when all offers so far are taken.
void StreamLinks::offer(Rank peer, StreamJoin& join, Room& room) {
    const std::lock_guard lock(mutex_);
    join.mine.context = next_context_++;
    for (const Entry& entry : entries_) {
        const bool is_good = entry.wanted >= join.connections && !entry.link->is_broken();
        if (entry.peer == peer && is_good) join.mine.existing = entry.how.number;
    }
    if (unreachable_.contains(peer)) return;
    const auto address = streams::own_address(interface_);
    if (!address) {
        problem_ = interface_.empty() ? "this process has no TCP connection to another host"
                                      : fmt::format(
                                            "the interface {} has no address; LAPLE_STREAM_INTERFACE "
                                            "is to be the name of one that has",
                                            interface_);
        return;
    }
    const int can = std::min({join.connections, room.connections, room.descriptors - 1});
    if (room.descriptors > 1) join.poller = streams::Link::new_poller();
    if (!join.poller.is_open() && join.mine.existing == 0)
        problem_ = "the system has too few descriptors for this process (ulimit -n)";
    if (room.connections < 1 && join.mine.existing == 0)
        problem_ = fmt::format("this process has {} connections of LaPle's own already", connections());
    if (!join.poller.is_open() || can < 1 || !has_watch()) return;
    room.connections -= can;
    room.descriptors -= can + 1;
    join.mine.can = static_cast<std::uint64_t>(can);
    join.mine.number = next_number_++;
    join.mine.endpoint = *address;
    join.mine.secret = streams::new_secret();
}

/// The program needs descriptors, too: half of what is free at this time stays for it.
StreamLinks::Room StreamLinks::room() const {
    const std::lock_guard lock(mutex_);
    return {kMostConnections - connections(), streams::free_descriptors() / 2};
}

/// Of all links that go on.
int StreamLinks::connections() const {
    int all = 0;
    for (const Entry& entry : entries_) {
        if (!entry.link->is_broken()) all += entry.link->account().lanes;
    }
    return all;
}

/// Of LAPLE_STREAM_PORTS. What listens there while it waits for a late rank keeps links from being repaired
/// there: ranks of a host, which mostly follow each other, begin at ports of their own. Where this rank may
/// have links to repair, it begins at the other half, and their own ports come last.
std::vector<streams::PortRange> StreamLinks::ports_to_listen_at(Rank self) const {
    const std::lock_guard lock(mutex_);
    std::set<std::uint16_t> own;
    for (const Entry& entry : entries_) {
        if (!entry.how.connects) own.insert(entry.how.endpoint.port);
    }
    const int half = (ports_.last - ports_.first + 1) / 2;
    return streams::ports_in_turn(ports_, own.empty() ? self : self + half, own);
}

SilentHosts StreamLinks::silent_hosts() const {
    const std::lock_guard lock(mutex_);
    return silent_;
}

/// Makes it where there is none yet.
bool StreamLinks::has_watch() try {
    if (!watch_) watch_.emplace([this] { run_watch(); });
    return true;
} catch (const std::system_error&) {
    problem_ = "cannot start a thread: the limit of processes and threads is reached (ulimit -u)";
    return false;
}

void StreamLinks::join(MPI_Comm comm, std::span<const Peer> peers, StreamRoutes& routes) {
    const Rank self = rank_in(MPI_COMM_WORLD);
    std::vector<StreamJoin> all;
    std::vector<Rank> in_world;
    Room free = room();
    bool listens = false;
    for (const Peer& peer : peers) {
        in_world.push_back(rank_in_world(comm, peer.rank));
        StreamJoin& join = all.emplace_back();
        join.peer = peer.rank;
        join.connections = peer.connections;
        join.round_trip = peer.round_trip;
        join.listens = self < in_world.back();
        offer(in_world.back(), join, free);
        listens = listens || (join.listens && join.mine.can != 0);
    }
    const int strangers = join_streams(comm, all, ports_to_listen_at(self), silent_hosts());
    const std::lock_guard lock(mutex_);
    strangers_ += strangers;
    const auto has_listened = [](const StreamJoin& join) { return join.listens && join.mine.can != 0; };
    if (listens && std::none_of(all.begin(), all.end(), has_listened))
        problem_ = "none of the ports of LAPLE_STREAM_PORTS is free on this host";
    for (std::size_t i = 0; i < all.size(); ++i) {
        streams::Link* const link = all[i].is_joined() ? find(in_world[i], all[i].mine.existing)
                                                       : keep(in_world[i], peers[i], all[i]);
        if (link != nullptr) routes.to(all[i].peer) = {link, all[i].of_listener().context};
    }
}

/// A new link; nullptr where there are no connections.
streams::Link* StreamLinks::keep(Rank in_world, const Peer& peer, StreamJoin& join) {
    if (join.lanes.empty()) {
        if (!join.is_wanted()) return nullptr;
        unreachable_.insert(in_world);
        if (!join.listens) silent_.insert(join.theirs.endpoint.address);
        problem_ = fmt::format(
            "no connection could be made with rank {}: see that the ports of "
            "LAPLE_STREAM_PORTS are open at {}",
            in_world, streams::text(join.of_listener().endpoint));
        return nullptr;
    }
    streams::LinkOptions options;
    const auto state = streams::tcp_state(join.lanes.front().number());
    if (state) options.round_trip = state->round_trip;
    options.patience = kPatience;
    options.window_bytes = streams::window_for(peer.rate, peer.round_trip);
    Entry& entry = entries_.emplace_back();
    entry.peer = in_world;
    entry.wanted = join.connections;
    entry.how = join.to_join(join.lanes.size());
    entry.link = std::make_unique<streams::Link>(std::move(join.lanes), options, std::move(join.poller));
    return entries_.back().link.get();
}

streams::Link* StreamLinks::find(Rank peer, std::uint64_t number) const {
    for (const Entry& entry : entries_) {
        if (entry.peer == peer && entry.how.number == number) return entry.link.get();
    }
    return nullptr;
}

/// What others send is read, and what a broken connection has lost is sent again, while the program computes,
/// or waits in a call of MPI. The program's signals are not for this thread.
void StreamLinks::run_watch() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock(mutex_);
    Seconds repaired{0};
    const auto pause = [&] {  // where one has just broken, others will
        return clock_time() - repaired < kRecently ? kShortWatchPause : kWatchPause;
    };
    while (!wakes_.wait_for(lock, pause(), [this] { return is_over_.load(); })) {
        lock.unlock();
        try {
            progress_all();
            if (repair()) repaired = clock_time();
        } catch (const std::bad_alloc&) {
            // What could not be done is still to be done after the pause.
        }
        lock.lock();
    }
}

/// All links, where a lane of one of them is missing and it is time to replace it; else none.
std::vector<StreamLinks::Repair> StreamLinks::repairs_due() {
    const std::lock_guard lock(mutex_);
    std::vector<Repair> due;
    const Seconds now = clock_time();
    const auto is_due = [now](const Entry& entry) {
        return (now >= entry.next_repair || entry.link->is_held_up()) && !entry.link->missing().empty();
    };
    if (std::none_of(entries_.begin(), entries_.end(), is_due)) return due;
    for (const Entry& entry : entries_) due.push_back({entry.link.get(), entry.how.anew()});
    return due;
}

/// The other end has seen them break, too, or will soon. It tries at the same time. A new lane is at work at
/// once: others may take longer. Whether there is one.
bool StreamLinks::repair() {
    std::vector<Repair> due = repairs_due();
    if (due.empty()) return false;
    std::vector<streams::JoinedLink> links;
    std::vector<streams::Endpoint> endpoints;
    for (Repair& repair : due) {
        // At all of them: others may break meanwhile.
        if (!repair.how.connects) endpoints.push_back(repair.how.endpoint);
        links.push_back(std::move(repair.how));
    }
    std::vector<streams::Listener> listeners;
    const auto note_missing = [&] {
        for (std::size_t i = 0; i < due.size(); ++i) links[i].wanted = due[i].link->missing();
    };
    note_missing();
    streams::Joining joining({}, links);
    bool has_replaced = false;
    streams::TimeLooked time;  // each connection takes several looks
    while (!joining.is_complete() && !is_over_ && time.time() < kTimeToRepair) {
        time.look(clock_time());
        listen_at_all(endpoints, listeners);
        joining.listen_at(listeners);
        joining.go_on(clock_time());
        for (std::size_t i = 0; i < due.size(); ++i) {
            for (std::size_t lane = 0; lane < links[i].lanes.size(); ++lane) {
                if (!links[i].lanes[lane].is_open()) continue;
                due[i].link->replace(lane, std::move(links[i].lanes[lane]));
                has_replaced = true;
            }
        }
        progress_all();
        note_missing();
        if (!joining.is_complete()) joining.wait();
    }
    const std::lock_guard lock(mutex_);
    strangers_ += joining.strangers();
    for (const Repair& repair : due) note_repair(*repair.link);
    return has_replaced;
}

/// What could not be repaired is tried again later, and ever more seldom; at once where messages wait for it.
void StreamLinks::note_repair(const streams::Link& link) {
    // Both ends must try at a time: the pause is shorter than an attempt, so that whenever each of them
    // began, attempts overlap.
    constexpr int kMostDoublings = 5;
    static_assert(kWatchPause * (1 << kMostDoublings) < kTimeToRepair);
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& one) { return one.link.get() == &link; });
    if (link.missing().empty() || link.is_held_up()) {
        entry->failures = 0;
        entry->next_repair = Seconds(0);
    } else {
        entry->next_repair = clock_time() + kWatchPause * (1 << std::min(entry->failures++, kMostDoublings));
    }
}

bool StreamLinks::progress_all() {
    std::vector<streams::Link*> links;
    {
        const std::lock_guard lock(mutex_);
        for (const Entry& entry : entries_) links.push_back(entry.link.get());
    }
    bool has_moved = false;
    for (streams::Link* link : links) has_moved = link->progress(clock_time()) || has_moved;
    return has_moved;
}

/// While anything moves, and so long after that.
void StreamLinks::wait_for_all(bool (streams::Link::*is_ready)() const, Seconds longest_silence) {
    const auto are_ready = [&] {
        const std::lock_guard lock(mutex_);
        return std::all_of(entries_.begin(), entries_.end(),
                           [&](const Entry& entry) { return (entry.link.get()->*is_ready)(); });
    };
    streams::TimeLooked silence;
    while (!are_ready() && silence.time() < longest_silence) {
        if (progress_all()) silence.begin_anew();
        silence.look(clock_time());
        let_time_pass(Seconds(1e-4));
    }
}

std::string StreamLinks::broken() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const Entry& entry : entries_) {
        if (!entry.link->is_broken()) continue;
        text += fmt::format("{}the {} connections to rank {}", text.empty() ? "" : ", ",
                            entry.link->account().lanes, entry.peer);
    }
    return text;
}

std::string StreamLinks::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

std::string StreamLinks::report() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const Entry& entry : entries_) {
        const streams::Link::Account account = entry.link->account();
        text += fmt::format(
            "streams to rank {}: {} connection{}, {} sent ({} under way at most), {} received", entry.peer,
            account.lanes, account.lanes == 1 ? "" : "s", format_bytes_about(account.sent),
            format_bytes_about(account.most_kept), format_bytes_about(account.received));
        if (account.sent_again > 0)
            text += fmt::format(", {} sent again", format_bytes_about(account.sent_again));
        if (account.broken_lanes > 0)
            text += fmt::format(", {} broke, {} replaced", account.broken_lanes, account.replaced_lanes);
        text += state_of(*entry.link) + "\n";
    }
    if (!problem_.empty()) text += fmt::format("streams: {}; messages of such ranks went by MPI\n", problem_);
    if (strangers_ > 0) text += fmt::format("streams: {} strangers were turned away\n", strangers_);
    return text;
}

}  // namespace laple::mpi
