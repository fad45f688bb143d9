// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/measure.hpp"

#include <algorithm>
#include <array>

namespace laple::bench {
namespace {

constexpr double kMarginUs = 700;  // more than Clock::wait_until() spins, so that every rank can sleep first
constexpr double kLateUs = 250;    // a start later than this spoils a sample: it is more than a turn of the
                                   // scheduler among 16 waiting ranks ...
constexpr double kLateShare = 0.05;  // ... unless it is a small share of the time measured

double us_between(std::int64_t from_ns, std::int64_t to_ns) {
    return static_cast<double>(to_ns - from_ns) / 1000;
}

}  // namespace

/// What each rank reports of a sample, in microseconds after t0; the largest of each arrives at rank 0.
struct Measurer::Timing {
    double finish = 0;
    double start = 0;
    double command = 0;  ///< when the command was there; hopefully negative

    static constexpr int kValues = 3;
};

Measurer::Measurer(MPI_Comm world, MPI_Comm control, const mpi::Clock& clock, const LoadedLaple& laple)
    : world_(world), control_(control), clock_(clock), laple_(laple) {
    PMPI_Comm_rank(control, &rank_);
    // A first idea of how long a control message takes; adapt_lead() goes on from there.
    double slowest_us = 0;
    for (int i = 0; i < 5; ++i) {
        std::int64_t word = 0;
        const std::int64_t begin = clock_.now_ns();
        PMPI_Bcast(&word, 1, MPI_INT64_T, 0, control_);
        PMPI_Barrier(control_);
        if (i > 0) slowest_us = std::max(slowest_us, us_between(begin, clock_.now_ns()));
    }
    adapt_lead(slowest_us);
}

RowSamples Measurer::measure(const RowPlan& plan) {
    RowSamples samples;
    if (rank_ == 0) {
        lead_row(plan, samples);
        // Not asked before: on shared cores a rank that is ready delays those that are not.
        samples.algorithm = laple_.algorithm_used(world_);
    } else {
        follow_row(plan);
    }
    return samples;
}

void Measurer::lead_row(const RowPlan& plan, RowSamples& samples) {
    row_begin_ns_ = clock_.now_ns();
    for (int i = 0; i < plan.warmups; ++i) {
        if (plan.measured != Measured::laple) take_sample(plan, Library::stock);
        if (plan.measured != Measured::stock) take_sample(plan, Library::laple);
    }
    for (int i = 0; i < plan.iterations; ++i) {
        // Who comes first changes, so that neither always profits from what the other left behind.
        take_pair(plan, i % 2 == 0, samples);
        if (is_over_budget(plan)) break;
    }
    send_command(Command::end_of_row, 0);
}

bool Measurer::is_over_budget(const RowPlan& plan) const {
    return us_between(row_begin_ns_, clock_.now_ns()) > plan.budget.count() * 1e6;
}

void Measurer::take_pair(const RowPlan& plan, bool stock_first, RowSamples& samples) {
    if (plan.measured == Measured::stock) return take_kept_sample(plan, Library::stock, samples);
    if (plan.measured == Measured::laple) return take_kept_sample(plan, Library::laple, samples);
    take_kept_sample(plan, stock_first ? Library::stock : Library::laple, samples);
    take_kept_sample(plan, stock_first ? Library::laple : Library::stock, samples);
}

void Measurer::take_kept_sample(const RowPlan& plan, Library library, RowSamples& samples) {
    const int most_repeats = std::max(10, plan.iterations / 4);
    Sample sample = take_sample(plan, library);
    while (sample.late && samples.late_repeated < most_repeats && !is_over_budget(plan)) {
        ++samples.late_repeated;
        sample = take_sample(plan, library);
    }
    if (sample.late) ++samples.late_kept;
    (library == Library::stock ? samples.stock_us : samples.laple_us).push_back(sample.time_us);
}

Measurer::Sample Measurer::take_sample(const RowPlan& plan, Library library) {
    const std::int64_t begin = clock_.now_ns();
    // A cold pause is idle time before t0: the command is sent first, so that it warms nothing up.
    const double lead_us = lead_us_ + plan.cold.count() * 1e6;
    const std::int64_t start_ns = begin + static_cast<std::int64_t>(lead_us * 1000);
    send_command(library == Library::stock ? Command::run_stock : Command::run_laple, start_ns);
    const Timing worst = run_at(plan, library, start_ns);
    adapt_lead(lead_us + worst.command);
    return {worst.finish, worst.start > std::max(kLateUs, kLateShare * worst.finish)};
}

void Measurer::follow_row(const RowPlan& plan) {
    while (true) {
        std::array<std::int64_t, 2> message{};
        PMPI_Bcast(message.data(), 2, MPI_INT64_T, 0, control_);
        const auto command = static_cast<Command>(message[0]);
        if (command == Command::end_of_row) return;
        run_at(plan, command == Command::run_stock ? Library::stock : Library::laple, message[1]);
    }
}

void Measurer::send_command(Command command, std::int64_t start_ns) {
    std::array<std::int64_t, 2> message{static_cast<std::int64_t>(command), start_ns};
    PMPI_Bcast(message.data(), 2, MPI_INT64_T, 0, control_);
}

/// Makes the call at `start_ns`. Returns, on rank 0, the worst of all ranks.
Measurer::Timing Measurer::run_at(const RowPlan& plan, Library library, std::int64_t start_ns) {
    const std::int64_t command_ns = clock_.now_ns();
    clock_.wait_until(start_ns);
    const std::int64_t begin_ns = clock_.now_ns();
    plan.call(library);
    const std::int64_t finish_ns = clock_.now_ns();
    const std::array<double, Timing::kValues> mine{
        us_between(start_ns, finish_ns), us_between(start_ns, begin_ns), us_between(start_ns, command_ns)};
    std::array<double, Timing::kValues> worst{};
    PMPI_Reduce(mine.data(), worst.data(), Timing::kValues, MPI_DOUBLE, MPI_MAX, 0, control_);
    return {worst[0], worst[1], worst[2]};
}

/// The lead follows what the slowest control message needed: up at once, down slowly.
void Measurer::adapt_lead(double needed_us) {
    lead_us_ = std::max(1.5 * needed_us + kMarginUs, 0.95 * lead_us_);
}

}  // namespace laple::bench
