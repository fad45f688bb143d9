// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/plogp.hpp"

#include <algorithm>
#include <iterator>

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

/// Corrects curves so that they are a model, and says so where that changes a time by more than `tolerance`.
class Corrector {
  public:
    Corrector(Seconds empty_trip, std::vector<std::string>& warnings)
        : empty_trip_(empty_trip), tolerance_(kWorthSaying * empty_trip), warnings_(warnings) {}

    void make_monotone(Curve& curve, const char* name) {
        const Seconds bent = curve.make_monotone();
        if (bent > tolerance_) {
            warnings_.push_back(fmt::format("{} was measured longer for a shorter message: bent by up to {}",
                                            name, format_seconds(bent)));
        }
    }

    /// While a process is inside a call it cannot begin the next message. Only where both are known: between
    /// two sizes there may be a step. A call that lasts as long as a round trip waits for a handshake, which
    /// is not work, and other messages may overlap it.
    void raise_to(const Curve& overhead, const char* name, Curve& gap) {
        Seconds worst(0);
        Bytes where = 0;
        for (const auto& [bytes, least] : overhead.known()) {
            const Seconds* found = gap.find(bytes);
            if (found == nullptr || *found >= least || 2 * least >= empty_trip_) continue;
            if (least - *found > worst) {
                worst = least - *found;
                where = bytes;
            }
            gap.set(bytes, least);
        }
        if (worst > tolerance_) {
            warnings_.push_back(fmt::format("g({0}) came out {2} shorter than {1}({0}); raised",
                                            format_bytes(where), name, format_seconds(worst)));
        }
    }

  private:
    Seconds empty_trip_;
    Seconds tolerance_;
    std::vector<std::string>& warnings_;
};

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
    if (!samples.cold.empty()) model.cold_gap.set(0, empty_gap);
    for (const auto& [bytes, trip] : samples.cold)
        model.cold_gap.set(bytes, std::max(Seconds(0), trip - empty_trip + empty_gap));
    model.gap_confidence = Curve(samples.confidence);
    Corrector corrector(empty_trip, fit.warnings);
    corrector.make_monotone(model.gap, "g(m)");
    corrector.make_monotone(model.flood_gap, "the flood's g(m)");
    corrector.raise_to(model.send_overhead, "os", model.gap);
    corrector.raise_to(model.receive_overhead, "or", model.gap);
    model.gap.make_monotone();  // overheads may fall
    for (const auto& [bytes, time] : std::vector(model.cold_gap.known()))
        model.cold_gap.set(bytes, std::max(time, model.gap.at(bytes)));
    return fit;
}

double flood_rate(const PlogpSamples& samples) {
    if (samples.flood.size() < 2) return 0;
    const auto last = std::prev(samples.flood.end());
    const auto before = std::prev(last);
    const Seconds time = last->second - before->second;
    return time > Seconds(0) ? static_cast<double>(last->first - before->first) / time.count() : 0;
}

double reserve_of(Bytes bytes, Seconds passing, double rate) {
    constexpr double kWorthwhile = 0.25;
    const auto all = static_cast<double>(bytes);
    const double at_once = all - rate * passing.count();
    return at_once > kWorthwhile * all ? std::min(at_once, all) : 0;
}

double reserve_of(const PlogpSamples& samples) {
    const double rate = flood_rate(samples);
    if (samples.rested.empty() || !(rate > 0)) return 0;
    const auto& [bytes, trip] = *samples.rested.rbegin();
    return reserve_of(bytes, trip - of_size_0(samples.round_trip, "round trip"), rate);
}

}  // namespace laple
