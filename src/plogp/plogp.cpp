// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/plogp.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace laple {
namespace {

constexpr double kWorthSaying = 0.10;

Seconds of_size_0(const std::map<Bytes, Seconds>& samples, const char* what) {
    const auto found = samples.find(0);
    if (found == samples.end()) {
        throw Error(fmt::format("no {} of empty messages was measured", what),
                    "measure size 0 too: the model rests on it");
    }
    return found->second;
}

void straighten(Curve& curve, const char* name, std::vector<std::string>& warnings) {
    const double bent = curve.make_monotone();
    if (bent > kWorthSaying) {
        warnings.push_back(
            fmt::format("{} was measured {:.0f} % shorter for a longer message; raised", name, 100 * bent));
    }
}

/// While a process is inside a call it cannot begin the next message.
void raise_to(const Curve& overhead, const char* name, Curve& gap, std::vector<std::string>& warnings) {
    if (overhead.is_empty()) return;
    double worst = 0;
    Bytes where = 0;
    for (const auto& [bytes, time] : std::map<Bytes, Seconds>(gap.known())) {
        const Seconds least = overhead.at(bytes);
        if (time >= least) continue;
        if (least > (1 + worst) * time) {
            worst = time > Seconds(0) ? least / time - 1 : 1;
            where = bytes;
        }
        gap.set(bytes, least);
    }
    if (worst > kWorthSaying) {
        warnings.push_back(
            fmt::format("g({0}) came out shorter than {1}({0}); raised", format_bytes(where), name));
    }
}

}  // namespace

PlogpFit fit_plogp(const PlogpSamples& samples) {
    const Seconds empty_trip = of_size_0(samples.round_trip, "round trip");
    const Seconds empty_gap = of_size_0(samples.flood, "flood");
    PlogpFit fit;
    Plogp& model = fit.model;
    model.send_overhead = Curve(samples.send);
    model.receive_overhead = Curve(samples.receive);
    model.flood_gap = Curve(samples.flood);
    model.latency = empty_trip / 2 - empty_gap;
    if (model.latency < Seconds(0)) {
        fit.warnings.push_back(
            fmt::format("empty messages need {} each in a row, but only {} for a round trip: L is taken as 0",
                        format_seconds(empty_gap), format_seconds(empty_trip)));
        model.latency = Seconds(0);
    }
    for (const auto& [bytes, trip] : samples.round_trip)
        model.gap.set(bytes, std::max(Seconds(0), trip - empty_trip + empty_gap));
    straighten(model.gap, "g(m)", fit.warnings);
    straighten(model.flood_gap, "the flood's g(m)", fit.warnings);
    raise_to(model.send_overhead, "os", model.gap, fit.warnings);
    raise_to(model.receive_overhead, "or", model.gap, fit.warnings);
    model.gap.make_monotone();  // overheads may fall
    return fit;
}

}  // namespace laple
