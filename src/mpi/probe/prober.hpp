// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include <mpi.h>

#include "mpi/probe/latency_probe.hpp"
#include "mpi/probe/waiting.hpp"
#include "plogp/link_survey.hpp"
#include "topology/survey.hpp"

namespace laple::mpi {

/// Told on rank 0 after each pair it has measured: how many of how many it will, as far as is known.
using Progress = std::function<void(int done, int pairs)>;

/// Measures between the ranks of a communicator, one for each node. Rank 0 leads: it decides what is measured
/// and gets the results. The others follow.
///
///     rank 0                                    the others
///     Prober prober(probes, patience);          Prober(probes, patience).follow();
///     prober.survey(...); survey_links(prober, ...);
///     prober.dismiss();
///
/// Messages go by PMPI point-to-point calls; ranks with nothing to do mostly sleep.
class Prober final : public LinkProbes {
  public:
    Prober(MPI_Comm probes, const Patience& patience);

    /// Rank 0: measures latencies until `survey` has no more to ask, round after round of disjoint pairs. The
    /// latency of a pair is half its shortest round trip. False when patience was over before that: then the
    /// survey knows some pairs only.
    bool survey(Survey& survey, Seconds settle, const Progress& progress = {});

    /// Rank 0: the same, quickly. All requested pairs are measured at once, which is good enough for far
    /// ones; only close ones take turns. Few round trips in all, however many nodes. True also when patience
    /// was over before second looks only (Survey::is_usable).
    bool survey_quickly(Survey& survey, Seconds settle);

    /// Rank 0: see LinkProbes.
    std::vector<PlogpSamples> links(const std::vector<Link>& links) override;
    std::vector<FlowRate> rates(const std::vector<Flow>& flows, const FlowOptions& options) override;
    std::vector<Seconds> bursts(const std::vector<Flow>& flows, Bytes bytes, Seconds rest) override;
    std::vector<double> reductions(const std::vector<int>& nodes) override;
    std::vector<Bytes> eager_limits(const std::vector<Flow>& flows) override;
    std::vector<StreamRates> streams(const ProbeRound& pairs, int connections, Seconds round_trip,
                                     Seconds duration) override;

    /// Rank 0: ends follow() on the others.
    void dismiss();

    /// The others: measure what rank 0 asks for, until it dismisses them.
    void follow();

  private:
    /// What a node is told to do, and what it answers: an order and its numbers, in plain doubles.
    using Numbers = std::vector<double>;

    bool measure_rounds(Survey& survey, const std::vector<ProbeRound>& rounds, Seconds settle,
                        const Progress& progress);
    std::vector<ProbeRound> measure_far(Survey& survey, std::vector<ProbeRound> rounds);
    template <typename Use>
    void measure_pairs(const std::vector<ProbeRound>& rounds, const Numbers& head, const Progress& progress,
                       Use use);
    std::vector<Numbers> run(const std::vector<Numbers>& works, const Progress& progress = {});
    double seconds_left() const;

    MPI_Comm probes_;
    Patience patience_;
    int nodes_ = 0;
};

}  // namespace laple::mpi
