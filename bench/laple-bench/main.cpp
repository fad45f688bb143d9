// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "base/error.hpp"
#include "bench/laple-bench/check.hpp"
#include "bench/laple-bench/context.hpp"
#include "bench/laple-bench/loaded_laple.hpp"
#include "bench/laple-bench/measure.hpp"
#include "bench/laple-bench/options.hpp"
#include "bench/laple-bench/overlap.hpp"
#include "bench/laple-bench/report.hpp"
#include "bench/laple-bench/started_call.hpp"
#include "bench/laple-bench/statistics.hpp"
#include "collectives/collective/lower_bound.hpp"
#include "mpi/probe/clock.hpp"

namespace laple::bench {
namespace {

constexpr int kWrongResult = 1;
constexpr int kBadInput = 2;

void write_to(const std::string& file, const std::string& content, std::ios::openmode mode) {
    std::ofstream stream(file, std::ios::binary | mode);
    stream << content << std::flush;
    if (!stream) throw Error({file, 0, 0}, "cannot be written", "check the path and its permissions");
}

void write_file(const std::string& file, const std::string& content) {
    write_to(file, content, std::ios::trunc);
}

/// What an earlier run has left in it stays until this one has something to write.
void expect_writable(const std::string& file) {
    write_to(file, "", std::ios::app);
}

/// The whole run, as seen by one rank. Only rank 0 talks.
class Bench {
  public:
    Bench(const Options& options, const std::vector<std::string>& command, MPI_Comm control)
        : options_(options),
          control_(control),
          clock_(control, options.clock),
          measurer_(MPI_COMM_WORLD, control, clock_, laple_),
          checker_(MPI_COMM_WORLD, control, clock_) {
        PMPI_Comm_rank(control, &rank_);
        PMPI_Comm_size(control, &size_);
        context_ = describe_run(options, command, control);
        context_.clock = clock_.description();
        context_.laple_version = laple_.version();
        if (rank_ == 0 && !options.network_file.empty()) place_in_network();
    }

    /// Collective. Returns the exit code.
    int run() {
        if (rank_ == 0) begin_report();
        for (const Benchmark benchmark : options_.benchmarks) {
            if (!has_data(benchmark)) {
                run_any_row(benchmark, 0);
                continue;
            }
            for (const Bytes bytes : options_.sizes) run_any_row(benchmark, bytes);
        }
        if (rank_ == 0) end_report();
        return all_correct_ ? 0 : kWrongResult;
    }

  private:
    void run_any_row(Benchmark benchmark, Bytes bytes) {
        if (options_.overlap) {
            run_overlap_row(benchmark, bytes);
        } else {
            run_row(benchmark, bytes);
        }
    }

    void run_row(Benchmark benchmark, Bytes bytes) {
        clock_.synchronize();
        Row row;
        row.benchmark = benchmark;
        row.bytes = bytes;
        if (options_.check) {
            const std::string error = checker_.first_error(benchmark, options_.spread, bytes, options_.root);
            row.correct = error.empty();
            all_correct_ = all_correct_ && error.empty();
            if (rank_ == 0 && !error.empty()) fmt::print(stderr, "laple-bench: WRONG: {}\n", error);
        }
        const CallShape shape(benchmark, options_.spread, bytes, options_.root, rank_, size_);
        std::vector<unsigned char> send(shape.input_bytes());
        std::vector<unsigned char> receive(shape.result_bytes());
        RowPlan plan = row_plan(bytes);
        const Call call = shape.call(send.data(), receive.data());
        plan.call = [&](Library library) { bench::run(library, call, MPI_COMM_WORLD); };
        const RowSamples samples = measurer_.measure(plan);
        row.stock_us = summarize(samples.stock_us);
        row.laple_us = summarize(samples.laple_us);
        row.algorithm = options_.measured == Measured::stock ? "-" : samples.algorithm;
        const bool is_equal = benchmark.form == Form::one_count || options_.spread == Spread::equal;
        if (context_.has_bounds && is_equal) row.bound = bound_of(benchmark.collective, bytes);
        if (rank_ == 0) report(row, samples);
    }

    RowPlan row_plan(Bytes bytes) const {
        RowPlan plan;
        plan.iterations = iterations_for(options_, bytes);
        plan.warmups = warmups_for(options_, bytes);
        plan.cold = options_.cold;
        plan.budget = options_.budget;
        plan.measured = options_.measured;
        return plan;
    }

    void run_overlap_row(Benchmark benchmark, Bytes bytes) {
        clock_.synchronize();
        OverlapRow row;
        row.benchmark = benchmark;
        row.bytes = bytes;
        const CallShape shape(benchmark, options_.spread, bytes, options_.root, rank_, size_);
        std::vector<unsigned char> send(shape.input_bytes());
        std::vector<unsigned char> receive(shape.result_bytes());
        const Call call = shape.call(send.data(), receive.data());
        RowPlan plan = row_plan(bytes);
        plan.budget = options_.budget / 3;  // of each of the three that follow
        plan.call = [&](Library library) { bench::run(library, call, MPI_COMM_WORLD); };
        note(plan, &Overlap::blocking, row);
        StartedCall started(call, MPI_COMM_WORLD, options_.persistent);
        plan.call = [&](Library library) {
            started.start(library);
            started.wait();
        };
        note(plan, &Overlap::pure, row);
        std::array<double, 2> work_us{row.stock.pure.median, row.laple.pure.median};
        PMPI_Bcast(work_us.data(), 2, MPI_DOUBLE, 0, control_);
        plan.call = [&](Library library) {
            started.start(library);
            work(started, work_us[library == Library::stock ? 0 : 1]);
            started.wait();
        };
        note(plan, &Overlap::overlapped, row);
        if (rank_ == 0) report_overlap(row);
    }

    /// Collective. The times are complete on rank 0 only.
    void note(const RowPlan& plan, Summary Overlap::*time, OverlapRow& row) {
        const RowSamples samples = measurer_.measure(plan);
        row.stock.*time = summarize(samples.stock_us);
        row.laple.*time = summarize(samples.laple_us);
        row.algorithm = options_.measured == Measured::stock ? "-" : samples.algorithm;
        note_late_starts(samples);
    }

    /// The program's own, for so long.
    void work(StartedCall& started, double us) const {
        const std::int64_t end_ns = clock_.now_ns() + static_cast<std::int64_t>(us * 1000);
        const auto every_ns = static_cast<std::int64_t>(options_.test_every.count() * 1e9);
        bool is_complete = false;
        while (clock_.now_ns() < end_ns) {
            const std::int64_t left_ns = end_ns - clock_.now_ns();
            const std::int64_t part_ns = every_ns > 0 ? std::min(every_ns, left_ns) : left_ns;
            const std::int64_t part_end_ns = clock_.now_ns() + part_ns;
            if (options_.idle_work) std::this_thread::sleep_for(std::chrono::nanoseconds(part_ns));
            while (clock_.now_ns() < part_end_ns) {
            }
            if (every_ns > 0 && !is_complete) is_complete = started.test();
        }
    }

    void report_overlap(const OverlapRow& row) {
        overlap_rows_.push_back(row);
        fmt::print("{}\n", format_overlap_row(row));
        std::fflush(stdout);
        if (!options_.json_file.empty())
            write_file(options_.json_file, json_text(overlap_to_json(context_, overlap_rows_), 2) + "\n");
    }

    void place_in_network() {
        network_ = parse_network(JsonDocument::load(options_.network_file));
        for (const std::string& host : context_.hosts) {
            const auto found = network_.cluster_of_host.find(host);
            if (found == network_.cluster_of_host.end()) {
                throw Error({options_.network_file, 0, 0}, fmt::format("knows no host {}", host),
                            "give the file of the network on which this runs");
            }
            cluster_of_host_.push_back(found->second);
        }
        context_.has_bounds = true;
    }

    LowerBound bound_of(Collective collective, Bytes bytes) const {
        const int root = context_.host_of_rank[static_cast<std::size_t>(options_.root)];
        std::vector<int> ranks_on_host(context_.hosts.size(), 0);
        for (const int host : context_.host_of_rank) ++ranks_on_host[static_cast<std::size_t>(host)];
        return lower_bound(collective, bytes, root, cluster_of_host_, network_, ranks_on_host);
    }

    void begin_report() const {
        fmt::print("{}", options_.overlap ? format_overlap_header(context_)
                                          : format_header(context_, options_.full));
        std::fflush(stdout);
        if (!laple_.present() && options_.measured != Measured::stock) {
            fmt::print(
                stderr,
                "laple-bench: LaPle is not loaded: all times are of {}'s own collectives, and what differs "
                "is noise. To measure LaPle, start with: laple-run mpiexec ... laple-bench\n",
                context_.mpi_library.substr(0, context_.mpi_library.find(' ')));
        }
    }

    /// The files are written anew after each row: a run that is cut short leaves what it had measured.
    void report(const Row& row, const RowSamples& samples) {
        rows_.push_back(row);
        context_.clock = clock_.description();
        note_late_starts(samples);
        fmt::print("{}\n", format_row(row, options_.full));
        std::fflush(stdout);
        if (!options_.json_file.empty()) {
            write_file(options_.json_file, json_text(to_json(context_, rows_), 2) + "\n");
        }
        if (!options_.csv_file.empty()) write_file(options_.csv_file, to_csv(rows_));
    }

    void note_late_starts(const RowSamples& samples) {
        context_.late_starts_repeated += samples.late_repeated;
        context_.late_starts_kept += samples.late_kept;
        samples_ += static_cast<int>(samples.stock_us.size() + samples.laple_us.size());
    }

    void end_report() const {
        if (context_.late_starts_kept == 0) return;
        const char* const preload = std::getenv("LD_PRELOAD");
        const bool yields =
            preload != nullptr && std::string(preload).find("liblaple_yield") != std::string::npos;
        fmt::print(stderr,
                   "laple-bench: in {} of {} samples a rank started late: it had to wait for a core. "
                   "Use no more ranks than cores{}\n",
                   context_.late_starts_kept, samples_,
                   yields ? "" : ", or let waiting ranks yield (liblaple_yield.so)");
    }

    const Options& options_;
    MPI_Comm control_;
    int rank_ = 0;
    int size_ = 0;
    mpi::Clock clock_;
    LoadedLaple laple_;
    Measurer measurer_;
    Checker checker_;
    Context context_;
    Network network_;                   // on rank 0, if it is given
    std::vector<int> cluster_of_host_;  // in the order of context_.hosts
    std::vector<Row> rows_;
    std::vector<OverlapRow> overlap_rows_;
    int samples_ = 0;
    bool all_correct_ = true;
};

/// What only rank 0 can see: that its files can be written, and what is asked of the number of ranks.
void check_run(const Options& options, int rank, int size) {
    if (options.root >= size) {
        throw Error(fmt::format("--root {} is not a rank of this run", options.root),
                    fmt::format("choose 0 to {}", size - 1));
    }
    if (rank != 0) return;
    if (!options.network_file.empty()) parse_network(JsonDocument::load(options.network_file));
    for (const auto& file : {options.json_file, options.csv_file}) {
        if (!file.empty()) expect_writable(file);
    }
}

/// Every rank understands the same command line; returns nothing when all of them are to leave with
/// `exit_code`.
std::optional<Options> agree_on_options(const std::vector<std::string>& arguments, MPI_Comm control,
                                        int& exit_code) {
    int rank = 0;
    int size = 0;
    PMPI_Comm_rank(control, &rank);
    PMPI_Comm_size(control, &size);
    std::optional<Options> options;
    exit_code = 0;
    try {
        std::ostringstream text;
        options = parse_options(arguments, text);
        if (rank == 0) fmt::print("{}", text.str());
        if (options) check_run(*options, rank, size);
    } catch (const std::exception& error) {
        if (rank == 0) fmt::print(stderr, "laple-bench: {}\n", error.what());
        exit_code = kBadInput;
    }
    PMPI_Allreduce(MPI_IN_PLACE, &exit_code, 1, MPI_INT, MPI_MAX, control);
    if (exit_code != 0) options.reset();
    return options;
}

int run_bench(const std::vector<std::string>& command) {
    MPI_Comm control = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_WORLD, &control);
    int exit_code = 0;
    const auto options = agree_on_options({command.begin() + 1, command.end()}, control, exit_code);
    if (options) exit_code = Bench(*options, command, control).run();
    PMPI_Comm_free(&control);
    return exit_code;
}

}  // namespace
}  // namespace laple::bench

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int exit_code = 0;
    try {
        exit_code = laple::bench::run_bench({argv, argv + argc});
    } catch (const std::exception& error) {
        // Alone on one rank, in the middle of a run: the others wait for this one, so all have to go.
        fmt::print(stderr, "laple-bench: {}\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, laple::bench::kBadInput);
    }
    MPI_Finalize();
    return exit_code;
}
