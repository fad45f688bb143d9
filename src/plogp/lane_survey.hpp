// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/probe_rounds.hpp"
#include "plogp/link_survey.hpp"

namespace laple {

/// Measures the lanes of the pairs of clusters of a round, first one direction of all, then the other. Those
/// that `model` knows already, and pairs of which it knows no link, are left out.
void survey_lanes(LinkProbes& probes, const LinkSurveyInput& input, const ProbeRound& round,
                  LinkModel& model);

}  // namespace laple
