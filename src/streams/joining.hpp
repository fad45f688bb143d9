// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

/// A socket that listens at one address of this host.
class Listener {
  public:
    /// Nothing where the system gives none.
    static std::optional<Listener> open(const Endpoint& address, PortRange ports);

    const Endpoint& endpoint() const { return endpoint_; }
    int descriptor() const { return socket_.number(); }

  private:
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
};

/// Makes the connections of all `links`, of which some connect and some are connected to, at `listener`
/// (nullptr: none are). Returns when all are made, or at `end`, of the clock `now`; calls `meanwhile` all the
/// time. Connections are made at once, not one after the other.
///
/// Strangers, who do not prove in time that they belong to a link, are closed; returns how many there were. A
/// few hundred may be about to prove it at a time; when more come, the oldest is closed.
int join(const Listener* listener, std::vector<JoinedLink>& links, Seconds end,
         const std::function<Seconds()>& now, const std::function<void()>& meanwhile);

}  // namespace laple::streams
