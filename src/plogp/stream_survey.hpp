// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/probe_rounds.hpp"
#include "plogp/link_survey.hpp"

namespace laple {

/// How many connections a job measures that has little time: where they do not bring more than one, more of
/// them seldom do.
inline constexpr int kUsualStreams = 8;

/// Whether several connections between two hosts may carry more than one, from cluster `a` to `b` or back: it
/// is far, and one flow carries less than what NICs and uplinks are known to carry.
bool may_gain_by_streams(const LinkModel& model, const LinkSurveyInput& input, int a, int b);

/// How long a first connection to an end that listens is waited for: a firewall may say nothing, but a packet
/// that was lost is repeated once.
Seconds time_to_connect(Seconds round_trip);

/// How long connections flow until TCP has found the rate of a link with that round trip, and how long that
/// takes with all that goes with it, or to find out that there can be none.
Seconds duration_of_streams(Seconds round_trip);
Seconds time_to_measure_streams(Seconds round_trip);

/// Measures `connections` between the first nodes of each of `pairs` of clusters, which have no cluster in
/// common, all at the same time: each direction of a link gets a rate, 0 where they cannot be made.
void measure_streams(LinkProbes& probes, const LinkSurveyInput& input, const ProbeRound& pairs,
                     int connections, LinkModel& model);

/// The same of 1, 2, 4, ... connections, as long as they bring a tenth more, of those pairs of `round` that
/// may gain by them. Those that `model` knows already are left out.
void survey_streams(LinkProbes& probes, const LinkSurveyInput& input, const ProbeRound& round,
                    LinkModel& model);

}  // namespace laple
