// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/likely_uplinks.hpp"

#include <catch2/catch.hpp>

using namespace laple;

namespace {

/// Three clusters of two hosts; the links of the first one carry 10 MB/s to the others, and 2 from there.
LinkModel model() {
    LinkModel model;
    model.clusters.resize(3);
    for (const int other : {1, 2}) {
        model.link(0, other).there.rate = {{2, 10e6}};
        model.link(0, other).back.rate = {{2, 2e6}};
    }
    model.link(1, 2).there.rate = model.link(1, 2).back.rate = {{2, 1e6}};
    return model;
}

LinkSurveyInput input() {
    return {{{0, 1}, {2, 3}, {4, 5}}, {3, std::vector<Seconds>(3, Seconds(10e-3))}};
}

}  // namespace

TEST_CASE("the ways out of a cluster and into it are told apart", "[likely_uplinks]") {
    LinkModel known = model();
    // Into the first cluster 4 MB/s have come at once, as much as its links carry; out of it 11, and not 20.
    std::vector<UplinkRates> together{{11e6, 4e6}, {3e6, 11e6}, {3e6, 11e6}};
    const auto trials = uplink_trials(known, input(), together);
    REQUIRE(trials.size() == 1);
    CHECK(trials[0].cluster == 0);
    CHECK(trials[0].others == std::vector<int>{1, 2});
    CHECK(trials[0].links.out == Approx(20e6));
    CHECK(trials[0].links.in == Approx(4e6));
    take_trial(trials[0], {12e6, 3.9e6}, known, input(), together);
    CHECK(known.clusters[0].is_uplink_sure);
    CHECK(uplink_trials(known, input(), together).empty());
    set_uplinks(known, input(), together, true);
    CHECK(known.clusters[0].uplink_out == Approx(12e6));
    CHECK(known.clusters[0].uplink_in == 0);
    CHECK(known.clusters[1].uplink_out == 0);
    CHECK(known.clusters[1].uplink_in == 0);
}

TEST_CASE("an uplink carries at least what streams do", "[likely_uplinks]") {
    LinkModel known = model();
    const std::vector<UplinkRates> together{{11e6, 4e6}, {3e6, 11e6}, {3e6, 11e6}};
    known.link(0, 1).streams_there.rate = {{8, 15e6}};
    set_uplinks(known, input(), together, true);
    CHECK(known.clusters[0].uplink_out == Approx(15e6));
    // A later sweep compares MPI's connections by what they have carried themselves.
    set_uplinks(known, input(), together, false);
    CHECK(known.clusters[0].uplink_out == Approx(11e6));
}

TEST_CASE("a cluster that stands out while all links are busy has a trial with all others",
          "[likely_uplinks]") {
    LinkModel known;
    known.clusters.resize(5);
    LinkSurveyInput input{{}, {5, std::vector<Seconds>(5, Seconds(10e-3))}};
    for (int c = 0; c < 5; ++c) input.clusters.push_back({c});
    std::vector<UplinkRates> together{{2e6, 2e6}, {4e6, 2e6}, {2e6, 2.4e6}, {2e6, 5e6}, {2e6, 2e6}};
    const auto first = trial_of_fastest(known, input, together);
    REQUIRE(first);
    CHECK(first->cluster == 3);  // 5 MB/s one way are enough
    CHECK(first->others == std::vector<int>{0, 1, 2, 4});
    take_trial(*first, {7e6, 8e6}, known, input, together);
    CHECK(known.clusters[3].is_uplink_sure);
    CHECK(together[3].out == Approx(7e6));
    const auto second = trial_of_fastest(known, input, together);
    REQUIRE(second);
    CHECK(second->cluster == 1);
    take_trial(*second, {4e6, 4e6}, known, input, together);
    CHECK_FALSE(trial_of_fastest(known, input, together));
    // Three that are faster than others do not stand out.
    known.clusters[1].is_uplink_sure = false;
    together[0].out = 4e6;
    CHECK_FALSE(trial_of_fastest(known, input, together));
    CHECK_FALSE(trial_of_fastest(model(), ::input(), {{9e6, 9e6}, {2e6, 2e6}, {2e6, 2e6}}));
    CHECK_FALSE(trial_of_fastest(known, input, {}));
}

TEST_CASE("NICs of the hosts that flows begin at hold them up", "[likely_uplinks]") {
    LinkModel known = model();
    known.clusters[0].nic_out = known.clusters[0].nic_in = 5.5e6;  // 11 of two
    CHECK(uplink_trials(known, input(), {{11e6, 4e6}, {3e6, 11e6}, {3e6, 11e6}}).empty());
}

TEST_CASE("what flows are likely to carry does not overrule a trial of the uplink", "[likely_uplinks]") {
    LinkModel known = model();
    for (LinkPair& link : known.links) {
        if (link.a == 0) link.there.reached = 3e6;  // of 10
    }
    std::vector<UplinkRates> together{{4e6, 4e6}, {2e6, 4e6}, {2e6, 4e6}};
    const auto trials = uplink_trials(known, input(), together);
    REQUIRE(trials.size() == 1);
    CHECK(trials[0].cluster == 0);
    CHECK(trials[0].others.size() == 1);  // whose link is likely to carry more than was seen
    take_trial(trials[0], {5e6, 4e6}, known, input(), together);
    set_uplinks(known, input(), together, true);
    CHECK(known.clusters[0].uplink_out == Approx(5e6));
    known.links[0].there.reached = 1e9;  // a cached file may hold anything
    CHECK(known.links[0].there.seen() == Approx(10e6));
}
