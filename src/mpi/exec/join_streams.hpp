// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "streams/descriptor.hpp"
#include "streams/endpoint.hpp"
#include "streams/hello.hpp"
#include "streams/joining.hpp"

namespace laple::mpi {

/// What one of two ranks tells the other. Where they differ, that of the one that listens counts.
struct StreamOffer {
    std::uint64_t can = 0;       ///< so many connections more it may have; 0, too: it knows no address
    std::uint64_t existing = 0;  ///< number of the link that there is already; 0: none
    std::uint64_t number = 0;    ///< of a new one, at the end that listens
    std::uint64_t context = 0;   ///< of the communicator (streams::MessageKey)
    streams::Endpoint endpoint;  ///< of this end; with the port where it listens
    streams::Secret secret{};
};

/// Two ranks that join, as one of them has it.
struct StreamJoin {
    Rank peer = -1;
    int connections = 0;    ///< that are wanted: at most 64, the same at both ends, which may have fewer
    Seconds round_trip{0};  ///< about
    bool listens = false;   ///< at one of both ends
    streams::Descriptor poller{};  ///< of the link to be (streams::Link), where it is wanted
    StreamOffer mine;
    StreamOffer theirs;                        ///< what the other end has said
    std::vector<streams::Descriptor> lanes{};  ///< that there are at both ends, in the same order

    /// What is to be joined, of so many lanes.
    streams::JoinedLink to_join(std::size_t count) const {
        streams::JoinedLink link{
            of_listener().number, of_listener().secret, !listens, of_listener().endpoint, {}};
        link.lanes.resize(count);
        return link;
    }
    /// So many both can have.
    std::size_t possible() const {
        return std::min({static_cast<std::uint64_t>(connections), mine.can, theirs.can});
    }
    const StreamOffer& of_listener() const { return listens ? mine : theirs; }
    /// Both have the same link already, and need no connections.
    bool is_joined() const { return mine.existing != 0 && mine.existing == theirs.existing; }
    /// Both could have some.
    bool is_wanted() const { return mine.can != 0 && theirs.can != 0 && !is_joined(); }
};

/// Addresses, without ports, to which this end could not connect before.
using SilentHosts = std::set<std::array<std::byte, 16>>;

/// Exchanges offers with each peer of `all`, and makes the connections that are wanted. Of each pair both
/// ranks of `comm` call this, with each other among `all`. A peer that is late is waited for; only then is
/// there a limit to how long connections may take. The end that connects gives up as soon as it is refused,
/// or time_to_connect() is over and nothing has connected, sooner with one of `silent`. Listens only
/// meanwhile, at one of `ports`, the first ones first; where none is free, what this end should listen for is
/// not wanted. Returns how many strangers were turned away.
int join_streams(MPI_Comm comm, std::vector<StreamJoin>& all, const std::vector<streams::PortRange>& ports,
                 const SilentHosts& silent = {});

}  // namespace laple::mpi
