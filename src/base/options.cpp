// SPDX-License-Identifier: BSD-3-Clause
#include "base/options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace laple {
namespace {

constexpr std::array<SettingRow, 20> kRows{{
    {"LAPLE_DISABLE", "0", "0, 1",
     "1 turns LaPle off: every call goes straight to MPI. Give it to all ranks alike."},
    {"LAPLE_CONFIG", "", "FILE, none",
     "A file of settings beside /etc/laple.conf and ~/.config/laple/laple.conf, and stronger than both; the "
     "environment is stronger than all files. none: no file is read, these neither. For the "
     "environment only."},
    {"LAPLE_TOPOLOGY", "auto", "auto, off, FILE",
     "Which ranks are near each other. auto: measured at the first collective, and kept for later jobs. "
     "FILE: what laple-discover wrote. off: MPI's own collectives."},
    {"LAPLE_MODEL", "", "FILE",
     "What laple-discover --model wrote: how fast links are too. Tells who is near whom unless "
     "LAPLE_TOPOLOGY does."},
    {"LAPLE_PROBE_BUDGET", "2", "SECONDS",
     "How long auto may measure who is near whom; when that is not enough, MPI's own collectives are used, "
     "and the next job goes on with what was measured. "
     "With rates the first job may take half as long again in all; rates that are missing then are measured "
     "by the next two jobs, as long each (between sites more than 70 ms apart up to 2.25 times as long). "
     "MPI's own collectives are measured between near sites for a "
     "quarter of it at least, at one site for a twenty-fifth. Later jobs measure what is still missing in a "
     "hundredth of the time that jobs before them lasted. 0: do not measure."},
    {"LAPLE_ALGORITHM", "", "RULE;RULE;...",
     "Forces or forbids algorithms by name: [COLLECTIVE[:MIN-MAX]:][^]ALGORITHM, with a collective's name "
     "here or in MPI, for example bcast:0-64K:flat/binomial;^native."},
    {"LAPLE_STREAMS", "auto", "auto, off, K",
     "How many TCP connections of LaPle's own carry the messages between two hosts of different clusters, "
     "from "
     "1 to 16: one connection seldom fills a long fat link. auto: as many as have been measured to be faster "
     "than MPI by themselves, for the calls that gain by it. K: for all calls that LaPle does itself, where "
     "MPI's "
     "own are not predicted to be faster. off: all messages go by MPI, as on ranks that "
     "cannot connect. Where ranks differ, the least of theirs."},
    {"LAPLE_STREAM_INTERFACE", "", "NAME",
     "The network interface whose address these connections use, for example eth1; else the address that "
     "MPI's own connections have."},
    {"LAPLE_STREAM_PORTS", "", "FIRST-LAST",
     "The ports that a firewall leaves open for these connections, at the lower one of two ranks: one of "
     "them "
     "is listened at while connections are made. Else any that the system gives."},
    {"LAPLE_SHARED_MEMORY", "64M", "BYTES",
     "How much memory of a host its ranks may share for messages among them, for all communicators together. "
     "Where it is used up, and with 0, these messages go by MPI."},
    {"LAPLE_BLOCK_MEMORY", "64M", "BYTES",
     "How much memory a rank may take, beside its own buffers, for blocks of others that it passes on in "
     "gathers, scatters, all-to-alls and scans. What does not fit goes straight to its rank, or the call is "
     "MPI's "
     "own. In reduce-scatters, for what has come and is not combined yet; sums take as much as the input at "
     "most. At most 1G. Where ranks differ, the least of theirs."},
    {"LAPLE_REPRODUCIBLE", "stable", "fast, stable, strict",
     "Which results of floating-point reductions and of user-defined operations are the same, bit for bit. "
     "stable: those on all ranks, in all calls of a job, and in every run with the same topology, model and "
     "settings; the model in the cache learns from calls, unless LAPLE_ADAPT=off. strict: all of these, "
     "whatever the topology, model and settings, by one tree over the ranks, which is slower; on all ranks "
     "or none, and not beyond 2 GiB. fast: no promise; LAPLE_ADAPT=on may change them between calls."},
    {"LAPLE_ADAPT", "on", "on, off",
     "Whether calls that are repeated are timed now and then, and plans that may be faster tried, in at most "
     "1 % of the time of such calls. What is found is kept for later jobs. Results whose bits depend on the "
     "plan keep theirs in a job, but with LAPLE_REPRODUCIBLE=fast. Long calls also show when links between "
     "clusters become slower or recover: then plans are made anew. Unless all ranks have it on: off."},
    {"LAPLE_VERIFY", "0", "0, 1",
     "1 compares each result with that of MPI's own call, says the first differences on stderr and at "
     "the end how many results were compared, and keeps MPI's where LaPle's is certain to be wrong. On all "
     "ranks or none."},
    {"LAPLE_PCONTROL", "0", "0, 1",
     "1: MPI_Pcontrol(0) leaves all calls to MPI until MPI_Pcontrol(1). Off by default, because many "
     "programs steer a profiler with it, some on one rank only. LaPle requires the call on all ranks, and "
     "ignores it under MPI_THREAD_MULTIPLE."},
    {"LAPLE_PROGRESS", "calls", "calls, thread",
     "What lets non-blocking and persistent collectives go on. calls: every MPI call that waits or tests. "
     "thread: a thread of LaPle's own too, while some are under way; MPI is initialised with "
     "MPI_THREAD_MULTIPLE for it, which costs all calls some time."},
    {"LAPLE_DEBUG", "0", "0, 1, 2", "1 tells on stderr how communicators are set up, 2 also each new plan."},
    {"LAPLE_PROFILE", "0", "0, 1, FILE.json",
     "1 leaves all calls to MPI, and the report says what LaPle would have done and, as predicted, gained; "
     "with liblaple_profile, which laple-run --profile preloads, also what point-to-point calls took, and "
     "who sent how much to whom. On rank 0 is enough. Without LAPLE_REPORT it is written to stderr. "
     "FILE.json: rank 0 writes all of it there, too, for programs; a world that MPI_Comm_spawn started "
     "FILE.json.spawned-PID."},
    {"LAPLE_TRACE", "", "FILE",
     "At the end rank 0 writes a timeline of calls, of the messages of all ranks in them, and of those that "
     "were predicted, for ui.perfetto.dev and laple-plot timeline. Of each kind of call the first, second, "
     "fourth, eighth and so on is in it. On all ranks or none. A world that MPI_Comm_spawn started writes "
     "FILE.spawned-PID."},
    {"LAPLE_REPORT", "0", "0, 1, FILE",
     "At the end rank 0 writes what was called, how often, by which algorithm and how long, what was left to "
     "MPI and why, and what was saved: 1 on stderr; a FILE whose name ends in .json is for programs. Nothing "
     "of a job that ends by MPI_Abort, a signal or a time limit. A world that MPI_Comm_spawn started writes "
     "FILE.spawned-PID."},
}};

constexpr double kMostSeconds = 86400;

/// What a setting may be, by what is written.
template <typename T>
using Words = std::vector<std::pair<std::string_view, T>>;

std::optional<double> seconds_up_to(const std::string& value, double most) {
    double seconds = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, seconds);
    if (error != std::errc() || stop != end || !(seconds >= 0 && seconds <= most)) return std::nullopt;
    return seconds;
}

/// Nothing where it is no number from `least` to `most`.
std::optional<int> integer_in(std::string_view value, int least, int most) {
    int number = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || stop != end || number < least || number > most) return std::nullopt;
    return number;
}

/// "FIRST-LAST", or one port; "" for any.
bool take_ports(std::string_view value, Settings& settings) {
    const auto dash = value.find('-');
    const auto first = integer_in(value.substr(0, dash), 1, UINT16_MAX);
    const auto last =
        dash == std::string_view::npos ? first : integer_in(value.substr(dash + 1), 1, UINT16_MAX);
    if (!value.empty() && (!first || !last || *first > *last)) return false;
    settings.first_stream_port = static_cast<std::uint16_t>(first.value_or(0));
    settings.last_stream_port = static_cast<std::uint16_t>(last.value_or(0));
    return true;
}

/// Of a setting, or what might be meant by it.
std::string no_setting(std::string_view name) {
    std::string upper(name);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!upper.starts_with("LAPLE_")) upper.insert(0, "LAPLE_");
    std::vector<std::string> names;
    for (const SettingRow& row : kRows) names.emplace_back(row.name);
    const std::string nearest = nearest_name(upper, names);
    return fmt::format("{} is no setting of LaPle{}", name,
                       nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

}  // namespace

std::span<const SettingRow> all_settings() {
    return kRows;
}

bool apply_setting(std::string_view name, const std::string& given, Settings& settings,
                   std::string& problem) {
    const auto row =
        std::find_if(kRows.begin(), kRows.end(), [&](const SettingRow& each) { return each.name == name; });
    if (row == kRows.end()) {
        problem = no_setting(name);
        return false;
    }
    const std::string value = given.empty() ? std::string(row->fallback) : given;
    const auto refuse = [&](std::string_view accepted) {
        problem = fmt::format("{}={} is ignored: use {}", name, value, accepted);
        return false;
    };
    const auto take_digit = [&](auto& setting, char most, std::string_view accepted) {
        if (value.size() != 1 || value[0] < '0' || value[0] > most) return refuse(accepted);
        setting = static_cast<std::remove_reference_t<decltype(setting)>>(value[0] - '0');
        return true;
    };
    const auto take_switch = [&](bool& setting) { return take_digit(setting, '1', "0 or 1"); };
    const auto take_word = [&](auto& setting, const auto& words, std::string_view accepted) {
        for (const auto& [word, meaning] : words) {
            if (value != word) continue;
            setting = meaning;
            return true;
        }
        return refuse(accepted);
    };
    const auto take_bytes = [&](Bytes& setting) {
        try {
            setting = parse_bytes(value);
            return true;
        } catch (const Error&) {
            return refuse("a number of bytes, for example 64M, or 0");
        }
    };
    if (name == "LAPLE_DISABLE") {
        // Whoever sets this wants LaPle out of the way: anything but a clear "no" turns it off.
        settings.is_disabled = value != "0";
        if (value != "0" && value != "1")
            problem = fmt::format("{}={} is taken as 1: use 0 or 1", name, value);
    } else if (name == "LAPLE_TOPOLOGY") {
        settings.topology = value == "auto" ? "" : value;
    } else if (name == "LAPLE_MODEL") {
        settings.model = value;
    } else if (name == "LAPLE_PROBE_BUDGET") {
        const auto seconds = seconds_up_to(value, kMostSeconds);
        if (!seconds) return refuse(fmt::format("a number of seconds from 0 to {}", kMostSeconds));
        settings.probe_budget = *seconds;
    } else if (name == "LAPLE_ALGORITHM") {
        settings.algorithm = value;
    } else if (name == "LAPLE_STREAMS") {
        const bool is_off = value == "off" || value == "0";
        const auto connections = integer_in(value, 1, Settings::kMostStreams);
        if (!connections && !is_off && value != "auto")
            return refuse(fmt::format("auto, off, or a number from 1 to {}", Settings::kMostStreams));
        settings.streams = is_off ? 0 : connections.value_or(Settings::kAutomatic);
    } else if (name == "LAPLE_STREAM_INTERFACE") {
        settings.stream_interface = value;
    } else if (name == "LAPLE_STREAM_PORTS") {
        if (!take_ports(value, settings)) return refuse("two ports, for example 61000-61100");
    } else if (name == "LAPLE_SHARED_MEMORY") {
        return take_bytes(settings.shared_memory);
    } else if (name == "LAPLE_BLOCK_MEMORY") {
        return take_bytes(settings.block_memory);
    } else if (name == "LAPLE_REPRODUCIBLE") {
        return take_word(settings.reproducible,
                         Words<Reproducible>{{"fast", Reproducible::fast},
                                             {"stable", Reproducible::stable},
                                             {"strict", Reproducible::strict}},
                         "fast, stable or strict");
    } else if (name == "LAPLE_ADAPT") {
        return take_word(settings.adapts, Words<bool>{{"on", true}, {"off", false}}, "on or off");
    } else if (name == "LAPLE_VERIFY") {
        return take_switch(settings.verify);
    } else if (name == "LAPLE_PCONTROL") {
        return take_switch(settings.heeds_pcontrol);
    } else if (name == "LAPLE_PROGRESS") {
        return take_word(settings.has_progress_thread, Words<bool>{{"calls", false}, {"thread", true}},
                         "calls or thread");
    } else if (name == "LAPLE_DEBUG") {
        return take_digit(settings.debug, '2', "0, 1 or 2");
    } else if (name == "LAPLE_PROFILE") {
        const bool is_file = value.ends_with(".json");
        if (!is_file && value != "0" && value != "1") return refuse("0, 1 or a file FILE.json");
        settings.is_profile = value != "0";
        settings.profile_file = is_file ? value : "";
    } else if (name == "LAPLE_TRACE") {
        settings.trace = value;
    } else if (name == "LAPLE_REPORT") {
        settings.report = value == "0" ? "" : value == "1" ? "-" : value;
    }
    return true;  // LAPLE_CONFIG, too, which says where others are
}

std::string settings_table() {
    std::string table = "| setting | default | values | meaning |\n|---|---|---|---|\n";
    for (const SettingRow& row : kRows) {
        table += fmt::format("| `{}` | {} | {} | {} |\n", row.name,
                             row.fallback.empty() ? "(none)" : row.fallback, row.accepted, row.meaning);
    }
    return table;
}

}  // namespace laple
