// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include <mpi.h>

#include "collectives/collective/request.hpp"
#include "collectives/drift/drift_watch.hpp"
#include "mpi/exec/step_times.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

/// Watches the links between clusters by the calls of a program for one request by one plan (DriftWatch).
/// All ranks make it at the same call, and ask it at the same calls.
class LinkWatch {
  public:
    /// `machine` must outlive this.
    LinkWatch(const Request& request, std::size_t plan, const Machine& machine, Rank rank,
              int calls_of_reduction, DriftWatch::Expected expected)
        : request_(request),
          plan_(plan),
          machine_(machine),
          rank_(rank),
          watch_(calls_of_reduction, std::move(expected)) {}
    ~LinkWatch() { finish(); }
    LinkWatch(const LinkWatch&) = delete;
    LinkWatch& operator=(const LinkWatch&) = delete;

    const Request& request() const { return request_; }
    std::size_t plan() const { return plan_; }

    /// To be called before each call for the request by the plan. Returns what is found now and then
    /// (DriftWatch::conclude). Collective on `inner`, but does not wait for other ranks: what they say has
    /// come during the calls since it was asked for.
    DriftWatch::Finding before_call(MPI_Comm inner);

    /// Whether the times of the steps of the call are wanted.
    bool wants_times() const { return watch_.wants_spans(); }
    void add(const StepTimes& times);

    /// What before_call() has found is no change of links, and usual from now on.
    void take_as_usual() { watch_.take_as_usual(spans_); }
    const std::vector<double>& usual() const { return watch_.usual(); }
    /// That before_call() has taken on this rank.
    Seconds cost() const { return cost_; }

  private:
    void begin(MPI_Comm inner);
    void finish();

    Request request_;
    std::size_t plan_;
    const Machine& machine_;
    Rank rank_;
    DriftWatch watch_;
    std::vector<double> spans_;  // of this rank, then the longest of all
    MPI_Request reduction_ = MPI_REQUEST_NULL;
    bool has_failed_ = false;
    Seconds cost_{0};
};

}  // namespace laple::mpi
