// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/stream_links.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "mpi/exec/communicator.hpp"
#include "mpi/exec/transport.hpp"
#include "streams/endpoint.hpp"
#include "streams/hello.hpp"

namespace laple::mpi {
namespace {

constexpr int kTag = 3;  // below those of collectives, and beside that of join_host
constexpr int kMostConnections = 512;
constexpr Seconds kPatience(5);
constexpr double kTripsToJoin = 20;
constexpr Seconds kLongestSilence(30);
constexpr auto kWatchPause = std::chrono::milliseconds(50);

/// Both ways at once, with each of some ranks.
template <typename Value>
class Exchange {
  public:
    explicit Exchange(MPI_Comm comm) : comm_(comm) {}

    /// Both must stay where they are.
    void with(Rank peer, const Value& mine, Value& theirs) {
        for (const bool sends : {false, true}) {
            MPI_Request request = MPI_REQUEST_NULL;
            const int code = sends
                                 ? PMPI_Isend(&mine, sizeof mine, MPI_BYTE, peer, kTag, comm_, &request)
                                 : PMPI_Irecv(&theirs, sizeof theirs, MPI_BYTE, peer, kTag, comm_, &request);
            if (code == MPI_SUCCESS && request != MPI_REQUEST_NULL) requests_.push_back(request);
        }
    }
    void complete() {
        while (!requests_.empty()) {
            int finished = MPI_UNDEFINED;
            if (wait_for_any(requests_, finished, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
            requests_.erase(requests_.begin() + finished);
        }
    }

  private:
    MPI_Comm comm_;
    std::vector<MPI_Request> requests_;
};

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

std::uint64_t open_ones(const std::vector<streams::Descriptor>& lanes) {
    std::uint64_t open = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (lanes[i].is_open()) open |= std::uint64_t{1} << i;
    }
    return open;
}

}  // namespace

/// What one end tells the other; of both ends' the one of the lower rank counts, where they differ.
struct StreamLinks::Offer {
    std::uint64_t can = 0;       ///< it may have a link more, and knows its address
    std::uint64_t existing = 0;  ///< number of the last link that there is; 0: none
    std::uint64_t number = 0;    ///< of a new one
    std::uint64_t context = 0;
    streams::Endpoint endpoint;  ///< where it listens
    streams::Secret secret{};
};

/// With one peer, until it is joined.
struct StreamLinks::Joining {
    Peer peer;
    Rank in_world = -1;
    bool is_lower = false;  ///< this rank of MPI_COMM_WORLD is
    Offer mine;
    Offer theirs;
    std::uint64_t open_here = 0;  ///< connections, a bit each
    std::uint64_t open_there = 0;
    streams::Link* link = nullptr;

    const Offer& lower() const { return is_lower ? mine : theirs; }
    bool is_new() const { return mine.can != 0 && theirs.can != 0 && !has_one(); }
    bool has_one() const { return mine.existing != 0 && mine.existing == theirs.existing; }
};

StreamLinks::StreamLinks(const Settings& settings)
    : interface_(settings.stream_interface), ports_{settings.first_stream_port, settings.last_stream_port} {}

StreamLinks::~StreamLinks() {
    Seconds moved = clock_time();
    while (!are_flushed() && clock_time() - moved < kLongestSilence) {
        if (progress_all()) moved = clock_time();
        let_time_pass(Seconds(1e-4));
    }
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    wakes_.notify_one();
    if (watch_) watch_->join();
}

/// `connections`: those that there may be when all offers are taken.
StreamLinks::Offer StreamLinks::offer_to(const Joining& joining, int& connections) {
    const std::lock_guard lock(mutex_);
    Offer offer;
    offer.context = next_context_++;
    for (const Entry& entry : entries_) {
        if (entry.peer == joining.in_world && !entry.link->is_broken()) offer.existing = entry.number;
    }
    const auto address =
        interface_.empty() ? streams::address_in_use() : streams::address_of_interface(interface_);
    if (!address) {
        problem_ = interface_.empty() ? "this process has no TCP connection to another host"
                                      : fmt::format("the interface {} has no address", interface_);
        return offer;
    }
    if (connections_ + connections + joining.peer.connections > kMostConnections) return offer;
    connections += joining.peer.connections;
    offer.can = 1;
    offer.number = next_number_++;
    offer.endpoint = *address;
    offer.secret = streams::new_secret();
    return offer;
}

void StreamLinks::join(MPI_Comm comm, std::span<const Peer> peers, StreamRoutes& routes) {
    const Rank self = rank_in(MPI_COMM_WORLD);
    std::vector<Joining> all;
    int connections = 0;
    for (const Peer& peer : peers) {
        Joining& joining = all.emplace_back();
        joining.peer = peer;
        joining.in_world = rank_in_world(comm, peer.rank);
        joining.is_lower = self < joining.in_world;
        joining.mine = offer_to(joining, connections);
    }
    make_links(comm, all);
    for (Joining& joining : all) {
        if (joining.has_one()) joining.link = find(joining.in_world, joining.mine.existing);
        if (joining.link != nullptr) routes.to(joining.peer.rank) = {joining.link, joining.lower().context};
    }
}

/// One socket listens for all, and only now.
void StreamLinks::make_links(MPI_Comm comm, std::vector<Joining>& all) {
    std::optional<streams::Listener> listener;
    for (Joining& joining : all) {
        if (!joining.is_lower || joining.mine.can == 0) continue;
        if (!listener) listener = streams::Listener::open(joining.mine.endpoint, ports_);
        joining.mine.can = listener ? 1 : 0;
        if (listener) joining.mine.endpoint = listener->endpoint();
    }
    Exchange<Offer> offers(comm);
    for (Joining& joining : all) offers.with(joining.peer.rank, joining.mine, joining.theirs);
    offers.complete();

    std::vector<streams::JoinedLink> links;
    std::vector<Joining*> joined;
    Seconds round_trip{0};
    for (Joining& joining : all) {
        if (!joining.is_new()) continue;
        streams::JoinedLink& link = links.emplace_back();
        link.number = joining.lower().number;
        link.secret = joining.lower().secret;
        link.connects = !joining.is_lower;
        link.endpoint = joining.lower().endpoint;
        link.lanes.resize(static_cast<std::size_t>(joining.peer.connections));
        joined.push_back(&joining);
        round_trip = std::max(round_trip, joining.peer.round_trip);
    }
    if (links.empty()) return;
    const Seconds end = clock_time() + kPatience + kTripsToJoin * round_trip;
    const int strangers = streams::join(listener ? &*listener : nullptr, links, end, clock_time, [comm] {
        int is_there = 0;
        PMPI_Iprobe(MPI_ANY_SOURCE, kTag, comm, &is_there, MPI_STATUS_IGNORE);
    });
    listener.reset();
    Exchange<std::uint64_t> open(comm);
    for (std::size_t i = 0; i < links.size(); ++i) {
        joined[i]->open_here = open_ones(links[i].lanes);
        open.with(joined[i]->peer.rank, joined[i]->open_here, joined[i]->open_there);
    }
    open.complete();
    const std::lock_guard lock(mutex_);
    strangers_ += strangers;
    for (std::size_t i = 0; i < links.size(); ++i) keep(comm, *joined[i], links[i], joined[i]->open_there);
}

/// Connections that are there at both ends.
void StreamLinks::keep(MPI_Comm comm, Joining& joining, streams::JoinedLink& joined,
                       std::uint64_t open_there) {
    std::vector<streams::Descriptor> lanes;
    for (std::size_t i = 0; i < joined.lanes.size(); ++i) {
        if (joined.lanes[i].is_open() && (open_there >> i & 1U) != 0)
            lanes.push_back(std::move(joined.lanes[i]));
    }
    connections_ += static_cast<int>(lanes.size());
    if (lanes.empty()) {
        problem_ =
            fmt::format("no connection could be made with rank {}, at {}",
                        rank_in_world(comm, joining.peer.rank), streams::text(joining.theirs.endpoint));
        return;
    }
    streams::LinkOptions options;
    if (joining.peer.round_trip > Seconds(0)) options.round_trip = joining.peer.round_trip;
    entries_.push_back({joining.in_world, joining.lower().number,
                        std::make_unique<streams::Link>(std::move(lanes), options)});
    joining.link = entries_.back().link.get();
    if (!watch_) watch_.emplace([this] { run_watch(); });
}

streams::Link* StreamLinks::find(Rank peer, std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
        if (entry.peer == peer && entry.number == number) return entry.link.get();
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
    while (!wakes_.wait_for(lock, kWatchPause, [this] { return is_over_; })) {
        lock.unlock();
        progress_all();
        lock.lock();
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

bool StreamLinks::are_flushed() const {
    const std::lock_guard lock(mutex_);
    return std::all_of(entries_.begin(), entries_.end(),
                       [](const Entry& entry) { return entry.link->is_flushed(); });
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
        text += fmt::format("streams to rank {}: {} connections, {} sent, {} received", entry.peer,
                            account.lanes, format_bytes(account.sent), format_bytes(account.received));
        if (account.sent_again > 0) text += fmt::format(", {} sent again", format_bytes(account.sent_again));
        if (account.broken_lanes > 0) text += fmt::format(", {} broken", account.broken_lanes);
        text += "\n";
    }
    if (strangers_ > 0) text += fmt::format("streams: {} strangers were turned away\n", strangers_);
    return text;
}

}  // namespace laple::mpi
