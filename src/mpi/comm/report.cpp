// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/report.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <chrono>
#include <sstream>

#include <fmt/format.h>

namespace laple::mpi {

const std::string kNativeCall = "native";

namespace {

std::string time_or_dash(Seconds time) {
    return time > Seconds(0) ? format_seconds(time) : "-";
}

std::string name_for_people(std::string_view function) {
    std::string name(function);
    name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
    return name;
}

/// The name of a kind of call: Report::kinds_to_compare().
std::string of_class(std::string_view function, Bytes bytes) {
    return fmt::format("{} {}", function, bytes);
}

/// Of a kind: calls that a rank may leave at once if it has nothing to send and to receive.
bool may_have_no_blocks(std::string_view kind) {
    return kind.starts_with("Alltoallv") || kind.starts_with("Alltoallw");
}

/// Of `text`, one string each.
Json lines_of(const std::string& text) {
    Json lines = Json::array();
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string at_most(Seconds time) {
    return "<" + format_seconds(time);
}

/// Of calls of one kind; where ranks share cores nothing is told.
std::string gain_of(std::string_view function, Seconds saved, bool is_at_most, const Report::Job& job) {
    if (is_started(function) || !job.shared_cores.empty()) return "-";
    return is_at_most && saved > Seconds(0) ? at_most(saved) : time_or_dash(saved);
}

constexpr double kMuchLess = 0.5;  // a rank that takes less than that of the mean does not do what others do

constexpr const char* kNoRates =
    "there are no rates of this network. laple-discover --model measures them, and so do jobs that are given "
    "the time (LAPLE_PROBE_BUDGET).";

double share_of(Seconds part, Seconds whole) {
    return whole > Seconds(0) ? 100 * (part / whole) : 0;
}

/// How it is known what MPI's own calls take.
const char* source_of_own(bool is_measured, bool is_by_time) {
    if (is_by_time) return "as the rank that waited least saw them";
    return is_measured ? "as measured" : "too";
}

std::string shares_cores(const Report::Job& job) {
    return fmt::format(
        "What is gained cannot be told here: {}, so that calls take as long as ranks wait for a core. Run no "
        "more ranks than cores.",
        job.shared_cores);
}

}  // namespace

void Report::add(Collective collective, std::string_view function, Bytes bytes, const std::string& algorithm,
                 Seconds time, const Expectation& expected, DoneBy done_by, bool is_of_all_ranks) {
    const std::lock_guard lock(mutex_);
    Line& line = lines_[{collective, function, class_of(bytes), algorithm}];
    ++line.calls;
    line.calls_of_all += is_of_all_ranks ? 1U : 0U;
    line.total += time;
    line.longest = std::max(line.longest, time);
    const bool had_times = line.expected.predicted > Seconds(0) || line.expected.native > Seconds(0);
    const bool has_times = expected.predicted > Seconds(0) || expected.native > Seconds(0);
    if (has_times || !had_times) line.expected = expected;
    line.predicted_sum += expected.predicted;
    line.likely_sum += expected.likely();
    line.predicted_calls += expected.predicted > Seconds(0) ? 1U : 0U;
    line.native_sum += expected.native;
    line.native_calls += expected.native > Seconds(0) ? 1U : 0U;
    line.native_measured_calls += expected.is_native_measured ? 1U : 0U;
    line.native_at_most_calls += expected.is_native_at_most ? 1U : 0U;
    if (done_by == DoneBy::mpi && expected.native > Seconds(0)) {
        line.native += expected.native;
        line.native_total += time;
    }
    const bool is_by_mpi = algorithm == kNativeCall;
    if (is_by_mpi || expected.native <= Seconds(0) || expected.predicted <= Seconds(0)) return;
    line.saved += expected.native - expected.likely();
    line.priced += done_by == DoneBy::mpi ? expected.native : expected.likely();
    line.priced_total += time;
}

Seconds Report::Line::mean_predicted() const {
    return predicted_sum / static_cast<double>(std::max<std::uint64_t>(predicted_calls, 1));
}

Seconds Report::Line::mean_native() const {
    if (undelayed > Seconds(0)) return own_sum() / static_cast<double>(calls);
    return native_sum / static_cast<double>(std::max<std::uint64_t>(native_calls, 1));
}

/// Whether its calls may be compared with those of other ranks.
bool Report::Line::is_compared(Collective collective, std::string_view function) const {
    return row_of(collective).waits_for_all && !is_started(function) && calls_of_all == calls;
}

/// It is known what MPI's own calls took, and what LaPle's would.
bool Report::Line::is_saved_by_time() const {
    return undelayed > Seconds(0) && priced > Seconds(0) && predicted_calls == calls;
}

/// What MPI's own calls took when all ranks came at once, where `undelayed` is known. What was measured of
/// them alone knows no rank that is late; what they took in the job may still hold some waiting.
Seconds Report::Line::own_sum() const {
    return is_native_measured() ? std::min(native_sum, undelayed) : undelayed;
}

bool Report::Line::is_native_measured() const {
    return native_measured_calls == calls;
}

bool Report::Line::is_native_at_most() const {
    return native_at_most_calls > 0 && !is_saved_by_time();
}

Seconds Report::Line::known_saved() const {
    return is_saved_by_time() ? std::max(own_sum() - likely_sum, Seconds(0)) : saved;
}

Seconds Report::Line::late() const {
    if (undelayed > Seconds(0)) return total - undelayed;
    return std::max(native_total - native, Seconds(0));
}

Seconds Report::Sum::gain(const Line& line) const {
    return line.known_saved() * of_wall * (line.is_saved_by_time() ? 1 : share);
}

/// Threads that call collectives at the same time lose that time once, not each. And where ranks need not
/// wait for each other, as the root of a broadcast, calls take less than is expected of them: no more than
/// that share is saved.
Report::Sum Report::sum(const Duration& job) const {
    Sum sum;
    sum.total = job.waited;
    Seconds priced{0};
    Seconds priced_total{0};
    for (const auto& [key, line] : lines_) {
        sum.calls += line.calls;
        const bool is_by_mpi = std::get<3>(key) == kNativeCall;
        if (is_by_mpi) sum.native_calls += line.calls;
        // The program works while those go on: their time is not lost, and what is saved of it not gained.
        if (is_started(std::get<1>(key))) {
            sum.started_calls += line.calls;
            if (is_by_mpi) sum.started_native_calls += line.calls;
            continue;
        }
        sum.total += line.total;
        sum.is_known = sum.is_known || line.expected.native > Seconds(0);
        const bool has_saved = line.known_saved() > Seconds(0);
        if (has_saved && !line.is_native_measured()) sum.is_measured = false;
        if (has_saved && line.is_saved_by_time()) sum.is_by_time = true;
        if (has_saved && line.is_native_at_most()) sum.is_at_most = true;
        if (line.is_saved_by_time()) continue;
        priced += line.priced;
        priced_total += line.priced_total;
    }
    if (priced_total < priced) sum.share = priced_total / priced;
    const Seconds wall = job.of_program();
    if (sum.total > wall) {
        sum.of_wall = wall / sum.total;
        sum.total = wall;
    }
    for (const auto& [key, line] : lines_) {
        if (!is_started(std::get<1>(key))) sum.saved += sum.gain(line);
    }
    return sum;
}

Report::Times Report::times(const Duration& job) const {
    const std::lock_guard lock(mutex_);
    Times times{sum(job).total, job.waited};
    for (const auto& [key, line] : lines_) {
        if (!is_started(std::get<1>(key))) times.late += line.late();
    }
    times.late = std::min(times.late, times.total);
    return times;
}

std::map<std::string, Report::Compared> Report::compared() const {
    std::map<std::string, Compared> kinds;
    for (const auto& [key, line] : lines_) {
        const auto& [collective, function, bytes, algorithm] = key;
        if (!line.is_compared(collective, function)) continue;
        for (const std::string& kind : {of_class(function, bytes), std::string(function)}) {
            Compared& all = kinds[kind];
            all.calls += line.calls;
            all.total += line.total;
        }
    }
    return kinds;
}

std::vector<std::string> Report::kinds_to_compare() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [kind, all] : compared()) names.push_back(kind);
    return names;
}

std::vector<double> Report::times_to_compare(const std::vector<std::string>& kinds) const {
    const std::lock_guard lock(mutex_);
    auto known = compared();
    std::vector<double> times;
    for (const std::string& kind : kinds) {
        const Compared& all = known[kind];
        const auto calls = static_cast<double>(all.calls);
        times.insert(times.end(), {calls, -calls, all.total.count()});
    }
    return times;
}

void Report::learn_least(const std::vector<std::string>& kinds, const std::vector<double>& least,
                         const std::vector<double>& mean) {
    const std::lock_guard lock(mutex_);
    const auto known = compared();
    std::map<std::string, double> parts;  // of what calls took here, that are no waiting
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const auto own = known.find(kinds[i]);
        const bool have_all_as_many = least[3 * i] == -least[3 * i + 1];
        if (own == known.end() || !have_all_as_many || own->second.total <= Seconds(0)) continue;
        const double time = least[3 * i + 2];
        if (may_have_no_blocks(kinds[i]) && time < kMuchLess * mean[3 * i + 2]) continue;
        parts[kinds[i]] = time / own->second.total.count();
    }
    for (auto& [key, line] : lines_) {
        const auto& [collective, function, bytes, algorithm] = key;
        if (!line.is_compared(collective, function)) continue;
        auto part = parts.find(of_class(function, bytes));
        if (part == parts.end()) part = parts.find(std::string(function));
        if (part != parts.end()) line.undelayed = line.total * part->second;
    }
}

std::string Report::table(const Job& job) const {
    const bool is_profile = job.is_profile;
    const Sum all = sum(job.duration);
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
            time_or_dash(line.mean_predicted()),
            line.is_native_at_most() ? at_most(line.mean_native()) : time_or_dash(line.mean_native()),
            is_profile
                ? fmt::format(" {:>10}", gain_of(function, all.gain(line), line.is_native_at_most(), job))
                : "");
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

std::string Report::outlook(const Job& job, const Sum& all) {
    const Seconds wall = job.duration.of_program();
    std::string text = fmt::format(
        "MPI did all collectives, as LAPLE_PROFILE wants it. Blocking ones took {} of {} ({:.1f} %); the "
        "rest, computing and other messages, LaPle does not change.\n",
        format_seconds(all.total), format_seconds(wall), share_of(all.total, wall));
    const std::uint64_t blocking = all.calls - all.started_calls;
    if (all.started_calls > 0) {
        text +=
            fmt::format("Of {} calls that were started (non-blocking, persistent) nothing is predicted.\n",
                        all.started_calls);
    }
    if (blocking == 0) return text;
    const std::uint64_t left = all.native_calls - all.started_native_calls;
    if (left == blocking) return text + "LaPle would leave all blocking ones to MPI, and gain nothing.\n";
    if (!all.is_known) return text + "What LaPle would gain is not known: " + kNoRates + "\n";
    const Seconds saved = std::min(all.saved, 0.99 * wall);
    if (!(saved > Seconds(0))) return text + "LaPle would gain nothing here, by all that is known.\n";
    if (!job.shared_cores.empty()) return text + shares_cores(job) + "\n";
    return text + fmt::format(
                      "LaPle would do {} of {} blocking calls itself and save {} {}: the job would take "
                      "{}{} ({}{:.2f} times as fast; predicted, MPI's own calls {}).\n",
                      blocking - left, blocking, all.is_at_most ? "up to" : "about", format_seconds(saved),
                      all.is_at_most ? "at least " : "", format_seconds(wall - saved),
                      all.is_at_most ? "up to " : "", wall / (wall - saved),
                      source_of_own(all.is_measured, all.is_by_time));
}

/// Whether it is worth a line: without measuring some milliseconds pass.
bool Report::is_set_up_long(const Duration& job) {
    constexpr double kLittle = 0.01;
    constexpr Seconds kShort = std::chrono::milliseconds(50);
    return job.set_up > std::max(kLittle * job.wall, kShort);
}

/// What it has brought, against the job as it would have been without LaPle.
std::string Report::gain(const Job& job, const Sum& all) {
    constexpr double kLittle = 0.01;  // of the job's time
    const Duration& duration = job.duration;
    const Seconds without = (is_set_up_long(duration) ? duration.of_program() : duration.wall) + all.saved;
    const char* source = all.is_measured ? "measured" : "predicted";
    const char* up_to = all.is_at_most ? "up to" : "about";
    if (all.saved <= kLittle * duration.wall) {
        return fmt::format("It has saved {} {}, less than 1 % of the job (MPI's own calls: as {}).", up_to,
                           format_seconds(all.saved), source);
    }
    if (without < duration.wall) {
        return fmt::format(
            "It has saved {} {} (MPI's own calls: as {}), less than its own set-up took: see the next "
            "line.",
            up_to, format_seconds(all.saved), source);
    }
    return fmt::format(
        "It has saved {} {}: without it the job would have taken {}{:.2f} times as long (MPI's own calls: "
        "as {}{}).",
        up_to, format_seconds(all.saved), all.is_at_most ? "up to " : "", without / duration.wall, source,
        all.is_at_most ? ", from a connection that was still growing faster" : "");
}

std::string Report::set_up(const Job& job) {
    if (!is_set_up_long(job.duration)) return "";
    return fmt::format(
        "LaPle's own set-up took {}, most of it to measure the network: what is measured is kept, and later "
        "jobs on these hosts go on from there. {}\n",
        format_seconds(job.duration.set_up),
        job.is_profile ? "It is not in the times above." : "It is in the job's time.");
}

std::string Report::verdict(const Job& job) const {
    const Sum all = sum(job.duration);
    if (all.calls == 0) return "No collective was called that LaPle could do: it has changed nothing.\n";
    if (job.is_profile) return outlook(job, all) + set_up(job);
    const Seconds wall = job.duration.wall;
    std::string text =
        fmt::format("Blocking collectives took {} of {} ({:.1f} %); LaPle did {} of {} calls. ",
                    format_seconds(all.total), format_seconds(wall), share_of(all.total, wall),
                    all.calls - all.native_calls, all.calls);
    if (job.ranks == 1) {
        text +=
            "This job has one rank, and nothing to improve. If you started more, each is a job of its own: "
            "the launcher is not that of this MPI (mpiexec.mpich, or srun --mpi=pmi2).";
    } else if (all.calls == all.native_calls) {
        text += "MPI's own were as good, or nothing better is known: it has changed nothing.";
    } else if (all.saved > Seconds(0) && !job.shared_cores.empty()) {
        text += shares_cores(job);
    } else if (all.saved > Seconds(0)) {
        text += gain(job, all);
    } else if (all.calls == all.started_calls) {
        text += "What calls save that go on beside the program cannot be told.";
    } else {
        text += all.is_known ? "By all that is known it has saved nothing."
                             : "What it has saved is not known: there are no times of MPI's own.";
    }
    return text + "\n" + set_up(job);
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
    const Sum all = sum(job.duration);
    const char* const difference = job.is_profile ? "gain" : "saved";
    Json calls = Json::array();
    for (const auto& [key, line] : lines_) {
        const auto& [collective, function, bytes, algorithm] = key;
        calls.push_back({{"function", function},
                         {"bytes_up_to", bytes},
                         {"algorithm", algorithm},
                         {"calls", line.calls},
                         {"total", line.total.count()},
                         {"longest", line.longest.count()},
                         {"predicted", line.mean_predicted().count()},
                         {"native", line.mean_native().count()},
                         {"is_native_measured", line.is_native_measured()},
                         {"is_native_at_most", line.is_native_at_most()},
                         {"is_native_of_this_job", line.undelayed > Seconds(0)},
                         {difference, is_started(function) ? 0 : all.gain(line).count()},
                         {"reason", line.expected.reason}});
    }
    return {{"format", job.is_profile ? "laple-profile-1" : "laple-report-1"},
            {"versions", versions},
            {"ranks_of_world", job.ranks},
            {"network", job.network},
            {"source", job.source},
            {"model_file", job.model_file},
            {"wall", job.duration.wall.count()},
            {"in_collectives", all.total.count()},
            {"shared_cores", job.shared_cores},
            {"set_up", job.duration.set_up.count()},
            {difference, all.is_known ? Json(std::max(all.saved, Seconds(0)).count()) : Json(nullptr)},
            {"is_at_most", all.is_at_most},
            {"trials", lines_of(job.trials)},
            {"streams", lines_of(job.streams)},
            {"verdict", lines_of(verdict(job))},
            {"collectives", std::move(calls)}};
}

Bytes Report::class_of(Bytes bytes) {
    return bytes == 0 ? 0 : std::bit_ceil(bytes);
}

}  // namespace laple::mpi
