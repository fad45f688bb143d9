// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/options.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/version.hpp"

namespace laple::bench {
namespace {

constexpr Bytes kDefaultSmallest = 8;
constexpr Bytes kDefaultLargest = Bytes{1} << 20;
constexpr Bytes kLargest = std::numeric_limits<int>::max();  // MPI counts are ints

constexpr const char* kHelp =
    R"(Measures MPI's own collectives and LaPle's side by side, in one run.

Examples:
  laple-run mpiexec -n 8 laple-bench                          all of them, 8 bytes to 1 MiB
  laple-run mpiexec -n 8 laple-bench bcast -m 1K:8M -c        check each result, too
  laple-run mpiexec -n 8 laple-bench allreduce --sizes 8,64K --json out.json
  laple-run mpiexec -n 8 laple-bench barrier -i 1000 -x 50 -f
  laple-run mpiexec -n 8 laple-bench alltoallv --counts log-normal -c
  laple-run mpiexec -n 8 laple-bench allreduce --overlap      started, then work, then waited for
  mpiexec -n 8 laple-bench                                    without LaPle: how large is the noise?
)";

/// The command line as it was typed: texts that still have to be understood.
struct RawOptions {
    std::vector<std::string> collectives;
    std::string counts;
    std::optional<std::string> clock;
    std::optional<std::string> only;
    std::string range;
    std::string sizes;
    double cold_s = 0;
    double budget_s = 0;
    double test_every_s = 0;
};

void declare(CLI::App& app, Options& options, RawOptions& raw) {
    raw.budget_s = options.budget.count();
    app.add_option("collective", raw.collectives,
                   fmt::format("{} (default: those without v and w)", fmt::join(benchmark_names(), ", ")))
        ->type_name("");
    auto* range = app.add_option("-m,--message-size", raw.range, "message sizes, doubling (default: 8:1M)")
                      ->type_name("MIN:MAX");
    app.add_option("--sizes", raw.sizes, "exactly these message sizes, such as 8,1K,64K")
        ->type_name("LIST")
        ->excludes(range);
    app.add_option("-i,--iterations", options.iterations, "measured calls of each library (default: by size)")
        ->type_name("N");
    app.add_option("-x,--warmup", options.warmups, "calls before the measured ones (default: by size)")
        ->type_name("N");
    app.add_option("--root", options.root, "root of rooted collectives (default: 0)")->type_name("RANK");
    app.add_option(
           "--counts", raw.counts,
           "how blocks differ where each rank has a count, such as in alltoallv; the size is their mean: "
           "equal; half: the last rank has half of all bytes; empty-rows: every second rank has "
           "nothing; log-normal: at random (default: equal)")
        ->type_name("NAME");
    app.add_flag("-f,--full", options.full, "also minimum, 95th percentile, maximum and iterations");
    app.add_flag("-c,--validation", options.check, "compare every byte of each result with MPI's own");
    app.add_flag("--overlap", options.overlap,
                 "how much of MPI_Iallreduce, ... is hidden behind work that takes as long as the call");
    app.add_flag("--persistent", options.persistent, "with --overlap: MPI_Allreduce_init, ... and MPI_Start");
    app.add_flag("--idle", options.idle_work,
                 "with --overlap: ranks sleep in place of work; needed where they share cores");
    app.add_option("--test-every", raw.test_every_s,
                   "with --overlap: call MPI_Test at this interval during the work (default: never)")
        ->type_name("SECONDS");
    app.add_option("--cold", raw.cold_s, "stay idle so long before each measured call")->type_name("SECONDS");
    app.add_option("--budget", raw.budget_s, "end a row after so long (default: 20)")->type_name("SECONDS");
    app.add_option("--clock", raw.clock,
                   "shared: all ranks read one clock; measured: offsets by ping-pongs; "
                   "auto: shared where all ranks are on one machine (default: auto)")
        ->type_name("NAME");
    app.add_option("--only", raw.only, "measure but one of the two: stock or laple")->type_name("NAME");
    app.add_option(
           "--network", options.network_file,
           "what the network can do (bench/smpi/platforms/*.network.json): also show how near to its limit "
           "LaPle comes")
        ->type_name("FILE");
    app.add_option("--json", options.json_file, "also write the results to this file, as JSON")
        ->type_name("FILE");
    app.add_option("--csv", options.csv_file, "also write the results to this file, as CSV")
        ->type_name("FILE");
    app.set_version_flag("--version", "laple-bench " + version_text());
}

/// Every way to write an option: "-m", "--message-size", ...
std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

void refuse_unknown(const CLI::App& app) {
    const std::vector<std::string> unknown = app.remaining();
    if (unknown.empty()) return;
    const std::string word = unknown.front().substr(0, unknown.front().find('='));
    const std::string nearest = word.starts_with("--") ? nearest_name(word, option_names(app)) : "";
    throw Error(fmt::format("unknown option \"{}\"", word),
                nearest.empty() ? "see laple-bench --help" : fmt::format("did you mean {}?", nearest));
}

Bytes parse_message_size(std::string_view text) {
    const Bytes bytes = parse_bytes(text);
    if (bytes < 1 || bytes > kLargest) {
        throw Error(fmt::format("message size {} is out of range", text), "choose 1 byte to less than 2G");
    }
    return bytes;
}

std::vector<Bytes> parse_size_list(std::string_view text) {
    std::vector<Bytes> sizes;
    for (const auto& size : CLI::detail::split(std::string(text), ',')) {
        sizes.push_back(parse_message_size(size));
    }
    return sizes;
}

/// What an option says by one of some names.
template <typename Value>
Value parse_choice(const char* option, const std::string& name,
                   const std::vector<std::pair<std::string, Value>>& choices) {
    std::vector<std::string> names;
    for (const auto& [known, value] : choices) {
        if (known == name) return value;
        names.push_back(known);
    }
    const std::string last = names.back();
    names.pop_back();
    throw Error(fmt::format("{} {} is unknown", option, name),
                fmt::format("use {} or {}", fmt::join(names, ", "), last));
}

/// By any name of the function; those that only start a collective have a measurement of their own.
Benchmark benchmark_of(const std::string& function, const Options& options) {
    const std::string name = plain_name(function);
    if (name == function || !is_started(function)) return parse_benchmark(name);
    const Benchmark benchmark = parse_benchmark(name);
    if (benchmark.form != Form::one_count)
        throw Error(fmt::format("{} is not measured", function), fmt::format("measure {}", name));
    if (!options.overlap) {
        const bool is_persistent = CLI::detail::to_lower(function).find("_init") != std::string::npos;
        throw Error(
            fmt::format("{} is measured together with work of the program", function),
            fmt::format("write laple-bench {} --overlap{}", name, is_persistent ? " --persistent" : ""));
    }
    return benchmark;
}

void understand(const RawOptions& raw, Options& options) {
    for (const auto& name : raw.collectives) {
        const Benchmark benchmark = benchmark_of(name, options);
        const auto& known = options.benchmarks;
        if (std::find(known.begin(), known.end(), benchmark) == known.end())
            options.benchmarks.push_back(benchmark);
    }
    if (options.benchmarks.empty()) {
        for (const Collective collective : kAllCollectives)
            options.benchmarks.push_back({collective, Form::one_count});
    }
    if (raw.sizes.empty()) {
        options.sizes = parse_size_range(raw.range.empty() ? "8:1M" : raw.range);
    } else {
        options.sizes = parse_size_list(raw.sizes);
    }
    if (!raw.counts.empty()) {
        options.spread = parse_choice<Spread>("--counts", raw.counts,
                                              {{"equal", Spread::equal},
                                               {"half", Spread::half},
                                               {"empty-rows", Spread::empty_rows},
                                               {"log-normal", Spread::log_normal}});
        const auto has_counts = [](Benchmark benchmark) { return benchmark.form != Form::one_count; };
        if (std::none_of(options.benchmarks.begin(), options.benchmarks.end(), has_counts))
            throw Error("--counts is for functions with a count for each rank",
                        "name one of them, such as alltoallv");
    }
    if (raw.clock)
        options.clock = parse_choice<ClockChoice>("--clock", *raw.clock,
                                                  {{"auto", ClockChoice::automatic},
                                                   {"shared", ClockChoice::shared},
                                                   {"measured", ClockChoice::measured}});
    if (raw.only)
        options.measured = parse_choice<Measured>("--only", *raw.only,
                                                  {{"stock", Measured::stock}, {"laple", Measured::laple}});
    options.cold = Seconds(raw.cold_s);
    options.budget = Seconds(raw.budget_s);
    options.test_every = Seconds(raw.test_every_s);
}

void refuse_nonsense(const Options& options) {
    if (options.iterations.value_or(1) < 1) throw Error("-i is below 1", "measure at least one call");
    if (options.warmups.value_or(0) < 0) throw Error("-x is negative", "0 means no warm-up");
    if (options.root < 0) throw Error("--root is negative", "ranks are counted from 0");
    // Written so that "nan" is refused as well.
    if (!(options.cold.count() >= 0 && options.cold.count() <= 3600)) {
        throw Error("--cold is out of range", "choose 0 to 3600 seconds");
    }
    if (!(options.test_every.count() >= 0 && options.test_every.count() <= 3600))
        throw Error("--test-every is out of range", "choose 0 to 3600 seconds");
    if (!options.overlap && (options.persistent || options.idle_work || options.test_every.count() > 0))
        throw Error("--persistent, --idle and --test-every say how calls overlap", "add --overlap");
    if (options.overlap) {
        const auto has_counts = [](Benchmark benchmark) { return benchmark.form != Form::one_count; };
        if (std::any_of(options.benchmarks.begin(), options.benchmarks.end(), has_counts))
            throw Error("--overlap measures functions with one count", "leave those with v and w out");
        if (options.check || options.full || !options.network_file.empty() || !options.csv_file.empty())
            throw Error("--overlap takes no -c, -f, --network and --csv", "leave them out; --json works");
    }
    if (!(options.budget.count() > 0)) throw Error("--budget is not positive", "give seconds per row");
}

}  // namespace

std::vector<Bytes> parse_size_range(std::string_view text) {
    const auto colon = text.find(':');
    const bool one_number = colon == std::string_view::npos;
    const std::string_view low_text = one_number ? "" : text.substr(0, colon);
    const std::string_view high_text = one_number ? text : text.substr(colon + 1);
    const Bytes high = high_text.empty() ? kDefaultLargest : parse_message_size(high_text);
    const Bytes low = low_text.empty() ? std::min(kDefaultSmallest, high) : parse_message_size(low_text);
    if (low > high) {
        throw Error(fmt::format("the range {} is empty", text), "write the smaller size first: 8:1M");
    }
    std::vector<Bytes> sizes;
    for (Bytes bytes = low; bytes <= high; bytes *= 2) sizes.push_back(bytes);
    return sizes;
}

std::optional<Options> parse_options(const std::vector<std::string>& arguments, std::ostream& out) {
    Options options;
    RawOptions raw;
    CLI::App app(kHelp, "laple-bench");
    declare(app, options, raw);
    app.allow_extras();  // so that refuse_unknown() can name the nearest option
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
        out << app.help();
        return std::nullopt;
    } catch (const CLI::CallForVersion& version) {
        out << version.what() << '\n';
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        throw Error(error.what(), "see laple-bench --help");
    }
    refuse_unknown(app);
    understand(raw, options);
    refuse_nonsense(options);
    return options;
}

int iterations_for(const Options& options, Bytes bytes) {
    if (options.iterations) return *options.iterations;
    if (options.cold.count() > 0) return 10;
    if (bytes <= 8 * 1024) return 100;
    if (bytes <= 64 * 1024) return 50;
    return bytes <= 1024 * 1024 ? 20 : 10;
}

int warmups_for(const Options& options, Bytes bytes) {
    if (options.warmups) return *options.warmups;
    if (options.cold.count() > 0) return 1;
    return bytes <= 64 * 1024 ? 5 : 2;
}

}  // namespace laple::bench
