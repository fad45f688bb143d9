// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/profile.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/index.hpp"

namespace laple::mpi {
namespace {

constexpr double kLittle = 0.001;      // of a job's time
constexpr std::size_t kMostShown = 8;  // parts whose matrix fits on a screen

/// "12.3 MB": decimal units.
std::string amount(Bytes bytes) {
    constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
    auto number = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; number >= 999.5 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
    return fmt::format("{:.3g} {}", number, kUnits[unit]);
}

std::string name_for_people(std::string_view function) {
    std::string name(function);
    name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
    return name;
}

/// Of all ranks.
struct Spread {
    double mean = 0;
    double most = 0;
    Rank most_rank = 0;
};
template <typename Time>
Spread spread_of(const std::vector<RankTimes>& ranks, Time time) {
    Spread spread;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const double of_rank = time(ranks[rank]);
        spread.mean += of_rank / static_cast<double>(ranks.size());
        if (rank > 0 && of_rank <= spread.most) continue;
        spread.most = of_rank;
        spread.most_rank = static_cast<Rank>(rank);
    }
    return spread;
}

/// "between clusters 1.50 s of 10.0 s (15.0 %; at most 2.00 s)"; "" where next to no time went there.
template <typename Time>
std::string place(const char* where, const Profile& profile, Time time) {
    const Spread spread = spread_of(profile.ranks, time);
    const double wall = spread_of(profile.ranks, [](const RankTimes& rank) { return rank.wall; }).mean;
    if (!(spread.mean > kLittle * wall)) return "";
    return fmt::format(
        "{} {} of {} ({:.1f} %{})", where, format_seconds(Seconds(spread.mean)),
        format_seconds(Seconds(wall)), wall > 0 ? 100 * spread.mean / wall : 0,
        profile.has_all_ranks ? fmt::format("; at most {}", format_seconds(Seconds(spread.most))) : "");
}

/// Those that are not empty.
std::string listed(std::initializer_list<std::string> parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() || part.empty() ? "" : ", ") + part;
    return text;
}

/// Whether calls of a function last until another rank has done something.
bool is_waiting(std::string_view function) {
    constexpr std::array<std::string_view, 11> kWaiting{
        "Recv",    "Mrecv",    "Probe",    "Mprobe",           "Wait", "Waitall",
        "Waitany", "Waitsome", "Sendrecv", "Sendrecv_replace", "Ssend"};
    return std::find(kWaiting.begin(), kWaiting.end(), function) != kWaiting.end();
}

}  // namespace

Parts parts_of(const Machine& machine) {
    Parts parts;
    if (machine.cluster_count() > 1) {
        for (int cluster = 0; cluster < machine.cluster_count(); ++cluster)
            parts.ranks.push_back(machine.ranks_in(cluster));
    } else {
        parts.kind = "host";
        for (Host host = 0; host < machine.host_count(); ++host) {
            const auto ranks = machine.ranks_on(host);
            parts.ranks.emplace_back(ranks.begin(), ranks.end());
        }
    }
    if (parts.ranks.size() > Parts::kMost) parts.ranks.clear();
    return parts;
}

void TrafficMatrix::add(const Parts& parts, Rank rank, const std::vector<Messages::Traffic>& traffic) {
    const std::vector<int> part_of = group_of_each(
        parts.ranks, std::accumulate(parts.ranks.begin(), parts.ranks.end(), std::size_t{0},
                                     [](std::size_t sum, const auto& part) { return sum + part.size(); }));
    const std::size_t row = at(part_of[at(rank)]) * parts.ranks.size();
    for (std::size_t other = 0; other < std::min(traffic.size(), part_of.size()); ++other) {
        messages[row + at(part_of[other])] += traffic[other].messages;
        bytes[row + at(part_of[other])] += traffic[other].bytes;
    }
}

void add_messages(const Messages& messages, const Machine* machine, Rank rank, RankTimes& times) {
    const auto traffic = messages.traffic();
    for (Rank other = 0; other < static_cast<Rank>(traffic.size()); ++other) {
        const double time = traffic[at(other)].time.count();
        if (machine == nullptr || other >= machine->rank_count()) {
            times.elsewhere += time;
        } else if (machine->host_of(other) == machine->host_of(rank)) {
            times.on_host += time;
        } else if (machine->cluster_of_rank(other) == machine->cluster_of_rank(rank)) {
            times.in_cluster += time;
        } else {
            times.between_clusters += time;
        }
    }
    times.elsewhere += messages.elsewhere().time.count();
}

std::string Profile::table() const {
    if (ranks.empty() || ranks.front().counts_messages == 0)
        return "Point-to-point calls were not counted: laple-run --profile does, but not with --deep\n";
    std::string text = "point-to-point calls of rank 0, times as it saw them\n";
    text += fmt::format("{:<20} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "call", "calls", "messages",
                        "sent", "total", "mean", "longest");
    Seconds all{0};
    Seconds waiting{0};
    for (const auto& [function, line] : lines) {
        const auto calls = static_cast<double>(std::max<std::uint64_t>(line.calls, 1));
        text += fmt::format("{:<20} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", name_for_people(function),
                            line.calls, line.messages > 0 ? std::to_string(line.messages) : "-",
                            line.messages > 0 ? amount(line.bytes) : "-", format_seconds(line.total),
                            format_seconds(line.total / calls), format_seconds(line.longest));
        all += line.total;
        if (is_waiting(function)) waiting += line.total;
    }
    if (lines.empty()) text = "rank 0 has made no point-to-point call that can be seen\n";
    if (!lines.empty()) {
        text += fmt::format(
            "{} of {} in these calls were waiting: in waits, receives, probes, exchanges and synchronous "
            "sends\n",
            format_seconds(waiting), format_seconds(all));
    }
    return text + matrix();
}

std::string Profile::matrix() const {
    const std::size_t count = parts.ranks.size();
    if (!has_all_ranks)
        return "What other ranks have sent is not known: no blocking collective was called on all of them\n";
    if (!counts_messages())
        return "Who has sent how much to whom is not known: not all ranks have counted it\n";
    if (count == 0) return "Who is near whom is not known, or there are too many clusters and hosts\n";
    const auto is_none = [](std::uint64_t messages) { return messages == 0; };
    if (std::all_of(traffic.messages.begin(), traffic.messages.end(), is_none))
        return "No rank has sent a point-to-point message\n";
    if (count > kMostShown) {
        return fmt::format(
            "{} {}s are too many for a matrix here: laple-run --profile --json FILE.json writes it\n", count,
            parts.kind);
    }
    std::string text =
        fmt::format("point-to-point messages of all ranks, from {} (row) to {}\n", parts.kind, parts.kind);
    text += fmt::format("{:<10}", "");
    for (std::size_t to = 0; to < count; ++to) text += fmt::format(" {:>19}", to);
    text += '\n';
    for (std::size_t from = 0; from < count; ++from) {
        text += fmt::format("{:<10}", from);
        for (std::size_t cell = from * count; cell < (from + 1) * count; ++cell) {
            text += fmt::format(" {:>19}", traffic.messages[cell] == 0
                                               ? "-"
                                               : fmt::format("{} in {}", amount(traffic.bytes[cell]),
                                                             traffic.messages[cell]));
        }
        text += '\n';
    }
    return text + "What collectives move is not in it: how MPI's own do that is not known\n";
}

bool Profile::counts_messages() const {
    return !ranks.empty() && std::all_of(ranks.begin(), ranks.end(),
                                         [](const RankTimes& rank) { return rank.counts_messages > 0; });
}

std::string Profile::remainder() const {
    const char* whose = has_all_ranks ? "On the average of ranks" : "On this rank";
    std::string text;
    if (counts_messages()) {
        const std::string places = listed(
            {place("between clusters", *this, [](const auto& rank) { return rank.between_clusters; }),
             place("between hosts of a cluster", *this, [](const auto& rank) { return rank.in_cluster; }),
             place("on a host", *this, [](const auto& rank) { return rank.on_host; }),
             place("in waits for started collectives, or with whom is not known", *this,
                   [](const auto& rank) { return rank.elsewhere; })});
        text += fmt::format(
            "LaPle does not change point-to-point calls. {} they took{}.\n", whose,
            places.empty() ? fmt::format(" less than {:g} % of the job", 100 * kLittle) : ": " + places);
    }
    const std::string late = place("waiting for them", *this, [](const auto& rank) { return rank.late; });
    if (!late.empty())
        text += fmt::format("LaPle cannot keep ranks from coming late to collectives: {}.\n", late);
    if (!counts_messages() || !has_all_ranks || ranks.size() < 2) return text;
    const Spread outside = spread_of(ranks, [](const auto& rank) { return rank.outside(); });
    if (!(outside.mean > 0)) return text;  // threads have called MPI at the same time
    return text +
           fmt::format(
               "LaPle does not change imbalance: outside of these calls ranks spend {} on the average, "
               "and rank {} {}.\n",
               format_seconds(Seconds(outside.mean)), outside.most_rank,
               format_seconds(Seconds(outside.most)));
}

void Profile::add_to(Json& json) const {
    Json calls = Json::array();
    for (const auto& [function, line] : lines) {
        calls.push_back({{"function", function},
                         {"calls", line.calls},
                         {"messages", line.messages},
                         {"bytes", line.bytes},
                         {"total", line.total.count()},
                         {"longest", line.longest.count()}});
    }
    json["point_to_point"] = std::move(calls);
    Json times = Json::array();
    for (const RankTimes& rank : ranks) {
        times.push_back({{"counts_messages", rank.counts_messages > 0},
                         {"wall", rank.wall},
                         {"set_up", rank.set_up},
                         {"collectives", rank.collectives},
                         {"late", rank.late},
                         {"between_clusters", rank.between_clusters},
                         {"in_cluster", rank.in_cluster},
                         {"on_host", rank.on_host},
                         {"elsewhere", rank.elsewhere}});
    }
    json["has_all_ranks"] = has_all_ranks;
    json["ranks"] = std::move(times);
    if (!parts.is_known()) return;
    const auto rows = [&](const std::vector<std::uint64_t>& cells) {
        Json all = Json::array();
        const auto count = static_cast<std::ptrdiff_t>(parts.ranks.size());
        for (auto row = cells.begin(); row != cells.end(); row += count)
            all.push_back(std::vector<std::uint64_t>(row, row + count));
        return all;
    };
    json["parts"] = {{"kind", parts.kind}, {"ranks", parts.ranks}};
    json["messages"] = rows(traffic.messages);
    json["bytes"] = rows(traffic.bytes);
}

}  // namespace laple::mpi
