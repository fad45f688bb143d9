// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/join_streams.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include "mpi/exec/transport.hpp"
#include "plogp/stream_survey.hpp"

namespace laple::mpi {
namespace {

constexpr int kTag = 3;  // below those of collectives, and beside that of join_host
constexpr Seconds kPatience(5);
constexpr double kTripsOfPatience = 20;
/// Beside two round trips: for one packet, which is not repeated.
constexpr Seconds kTimeForSilent = std::chrono::milliseconds(200);

void wait_for_all(std::vector<MPI_Request>& requests) {
    while (!requests.empty()) {
        int finished = MPI_UNDEFINED;
        if (wait_for_any(requests, finished, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
        requests.erase(requests.begin() + finished);
    }
}

/// Both ways at once, with each of some ranks.
template <typename Value>
class Exchange {
  public:
    explicit Exchange(MPI_Comm comm) : comm_(comm) {}

    /// Both must stay where they are until complete().
    void with(Rank peer, const Value& mine, Value& theirs) {
        constexpr int kBytes = sizeof(Value);
        add([&](MPI_Request* request) {
            return PMPI_Irecv(&theirs, kBytes, MPI_BYTE, peer, kTag, comm_, request);
        });
        add([&](MPI_Request* request) {
            return PMPI_Isend(&mine, kBytes, MPI_BYTE, peer, kTag, comm_, request);
        });
    }
    /// Whether all have come and gone, without waiting.
    bool look() {
        int finished = MPI_UNDEFINED;
        while (!requests_.empty()) {
            if (look_for_any(requests_, finished, MPI_STATUS_IGNORE) != MPI_SUCCESS) return true;
            if (finished == MPI_UNDEFINED) return false;
            requests_.erase(requests_.begin() + finished);
        }
        return true;
    }
    void complete() { wait_for_all(requests_); }

  private:
    template <typename Start>
    void add(Start start) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (start(&request) == MPI_SUCCESS) requests_.push_back(request);
    }

    MPI_Comm comm_;
    std::vector<MPI_Request> requests_;
};

/// One socket for all of which this end is the one that listens; none where nothing is wanted of it.
std::optional<streams::Listener> listen(std::vector<StreamJoin>& all,
                                        const std::vector<streams::PortRange>& ports) {
    std::optional<streams::Listener> listener;
    for (StreamJoin& join : all) {
        if (!join.listens || join.mine.can == 0) continue;
        for (auto some = ports.begin(); !listener && some != ports.end(); ++some)
            listener = streams::Listener::open(join.mine.endpoint, *some);
        if (listener) {
            join.mine.endpoint = listener->endpoint();
        } else {
            join.mine.can = 0;
        }
    }
    return listener;
}

/// A bit for each.
std::uint64_t open_ones(const std::vector<streams::Descriptor>& lanes) {
    std::uint64_t open = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (lanes[i].is_open()) open |= std::uint64_t{1} << i;
    }
    return open;
}

/// What each end of some links has opened, told to the other one as soon as that is known: who connects knows
/// first that it can not.
class Opened {
  public:
    Opened(MPI_Comm comm, const std::vector<StreamJoin*>& joins) : comm_(comm), ends_(joins.size()) {
        for (std::size_t i = 0; i < joins.size(); ++i) {
            ends_[i].peer = joins[i]->peer;
            PMPI_Irecv(&ends_[i].there, kBytes, MPI_BYTE, ends_[i].peer, kTag, comm_, &ends_[i].come);
        }
    }
    void tell(std::size_t link, const std::vector<streams::Descriptor>& lanes) {
        End& end = ends_[link];
        if (std::exchange(end.is_told, true)) return;
        end.here = open_ones(lanes);
        PMPI_Isend(&end.here, kBytes, MPI_BYTE, end.peer, kTag, comm_, &end.gone);
    }
    /// Whether the other end has told.
    bool has_come(std::size_t link) {
        int has_come = 1;
        if (ends_[link].come != MPI_REQUEST_NULL) PMPI_Test(&ends_[link].come, &has_come, MPI_STATUS_IGNORE);
        return has_come != 0;
    }
    void complete() {
        std::vector<MPI_Request> requests;
        for (const End& end : ends_) {
            for (MPI_Request request : {end.come, end.gone}) {
                if (request != MPI_REQUEST_NULL) requests.push_back(request);
            }
        }
        wait_for_all(requests);
    }
    std::uint64_t at_both_ends(std::size_t link) const { return ends_[link].here & ends_[link].there; }

  private:
    static constexpr int kBytes = sizeof(std::uint64_t);
    struct End {
        Rank peer = -1;
        std::uint64_t here = 0;
        std::uint64_t there = 0;
        bool is_told = false;
        MPI_Request come = MPI_REQUEST_NULL;
        MPI_Request gone = MPI_REQUEST_NULL;
    };

    MPI_Comm comm_;
    std::vector<End> ends_;  // which do not move: MPI has their addresses
};

/// The end that listens need not wait for a link of which the other one has told.
void note_results(std::vector<streams::JoinedLink>& links, Opened& opened) {
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (!links[i].connects && opened.has_come(i)) links[i].wanted.emplace();
        if (links[i].is_made()) opened.tell(i, links[i].lanes);
    }
}

}  // namespace

int join_streams(MPI_Comm comm, std::vector<StreamJoin>& all, const std::vector<streams::PortRange>& ports,
                 const SilentHosts& silent) {
    std::optional<streams::Listener> listener = listen(all, ports);
    Exchange<StreamOffer> offers(comm);
    for (StreamJoin& join : all) offers.with(join.peer, join.mine, join.theirs);
    offers.complete();

    std::vector<streams::JoinedLink> links;
    std::vector<StreamJoin*> joins;
    Seconds longest{0};
    for (StreamJoin& join : all) {
        if (!join.is_wanted()) continue;
        links.push_back(join.to_join(join.possible()));
        const bool is_silent = silent.contains(join.of_listener().endpoint.address);
        links.back().time_to_connect =
            is_silent ? kTimeForSilent + 2 * join.round_trip : time_to_connect(join.round_trip);
        joins.push_back(&join);
        longest = std::max(longest, join.round_trip);
    }
    if (links.empty()) return 0;
    // Those who wait for others yet do not answer.
    const std::uint64_t here = 1;
    std::vector<std::uint64_t> there(links.size());
    Exchange<std::uint64_t> arrivals(comm);
    for (std::size_t i = 0; i < links.size(); ++i) arrivals.with(joins[i]->peer, here, there[i]);
    std::optional<Seconds> limit;
    const auto end = [&] {
        if (!limit && arrivals.look()) limit = clock_time() + kPatience + kTripsOfPatience * longest;
        return limit.value_or(Seconds::max());
    };
    const auto listeners =
        listener ? std::span<const streams::Listener>(&*listener, 1) : std::span<const streams::Listener>();
    Opened opened(comm, joins);
    const int strangers = streams::join(listeners, links, end, clock_time, [&] {
        int is_there = 0;
        PMPI_Iprobe(MPI_ANY_SOURCE, kTag, comm, &is_there, MPI_STATUS_IGNORE);
        note_results(links, opened);
    });
    arrivals.complete();
    listener.reset();
    for (std::size_t i = 0; i < links.size(); ++i) opened.tell(i, links[i].lanes);
    opened.complete();
    for (std::size_t i = 0; i < links.size(); ++i) {
        const std::uint64_t open = opened.at_both_ends(i);
        for (std::size_t lane = 0; lane < links[i].lanes.size(); ++lane) {
            if ((open >> lane & 1U) != 0) joins[i]->lanes.push_back(std::move(links[i].lanes[lane]));
        }
    }
    return strangers;
}

}  // namespace laple::mpi
