// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/plogp.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace laple;

namespace {

constexpr double kUs = 1e-6;

/// A link with L = 100 us, g(m) = 10 us + m / 100 MB/s, os(m) = 4 us + m / 1 GB/s, or = 5 us.
Seconds gap_of(Bytes bytes) {
    return Seconds(10 * kUs + static_cast<double>(bytes) / 100e6);
}

PlogpSamples samples_of_a_link() {
    PlogpSamples samples;
    for (const Bytes bytes : {0u, 1024u, 65536u, 1048576u}) {
        samples.round_trip[bytes] = Seconds(200 * kUs) + gap_of(bytes) + gap_of(0);
        samples.flood[bytes] = gap_of(bytes);
        samples.send[bytes] = Seconds(4 * kUs + static_cast<double>(bytes) / 1e9);
        samples.receive[bytes] = Seconds(5 * kUs);
    }
    return samples;
}

}  // namespace

TEST_CASE("the parameters of a link are found in what it would measure", "[plogp]") {
    const PlogpFit fit = fit_plogp(samples_of_a_link());
    CHECK(fit.warnings.empty());
    CHECK(fit.model.latency.count() == Approx(100 * kUs));
    for (const Bytes bytes : {0u, 1024u, 30000u, 1048576u, 8388608u}) {
        CHECK(fit.model.gap.at(bytes).count() == Approx(gap_of(bytes).count()));
        CHECK(fit.model.flood_gap.at(bytes).count() == Approx(gap_of(bytes).count()));
    }
    CHECK(fit.model.send_overhead.at(1048576).count() == Approx(4 * kUs + 1048576 / 1e9));
}

TEST_CASE("what is no model is bent into one, and said", "[plogp]") {
    SECTION("a gap longer than half a round trip") {
        auto samples = samples_of_a_link();
        samples.flood[0] = Seconds(500 * kUs);
        const PlogpFit fit = fit_plogp(samples);
        CHECK(fit.model.latency == Seconds(0));
        REQUIRE(!fit.warnings.empty());
        CHECK_THAT(fit.warnings.front(), Catch::Contains("L is taken as 0"));
    }
    SECTION("a longer message that took less") {
        auto samples = samples_of_a_link();
        samples.round_trip[65536] = samples.round_trip[0];
        samples.send.clear();
        const PlogpFit fit = fit_plogp(samples);
        CHECK(fit.model.gap.at(65536) == fit.model.gap.at(1024));
        CHECK(fit.model.gap.at(1024) < gap_of(1024));
    }
    SECTION("a send call that takes longer than the gap") {
        auto samples = samples_of_a_link();
        samples.round_trip.erase(65536);
        samples.round_trip[4096] = Seconds(200 * kUs) + gap_of(4096) + gap_of(0);
        samples.send[4096] = Seconds(90 * kUs);
        const PlogpFit fit = fit_plogp(samples);
        CHECK(fit.model.gap.at(4096) == Seconds(90 * kUs));
        REQUIRE(fit.warnings.size() == 1);
        CHECK_THAT(fit.warnings.front(), Catch::Contains("g(4K) came out") && Catch::Contains("than os(4K)"));
    }
    SECTION("but a call that waits for a handshake is none") {
        auto samples = samples_of_a_link();
        samples.send[65536] = Seconds(2e-3);
        CHECK(fit_plogp(samples).model.gap.at(65536).count() == Approx(gap_of(65536).count()));
    }
    SECTION("a message after a pause that was faster than usual") {
        auto samples = samples_of_a_link();
        samples.cold[65536] = samples.round_trip[0];
        samples.cold[1048576] = 2 * samples.round_trip[1048576];
        const Plogp model = fit_plogp(samples).model;
        CHECK(model.cold_gap.at(65536) == model.gap.at(65536));
        CHECK(model.cold_gap.at(1048576) > 1.9 * model.gap.at(1048576));
    }
}

TEST_CASE("what a link saves up while it rests is found", "[plogp]") {
    auto samples = samples_of_a_link();
    CHECK(flood_rate(samples) == Approx(100e6));
    CHECK(reserve_of(samples) == 0);
    // 300 kB at once, and what is more at the link's rate.
    const auto rested = [&](Bytes bytes) {
        const double late = std::max(static_cast<double>(bytes) - 300e3, 0.0) / 100e6;
        return samples.round_trip[0] + Seconds(late);
    };
    for (const Bytes bytes : {16384u, 65536u, 262144u, 524288u}) samples.rested[bytes] = rested(bytes);
    CHECK(reserve_of(samples) == Approx(300e3));
    samples.rested = {{16384, samples.round_trip[0] + gap_of(16384)}};
    CHECK(reserve_of(samples) == 0);
    samples.rested = {{16384, samples.round_trip[0] / 2}};
    CHECK(reserve_of(samples) == 16384);
    samples.flood.clear();
    CHECK(reserve_of(samples) == 0);
}

TEST_CASE("without empty messages there is no model", "[plogp]") {
    auto samples = samples_of_a_link();
    samples.flood.erase(0);
    CHECK_THROWS_AS(fit_plogp(samples), Error);
    CHECK_THROWS_AS(fit_plogp({}), Error);
}
