// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/link_survey.hpp"

#include <catch2/catch.hpp>

#include "fake_network.hpp"

using namespace laple;
using namespace laple::testing;

TEST_CASE("a survey finds the rates of a network, and how many lanes fill it", "[link_survey]") {
    FakeProbes probes(four_sites());
    const LinkModel model = survey_links(probes, input_for(four_sites()));
    CHECK(model.warnings.empty());
    REQUIRE(model.clusters.size() == 4);
    CHECK(model.clusters[0].nic_out == Approx(12.5e6));
    CHECK(model.clusters[1].nic_in == Approx(12.5e6));
    CHECK(model.clusters[0].uplink_out == Approx(50e6).epsilon(0.10));
    CHECK(model.clusters[1].uplink_in == Approx(37.5e6).epsilon(0.10));
    CHECK(model.clusters[2].uplink_out == Approx(12.5e6));
    CHECK(model.clusters[3].uplink_in == Approx(6e6));
    CHECK(model.clusters[0].reduction == 1e-9);
    CHECK(model.clusters[0].inside.latency.count() == Approx(50e-6).epsilon(0.01));
    CHECK(model.clusters[3].inside.gap.is_empty());
    CHECK(model.clusters[3].nic_out == 0);

    REQUIRE(model.links.size() == 6);
    const auto check_lanes = [&](int a, int b, int useful, double most) {
        const LinkPair* link = model.between(b, a);
        REQUIRE(link != nullptr);
        CHECK(link->there.useful() == useful);
        CHECK(link->back.useful() == useful);
        CHECK(link->there.most() == Approx(most));
        CHECK(link->plogp.latency.count() == Approx(10e-3).epsilon(0.01));
    };
    check_lanes(0, 1, 3, 37.5e6);
    check_lanes(0, 2, 1, 12.5e6);
    check_lanes(0, 3, 1, 6e6);
    check_lanes(1, 2, 1, 12.5e6);
    CHECK(probes.measured_links == 3 + 6);
}

TEST_CASE("a survey finds what NICs save up", "[link_survey]") {
    FakeProbes probes(four_sites());
    probes.reserve = 100000;
    const LinkModel model = survey_links(probes, input_for(four_sites()));
    CHECK(model.clusters[0].reserve == Approx(100000).epsilon(0.01));
    CHECK(model.clusters[3].reserve == 0);  // has one node
}

TEST_CASE("a survey finds how much may wait at an uplink", "[link_survey]") {
    const FakeNetwork pair{{{0, 1, 2, 3}, {4, 5, 6, 7}}, 12.5e6, {25e6, 25e6}};
    SECTION("where packets are lost") {
        FakeProbes probes(pair);
        probes.reserve = 100000;  // of each NIC: all of a burst passes at once
        probes.most_at_once = 150e3;
        const LinkModel model = survey_links(probes, input_for(pair));
        for (const ClusterModel& cluster : model.clusters) {
            CHECK(cluster.burst > 150e3 / 1.25);
            CHECK(cluster.burst < 150e3 * 1.25);
        }
    }
    SECTION("not more than came before others could leave") {
        FakeProbes probes(pair);
        probes.most_at_once = 150e3;  // four NICs are twice as fast as the uplink
        const LinkModel model = survey_links(probes, input_for(pair));
        CHECK(model.clusters[0].burst > 75e3 / 1.25);
        CHECK(model.clusters[0].burst < 75e3 * 1.25);
    }
    SECTION("nowhere, though something was in the way once") {
        FakeProbes probes(pair);
        probes.disturb_burst = 3;
        CHECK(survey_links(probes, input_for(pair)).clusters[0].burst == 0);
        CHECK(probes.burst_trials > 2 * 9);  // of each size one, and one more
    }
    SECTION("without sending anything where NICs are no faster than the uplink, or nothing is lost") {
        FakeProbes wide({{{0, 1}, {2, 3}}, 12.5e6, {50e6, 50e6}});
        wide.most_at_once = 1;
        CHECK(survey_links(wide, input_for({{{0, 1}, {2, 3}}, 12.5e6, {50e6, 50e6}})).clusters[0].burst == 0);
        CHECK(wide.burst_trials == 0);
        FakeProbes simulated(pair);
        LinkSurveyInput input = input_for(pair);
        input.is_undisturbed = true;
        survey_links(simulated, input);
        CHECK(simulated.burst_trials == 0);
    }
}

TEST_CASE("rates that still grow are measured again", "[link_survey]") {
    const FakeNetwork pair{{{0, 1}, {2, 3}}, 12.5e6, {25e6, 25e6}};
    FakeProbes probes(pair);
    probes.slow_start = 0.3;
    const LinkModel model = survey_links(probes, input_for(pair));
    CHECK(model.clusters[0].nic_out == Approx(12.5e6));
}

TEST_CASE("flows that lose packets on an uplink are measured again with less under way", "[link_survey]") {
    const FakeNetwork pair{{{0, 1, 2, 3}, {4, 5, 6, 7}}, 12.5e6, {25e6, 25e6}};
    FakeProbes probes(pair);
    probes.lossless_window = 300 * 1024;
    const LinkModel model = survey_links(probes, input_for(pair));
    CHECK(model.clusters[0].uplink_out == Approx(25e6));
    CHECK(model.clusters[1].uplink_in == Approx(25e6));
}

TEST_CASE("a link is no farther than the survey of latencies has found", "[link_survey]") {
    FakeProbes probes(four_sites());
    LinkSurveyInput input = input_for(four_sites());
    input.latency[0][1] = input.latency[1][0] = Seconds(9e-3);
    const LinkModel model = survey_links(probes, input);
    CHECK(model.between(0, 1)->plogp.latency.count() == Approx(9e-3));
    CHECK(model.between(0, 2)->plogp.latency.count() == Approx(10e-3).epsilon(0.01));
}

TEST_CASE("a number of lanes that is nearly enough is looked at again", "[link_survey]") {
    const FakeNetwork pair{{{0, 1, 2, 3}, {4, 5, 6, 7}}, 12.5e6, {25e6, 25e6}};
    FakeProbes probes(pair);
    probes.disturb_lanes_once = 2;
    const LinkModel model = survey_links(probes, input_for(pair));
    REQUIRE(model.links.size() == 1);
    CHECK(probes.disturb_lanes_once == 0);
    CHECK(model.links[0].there.useful() == 2);
    CHECK(model.links[0].there.most() == Approx(25e6));
}

TEST_CASE("near links are not filled with what fills far ones", "[link_survey]") {
    // Two clusters at one site, measured in one round with two that are far apart.
    const FakeNetwork sites{{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, 125e6, {250e6, 250e6, 250e6, 250e6}};
    LinkSurveyInput input = input_for(sites);
    input.latency[0][1] = input.latency[1][0] = Seconds(100e-6);
    FakeProbes probes(sites);
    probes.has_near_pair = true;
    survey_links(probes, input);
    Bytes near = 0;
    Bytes far = 0;
    for (const auto& [flows, options] : probes.lanes) {
        Bytes& largest = probes.is_near(flows.front()) ? near : far;
        for (const Flow& flow : flows) CHECK(probes.is_near(flow) == probes.is_near(flows.front()));
        largest = std::max(largest, options.window_bytes);
    }
    CHECK(near == 256 * 1024);
    // Lanes have carried all that the NICs can.
    CHECK(probes.uplink_trials == 0);
    CHECK(static_cast<double>(far) > 4 * 2 * 10e-3 * 100e6);
}

TEST_CASE("where nothing disturbs few messages will do", "[link_survey]") {
    LinkSurveyInput input = input_for(four_sites());
    FakeProbes disturbed(four_sites());
    const LinkModel model = survey_links(disturbed, input);
    input.is_undisturbed = true;
    FakeProbes quiet(four_sites());
    CHECK(survey_links(quiet, input).clusters == model.clusters);
    CHECK(quiet.most_bytes < disturbed.most_bytes);
    CHECK(quiet.least_window == 4 * 16 * 1024);
    CHECK(disturbed.least_window >= 128 * 1024);
    CHECK(quiet.uplink_trials > 0);
}

TEST_CASE("what an earlier survey knows is not measured again", "[link_survey]") {
    FakeProbes probes(four_sites());
    int steps = 0;
    const auto until_7 = [&] { return ++steps <= 7; };
    const LinkModel part = survey_links(probes, input_for(four_sites()), {}, until_7);
    REQUIRE(part.warnings.size() == 1);
    CHECK_THAT(part.warnings.front(), Catch::Contains("not all was measured"));
    CHECK(part.links.size() < 6);
    const int before = probes.measured_links;

    FakeProbes again(four_sites());
    const LinkModel whole = survey_links(again, input_for(four_sites()), part);
    CHECK(whole.links.size() == 6);
    CHECK(before + again.measured_links == 3 + 6);
    CHECK(whole.warnings.empty());
}

TEST_CASE("what time ran out on is measured again", "[link_survey]") {
    FakeProbes probes(four_sites());
    const LinkModel complete = survey_links(probes, input_for(four_sites()));
    for (int most = 0; most < 9; ++most) {
        FakeProbes brief(four_sites());
        brief.most_links = most;
        const auto has_time = [&] { return brief.measured_links <= brief.most_links; };
        const LinkModel part = survey_links(brief, input_for(four_sites()), {}, has_time);
        CHECK_FALSE(part.warnings.empty());
        FakeProbes rest(four_sites());
        const LinkModel whole = survey_links(rest, input_for(four_sites()), part);
        INFO("cut short after " << most);
        CHECK(whole.clusters == complete.clusters);
        CHECK(whole.links == complete.links);
    }
}

TEST_CASE("one cluster, and one node, have no links", "[link_survey]") {
    const FakeNetwork one{{{0, 1, 2}}, 12.5e6, {1}};
    FakeProbes probes(one);
    const LinkModel model = survey_links(probes, input_for(one));
    CHECK(model.links.empty());
    CHECK(model.clusters.front().nic_out == Approx(12.5e6));
    CHECK(model.clusters.front().uplink_out == 0);

    const FakeNetwork alone{{{0}}, 12.5e6, {1}};
    FakeProbes none(alone);
    CHECK(survey_links(none, input_for(alone)).clusters.size() == 1);
    CHECK(none.measured_links == 0);
}

TEST_CASE("streams are measured until more of them bring nothing", "[link_survey]") {
    FakeNetwork fat{{{0}, {1}}, 100e6, {70e6, 70e6}};
    fat.far_flow = 20e6;
    FakeProbes probes(fat);
    const LinkModel model = survey_links(probes, input_for(fat));
    CHECK(model.links[0].streams_there.rate ==
          std::map<int, double>{{1, 20e6}, {2, 40e6}, {4, 70e6}, {8, 70e6}});
    CHECK(probes.stream_trials[16].empty());
}
