// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/probe_rounds.hpp"
#include "plogp/link_survey.hpp"

namespace laple {

/// One way: from here on handshakes and idling matter.
constexpr Seconds kFarLink = std::chrono::milliseconds(1);
constexpr Bytes kLeastFlowWindow = 256 * 1024;
constexpr Bytes kLeastUnderWay = 4;  ///< messages of a flow, where nothing disturbs

/// What a single large message suggests for flows on such a link. Where nothing disturbs them, few messages
/// under way do, and few in all: a simulator's time grows with the square of the former.
FlowOptions flow_options(const Plogp& plogp, Seconds one_way, bool is_undisturbed);

/// What will do for both.
FlowOptions larger(const FlowOptions& a, const FlowOptions& b);

/// What flows that are measured together have in common.
enum class Sharing { none, few, uplink };

/// The rate of each flow, when their sum is best. While it still grows, they are measured again: TCP
/// remembers where it was. So are flows that have filled an uplink and lost packets, with less under way:
/// after a loss they do not fill it for a while, and what was held back until a lost packet came again
/// arrives at once, faster than any uplink.
std::vector<double> settled_rates(LinkProbes& probes, const std::vector<Flow>& flows, FlowOptions options,
                                  Sharing sharing);

double sum_of_rates(LinkProbes& probes, const std::vector<Flow>& flows, const FlowOptions& options,
                    Sharing sharing);

/// Measures the lanes of the pairs of clusters of a round, first one direction of all, then the other. Those
/// that `model` knows already, and pairs of which it knows no link, are left out.
void survey_lanes(LinkProbes& probes, const LinkSurveyInput& input, const ProbeRound& round,
                  LinkModel& model);

/// Measures the uplink of a cluster, of which `model` knows the NICs and links: how much it carries, and how
/// much may wait at it. One that `model` knows already is left out.
void survey_uplink(LinkProbes& probes, const LinkSurveyInput& input, int cluster, LinkModel& model);

}  // namespace laple
