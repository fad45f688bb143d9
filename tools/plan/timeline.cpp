// SPDX-License-Identifier: BSD-3-Clause
#include "timeline.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/trace_events.hpp"
#include "collectives/simulation/message_tracks.hpp"

namespace laple::plan {

std::string trace_of(const std::vector<SimulatedMessage>& messages, const Machine& machine,
                     const std::vector<std::string>& host_names) {
    TraceEvents events;
    MessageTracks tracks(events, 0);
    tracks.add(messages, Seconds(0), "");
    tracks.finish();
    Rank last = -1;
    for (const SimulatedMessage& message : messages) last = std::max({last, message.from, message.to});
    for (Rank rank = 0; rank <= last; ++rank) {
        std::string name = fmt::format("rank {}", rank);
        if (!host_names.empty()) {
            name += " on " + host_names[at(machine.host_of(rank))];
        } else if (!machine.has_single_ranks()) {
            name += fmt::format(" on host {}", machine.host_of(rank));
        }
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

namespace {

constexpr const char* kFar = "#c33";
constexpr const char* kNear = "#39c";
constexpr const char* kOnHost = "#8a8";

/// For XML.
std::string quoted(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            default:
                // XML has no control characters.
                result += static_cast<unsigned char>(letter) < ' ' ? '?' : letter;
        }
    }
    return result;
}

/// Ranks from top to bottom, cluster by cluster and in these host by host; time from left to right.
class Picture {
  public:
    Picture(const Machine& machine, const std::vector<std::string>& host_names, Seconds end)
        : machine_(machine), host_names_(host_names), end_(end), y_(at(machine.rank_count())) {
        const double letters = static_cast<double>(std::max(longest_name(), std::size_t{4}));
        left_ = kNumber + letters * kLetter;
        for (int cluster = 0; cluster < machine.cluster_count(); ++cluster) {
            for (const Host host : machine.hosts_in(cluster)) add_host(host);
            bottom_ += kBetweenClusters;
        }
    }

    void add(const SimulatedMessage& message) {
        const double from = y_[at(message.from)];
        const double to = y_[at(message.to)];
        const char* const colour = colour_of(message);
        messages_ +=
            fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                        x(message.start), from + kBar / 2, x(message.arrived), to + kBar / 2, colour);
        messages_ += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
            x(message.start), from, std::max(x(message.left) - x(message.start), 0.5), kBar, colour);
    }

    std::string text(const std::string& title) const {
        return fmt::format(
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
                   "font-family=\"sans-serif\" font-size=\"11\">\n"
                   "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                   "<text x=\"4\" y=\"16\">{}: {}</text>\n<text x=\"4\" y=\"{}\">rank</text>\n",
                   left_ + kWidth + kRight, bottom_ + 20, title, format_seconds(end_), kTop - 8) +
               legend() + rows_ + messages_ + axis() + "</svg>\n";
    }

  private:
    static constexpr double kWidth = 900;
    static constexpr double kRight = 30;  // half of the last time
    static constexpr double kNumber = 30;
    static constexpr double kLetter = 6;
    static constexpr double kTop = 58;
    static constexpr double kRow = 18;
    static constexpr double kBar = 8;
    static constexpr double kBetweenClusters = 10;

    double x(Seconds time) const { return left_ + kWidth * (end_ > Seconds(0) ? time / end_ : 0); }

    /// "" where it has none, and its rank says all.
    std::string name_of(Host host) const {
        if (!host_names_.empty()) return host_names_[at(host)];
        return machine_.has_single_ranks() ? "" : fmt::format("host {}", host);
    }

    std::size_t longest_name() const {
        std::size_t longest = 0;
        for (Host host = 0; host < machine_.host_count(); ++host)
            longest = std::max(longest, name_of(host).size());
        return longest;
    }

    void add_host(Host host) {
        if (!machine_.has_single_ranks()) {
            const double height = kRow * static_cast<double>(machine_.ranks_on(host).size());
            rows_ += fmt::format(
                "<rect x=\"1\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" rx=\"4\" fill=\"#f4f6fa\" "
                "stroke=\"#aab\"/>\n",
                bottom_ - (kRow - kBar) / 2, left_ + kWidth, height - 1);
        }
        rows_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" font-size=\"9\">{}</text>\n", kNumber - 4,
                             bottom_ + kBar, quoted(name_of(host)));
        for (const Rank rank : machine_.ranks_on(host)) {
            y_[at(rank)] = bottom_;
            rows_ += fmt::format(
                "<text x=\"4\" y=\"{:.1f}\">{}</text>\n"
                "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
                bottom_ + kBar, rank, left_, bottom_ + kBar / 2, left_ + kWidth, bottom_ + kBar / 2);
            bottom_ += kRow;
        }
    }

    const char* colour_of(const SimulatedMessage& message) const {
        if (machine_.cluster_of_rank(message.from) != machine_.cluster_of_rank(message.to)) return kFar;
        return machine_.host_of(message.from) == machine_.host_of(message.to) ? kOnHost : kNear;
    }

    std::string legend() const {
        std::string text;
        double left = left_;
        const auto add = [&](const char* colour, const std::string& what) {
            text += fmt::format(
                "<rect x=\"{:.1f}\" y=\"26\" width=\"16\" height=\"{}\" fill=\"{}\"/>"
                "<text x=\"{:.1f}\" y=\"34\">{}</text>\n",
                left, kBar, colour, left + 20, what);
            left += 30 + kLetter * static_cast<double>(what.size());
        };
        if (machine_.cluster_count() > 1) add(kFar, "to another cluster");
        add(kNear, "to another host");
        if (!machine_.has_single_ranks()) add(kOnHost, "on a host");
        return text +
               fmt::format(
                   "<text x=\"{:.1f}\" y=\"34\" fill=\"#666\">a bar: the sender is busy; a line: to when "
                   "all has come</text>\n",
                   left);
    }

    std::string axis() const {
        std::string text;
        for (int tick = 0; tick <= 4; ++tick) {
            const Seconds time = end_ * tick / 4;
            text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(time),
                                bottom_ + 12, format_seconds(time));
        }
        return text;
    }

    const Machine& machine_;
    const std::vector<std::string>& host_names_;
    Seconds end_;
    double left_ = 0;
    double bottom_ = kTop;
    std::vector<double> y_;  // by rank
    std::string rows_;
    std::string messages_;
};

}  // namespace

std::string svg_of(const std::vector<SimulatedMessage>& messages, const Machine& machine,
                   const std::vector<std::string>& host_names, const std::string& title) {
    Seconds end{0};
    for (const SimulatedMessage& message : messages) end = std::max(end, message.arrived);
    Picture picture(machine, host_names, end);
    for (const SimulatedMessage& message : messages) picture.add(message);
    return picture.text(title);
}

}  // namespace laple::plan
