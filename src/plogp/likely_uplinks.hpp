// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "plogp/link_survey.hpp"

namespace laple {

/// What a cluster sends to others and gets from them, in bytes a second.
struct UplinkRates {
    double out = 0;
    double in = 0;
};

/// Sets the uplinks of the clusters of `model` to what the rates of its links say:
///
///   - those of all links at once, `together` by cluster, where that is more than any link carries alone;
///     empty: not measured;
///   - those of one link, where two at least carry as much as any does, though the hosts of the cluster could
///     do more, and so have done the clusters at their other ends;
///   - else 0: links do not tell.
///
/// While not all links are known (`is_finished` is false) they are those of all at once.
void set_uplinks(LinkModel& model, const LinkSurveyInput& input, const std::vector<UplinkRates>& together,
                 bool is_finished);

}  // namespace laple
