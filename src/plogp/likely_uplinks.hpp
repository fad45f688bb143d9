// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "plogp/link_survey.hpp"

namespace laple {

inline constexpr int kMostLanes = 8;  ///< that a sweep measures between two clusters

/// What a cluster sends to others and gets from them, in bytes a second.
struct UplinkRates {
    double out = 0;
    double in = 0;
};

/// One cluster that sends to some others, and gets from them, while these do nothing else.
struct UplinkTrial {
    int cluster = 0;
    std::vector<int> others;
    UplinkRates links;  ///< what goes if its uplink does not hold it up
};

/// That of a cluster that has carried much more than others (`together`, by cluster: mostly while all links
/// were busy), with all of these: their uplinks held it up, and it may be many times faster. The fastest one
/// first; nothing where no one or two of five or more stand out, or they are sure or were `tried`.
///
///          ┌──> B  2 MB/s
///     A ═══╪══> C  2 MB/s: with flows between these, too, A has sent 2 in place of 6
///          └──> D  2 MB/s
std::optional<UplinkTrial> trial_of_fastest(const LinkModel& model, const LinkSurveyInput& input,
                                            const std::vector<UplinkRates>& together,
                                            const std::set<int>& tried = {});

/// Trials that may run at the same time, for clusters whose links together may carry clearly more than was
/// seen at once (`together`, by cluster; empty: not measured), unless their uplinks are sure: each with as
/// many others as it takes to tell. Empty where nothing is open.
///
///                 ┌──> B  8 MB/s
///     A  9 MB/s ══╪══> C  8 MB/s: A's uplink carries 9, and not 24
///                 └──> D  8 MB/s
std::vector<UplinkTrial> uplink_trials(const LinkModel& model, const LinkSurveyInput& input,
                                       const std::vector<UplinkRates>& together);

/// Takes what a trial has measured: what was seen at once, and whether that settles it. Flows that nothing
/// held up settle it where there are many clusters: to find out more would take too many trials. Else they
/// ask for a trial with more others: what was seen grows by kEnough / kFaster with each, so they end.
void take_trial(const UplinkTrial& trial, const UplinkRates& measured, LinkModel& model,
                const LinkSurveyInput& input, std::vector<UplinkRates>& together);

/// Sets the uplinks of the clusters of `model` to what was seen of them at once, by `together`, or by one
/// link or streams alone; 0 where all links together are not clearly faster than that: then these hold flows
/// up. While not all links are known (`is_finished` is false) also what does not seem to bind is kept.
void set_uplinks(LinkModel& model, const LinkSurveyInput& input, const std::vector<UplinkRates>& together,
                 bool is_finished);

}  // namespace laple
