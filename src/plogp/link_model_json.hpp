// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"
#include "plogp/link_model.hpp"

namespace laple {

/// Members of a model document that hold a LinkModel. Times in seconds, rates in bytes a second; a curve is a
/// list of [bytes, seconds] with ascending bytes:
///
///     "clusters": [{"inside": PLOGP, "nic_out", "nic_in", "uplink_out", "uplink_in", "reduction",
///                  "reserve", "burst", "eager_limit", "uplink_sure"}]
///     "links":    [{"between": [0, 1], "plogp": PLOGP, "there": [[lanes, rate], ...], "back": [...],
///                  "reached_there", "reached_back"}]
///     "native":   {"ranks", "bcast": CURVE, "reduce": CURVE, "allreduce": CURVE, "barrier": CURVE, ...}
///     "calls":    [{"collective", "bytes", "root", "algorithm", "predicted", "times"}], the best one first
///     "warnings": ["..."]
///     "sweeps", "next_step": of a model that is not finished
///     PLOGP:      {"latency", "send_overhead": CURVE, "receive_overhead", "gap", "flood_gap", "cold_gap",
///                  "gap_confidence"}
///
/// What is not known is left out.
void write_link_model_json(const LinkModel& model, Json& document);

/// Reads those members, of a document about `ranks` ranks in `clusters` clusters; without "links" and
/// "clusters" nothing is known. Throws Error, with file, line and JSON pointer, for what is wrong, negative
/// or absurd.
LinkModel parse_link_model_json(const JsonReader& in, int clusters, int ranks);

}  // namespace laple
