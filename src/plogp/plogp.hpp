// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "plogp/curve.hpp"

namespace laple {

/// The parameterised LogP model of a link between two processes.
///
///     sender   ├─ os(m) ─┤                     g(m): from the start of one message until that of the next
///              ├────── g(m) ──────┤
///     network            └ L ┐
///     receiver               ├────── g(m) ──────┤
///                                      ├─ or(m) ─┤
///
/// A message of m bytes is there L + g(m) after the sender has begun; a second one may begin g(m) after the
/// first. (Kielmann, Bal, Verstoep, "Fast Measurement of LogP Parameters", 2000)
struct Plogp {
    Seconds latency{0};      ///< L
    Curve send_overhead;     ///< os(m)
    Curve receive_overhead;  ///< or(m)
    Curve gap;               ///< g(m) of a single message, from round trips
    Curve flood_gap;         ///< g(m) of many in a row, where handshakes overlap: for pipelines
    Curve cold_gap;          ///< g(m) of a single message after a pause: TCP starts slowly; may be empty
    Curve gap_confidence;    ///< by how much the mean of g(m) may be off (Sampler::confidence)

    bool operator==(const Plogp&) const = default;
};

/// What was measured on a link: the least disturbed value for each size. Size 0 must be among the round
/// trips.
struct PlogpSamples {
    std::map<Bytes, Seconds> round_trip;  ///< m bytes there, an empty message back
    std::map<Bytes, Seconds> send;        ///< inside the send call
    std::map<Bytes, Seconds> receive;     ///< inside the receive call of a message that is there already
    std::map<Bytes, Seconds> flood;       ///< per message of many in a row
    std::map<Bytes, Seconds> cold;        ///< round trip of the first message after a pause
    std::map<Bytes, Seconds> confidence;  ///< of the mean of the round trips
    std::map<Bytes, Seconds> rested;      ///< round trip of a message when the link had nothing to do before
};

struct PlogpFit {
    Plogp model;
    std::vector<std::string> warnings;  ///< what had to be bent to be a model; for people
};

/// The model of those samples:
///
///     L = RTT(0)/2 - g(0)        g(m) = RTT(m) - RTT(0) + g(0)        g(0) from the flood of empty messages
///
/// L and g are at least 0, g and the flood's g never fall as m grows, and g(m) >= max(os(m), or(m)), as far
/// as these are known and no handshakes; a cold gap is not shorter than a warm one. What is bent by more than
/// a tenth of an empty round trip gives a warning. Throws Error without a round trip or a flood of size 0.
/// (Kielmann, Bal, Verstoep, 2000; docs/algorithms.md)
PlogpFit fit_plogp(const PlogpSamples& samples);

/// Bytes a second of many messages in a row, by the two largest floods; 0 when it is not known.
double flood_rate(const PlogpSamples& samples);

/// The token-bucket burst of the link, in bytes: what an idle rate limiter lets pass at once on top of its
/// rate (virtual machines, containers, shaped uplinks). From the largest message after a rest, which passed
/// partly so; 0 where less than a quarter of it did, or nothing is known.
///
///     time │            ╱  rate
///          │  ────────╱
///          └─────────┴──── bytes
///                 reserve
double reserve_of(const PlogpSamples& samples);

/// The same where the link, which has rested, takes `passing` for `bytes`, and usually has that `rate` in
/// bytes a second.
double reserve_of(Bytes bytes, Seconds passing, double rate);

}  // namespace laple
