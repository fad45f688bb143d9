// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plogp/link_survey.hpp"

namespace laple {

/// Measures the uplink of a cluster, of which `model` knows the NICs and links: how much it carries, and how
/// much may wait at it. One that `model` knows already is left out.
void survey_uplink(LinkProbes& probes, const LinkSurveyInput& input, int cluster, LinkModel& model);

}  // namespace laple
