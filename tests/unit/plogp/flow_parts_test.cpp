// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/flow_parts.hpp"

#include <catch2/catch.hpp>

using namespace laple;

namespace {

constexpr Seconds kFlow(0.060);
constexpr Bytes kMessage = 16 * 1024;

/// Of messages that come every `gap`, the first one after `first`, until the flow is over.
FlowParts flow(Seconds first, Seconds gap) {
    FlowParts parts(kFlow);
    for (Seconds time = first; time < kFlow + 2 * gap; time += gap) parts.add(time, kMessage);
    return parts;
}

}  // namespace

TEST_CASE("whether a message comes just inside a part does not matter", "[flow_parts]") {
    const double rate = 3e6;
    const Seconds gap(static_cast<double>(kMessage) / rate);  // three or four in a part
    for (double first = 0.1; first < 1; first += 0.1) {
        const FlowRate rates = flow(first * gap, gap).rates();
        CHECK(rates.early == Approx(rate).epsilon(0.01));
        CHECK(rates.late == Approx(rate).epsilon(0.01));
    }
}

TEST_CASE("of many messages the rate is theirs", "[flow_parts]") {
    const double rate = 400e6;  // every 41 us
    const FlowRate rates = flow(Seconds(1e-3), Seconds(static_cast<double>(kMessage) / rate)).rates();
    CHECK(rates.early == Approx(rate).epsilon(0.02));
    CHECK(rates.late == Approx(rate).epsilon(0.02));
}

TEST_CASE("messages that are read together have come one after the other", "[flow_parts]") {
    // Four at a time, every 20 ms: 3.28 MB/s.
    FlowParts parts(kFlow);
    for (const double time : {0.019, 0.039, 0.059}) {
        for (int i = 0; i < 4; ++i) parts.add(Seconds(time + i * 20e-6), kMessage);
    }
    const double rate = 4 * static_cast<double>(kMessage) / 0.020;
    CHECK(parts.rates().early == Approx(rate).epsilon(0.02));
    CHECK(parts.rates().late == Approx(rate).epsilon(0.02));
}

TEST_CASE("a flow that becomes faster does so in the later part", "[flow_parts]") {
    FlowParts parts(kFlow);
    Seconds time{0};
    while (time < kFlow) {
        time += time < 0.65 * kFlow ? Seconds(2e-3) : Seconds(1e-3);
        parts.add(time, kMessage);
    }
    CHECK(parts.rates().early == Approx(static_cast<double>(kMessage) / 2e-3).epsilon(0.01));
    CHECK(parts.rates().late == Approx(static_cast<double>(kMessage) / 1e-3).epsilon(0.04));
}
