// SPDX-License-Identifier: BSD-3-Clause
#include "timeline.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/trace_events.hpp"
#include "collectives/simulation/message_tracks.hpp"

namespace laple::plan {

std::string trace_of(const std::vector<SimulatedMessage>& messages, const Machine& machine) {
    TraceEvents events;
    MessageTracks tracks(events, 0);
    tracks.add(messages, Seconds(0), "");
    tracks.finish();
    Rank last = -1;
    for (const SimulatedMessage& message : messages) last = std::max({last, message.from, message.to});
    for (Rank rank = 0; rank <= last; ++rank) {
        std::string name = fmt::format("rank {}", rank);
        if (!machine.has_single_ranks()) name += fmt::format(" on host {}", machine.host_of(rank));
        events.name_process(rank, name, rank);
    }
    std::vector<int> clusters;
    std::vector<int> hosts;
    for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
        clusters.push_back(machine.cluster_of_rank(rank));
        hosts.push_back(machine.host_of(rank));
    }
    return events.text({{"format", "laple-trace-1"},
                        {"ranks", machine.rank_count()},
                        {"cluster_of", clusters},
                        {"host_of", hosts}});
}

std::string svg_of(const std::vector<SimulatedMessage>& messages, const Machine& machine,
                   const std::string& title) {
    constexpr double kWidth = 900;
    constexpr double kLeft = 60;
    constexpr double kTop = 40;
    constexpr double kRow = 18;
    constexpr double kBar = 8;
    constexpr double kBetweenClusters = 10;
    Seconds end{0};
    for (const SimulatedMessage& message : messages) end = std::max(end, message.arrived);
    const auto x = [&](Seconds time) { return kLeft + kWidth * (end > Seconds(0) ? time / end : 0); };
    // Ranks stand cluster by cluster, in these host by host.
    std::vector<double> y(static_cast<std::size_t>(machine.rank_count()));
    double next = kTop;
    std::string labels;
    for (int cluster = 0; cluster < machine.cluster_count(); ++cluster) {
        for (const Host host : machine.hosts_in(cluster)) {
            if (!machine.has_single_ranks()) {
                const double height = kRow * static_cast<double>(machine.ranks_on(host).size());
                labels += fmt::format(
                    "<rect x=\"1\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" rx=\"4\" fill=\"#f4f6fa\" "
                    "stroke=\"#aab\"/><text x=\"24\" y=\"{:.1f}\" font-size=\"9\">host {}</text>\n",
                    next - (kRow - kBar) / 2, kLeft + kWidth, height - 1, next + kBar, host);
            }
            for (const Rank rank : machine.ranks_on(host)) {
                y[static_cast<std::size_t>(rank)] = next;
                labels += fmt::format("<text x=\"4\" y=\"{:.1f}\">{}</text>\n", next + kBar, rank);
                labels +=
                    fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
                                kLeft, next + kBar / 2, kLeft + kWidth, next + kBar / 2);
                next += kRow;
            }
        }
        next += kBetweenClusters;
    }
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        "<text x=\"4\" y=\"16\">{}: {}</text>\n<text x=\"4\" y=\"30\">rank</text>\n",
        kLeft + kWidth + 20, next + 20, title, format_seconds(end));
    text += labels;
    for (const SimulatedMessage& message : messages) {
        const double from = y[static_cast<std::size_t>(message.from)];
        const double to = y[static_cast<std::size_t>(message.to)];
        const bool is_far = machine.cluster_of_rank(message.from) != machine.cluster_of_rank(message.to);
        const bool is_on_host = machine.host_of(message.from) == machine.host_of(message.to);
        const char* colour = is_far ? "#c33" : is_on_host ? "#8a8" : "#39c";
        text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                            x(message.start), from + kBar / 2, x(message.arrived), to + kBar / 2, colour);
        text += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
                            x(message.start), from, std::max(x(message.left) - x(message.start), 0.5), kBar,
                            colour);
    }
    for (int tick = 0; tick <= 4; ++tick) {
        const Seconds time = end * tick / 4;
        text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(time),
                            next + 12, format_seconds(time));
    }
    return text + "</svg>\n";
}

}  // namespace laple::plan
