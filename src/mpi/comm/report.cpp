// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/report.hpp"

#include <algorithm>
#include <bit>
#include <cctype>

#include <fmt/format.h>

namespace laple::mpi {

const std::string kNativeCall = "native";

namespace {

std::string time_or_dash(Seconds time) {
    return time > Seconds(0) ? format_seconds(time) : "-";
}

/// Non-blocking, or persistent.
bool is_started(std::string_view function) {
    return function.starts_with("I") || function.find("_init") != std::string_view::npos;
}

std::string name_for_people(std::string_view function) {
    std::string name(function);
    name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
    return name;
}

/// Of calls of one kind; where ranks share cores nothing is told.
std::string gain_of(std::string_view function, Seconds saved, const Report::Job& job) {
    return is_started(function) || !job.shared_cores.empty() ? "-" : time_or_dash(saved);
}

std::string shares_cores(const Report::Job& job) {
    return fmt::format(
        "What is gained cannot be told here: {}, so that calls take as long as ranks wait for a core.",
        job.shared_cores);
}

}  // namespace

void Report::add(Collective collective, std::string_view function, Bytes bytes, const std::string& algorithm,
                 Seconds time, const Expectation& expected, DoneBy done_by) {
    const std::lock_guard lock(mutex_);
    Line& line = lines_[{collective, function, class_of(bytes), algorithm}];
    ++line.calls;
    line.total += time;
    line.longest = std::max(line.longest, time);
    const bool had_times = line.expected.predicted > Seconds(0) || line.expected.native > Seconds(0);
    const bool has_times = expected.predicted > Seconds(0) || expected.native > Seconds(0);
    if (has_times || !had_times) line.expected = expected;
    if (done_by == DoneBy::mpi && expected.native > Seconds(0)) {
        line.native += expected.native;
        line.native_total += time;
    }
    const bool is_by_mpi = algorithm == kNativeCall;
    if (is_by_mpi || expected.native <= Seconds(0) || expected.predicted <= Seconds(0)) return;
    line.saved += expected.native - expected.predicted;
    line.priced += done_by == DoneBy::mpi ? expected.native : expected.predicted;
    line.priced_total += time;
}

/// `wall`: of the job. Threads that call collectives at the same time lose it once, not each. And where ranks
/// need not wait for each other, as the root of a broadcast, calls take less than is expected of them: no
/// more than that share is saved.
Report::Sum Report::sum(Seconds wall) const {
    Sum sum;
    Seconds priced{0};
    Seconds priced_total{0};
    for (const auto& [key, line] : lines_) {
        sum.calls += line.calls;
        if (std::get<3>(key) == kNativeCall) sum.native_calls += line.calls;
        // The program works while those go on: their time is not lost, and what is saved of it not gained.
        if (is_started(std::get<1>(key))) continue;
        sum.total += line.total;
        sum.saved += line.saved;
        priced += line.priced;
        priced_total += line.priced_total;
        sum.is_known = sum.is_known || line.expected.native > Seconds(0);
        if (line.saved > Seconds(0) && !line.expected.is_native_measured) sum.is_measured = false;
    }
    if (priced_total < priced) sum.share *= priced_total / priced;
    if (sum.total > wall) {
        sum.share *= wall / sum.total;
        sum.total = wall;
    }
    sum.saved *= sum.share;
    return sum;
}

Report::Times Report::times(Seconds wall) const {
    const std::lock_guard lock(mutex_);
    Times times{sum(wall).total, Seconds(0)};
    for (const auto& [key, line] : lines_) {
        if (!is_started(std::get<1>(key)))
            times.late += std::max(line.native_total - line.native, Seconds(0));
    }
    times.late = std::min(times.late, times.total);
    return times;
}

std::string Report::table(const Job& job) const {
    const bool is_profile = job.is_profile;
    const double share = sum(job.wall).share;
    std::size_t width = 28;
    for (const auto& [key, line] : lines_) width = std::max(width, std::get<3>(key).size());
    std::string text = is_profile
                           ? "collectives of rank 0 by MPI, times as it saw them, and what LaPle would do\n"
                           : "collectives of rank 0, times as it saw them\n";
    text += fmt::format("{:<20} {:>10}  {:<{}} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}{}\n", "collective",
                        "bytes up to", "algorithm", width, "calls", "total", "mean", "longest", "predicted",
                        "MPI's own", is_profile ? fmt::format(" {:>10}", "gain") : "");
    for (const auto& [key, line] : lines_) {
        const auto& [collective, function, bytes, algorithm] = key;
        text += fmt::format(
            "{:<20} {:>10}  {:<{}} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}{}\n", name_for_people(function),
            format_bytes(bytes), algorithm, width, line.calls, time_or_dash(line.total),
            time_or_dash(line.total / static_cast<double>(line.calls)), time_or_dash(line.longest),
            time_or_dash(line.expected.predicted), time_or_dash(line.expected.native),
            is_profile ? fmt::format(" {:>10}", gain_of(function, line.saved * share, job)) : "");
    }
    return text;
}

/// Of what MPI did itself: by reason, which collectives.
std::string Report::reasons() const {
    std::map<std::string, std::string> by_reason;
    for (const auto& [key, line] : lines_) {
        const auto& [collective, function, bytes, algorithm] = key;
        if (algorithm != kNativeCall || line.expected.reason.empty()) continue;
        std::string& calls = by_reason[line.expected.reason];
        calls +=
            fmt::format("{}{} {}", calls.empty() ? "" : ", ", name_for_people(function), format_bytes(bytes));
    }
    std::string text;
    for (const auto& [reason, calls] : by_reason) text += fmt::format("left to MPI: {}: {}\n", calls, reason);
    return text;
}

std::string Report::outlook(const Job& job, const Sum& all) const {
    std::string text = fmt::format(
        "MPI did all collectives, as LAPLE_PROFILE wants it. Blocking ones took {} of {} ({:.1f} %); the "
        "rest, computing and other messages, LaPle does not change.\n",
        format_seconds(all.total), format_seconds(job.wall), 100 * (all.total / job.wall));
    const Seconds saved = std::min(all.saved, 0.99 * job.wall);
    if (!(saved > Seconds(0))) return text + "LaPle would gain nothing here, by all that is known.\n";
    if (!job.shared_cores.empty()) return text + shares_cores(job) + "\n";
    return text + fmt::format(
                      "LaPle would do {} of {} calls itself and save about {}: the job would take {} ({:.2f} "
                      "times as fast; predicted, MPI's own calls {}).\n",
                      all.calls - all.native_calls, all.calls, format_seconds(saved),
                      format_seconds(job.wall - saved), job.wall / (job.wall - saved),
                      all.is_measured ? "as measured" : "too");
}

std::string Report::verdict(const Job& job) const {
    constexpr double kLittle = 0.01;  // of the job's time
    const Sum all = sum(job.wall);
    if (all.calls == 0) return "No collective was called that LaPle could do: it has changed nothing.\n";
    const double share = job.wall > Seconds(0) ? all.total / job.wall : 0;
    if (job.is_profile) return outlook(job, all);
    std::string text =
        fmt::format("Blocking collectives took {} of {} ({:.1f} %); LaPle did {} of {} calls. ",
                    format_seconds(all.total), format_seconds(job.wall), 100 * share,
                    all.calls - all.native_calls, all.calls);
    const char* source = all.is_measured ? "measured" : "predicted";
    if (all.calls == all.native_calls) {
        text += "MPI's own were as good, or nothing better is known: it has changed nothing.";
    } else if (all.saved > Seconds(0) && !job.shared_cores.empty()) {
        text += shares_cores(job);
    } else if (all.saved > kLittle * job.wall) {
        text += fmt::format(
            "It has saved about {}: without it the job would have taken {:.2f} times as long (MPI's own "
            "calls: as "
            "{}).",
            format_seconds(all.saved), (job.wall + all.saved) / job.wall, source);
    } else if (all.saved > Seconds(0)) {
        text += fmt::format("It has saved about {}, less than 1 % of the job (MPI's own calls: as {}).",
                            format_seconds(all.saved), source);
    } else {
        text += all.is_known ? "By all that is known it has saved nothing."
                             : "What it has saved is not known: there are no times of MPI's own.";
    }
    return text + "\n";
}

/// Of the calls that took most of the time, where something was predicted of them.
std::string Report::how_to_learn_why(const Job& job) const {
    const decltype(lines_)::value_type* longest = nullptr;
    for (const auto& entry : lines_) {
        const Line& line = entry.second;
        if (line.expected.predicted <= Seconds(0) || is_started(std::get<1>(entry.first))) continue;
        if (longest == nullptr || line.total > longest->second.total) longest = &entry;
    }
    if (longest == nullptr || job.model_file.empty()) return "";
    const auto& [collective, function, bytes, algorithm] = longest->first;
    return fmt::format("Why {}: laple-plan explain {}{} --model {}\n", algorithm, name_of(collective),
                       row_of(collective).has_data ? " " + format_bytes(bytes) : "", job.model_file);
}

std::string Report::text(const std::string& versions, const Job& job) const {
    const std::lock_guard lock(mutex_);
    std::string text = versions + "\n";
    if (!job.network.empty())
        text += job.network + (job.source.empty() ? std::string() : "; " + job.source) + "\n";
    if (!lines_.empty()) text += table(job) + reasons();
    return text + job.messages + job.trials + job.streams + verdict(job) + how_to_learn_why(job) +
           job.remainder;
}

Json Report::json(const std::string& versions, const Job& job) const {
    const std::lock_guard lock(mutex_);
    const Sum all = sum(job.wall);
    Json calls = Json::array();
    for (const auto& [key, line] : lines_) {
        const auto& [collective, function, bytes, algorithm] = key;
        calls.push_back({{"function", function},
                         {"bytes_up_to", bytes},
                         {"algorithm", algorithm},
                         {"calls", line.calls},
                         {"total", line.total.count()},
                         {"longest", line.longest.count()},
                         {"predicted", line.expected.predicted.count()},
                         {"native", line.expected.native.count()},
                         {"is_native_measured", line.expected.is_native_measured},
                         {"gain", is_started(function) ? 0 : line.saved.count() * all.share}});
    }
    return {{"format", "laple-profile-1"},      {"versions", versions},
            {"network", job.network},           {"wall", job.wall.count()},
            {"shared_cores", job.shared_cores}, {"gain", std::max(all.saved, Seconds(0)).count()},
            {"collectives", std::move(calls)}};
}

Bytes Report::class_of(Bytes bytes) {
    return bytes == 0 ? 0 : std::bit_ceil(bytes);
}

}  // namespace laple::mpi
