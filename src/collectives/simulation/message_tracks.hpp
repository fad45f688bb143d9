// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/trace_events.hpp"
#include "base/units.hpp"
#include "collectives/simulation/simulator.hpp"

namespace laple {

/// Draws messages in a timeline, simulated ones and real ones alike. Each rank is a process of it:
///
///     rank 0    sends        [ 8 KiB to 4 ][ 8 KiB to 8 ]
///               receives                          [ 8 KiB from 4 ]
///
/// A send lasts until its rank is rid of it, a receive from when the message left its rank until it has come.
/// What goes on at the same time is on tracks beside each other.
class MessageTracks {
  public:
    /// Of a process, those before it are left to others.
    static constexpr int kFirstTrack = 10;

    /// Ranks are the processes `first_process` ... of `events`, which must outlive this.
    MessageTracks(TraceEvents& events, int first_process) : events_(events), first_process_(first_process) {}

    /// `shift`: added to all times; `call`: the name of the call that they are part of. Calls are added in
    /// the order of time.
    void add(std::span<const SimulatedMessage> messages, Seconds shift, const std::string& call);
    /// Names the tracks, when all is added.
    void finish();

  private:
    enum Kind { kSends, kReceives };
    TraceEvents::Place track_for(Rank rank, Kind kind, Seconds begin, Seconds end);

    TraceEvents& events_;
    int first_process_;
    std::map<std::pair<Rank, Kind>, SideBySide> tracks_;
};

}  // namespace laple
