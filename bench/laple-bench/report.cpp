// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/report.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace laple::bench {
namespace {

std::string format_check(const std::optional<bool>& correct) {
    if (!correct) return "-";
    return *correct ? "pass" : "FAIL";
}

/// A value, or null where there is none.
template <typename T>
Json optional_json(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// Nanoseconds are the clock's resolution: more digits would only be noise in the file.
double round_us(double us) {
    return static_cast<double>(static_cast<long long>(us * 1000 + 0.5)) / 1000;
}

Json rounded_json(const std::optional<double>& value) {
    return value ? Json(round_us(*value)) : Json(nullptr);
}

/// A time, or null where nothing was measured.
Json us_json(const Summary& summary, double value) {
    return summary.count > 0 ? Json(round_us(value)) : Json(nullptr);
}

/// A time of the table; "-" where nothing was measured.
std::string format_us(const Summary& summary, double value) {
    return summary.count > 0 ? fmt::format("{:.2f}", value) : "-";
}

bool is_pair(const Row& row) {
    return row.stock_us.count > 0 && row.laple_us.count > 0;
}

/// A time, or nothing where nothing was measured.
std::string csv_time(const Summary& summary, double value) {
    return summary.count > 0 ? fmt::format("{:.3f}", value) : "";
}

Json row_json(const Row& row) {
    return {{"collective", to_string(row.benchmark)},
            {"bytes", row.bytes},
            {"library_us", us_json(row.stock_us, row.stock_us.median)},
            {"laple_us", us_json(row.laple_us, row.laple_us.median)},
            {"speedup", is_pair(row) ? Json(round_us(speedup(row))) : Json(nullptr)},
            {"bound_us", row.bound ? Json(round_us(row.bound->time.count() * 1e6)) : Json(nullptr)},
            {"binds", row.bound ? Json(row.bound->binds) : Json(nullptr)},
            {"efficiency", rounded_json(efficiency(row))},
            {"algorithm", row.algorithm},
            {"correct", optional_json(row.correct)},
            {"library_min_us", us_json(row.stock_us, row.stock_us.min)},
            {"laple_min_us", us_json(row.laple_us, row.laple_us.min)},
            {"library_p95_us", us_json(row.stock_us, row.stock_us.p95)},
            {"laple_p95_us", us_json(row.laple_us, row.laple_us.p95)},
            {"library_max_us", us_json(row.stock_us, row.stock_us.max)},
            {"laple_max_us", us_json(row.laple_us, row.laple_us.max)},
            {"library_samples", row.stock_us.count},
            {"laple_samples", row.laple_us.count}};
}

/// A CSV field: quoted when it has to be.
std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

/// ", 2 a host in blocks": how many ranks each host has, and whether neighbours share one. "" where that says
/// nothing.
std::string describe_placement(const Context& context) {
    const std::vector<int>& hosts = context.host_of_rank;
    if (context.hosts.size() < 2 || hosts.size() <= context.hosts.size()) return "";
    std::vector<int> ranks_on(context.hosts.size(), 0);
    std::size_t neighbours = 0;  // on one host
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        ++ranks_on[static_cast<std::size_t>(hosts[rank])];
        if (rank > 0 && hosts[rank] == hosts[rank - 1]) ++neighbours;
    }
    const auto [least, most] = std::minmax_element(ranks_on.begin(), ranks_on.end());
    const std::string count =
        *least == *most ? fmt::format("{}", *most) : fmt::format("{} to {}", *least, *most);
    const char* placement = neighbours == 0                                     ? " dealt round"
                            : neighbours == hosts.size() - context.hosts.size() ? " in blocks"
                                                                                : "";
    return fmt::format(", {} a host{}", count, placement);
}

}  // namespace

double speedup(const Row& row) {
    return row.laple_us.median > 0 ? row.stock_us.median / row.laple_us.median : 0;
}

std::optional<double> efficiency(const Row& row) {
    const double median = row.laple_us.count > 0 ? row.laple_us.median : row.stock_us.median;
    if (!row.bound || median <= 0) return std::nullopt;
    return row.bound->time.count() * 1e6 / median;
}

Json context_json(const Context& context) {
    return {{"ranks", context.ranks},
            {"hosts", context.hosts},
            {"host_of_rank", context.host_of_rank},
            {"mpi_library", context.mpi_library},
            {"laple_version", optional_json(context.laple_version)},
            {"date", context.date},
            {"root", context.root},
            {"iterations", optional_json(context.iterations)},
            {"cold_s", context.cold_s},
            {"budget_s", context.budget_s},
            {"clock", context.clock},
            {"late_starts_repeated", context.late_starts_repeated},
            {"late_starts_kept", context.late_starts_kept},
            {"command", context.command},
            {"environment", Json(context.environment)}};
}

std::string format_run(const Context& context) {
    return fmt::format("# laple-bench: {} rank{} on {} host{}{}; LaPle {}\n# {}\n", context.ranks,
                       context.ranks == 1 ? "" : "s", context.hosts.size(),
                       context.hosts.size() == 1 ? "" : "s", describe_placement(context),
                       context.laple_version.value_or("not loaded"), context.mpi_library);
}

const char* second_library(const Context& context) {
    return context.laple_version ? "laple" : "again";
}

std::string format_header(const Context& context, bool full) {
    std::string text = format_run(context);
    text += fmt::format("# time of a call: agreed start to the last rank's finish, medians; clock: {}\n",
                        context.clock);
    const std::string second = second_library(context);
    text += fmt::format("#{:<11} {:>10} {:>12} {:>12} {:>9}", " collective", "bytes", "stock[us]",
                        second + "[us]", context.laple_version ? "speed-up" : "ratio");
    if (full) {
        for (const std::string& library : {std::string("stock"), second}) {
            text += fmt::format(" {:>12} {:>12} {:>12}", library + " min", "p95", "max");
        }
        text += fmt::format(" {:>10}", "iterations");
    }
    if (context.has_bounds) text += fmt::format(" {:>12} {:>10}", "bound[us]", "efficiency");
    text += fmt::format("  {:<40} {:<5}", "algorithm", "check");
    return text + (context.has_bounds ? "  what binds\n" : "\n");
}

std::string format_row(const Row& row, bool full) {
    std::string text = fmt::format("{:<12} {:>10} {:>12} {:>12} {:>9}", to_string(row.benchmark), row.bytes,
                                   format_us(row.stock_us, row.stock_us.median),
                                   format_us(row.laple_us, row.laple_us.median),
                                   is_pair(row) ? fmt::format("{:.2f}", speedup(row)) : "-");
    if (full) {
        for (const Summary* summary : {&row.stock_us, &row.laple_us}) {
            text += fmt::format(" {:>12} {:>12} {:>12}", format_us(*summary, summary->min),
                                format_us(*summary, summary->p95), format_us(*summary, summary->max));
        }
        text += fmt::format(" {:>10}", std::max(row.laple_us.count, row.stock_us.count));
    }
    if (row.bound) {
        text +=
            fmt::format(" {:>12.2f} {:>10.2f}", row.bound->time.count() * 1e6, efficiency(row).value_or(0));
    }
    text += fmt::format("  {:<40} {:<5}", row.algorithm, format_check(row.correct));
    if (row.bound) return text + "  " + row.bound->binds;
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

Json to_json(const Context& context, const std::vector<Row>& rows) {
    Json document{{"format", "laple-bench-1"}, {"context", context_json(context)}};
    Json results = Json::array();
    for (const Row& row : rows) results.push_back(row_json(row));
    document["results"] = results;
    return document;
}

std::string to_csv(const std::vector<Row>& rows) {
    std::string text =
        "collective,bytes,library_us,laple_us,speedup,library_min_us,laple_min_us,"
        "library_samples,laple_samples,algorithm,correct\n";
    for (const Row& row : rows) {
        text += fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{}\n", to_string(row.benchmark), row.bytes,
            csv_time(row.stock_us, row.stock_us.median), csv_time(row.laple_us, row.laple_us.median),
            is_pair(row) ? fmt::format("{:.3f}", speedup(row)) : "", csv_time(row.stock_us, row.stock_us.min),
            csv_time(row.laple_us, row.laple_us.min), row.stock_us.count, row.laple_us.count,
            csv_field(row.algorithm), row.correct ? (*row.correct ? "true" : "false") : "");
    }
    return text;
}

}  // namespace laple::bench
