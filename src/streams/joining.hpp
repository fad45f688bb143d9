// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "streams/descriptor.hpp"
#include "streams/endpoint.hpp"
#include "streams/hello.hpp"

namespace laple::streams {

/// Ports to listen at: any of them that is free; {0, 0}: any that the system gives.
struct PortRange {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
};

/// One after the other, from the one that is `first` steps behind the beginning, round; those of `last` come
/// last. {0, 0} as it is.
std::vector<PortRange> ports_in_turn(PortRange ports, int first, const std::set<std::uint16_t>& last);

/// A socket that listens at one address of this host.
class Listener {
  public:
    /// Nothing where the system gives none.
    static std::optional<Listener> open(const Endpoint& address, PortRange ports);

    const Endpoint& endpoint() const { return endpoint_; }
    int descriptor() const { return socket_.number(); }

  private:
    static std::optional<Listener> open_at(const Endpoint& endpoint);
    Listener(Descriptor socket, const Endpoint& endpoint) : socket_(std::move(socket)), endpoint_(endpoint) {}

    Descriptor socket_;
    Endpoint endpoint_;
};

/// One end of a link to be made.
struct JoinedLink {
    std::uint64_t number = 0;  ///< of the link, at the end that listens
    Secret secret{};
    bool connects = false;  ///< this end does, to:
    Endpoint endpoint;
    std::vector<Descriptor> lanes;  ///< as many as there are to be; those that could not be made stay closed
    /// Of these, which are to be made; nothing: all.
    std::optional<std::vector<std::size_t>> wanted{};
    /// Where the other end listens already: how long a first connection is waited for. When that is over, or
    /// the connection is refused, no lane is wanted any more. Nothing: it is tried again and again.
    std::optional<Seconds> time_to_connect{};

    /// The same with all lanes to be made anew.
    JoinedLink anew() const {
        JoinedLink link{number, secret, connects, endpoint, {}};
        link.lanes.resize(lanes.size());
        return link;
    }
    /// Whether all lanes that are wanted are there.
    bool is_made() const {
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
            if (wants(lane) && !lanes[lane].is_open()) return false;
        }
        return true;
    }
    bool wants(std::size_t lane) const {
        return !wanted || std::find(wanted->begin(), wanted->end(), lane) != wanted->end();
    }
};

/// The connections of all `links`, of which some connect and some are connected to, at any of `listeners`,
/// while they are being made, at once and not one after the other. Between two calls of go_on()
/// the owner may take lanes that are made, want others, and listen elsewhere.
///
/// Strangers, who do not prove in time that they belong to a link, are closed. A few hundred more than there
/// are lanes to come may be about to prove it at a time; when more come, the oldest of the host with the most
/// is closed.
class Joining {
  public:
    /// The references must outlive this.
    Joining(std::span<const Listener> listeners, std::vector<JoinedLink>& links);
    ~Joining();
    Joining(const Joining&) = delete;
    Joining& operator=(const Joining&) = delete;

    /// From now on; they must outlive this.
    void listen_at(std::span<const Listener> listeners) { listeners_ = listeners; }
    /// Does what can be done without waiting.
    void go_on(Seconds now);
    /// Whether all lanes that are wanted are there.
    bool is_complete() const;
    /// Until there may be something to do, a millisecond at most.
    void wait() const;
    /// How many there were. Those that have not proved anything yet are among them.
    int strangers() const;

  private:
    struct Arrivals;
    struct Departures;

    void accept_all(const Listener& listener, Seconds now);
    void depart();
    void give_up_hopeless(Seconds now);
    std::size_t lanes_to_come() const;

    std::span<const Listener> listeners_;
    std::vector<JoinedLink>& links_;
    std::unique_ptr<Arrivals> arrivals_;
    std::unique_ptr<Departures> departures_;
    std::optional<Seconds> begun_;
    Seconds rests_until_{0};  // and accepts nobody, where there were no descriptors
    bool is_resting_ = false;
    int strangers_ = 0;
};

/// Makes the connections of all `links`, of which some connect and some are connected to, at one of
/// `listeners`. Returns when all are made, or at `end()`, of the clock `now`, which may change meanwhile;
/// calls `meanwhile` all the time. Returns how many strangers there were.
int join(std::span<const Listener> listeners, std::vector<JoinedLink>& links,
         const std::function<Seconds()>& end, const std::function<Seconds()>& now,
         const std::function<void()>& meanwhile);

}  // namespace laple::streams
