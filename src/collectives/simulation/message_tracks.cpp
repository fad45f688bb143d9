// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/message_tracks.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "base/index.hpp"

namespace laple {
namespace {

constexpr int kMostTracks = 1000;

}  // namespace

TraceEvents::Place MessageTracks::track_for(Rank rank, Kind kind, Seconds begin, Seconds end) {
    const int number = std::min(tracks_[{rank, kind}].take(begin, end), kMostTracks - 1);
    return {first_process_ + rank, kFirstTrack + kind * kMostTracks + number};
}

void MessageTracks::add(std::span<const SimulatedMessage> messages, Seconds shift, const std::string& call) {
    std::vector<std::size_t> order(messages.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return messages[a].start < messages[b].start; });
    for (const std::size_t number : order) {
        const SimulatedMessage& message = messages[number];
        const Seconds start = message.start + shift;
        const Seconds left = std::max(message.left + shift, start);
        const Seconds arrived = std::max(message.arrived + shift, start);
        const auto from = track_for(message.from, kSends, start, left);
        events_.slice(from, fmt::format("{} to {}", format_bytes(message.bytes), message.to), start, left,
                      {{"bytes", message.bytes},
                       {"offset", message.offset},
                       {"from", message.from},
                       {"to", message.to},
                       {"arrived_us", arrived.count() * 1e6},
                       {"call", call}});
        const auto to = track_for(message.to, kReceives, start, arrived);
        events_.slice(to, fmt::format("{} from {}", format_bytes(message.bytes), message.from), start,
                      arrived, {{"bytes", message.bytes}, {"offset", message.offset}});
        events_.arrow(from, start, to, arrived);
    }
}

void MessageTracks::finish() {
    for (const auto& [whose, tracks] : tracks_) {
        const auto& [rank, kind] = whose;
        for (int i = 0; i < std::min(tracks.count(), kMostTracks); ++i) {
            events_.name_track({first_process_ + rank, kFirstTrack + kind * kMostTracks + i},
                               kind == kSends ? "sends" : "receives");
        }
    }
}

}  // namespace laple
