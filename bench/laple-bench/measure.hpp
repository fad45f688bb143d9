// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>

#include "bench/laple-bench/calls.hpp"
#include "bench/laple-bench/loaded_laple.hpp"
#include "bench/laple-bench/options.hpp"
#include "mpi/probe/clock.hpp"

namespace laple::bench {

/// How one row is measured.
struct RowPlan {
    std::function<void(Library library)> call;  ///< made on all ranks
    int iterations = 1;                         ///< of each library
    int warmups = 0;                            ///< of each library
    Seconds cold{0};
    Seconds budget{0};
    Measured measured = Measured::both;
};

/// On rank 0; empty elsewhere. Times in microseconds.
struct RowSamples {
    std::vector<double> stock_us;
    std::vector<double> laple_us;
    std::string algorithm;  ///< of LaPle's last call
    int late_repeated = 0;  ///< samples thrown away because a rank had started late
    int late_kept = 0;      ///< late samples that are counted, because too many had been repeated already
};

/// Measures calls on `world`, and agrees on what to measure next by PMPI on `control`.
///
/// Rank 0 leads: it sends "make this call at t0", all ranks make it, and the largest finish - t0 comes back.
/// The others follow until they are told that the row is over.
class Measurer {
  public:
    /// Collective. Both communicators and the clock must outlive the measurer and have the same ranks.
    Measurer(MPI_Comm world, MPI_Comm control, const mpi::Clock& clock, const LoadedLaple& laple);

    /// Collective.
    RowSamples measure(const RowPlan& plan);

  private:
    enum class Command : std::int64_t { run_stock, run_laple, end_of_row };
    struct Sample {
        double time_us = 0;
        bool late = false;
    };

    bool is_over_budget(const RowPlan& plan) const;
    void lead_row(const RowPlan& plan, RowSamples& samples);
    void follow_row(const RowPlan& plan);
    Sample take_sample(const RowPlan& plan, Library library);
    void take_pair(const RowPlan& plan, bool stock_first, RowSamples& samples);
    void take_kept_sample(const RowPlan& plan, Library library, RowSamples& samples);
    void send_command(Command command, std::int64_t start_ns);
    struct Timing;
    Timing run_at(const RowPlan& plan, Library library, std::int64_t start_ns);
    void adapt_lead(double needed_us);

    MPI_Comm world_;
    MPI_Comm control_;
    const mpi::Clock& clock_;
    const LoadedLaple& laple_;
    int rank_ = 0;
    double lead_us_ = 0;
    std::int64_t row_begin_ns_ = 0;
};

}  // namespace laple::bench
