// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "plogp/link_survey.hpp"

namespace laple {

/// A rough model in about a second, where hosts are near, for a job that has not been measured before:
/// latencies are those of `input`, and of everything else only rates are measured, for a few round trips
/// each.
///
/// 1. One flow in each cluster, or up to three, all at once; then the eager limit in each of them.
/// 2. Where some are far, all links at once, or four of each cluster, if there is time for that. Then, before
///    links that are not much nearer, one or two of five or more far clusters that have carried much more
///    than others, each alone with all of them.
/// 3. Between two clusters, near ones first, one way and later back: as many lanes as they have pairs of
///    nodes, 8 at most; when all pairs have had their turn, as in survey_links(), one, unless more were
///    still on their way up. What says little is measured twice: packets were lost, or TCP was on its way up,
///    or what came was little or uneven, so that flows are to last longer; what fills its window, up to four
///    times, with larger ones.
/// 4. Where all rates are known: other uplinks, each cluster alone with as many others as tell, where what
///    all carried at once does not (plogp/likely_uplinks.hpp); of near clusters, if they are not many, each
///    with all others in turn, which comes before single flows; unknown where some of many hosts have sent
///    all that their NICs can.
/// 5. What NICs inside clusters let pass at once after a rest.
/// 6. Where one flow does not fill a far link, eight connections between two hosts (plogp/stream_survey.hpp).
/// 7. Once more, links much slower than both of their clusters have been with others; then 4 and 6, where
///    that changes them.
///
/// g(m) is m / rate, between clusters and beyond the eager limit a round trip more, for single messages and
/// for many. Overheads, idle connections, most uplinks and reductions stay unknown, as do numbers of lanes
/// between 1 and the most; a warning says so.
///
/// `has_time` is asked before each step with the time it will take, about; when it says no, what has been
/// measured until then is the model, is_unfinished(), even if that is nothing; it may be `known` to a later
/// sweep of the same clusters, which goes on.
LinkModel sweep_links(LinkProbes& probes, const LinkSurveyInput& input,
                      const std::function<bool(Seconds)>& has_time, LinkModel known = {});

/// Whether that is where `model` comes from.
bool is_rough(const LinkModel& model);

/// Whether a sweep had no time for all of `model`.
bool is_unfinished(const LinkModel& model);

/// So many sweeps may take the whole budget, however short the jobs are.
inline constexpr int kFreeSweeps = 3;

/// How long a job may go on with rates that those before it had no time for.
struct SweepTime {
    Seconds most{0};  ///< 0: not at all
    /// Counted from when it is known who shares a host: between far sites that takes half of a budget, and
    /// the rest would be too short for any step. Else it all comes out of what jobs have lasted
    /// (JobTimes::allowance).
    bool is_free = false;
};

/// For clusters that are not farther than `one_way` from each other. After kFreeSweeps, and where `budget`
/// does not suffice for a step (two budgets and a quarter, while no uplink is known; a budget and a quarter
/// between two clusters, where there is time to measure streams), jobs go on once those
/// before them have lasted long enough for one, however far the clusters are. Nothing without a budget.
SweepTime time_for_sweep(const LinkModel& known, Seconds one_way, Seconds budget);

}  // namespace laple
