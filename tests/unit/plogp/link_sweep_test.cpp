// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/link_sweep.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "fake_network.hpp"
#include "plogp/likely_uplinks.hpp"

using namespace laple;
using namespace laple::testing;

namespace {

LinkModel sweep(FakeProbes& probes, int steps) {
    return sweep_links(probes, input_for(four_sites()), [&](Seconds needed) {
        CHECK(needed > Seconds(0));
        CHECK(needed < Seconds(1));
        return --steps >= 0;
    });
}

constexpr int kAll = 1000;

}  // namespace

TEST_CASE("a sweep finds rates and latencies, and how many lanes are useful", "[link_sweep]") {
    FakeProbes probes(four_sites());
    const LinkModel model = sweep(probes, kAll);
    CHECK(probes.measured_links == 0);
    REQUIRE(model.warnings.size() == 1);
    CHECK_THAT(model.warnings.front(), Catch::Contains("measured in passing"));
    CHECK(is_rough(model));
    CHECK_FALSE(is_rough(LinkModel()));

    REQUIRE(model.clusters.size() == 4);
    CHECK(model.clusters[0].nic_out == Approx(12.5e6));
    CHECK(model.clusters[0].inside.latency.count() == Approx(50e-6));
    CHECK(model.clusters[0].inside.gap.at(1 << 20).count() == Approx((1 << 20) / 12.5e6));
    CHECK(model.clusters[3].inside.gap.is_empty());

    REQUIRE(model.links.size() == 6);
    const LinkPair* fat = model.between(0, 1);
    REQUIRE(fat != nullptr);
    CHECK(fat->there.rate == std::map<int, double>{{1, 12.5e6}, {4, 37.5e6}});
    CHECK(fat->back.useful() == 3);
    CHECK(fat->plogp.latency.count() == Approx(10e-3));
    CHECK(fat->plogp.gap.at(16384).count() == Approx(16384 / 12.5e6));
    // By rendezvous: a round trip more.
    CHECK(fat->plogp.gap.at(1 << 20).count() == Approx((1 << 20) / 12.5e6 + 20e-3));
    CHECK(fat->plogp.flood_gap == fat->plogp.gap);
    CHECK(model.between(2, 3)->there.rate == std::map<int, double>{{1, 6e6}});
}

TEST_CASE("a sweep keeps what it has when there is no more time", "[link_sweep]") {
    FakeProbes probes(four_sites());
    const LinkModel nothing = sweep(probes, 0);
    CHECK(probes.flow_trials == 0);
    CHECK(nothing.links.empty());
    CHECK(nothing.clusters == std::vector<ClusterModel>(4));
    // It counts: jobs that never have time for anything do not try for ever.
    CHECK(nothing.sweeps == 1);
    CHECK(nothing.next_step > Seconds(0));

    CHECK(sweep(probes, 1).links.empty());
    CHECK(sweep(probes, 1).clusters[0].eager_limit == 0);

    CHECK(sweep(probes, 2).links.empty());
    CHECK(sweep(probes, 2).clusters[0].eager_limit == 16384);

    CHECK(sweep(probes, 3).links.empty());
    CHECK(sweep(probes, 3).clusters[0].uplink_out > 0);  // of all links at once

    CHECK(sweep(probes, 4).links.size() == 2);
    CHECK(is_unfinished(sweep(probes, 4)));
    CHECK_FALSE(is_unfinished(sweep(probes, kAll)));

    // Where the farthest links take too long, near ones are measured nevertheless.
    FakeNetwork uneven{{{0}, {1}, {2}}, 12.5e6, {12.5e6, 12.5e6, 12.5e6}};
    LinkSurveyInput input = input_for(uneven);
    for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{0, 2}, {1, 2}})
        input.latency[a][b] = input.latency[b][a] = Seconds(0.1);
    FakeProbes uneven_probes(uneven);
    const LinkModel near =
        sweep_links(uneven_probes, input, [](Seconds needed) { return needed < Seconds(1); });
    REQUIRE(near.links.size() == 1);
    CHECK(near.links[0].there.of_one() == Approx(12.5e6));
    CHECK(near.clusters[0].uplink_out == 0);

    // Inside, eager limits, then all lanes: one flow of them is as fast as a NIC, likely.
    const FakeNetwork pair{{{0, 1, 2, 3}, {4, 5, 6, 7}}, 12.5e6, {25e6, 25e6}};
    FakeProbes pair_probes(pair);
    int steps = 3;
    const LinkModel part = sweep_links(pair_probes, input_for(pair), [&](Seconds) { return --steps >= 0; });
    REQUIRE(part.links.size() == 1);
    CHECK(part.links[0].there.rate == std::map<int, double>{{4, 25e6}});
    CHECK(part.links[0].plogp.gap.at(16384).count() == Approx(16384 / 12.5e6));
}

TEST_CASE("later jobs have time for a sweep once those before have lasted long enough", "[link_sweep]") {
    constexpr Seconds kBudget(2);
    constexpr Seconds kNear(1e-3);
    constexpr Seconds kFar(50e-3);    // a step takes 1.1 s
    constexpr Seconds kFarther(0.1);  // longer than the budget
    constexpr Seconds kFarthest(0.2);
    constexpr Seconds kAlmost(80e-3);
    LinkModel known;
    known.clusters.resize(2);
    known.clusters[0].uplink_out = 1e6;
    for (const int sweeps : {0, 1, 2}) {
        known.sweeps = sweeps;
        // Of two sites streams are measured, too, where they take less than a budget: 1.6 s.
        CHECK(time_for_sweep(known, kFar, kBudget).most.count() == Approx(1.6 + 0.5));
        CHECK(time_for_sweep(known, kFar, kBudget).is_free);
        LinkModel three = known;
        three.clusters.resize(3);
        CHECK(time_for_sweep(three, kFar, kBudget).most == kBudget);
        CHECK(time_for_sweep(three, kFar, kBudget).is_free);
        CHECK(time_for_sweep(known, kFarther, kBudget).most == Seconds(0));
        CHECK(time_for_sweep(known, kNear, Seconds(0)).most == Seconds(0));
        // All links at once are worth more, as long as no uplink is known.
        const LinkModel nothing = [&] {
            LinkModel model;
            model.clusters.resize(3);
            model.sweeps = sweeps;
            return model;
        }();
        CHECK(time_for_sweep(nothing, kFarther, kBudget).most.count() == Approx(2.2 + 0.5));
        CHECK(time_for_sweep(nothing, kFarther, kBudget).is_free);
        CHECK(time_for_sweep(nothing, kFarthest, kBudget).most == Seconds(0));
        CHECK(time_for_sweep(nothing, kAlmost, kBudget).most.count() == Approx(1.76 + 0.5));
        CHECK(time_for_sweep(known, kAlmost, kBudget).most == kBudget);
        // Two clusters have one link.
        LinkModel two = nothing;
        two.clusters.resize(2);
        CHECK(time_for_sweep(two, kFarther, kBudget).is_free);
        two.link(0, 1).there.rate = {{1, 1e6}};
        CHECK_FALSE(time_for_sweep(two, kFarther, kBudget).is_free);
    }
    known.next_step = Seconds(1.1);
    known.sweeps = kFreeSweeps;
    CHECK(time_for_sweep(known, kNear, kBudget).most == Seconds(0));
    known.job.allowance = Seconds(2.15);
    CHECK(time_for_sweep(known, kNear, kBudget).most == kBudget);
    CHECK(time_for_sweep(known, kFar, kBudget).most == Seconds(0));
    known.job.allowance = Seconds(10);
    CHECK(time_for_sweep(known, kNear, kBudget).most == kBudget);
    CHECK_FALSE(time_for_sweep(known, kNear, kBudget).is_free);
    CHECK(time_for_sweep(known, kFar, kBudget).most.count() == Approx(2.2));
    CHECK_FALSE(time_for_sweep(known, kFar, kBudget).is_free);
    CHECK(time_for_sweep(known, kFar, Seconds(0)).most == Seconds(0));
    // Where the budget never suffices, they need not fail three times.
    known.sweeps = 1;
    CHECK(time_for_sweep(known, kFarther, kBudget).most.count() == Approx(2.2 + 1.1));
    CHECK_FALSE(time_for_sweep(known, kFarther, kBudget).is_free);
}

TEST_CASE("a sweep goes on where an earlier one stopped", "[link_sweep]") {
    FakeNetwork lossy = four_sites();
    lossy.far_flow = 4e6;
    const FakeNetwork alone{{{0}, {1}, {2}}, 12.5e6, {12.5e6, 12.5e6, 12.5e6}, 40e-3 * Seconds(1)};
    for (const auto& [network, reserve] :
         {std::pair(four_sites(), 131072.0), {four_sites(), 0.0}, {lossy, 131072.0}, {alone, 0.0}}) {
        FakeProbes at_once(network);
        at_once.reserve = reserve;
        const LinkModel all = sweep_links(at_once, input_for(network), [](Seconds) { return true; });
        FakeProbes probes(network);
        probes.reserve = reserve;
        LinkModel known;
        int sweeps = 0;
        do {
            bool has_time = true;  // for one step
            known = sweep_links(
                probes, input_for(network), [&](Seconds) { return std::exchange(has_time, false); }, known);
            CHECK(known.warnings.size() == (is_unfinished(known) ? 2 : 1));
            CHECK(known.sweeps == (is_unfinished(known) ? ++sweeps : 0));
        } while (is_unfinished(known) && sweeps < 50);
        CHECK(known == all);
        CHECK(sweeps < 30);
    }
}

TEST_CASE("a sweep measures what a cached model knows of one direction only, or as nothing", "[link_sweep]") {
    FakeProbes probes(four_sites());
    const auto all = [](Seconds) { return true; };
    const LinkModel good = sweep_links(probes, input_for(four_sites()), all);
    LinkModel broken = good;
    broken.links[0].back.rate.erase(1);
    for (auto& [lanes, rate] : broken.links[1].there.rate) rate = 0;
    const LinkModel mended = sweep_links(probes, input_for(four_sites()), all, broken);
    CHECK(mended.links == good.links);
    // Where all are near nothing else tells that zeros are wrong.
    FakeNetwork near = four_sites();
    near.one_way = Seconds(0.5e-3);
    FakeProbes near_probes(near);
    const LinkModel right = sweep_links(near_probes, input_for(near), all);
    LinkModel zeros = right;
    for (LinkPair& link : zeros.links) {
        for (Lanes* lanes : {&link.there, &link.back}) {
            for (auto& [flows, rate] : lanes->rate) rate = 0;
        }
    }
    for (ClusterModel& cluster : zeros.clusters) cluster.uplink_out = cluster.uplink_in = 0;
    CHECK(sweep_links(near_probes, input_for(near), all, zeros).links == right.links);
    // With no time for anything the next one goes on.
    const LinkModel same = sweep_links(
        probes, input_for(four_sites()), [](Seconds) { return false; }, broken);
    CHECK(is_unfinished(same));
    CHECK(same.sweeps == broken.sweeps + 1);
    CHECK(same.next_step > Seconds(0));
    CHECK(sweep_links(probes, input_for(four_sites()), all, same).links == good.links);
}

TEST_CASE("a sweep finds what a NIC lets pass at once after a rest", "[link_sweep]") {
    FakeProbes probes(four_sites());
    CHECK(sweep(probes, 1000).clusters[0].reserve == 0);
    probes.reserve = 128 * 1024;
    CHECK(sweep(probes, 3).clusters[0].reserve == 0);  // rates between clusters come first
    CHECK(sweep(probes, 1000).clusters[0].reserve == Approx(128 * 1024));
    probes.reserve = 16 * 1024;  // too little of what was sent to be told from noise
    CHECK(sweep(probes, 1000).clusters[0].reserve == 0);
}

TEST_CASE("inside a cluster two nodes that are as far apart as usual there stand for all", "[link_sweep]") {
    FakeProbes probes(four_sites());
    LinkSurveyInput input = input_for(four_sites());
    input.typical[1] = {{5, 7}, {6, 8}};
    sweep_links(probes, input, [](Seconds) { return true; });
    std::map<std::pair<int, int>, int> flows;
    for (const Flow& flow : probes.inside) ++flows[{flow.from, flow.to}];
    std::set<std::pair<int, int>> pairs;
    for (const auto& [pair, count] : flows) pairs.insert(pair);
    // Of rates and reserves others tell, too.
    CHECK(pairs == std::set<std::pair<int, int>>{{0, 1}, {5, 7}, {6, 8}, {9, 10}});
    CHECK(flows[{5, 7}] == flows[{6, 8}] + 1);
    CHECK(flows[{0, 1}] >= 3);  // rates, eager limits, reserves
}

TEST_CASE("of the NICs of a cluster the usual ones count", "[link_sweep]") {
    FakeNetwork lan{{{0, 1, 2, 3, 4, 5, 6}}, 100e6, {100e6}};
    const auto nic_of = [&](int stalled) {
        FakeProbes probes(lan);
        probes.stalled_trials = stalled;
        LinkSurveyInput input = input_for(lan);
        input.typical[0] = {{0, 1}, {2, 3}};
        if (lan.clusters[0].size() > 5) input.typical[0].push_back({4, 5});
        const LinkModel model = sweep_links(probes, input, [](Seconds) { return true; });
        CHECK(is_unfinished(model) == !(model.clusters[0].nic_out > 0));
        return model.clusters[0].nic_out;
    };
    CHECK(nic_of(0) == Approx(100e6));
    lan.other_nics = {{0, 10e6}};  // that of the head node
    CHECK(nic_of(0) == Approx(100e6));
    lan.other_nics = {{0, 10e6}, {2, 10e6}, {4, 1e9}, {5, 1e9}};  // of three pairs, one is faster
    CHECK(nic_of(0) == Approx(10e6));
    CHECK(nic_of(1) == Approx(10e6));  // no rank had a core: once more
    CHECK(nic_of(2) == 0);             // then in a later job
    lan.clusters = {{0, 1, 2, 3}};
    lan.other_nics = {{0, 10e6}};
    CHECK(nic_of(0) == Approx(100e6));  // of two pairs, the faster one
}

TEST_CASE("hosts that carry more to other clusters tell that their NICs were measured too low",
          "[link_sweep]") {
    const auto nic_of = [](const FakeNetwork& network, double measured) {
        FakeProbes probes(network);
        LinkModel known;
        known.clusters.resize(network.clusters.size());
        known.clusters[0].nic_out = known.clusters[0].nic_in = measured;
        known.clusters[0].reserve = 100e3;
        known.clusters[0].is_reserve_known = true;
        const LinkModel model = sweep_links(
            probes, input_for(network), [](Seconds) { return true; }, std::move(known));
        CHECK((model.clusters[0].reserve == 0) == (model.clusters[0].nic_out != measured));
        CHECK(model.clusters[0].is_reserve_known);
        return model.clusters[0].nic_out;
    };
    FakeNetwork network = four_sites();
    CHECK(nic_of(network, 1e6) > 9e6);  // four lanes share an uplink of 37.5 MB/s
    // A single host may be faster than others.
    network.uplink = {500e6, 500e6, 500e6, 500e6};
    network.other_nics = {{0, 125e6}, {5, 125e6}, {9, 125e6}, {11, 125e6}};
    CHECK(nic_of(network, 12.5e6) == Approx(12.5e6));
}

TEST_CASE("a window that a flow inside a cluster fills is made larger", "[link_sweep]") {
    FakeNetwork fast{{{0, 1}, {2, 3}}, 1.25e9, {1.25e9, 1.25e9}};
    fast.lan = Seconds(0.2e-3);
    FakeProbes probes(fast);
    const LinkModel model = sweep_links(probes, input_for(fast), [](Seconds) { return true; });
    for (const ClusterModel& cluster : model.clusters) {
        CHECK(cluster.nic_out == Approx(1.25e9));
        CHECK(cluster.nic_in == Approx(1.25e9));
        CHECK(cluster.inside.gap.at(1 << 20).count() == Approx((1 << 20) / 1.25e9));
    }
    // Not for ever, nor without time for it.
    fast.nic = 1e12;
    FakeProbes endless(fast);
    CHECK(sweep_links(endless, input_for(fast), [](Seconds) { return true; }).clusters[0].nic_out ==
          Approx((4 << 20) / 0.4e-3));
    FakeProbes hasty(fast);
    int steps = 1;
    CHECK(sweep_links(hasty, input_for(fast), [&](Seconds) { return --steps >= 0; }).clusters[0].nic_out ==
          Approx((128 << 10) / 0.4e-3));
}

TEST_CASE("a flow that is nearly as fast as a NIC counts as held up by it", "[link_sweep]") {
    const auto flow_over = [](double uplink) {
        const FakeNetwork pair{{{0, 1}, {2, 3}}, 12.5e6, {uplink, uplink}};
        FakeProbes probes(pair);
        const LinkModel model = sweep_links(probes, input_for(pair), [](Seconds) { return true; });
        CHECK(model.links.at(0).there.of_one() == Approx(uplink));
        return 16384 / model.links.at(0).plogp.gap.at(16384).count();
    };
    CHECK(flow_over(11e6) == Approx(12.5e6));
    CHECK(flow_over(10e6) == Approx(10e6));
}

TEST_CASE("between hosts alone, flows go on until TCP has found the rate", "[link_sweep]") {
    const FakeNetwork alone{{{0}, {1}, {2}, {3}}, 12.5e6, {12.5e6, 12.5e6, 12.5e6, 6e6}};
    FakeProbes probes(alone);
    probes.slow_start = 0.4;
    probes.slow_trials = 3;
    const auto all = [](Seconds) { return true; };
    const LinkModel found = sweep_links(probes, input_for(alone), all);
    REQUIRE(found.links.size() == 6);
    CHECK(found.between(0, 1)->there.of_one() == Approx(12.5e6));
    CHECK(found.between(1, 3)->there.of_one() == Approx(6e6));
    // Later flows that are still on their way up are as fast as both hosts were with others.
    FakeProbes slow({{{0}, {1}, {2}, {3}}, 12.5e6, std::vector<double>(4, 12.5e6)});
    slow.slow_trials = kAll;
    const LinkModel model = sweep_links(slow, input_for(alone), [&](Seconds) {
        slow.slow_start = slow.flow_trials < 3 ? 1 : 0.4;  // two windows there, one back
        return true;
    });
    REQUIRE(model.links.size() == 6);
    for (const LinkPair& link : model.links) CHECK(link.there.of_one() == Approx(12.5e6));
    // Not uplinks hold them up.
    for (const ClusterModel& cluster : model.clusters) CHECK(cluster.uplink_out + cluster.uplink_in == 0);
    // And not for ever.
    FakeProbes never(alone);
    never.slow_start = 0.4;
    never.slow_trials = kAll;
    CHECK(sweep_links(never, input_for(alone), all).between(0, 1)->there.of_one() == Approx(5e6));
    CHECK(never.flow_trials <= 32);
}

TEST_CASE("hosts alone have handshakes, too", "[link_sweep]") {
    const FakeNetwork alone{{{0}, {1}}, 12.5e6, {12.5e6, 12.5e6}};
    FakeProbes probes(alone);
    const LinkModel model = sweep_links(probes, input_for(alone), [](Seconds) { return true; });
    const Curve& gap = model.links.at(0).plogp.gap;
    CHECK(gap.at(16384).count() == Approx(16384 / 12.5e6));
    CHECK(gap.at(16385).count() == Approx(16385 / 12.5e6 + 20e-3));
    CHECK(gap.at(1 << 20).count() == Approx((1 << 20) / 12.5e6 + 20e-3));
}

TEST_CASE("handshakes begin at any size", "[link_sweep]") {
    const FakeNetwork alone{{{0}, {1}}, 12.5e6, {12.5e6, 12.5e6}};
    FakeProbes probes(alone);
    probes.eager_limit = 8192;
    const LinkModel model = sweep_links(probes, input_for(alone), [](Seconds) { return true; });
    const Curve& gap = model.links.at(0).plogp.gap;
    CHECK(gap.at(8192).count() == Approx(8192 / 12.5e6));
    for (const Bytes bytes : {8193u, 16384u, 65536u, 1u << 20})
        CHECK(gap.at(bytes).count() == Approx(static_cast<double>(bytes) / 12.5e6 + 20e-3));
}

TEST_CASE("eager limits that are known are kept", "[link_sweep]") {
    FakeProbes probes(four_sites());
    const auto all = [](Seconds) { return true; };
    LinkModel known = sweep_links(probes, input_for(four_sites()), all);
    REQUIRE(known.clusters[0].eager_limit == 16384);
    known.clusters[1].eager_limit = 0;
    FakeProbes busy(four_sites());
    busy.eager_limit = 0;
    const LinkModel model = sweep_links(busy, input_for(four_sites()), all, known);
    CHECK(model.clusters[0].eager_limit == 16384);
    CHECK(model.clusters[2].eager_limit == 16384);
}

TEST_CASE("a flow on its way up is not taken for as fast as the network at its ends", "[link_sweep]") {
    const FakeNetwork thin{{{0, 1}, {2, 3}}, 125e6, {1e6, 1e6}};
    FakeProbes probes(thin);
    const LinkModel model = sweep_links(probes, input_for(thin), [&](Seconds) {
        // One lane, after all.
        probes.slow_start = probes.flow_trials == 2 ? 0.9 : 1;
        probes.slow_trials = kAll;
        return true;
    });
    REQUIRE(model.links.size() == 1);
    CHECK(model.links[0].there.rate.at(2) == Approx(1e6));
    CHECK(model.links[0].there.rate.at(1) <= 1e6);
}

TEST_CASE("a flow on its way up out of a cluster is not taken for as fast as what comes in", "[link_sweep]") {
    FakeNetwork uneven{{{0}, {1}, {2}}, 125e6, {12.5e6, 125e6, 125e6}};
    uneven.uplink_in = {125e6, 125e6, 125e6};
    LinkSurveyInput input = input_for(uneven);
    input.latency[0][1] = input.latency[1][0] = Seconds(0.3e-3);
    FakeProbes probes(uneven);
    probes.has_near_pair = true;
    probes.far_part = 0.3;
    const LinkModel model = sweep_links(probes, input, [](Seconds) { return true; });
    const LinkPair& far = *model.between(0, 2);
    CHECK(model.between(0, 1)->there.of_one() == Approx(12.5e6));
    CHECK(model.between(0, 1)->back.of_one() == Approx(125e6));
    CHECK(far.there.of_one() == Approx(12.5e6));
    CHECK(far.back.of_one() == Approx(0.3 * 125e6));
    CHECK(model.clusters[0].uplink_out == Approx(12.5e6));
    // Of what is likely the model tells what was seen.
    CHECK(far.there.seen() == Approx(0.3 * 12.5e6));
    CHECK(far.back.seen() == Approx(far.back.most()));
}

TEST_CASE("an uplink that binds is told from one that its peers hold up", "[link_sweep]") {
    const auto all = [](Seconds) { return true; };
    const FakeNetwork unlike{{{0}, {1, 2}, {3, 4}}, 12.5e6, {2e6, 12.5e6, 25e6}};
    FakeProbes probes(unlike);
    const LinkModel model = sweep_links(probes, input_for(unlike), all);
    CHECK(model.clusters[0].uplink_out == Approx(2e6));
    CHECK(model.clusters[0].uplink_in == Approx(2e6));
    CHECK(model.clusters[2].uplink_out == 0);  // has sent no more than the others could take
    FakeProbes few({{{0}, {1, 2}}, 12.5e6, {2e6, 12.5e6}});
    CHECK(sweep_links(few, input_for({{{0}, {1, 2}}, 12.5e6, {}}), all).clusters[0].uplink_out == 0);
    const FakeNetwork equal{{{0, 1}, {2, 3}, {4, 5}}, 12.5e6, {25e6, 25e6, 25e6}};
    FakeProbes equal_probes(equal);
    for (const ClusterModel& cluster : sweep_links(equal_probes, input_for(equal), all).clusters)
        CHECK(cluster.uplink_out == 0);
}

TEST_CASE("an uplink that binds is told from others that all use at once", "[link_sweep]") {
    const auto all = [](Seconds) { return true; };
    // What all links carry at once is 5 MB/s from and to each: all uplinks of four hosts bind, or the
    // others'.
    const FakeNetwork equal{
        {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}, 12.5e6, {5e6, 5e6, 5e6, 5e6}};
    FakeProbes equal_probes(equal);
    const LinkModel of_equal = sweep_links(equal_probes, input_for(equal), all);
    for (const ClusterModel& cluster : of_equal.clusters) {
        CHECK(cluster.uplink_out == Approx(5e6));
        CHECK(cluster.uplink_in == Approx(5e6));
        CHECK(cluster.is_uplink_sure);
    }
    // Beside one of 40 MB/s: alone, it carries all that the others can.
    FakeNetwork hub = equal;
    hub.uplink[1] = 40e6;
    FakeProbes hub_probes(hub);
    const LinkModel of_hub = sweep_links(hub_probes, input_for(hub), all);
    CHECK(of_hub.clusters[0].uplink_out == Approx(5e6));
    CHECK(of_hub.clusters[1].uplink_out == 0);
    CHECK(of_hub.clusters[1].uplink_in == 0);
    // A later sweep goes on with those that are open.
    FakeProbes again(hub);
    int steps = hub_probes.flow_trials - 1 + 1;  // eager limits
    const LinkModel part = sweep_links(again, input_for(hub), [&](Seconds) { return --steps >= 0; });
    CHECK(is_unfinished(part));
    const int before = again.flow_trials;
    CHECK(sweep_links(again, input_for(hub), all, part) == of_hub);
    CHECK(again.flow_trials == before + 1);
}

TEST_CASE("the uplink of a hub is known before all links are", "[link_sweep]") {
    FakeNetwork hub{{}, 50e6, {50e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6}};
    for (int c = 0; c < 8; ++c) hub.clusters.push_back({2 * c, 2 * c + 1});
    hub.one_way = Seconds(50e-3);
    // Of an earlier sweep: while all links were busy the hub has carried some more than others.
    LinkModel known;
    known.sweeps = 1;
    known.clusters.resize(8);
    for (ClusterModel& cluster : known.clusters) cluster.uplink_out = cluster.uplink_in = 2e6;
    known.clusters[0].uplink_out = 4e6;
    const auto sweep_in_steps = [&](FakeProbes& probes, int steps) {
        return sweep_links(
            probes, input_for(hub), [&](Seconds) { return --steps >= 0; }, known);
    };
    FakeProbes probes(hub);
    const LinkModel part = sweep_in_steps(probes, 3);  // inside, eager limits, and the trial, there and back
    CHECK(is_unfinished(part));
    CHECK(part.links.empty());
    CHECK(part.clusters[0].is_uplink_sure);
    CHECK(part.clusters[0].uplink_out == Approx(14e6));
    CHECK(part.clusters[0].uplink_in == Approx(14e6));
    CHECK(part.clusters[1].uplink_out == Approx(2e6));
    // While TCP is on its way up it tells something, once in a sweep.
    FakeProbes climbing(hub);
    climbing.far_part = 0.8;
    const LinkModel unsure = sweep_in_steps(climbing, 5);
    CHECK_FALSE(unsure.clusters[0].is_uplink_sure);
    CHECK(unsure.clusters[0].uplink_out == Approx(0.8 * 14e6));
    CHECK_FALSE(unsure.links.empty());
    CHECK(climbing.uplink_trials == 2);
    // Where there is no time for it, there is for links.
    FakeProbes slow(hub);
    const LinkModel late = sweep_links(
        slow, input_for(hub), [](Seconds needed) { return needed < Seconds(1.5); }, known);
    CHECK(late.links.size() == 28);
    CHECK_FALSE(is_unfinished(late));
}

TEST_CASE("a hub whose trials are not steady does not hold up sweeps", "[link_sweep]") {
    FakeNetwork hub{{}, 50e6, {8e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6}};
    for (int c = 0; c < 8; ++c) hub.clusters.push_back({c});
    hub.one_way = Seconds(50e-3);
    FakeProbes probes(hub);
    probes.far_part = 0.8;
    LinkModel model;
    model.clusters.resize(8);
    for (ClusterModel& cluster : model.clusters) cluster.uplink_out = cluster.uplink_in = 2e6;
    model.clusters[0].uplink_out = 4e6;
    int sweeps = 0;
    do {
        // For a trial, there and back, and a step; each takes 1.1 s.
        const int before = probes.flow_trials;
        const auto has_time = [&](Seconds needed) {
            return needed <= Seconds(3.5 - 1.1 * (probes.flow_trials - before));
        };
        model = sweep_links(probes, input_for(hub), has_time, model);
        CHECK_FALSE(model.links.empty());
    } while (is_unfinished(model) && ++sweeps < 40);
    CHECK(sweeps < 40);
}

TEST_CASE("flows that are faster than all before them are measured with a larger window", "[link_sweep]") {
    // Hosts of 12.5 MB/s in two sites, and two hosts alone with ten times that.
    FakeNetwork fast{{{0, 1}, {2, 3}, {4}, {5}}, 12.5e6, {25e6, 25e6, 125e6, 125e6}};
    fast.one_way = Seconds(10e-3);
    fast.lone_nic = 125e6;
    FakeProbes probes(fast);
    const LinkModel model = sweep_links(probes, input_for(fast), [](Seconds) { return true; });
    REQUIRE(model.between(2, 3) != nullptr);
    CHECK(model.between(2, 3)->there.most() == Approx(125e6));
    CHECK(model.between(0, 2)->there.of_one() == Approx(12.5e6));
}

TEST_CASE("a fast link between hosts that have slow ones is measured again", "[link_sweep]") {
    // Two hosts alone, and two sites behind 1 MB/s: flows to and from the hosts are supposed to be slow, too.
    FakeNetwork mixed{{{0}, {1, 2}, {3}, {4, 5}}, 12.5e6, {12.5e6, 1e6, 12.5e6, 1e6}};
    mixed.one_way = Seconds(4e-3);
    mixed.lone_nic = 12.5e6;
    LinkSurveyInput input = input_for(mixed);
    input.latency[0][2] = input.latency[2][0] = Seconds(4.1e-3);  // after the others
    FakeProbes probes(mixed);
    const LinkModel model = sweep_links(probes, input, [](Seconds) { return true; });
    CHECK_FALSE(probes.slower_flows.empty());
    CHECK(model.between(0, 2)->there.most() == Approx(12.5e6));
    CHECK(model.between(0, 2)->back.most() == Approx(12.5e6));
    CHECK(model.between(1, 3)->there.most() == Approx(1e6));
}

TEST_CASE("trials of several uplinks run at once", "[link_sweep]") {
    FakeNetwork many{{}, 12.5e6, std::vector<double>(8, 5e6)};
    for (int c = 0; c < 8; ++c) many.clusters.push_back({2 * c, 2 * c + 1});
    FakeProbes probes(many);
    const LinkSurveyInput input = input_for(many);
    const LinkModel model = sweep_links(probes, input, [](Seconds) { return true; });
    for (const ClusterModel& cluster : model.clusters) CHECK(cluster.is_uplink_sure);
    LinkModel open = model;
    for (ClusterModel& cluster : open.clusters) cluster.is_uplink_sure = false;
    CHECK(probes.flow_trials <=
          1 + 1 + 2 * 7 + 7 + 4);  // inside, all at once, rounds of two lanes there and back, of one, trials
    const auto trials = uplink_trials(open, input, {});
    CHECK(trials.size() == 2);  // a link carries 5: two tell whether an uplink carries more
    std::set<int> clusters;
    for (const UplinkTrial& trial : trials) {
        CHECK(trial.others.size() == 2);
        CHECK(trial.links.out == Approx(10e6));
        CHECK(clusters.insert(trial.cluster).second);
        for (const int other : trial.others) CHECK(clusters.insert(other).second);
    }
}

TEST_CASE("the NICs of a few hosts are not taken for the uplink of many", "[link_sweep]") {
    FakeNetwork large{{{}, {20}, {21}, {22}}, 12.5e6, {250e6, 250e6, 250e6, 250e6}};
    for (int node = 0; node < 20; ++node) large.clusters[0].push_back(node);
    FakeProbes probes(large);
    const LinkModel model = sweep_links(probes, input_for(large), [](Seconds) { return true; });
    CHECK(model.clusters[0].uplink_out == 0);
    CHECK(model.clusters[0].uplink_in == 0);
}

TEST_CASE("nor are those of near clusters", "[link_sweep]") {
    const auto uplinks_of = [](int hosts, double uplink) {
        FakeNetwork zones{{{}, {}, {}}, 12.5e6, {uplink, uplink, uplink}};
        zones.one_way = Seconds(0.5e-3);
        for (int node = 0; node < 3 * hosts; ++node)
            zones.clusters[static_cast<std::size_t>(node / hosts)].push_back(node);
        FakeProbes probes(zones);
        return sweep_links(probes, input_for(zones), [](Seconds) { return true; }).clusters[0].uplink_out;
    };
    CHECK(uplinks_of(16, 200e6) == 0);  // eight hosts have sent 100 MB/s
    CHECK(uplinks_of(16, 50e6) == Approx(50e6));
    CHECK(uplinks_of(8, 100e6) == Approx(100e6));  // all of them, no more can come
}

TEST_CASE("flows that TCP holds up say nothing of uplinks", "[link_sweep]") {
    FakeNetwork fat{{{0}, {1}, {2}, {3}}, 1e9, {1e9, 1e9, 1e9, 1e9}};
    fat.far_flow = 100e6;
    FakeProbes probes(fat);
    probes.slow_trials = kAll;
    const LinkModel model = sweep_links(probes, input_for(fat), [&](Seconds) {
        probes.slow_start = probes.flow_trials < 4 ? 1 : 0.4;  // three windows there, one back
        return true;
    });
    for (const ClusterModel& cluster : model.clusters) CHECK(cluster.uplink_out + cluster.uplink_in == 0);
    CHECK_FALSE(is_unfinished(model));
}

TEST_CASE("of many clusters a trial that nothing holds up is enough", "[link_sweep]") {
    FakeNetwork many{{}, 1e9, std::vector<double>(20, 1e9)};
    for (int c = 0; c < 20; ++c) many.clusters.push_back({c});
    many.far_flow = 5e6;
    FakeProbes probes(many);
    const LinkModel model = sweep_links(probes, input_for(many), [](Seconds) { return true; });
    CHECK_FALSE(is_unfinished(model));
    for (const ClusterModel& cluster : model.clusters) CHECK(cluster.uplink_out + cluster.uplink_in == 0);
    LinkModel open = model;
    for (ClusterModel& cluster : open.clusters) cluster.is_uplink_sure = false;
    FakeProbes again(many);
    CHECK(sweep_links(
              again, input_for(many), [](Seconds) { return true; }, open) == model);
    CHECK(again.flow_trials == 1 + 10);  // all links at once; then two clusters with six others each
}

TEST_CASE("one flow is not measured where several are still on their way up", "[link_sweep]") {
    const FakeNetwork pair{{{0, 1}, {2, 3}}, 12.5e6, {12.5e6, 12.5e6}};
    FakeProbes probes(pair);
    probes.slow_start = 0.9;
    probes.slow_trials = kAll;
    const LinkModel model = sweep_links(probes, input_for(pair), [](Seconds) { return true; });
    const std::map<int, double>& rates = model.links.at(0).there.rate;
    CHECK(rates.at(1) == Approx(rates.at(2)));
    CHECK_FALSE(model.links.at(0).carries_more);  // NICs hold them up
    CHECK(probes.flow_trials == 1 + 2 * 2);       // inside, then both lanes twice each way
}

TEST_CASE("flows far below what NICs can, all on their way up, share what they carry", "[link_sweep]") {
    FakeNetwork fat{{{0, 1}, {2, 3}}, 100e6, {100e6, 100e6}};
    fat.far_flow = 20e6;
    FakeProbes probes(fat);
    probes.slow_start = 0.1;
    probes.slow_trials = kAll;
    const LinkModel model = sweep_links(probes, input_for(fat), [](Seconds) { return true; });
    const LinkPair& link = model.links.at(0);
    CHECK(link.there.rate == std::map<int, double>{{1, 2e6}, {2, 4e6}});
    CHECK(link.back.rate == link.there.rate);
    CHECK(link.carries_more);
    CHECK(16384 / link.plogp.gap.at(16384).count() == Approx(2e6));
    // Where they have found the rate in the second trial, one flow is measured, too.
    FakeProbes found(fat);
    found.slow_start = 0.1;
    found.slow_trials = 2;  // one inside
    const LinkModel settled = sweep_links(found, input_for(fat), [](Seconds) { return true; });
    CHECK(settled.links.at(0).there.rate == std::map<int, double>{{1, 20e6}, {2, 40e6}});
    CHECK_FALSE(settled.links.at(0).carries_more);
}

TEST_CASE("an uplink carries what all of its links do together", "[link_sweep]") {
    // 2 MB/s each, for packets are lost: four carry 8 of 12.5.
    FakeNetwork lossy{{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, 12.5e6, {12.5e6, 12.5e6, 12.5e6}};
    lossy.far_flow = 2e6;
    FakeProbes probes(lossy);
    const LinkModel model = sweep_links(probes, input_for(lossy), [](Seconds) { return true; });
    for (const LinkPair& link : model.links) CHECK(link.there.most() == Approx(8e6));
    for (const ClusterModel& cluster : model.clusters) {
        CHECK(cluster.uplink_out == Approx(12.5e6));
        CHECK(cluster.uplink_in == Approx(12.5e6));
    }
}

TEST_CASE("thin links are measured for longer: what comes at once must not matter", "[link_sweep]") {
    const auto all = [](Seconds) { return true; };
    const auto durations_of = [&](double uplink) {
        FakeNetwork network{{{0, 1}, {2, 3}, {4, 5}}, 12.5e6, {uplink, uplink, uplink}};
        network.one_way = Seconds(0.5e-3);
        FakeProbes probes(network);
        const LinkModel model = sweep_links(probes, input_for(network), all);
        CHECK(model.between(0, 1)->there.most() == Approx(uplink));
        std::vector<double> durations;
        for (const auto& [flows, options] : probes.lanes) {
            // What waits before a thin link would take longer to arrive than all that is measured.
            const bool is_second = durations.size() == 1;
            if (is_second && uplink < 5e6) CHECK(flows.front().slower == 8);
            durations.push_back(options.duration.count());
        }
        return durations;
    };
    for (const double duration : durations_of(12.5e6)) CHECK(duration == Approx(60e-3));
    // 192 KiB in the 0.6 that count. What is slow is not known before the first flows.
    const std::vector<double> thin = durations_of(2.5e6);
    REQUIRE(thin.size() > 2);
    CHECK(thin.front() == Approx(60e-3));
    CHECK(thin[1] == Approx(180e-3));
    CHECK(std::count_if(thin.begin(), thin.end(), [](double each) { return each < 0.15; }) == 1);
    // However thin: four times as long.
    const std::vector<double> thinnest = durations_of(0.1e6);
    CHECK(*std::max_element(thinnest.begin(), thinnest.end()) == Approx(240e-3));
}

TEST_CASE("thin links of lone hosts, and doubtful ones, are measured for longer, too", "[link_sweep]") {
    const auto all = [](Seconds) { return true; };
    FakeNetwork lone{{{0}, {1}}, 12.5e6, {2.5e6, 2.5e6}};
    lone.one_way = Seconds(0.5e-3);
    FakeProbes lone_probes(lone);
    sweep_links(lone_probes, input_for(lone), all);
    REQUIRE(lone_probes.lanes.size() == 3);  // one first look: the way back is as thin, likely
    for (const std::size_t i : {1u, 2u})
        CHECK(lone_probes.lanes[i].second.duration.count() == Approx(180e-3));
    lone.uplink = {12.5e6, 12.5e6};
    FakeProbes uneven_lone(lone);
    uneven_lone.early_share = 0.8;
    sweep_links(uneven_lone, input_for(lone), all);
    REQUIRE(uneven_lone.lanes.size() > 2);
    CHECK(uneven_lone.lanes[0].second.duration.count() == Approx(60e-3));
    CHECK(uneven_lone.lanes[1].second.duration.count() == Approx(120e-3));

    // One that carries much less than both of its clusters do with others.
    FakeNetwork uneven{{{0, 1}, {2, 3}, {4, 5}}, 12.5e6, {12.5e6, 12.5e6, 12.5e6}};
    uneven.one_way = Seconds(0.5e-3);
    uneven.thin_pair = 2.5e6;
    FakeProbes probes(uneven);
    const LinkModel model = sweep_links(probes, input_for(uneven), all);
    CHECK(model.between(0, 1)->there.most() == Approx(2.5e6));
    std::vector<double> of_pair;
    for (const auto& [flows, options] : probes.lanes) {
        if (uneven.cluster_of(flows[0].from) == 0 && uneven.cluster_of(flows[0].to) == 1)
            of_pair.push_back(options.duration.count());
    }
    REQUIRE(of_pair.size() >= 3);
    CHECK(of_pair.back() == Approx(180e-3));
    CHECK(std::count_if(of_pair.begin(), of_pair.end(), [](double each) { return each < 0.15; }) == 1);
}

TEST_CASE("a near link that is faster than its slower end seemed to be has another trial", "[link_sweep]") {
    FakeNetwork network{{{0, 1}, {2, 3}, {4, 5}}, 12.5e6, {12.5e6, 1e6, 12.5e6}};
    network.one_way = Seconds(0.5e-3);
    FakeProbes probes(network);
    probes.busy_trip = Seconds(4e-3);
    const LinkModel model = sweep_links(probes, input_for(network), [](Seconds) { return true; });
    CHECK(model.between(0, 1)->there.most() == Approx(1e6));
    // The first windows, of 16 KiB for each of two lanes, carry 8.2 MB/s.
    CHECK(model.between(0, 2)->there.rate.at(2) == Approx(12.5e6));
}

TEST_CASE("uneven flows of near links are measured for longer, once", "[link_sweep]") {
    const auto durations_of = [](double early_share) {
        FakeNetwork network{{{0, 1}, {2, 3}}, 25e6, {12.5e6, 12.5e6}};
        network.one_way = Seconds(0.5e-3);
        FakeProbes probes(network);
        probes.early_share = early_share;
        sweep_links(probes, input_for(network), [](Seconds) { return true; });
        std::vector<double> durations;
        for (const auto& [flows, options] : probes.lanes) durations.push_back(options.duration.count());
        return durations;
    };
    const std::vector<double> even = durations_of(0.95);
    REQUIRE(even.size() >= 2);
    for (const double duration : even) CHECK(duration == Approx(60e-3));
    const std::vector<double> uneven = durations_of(0.8);
    REQUIRE(uneven.size() == 2 * even.size());
    for (std::size_t i = 0; i < uneven.size(); ++i) CHECK(uneven[i] == Approx(i % 2 == 0 ? 60e-3 : 120e-3));
}

TEST_CASE("far flows last as long as before: TCP needs most of their time", "[link_sweep]") {
    FakeNetwork far{{{0, 1}, {2, 3}, {4, 5}}, 12.5e6, {1e6, 1e6, 1e6}};
    far.one_way = Seconds(20e-3);
    FakeProbes probes(far);
    sweep_links(probes, input_for(far), [](Seconds) { return true; });
    REQUIRE_FALSE(probes.lanes.empty());
    for (const auto& [flows, options] : probes.lanes) CHECK(options.duration.count() == Approx(7 * 40e-3));
}

TEST_CASE("what there was no time to measure for longer counts where nothing else is known", "[link_sweep]") {
    FakeNetwork network{{{0, 1}, {2, 3}, {4, 5}}, 12.5e6, {2.5e6, 2.5e6, 2.5e6}};
    network.one_way = Seconds(0.5e-3);
    FakeProbes probes(network);
    const auto no_long_one = [](Seconds needed) { return needed < Seconds(100e-3); };
    const LinkModel model = sweep_links(probes, input_for(network), no_long_one);
    CHECK(model.links.size() == 1);
    CHECK(model.links[0].there.most() == Approx(2.5e6));
    CHECK(is_unfinished(model));
}

TEST_CASE("what there was no time to measure for longer waits where the link is known one way",
          "[link_sweep]") {
    FakeNetwork network{{{0, 1}, {2, 3}}, 25e6, {12.5e6, 12.5e6}};
    network.one_way = Seconds(0.5e-3);
    FakeProbes probes(network);
    probes.early_share = 0.8;
    const auto no_long_one = [](Seconds needed) { return needed < Seconds(100e-3); };
    LinkModel model = sweep_links(probes, input_for(network), no_long_one);
    REQUIRE(model.links.size() == 1);
    // A sweep that brings nothing new says again what it would have needed: both looks.
    for (int sweep = 0; sweep < 2; ++sweep) {
        CHECK(model.links[0].there.most() > 0);
        CHECK(model.links[0].back.rate.empty());
        CHECK(is_unfinished(model));
        CHECK(model.next_step.count() == Approx(64e-3 + 124e-3));
        model = sweep_links(probes, input_for(network), no_long_one, model);
    }
    model = sweep_links(
        probes, input_for(network), [](Seconds) { return true; }, model);
    CHECK(model.links[0].back.most() > 0);
    CHECK_FALSE(is_unfinished(model));
}

TEST_CASE("uplinks of near clusters have their turns before single flows", "[link_sweep]") {
    FakeNetwork network{{{0, 1}, {2, 3}, {4, 5}}, 12.5e6, {20e6, 20e6, 20e6}};
    network.one_way = Seconds(0.5e-3);
    FakeProbes probes(network);
    // Inside, eager limits, three links there and back, three uplinks.
    int steps = 2 + 6 + 3;
    const LinkModel model = sweep_links(probes, input_for(network), [&](Seconds) { return --steps >= 0; });
    for (const ClusterModel& cluster : model.clusters) {
        CHECK(cluster.uplink_out == Approx(20e6));
        CHECK(cluster.uplink_in == Approx(20e6));
    }
    CHECK(probes.uplink_trials == 6);
    CHECK(std::all_of(probes.lanes.begin(), probes.lanes.end(),
                      [](const auto& flows_and_options) { return flows_and_options.first.size() == 2; }));
    CHECK(is_unfinished(model));
}

TEST_CASE("both parts of a near flow tell its rate, the later one of a far flow", "[link_sweep]") {
    const auto rate_of = [](Seconds one_way, double early_share) {
        FakeNetwork network{{{0, 1}, {2, 3}, {4, 5}}, 25e6, {12.5e6, 12.5e6, 12.5e6}};
        network.one_way = one_way;
        FakeProbes probes(network);
        probes.early_share = early_share;
        return sweep_links(probes, input_for(network), [](Seconds) { return true; })
            .between(0, 1)
            ->there.most();
    };
    CHECK(rate_of(Seconds(0.5e-3), 0.95) == Approx(12.5e6));
    CHECK(rate_of(Seconds(0.5e-3), 1.05) == Approx(12.5e6));
    CHECK(rate_of(Seconds(5e-3), 0.95) == Approx(1.05 * 12.5e6));
    // Who is much faster at last, again and again, had to wait at first.
    CHECK(rate_of(Seconds(0.5e-3), 0.8) == Approx(1.2 * 12.5e6));
}

TEST_CASE("uplinks of near clusters carry what each does with all others", "[link_sweep]") {
    FakeNetwork near{{{0, 1}, {2}, {3, 4, 5}, {6, 7}}, 25e6, {9e6, 3e6, 3e6, 3e6}};
    near.one_way = Seconds(0.5e-3);
    const auto all = [](Seconds) { return true; };
    FakeProbes probes(near);
    int steps = -1;  // but for the last one
    const LinkModel model = sweep_links(probes, input_for(near), [&](Seconds) { return ++steps >= 0; });
    CHECK_FALSE(is_unfinished(model));
    CHECK(model.clusters[0].uplink_out > 7e6);  // each flow has a fair share, which some cannot use
    for (int c = 1; c < 4; ++c) {
        CHECK(model.clusters[static_cast<std::size_t>(c)].uplink_out == Approx(3e6));
        CHECK(model.clusters[static_cast<std::size_t>(c)].uplink_in == Approx(3e6));
    }
    // A later sweep goes on with those that are missing.
    FakeProbes again(near);
    const LinkModel part = sweep_links(again, input_for(near), [&](Seconds) { return --steps >= 0; });
    CHECK(is_unfinished(part));
    CHECK(sweep_links(again, input_for(near), all, part) == model);
}

TEST_CASE("an uplink whose flows take turns carries their sum, not what each does at its best",
          "[link_sweep]") {
    FakeNetwork five{{{0}, {1}, {2}, {3}, {4}}, 25e6, {3e6, 3e6, 3e6, 3e6, 3e6}};
    for (const Seconds one_way : {Seconds(0.5e-3), Seconds(10e-3)}) {
        five.one_way = one_way;
        FakeProbes probes(five);
        probes.flows_take_turns = true;
        const LinkModel model = sweep_links(probes, input_for(five), [](Seconds) { return true; });
        for (const ClusterModel& cluster : model.clusters) CHECK(cluster.uplink_out == Approx(3e6));
    }
}

TEST_CASE("flows to where little has arrived before are smaller", "[link_sweep]") {
    const FakeNetwork thin{{{0}, {1}, {2}, {3}}, 12.5e6, {12.5e6, 12.5e6, 12.5e6, 1e6}};
    FakeProbes probes(thin);
    const LinkModel model = sweep_links(probes, input_for(thin), [](Seconds) { return true; });
    CHECK(probes.slower_flows.size() == 2);  // two links tell that it is slow, each way: not the others
    for (const Flow& flow : probes.slower_flows) {
        CHECK((flow.from == 3 || flow.to == 3));
        CHECK(flow.slower == 8);
    }
    CHECK(model.between(1, 3)->there.of_one() == Approx(1e6));
}

TEST_CASE("a link whose packets were lost is measured again", "[link_sweep]") {
    const FakeNetwork pair{{{0, 1}, {2, 3}}, 12.5e6, {12.5e6, 12.5e6}};
    FakeProbes probes(pair);
    probes.lossless_window = 1;
    const LinkModel model = sweep_links(probes, input_for(pair), [](Seconds) { return true; });
    CHECK(model.links.at(0).there.rate.at(2) == Approx((1.17 + 0.6) / 2 * 12.5e6));
    CHECK(probes.flow_trials == 1 + 3 * 2);  // inside; then, twice each, two lanes there and back, and one
}

TEST_CASE("of one node only reductions are measured", "[link_sweep]") {
    FakeProbes probes({{{0}}, 12.5e6, {12.5e6}});
    const LinkSurveyInput input{{{0}}, {{Seconds(0)}}};
    const LinkModel model = sweep_links(probes, input, [](Seconds) { return true; });
    REQUIRE(model.clusters.size() == 1);
    CHECK(model.clusters[0] == ClusterModel{.inside = {}, .reduction = 1e-9});
    CHECK(model.links.empty());
}

TEST_CASE("rates of numbers of lanes that were not measured are estimated", "[link_sweep]") {
    const Lanes lanes{{{1, 10.0}, {4, 25.0}}};
    CHECK(lanes.at(1) == 10);
    CHECK(lanes.at(2) == 20);
    CHECK(lanes.at(3) == 25);
    CHECK(lanes.at(9) == 25);
    CHECK(lanes.useful() == 3);
    CHECK(Lanes{{{4, 25.0}}}.at(2) == 0);
    CHECK(Lanes{{{4, 25.0}}}.useful() == 4);
    CHECK(Lanes{{{1, 1.0}, {1 << 24, 1e9}}}.useful() == 1 << 24);
    CHECK(Lanes{{{1, 0.0}, {4, 0.0}}}.useful() == 1);
    CHECK(Lanes{{{2, 0.0}, {4, 8.0}}}.useful() == 4);
    CHECK(Lanes().at(1) == 0);
    CHECK(Lanes().useful() == 0);
}

TEST_CASE("a sweep measures streams where one flow is below all limits", "[link_sweep]") {
    // What one flow carries says nothing of the link.
    FakeNetwork fat{{{0}, {1}}, 100e6, {100e6, 100e6}};
    fat.far_flow = 20e6;
    FakeProbes probes(fat);
    LinkModel model = sweep_links(probes, input_for(fat), [](Seconds) { return true; });
    REQUIRE(model.links.size() == 1);
    CHECK(model.links[0].streams_there.rate == std::map<int, double>{{8, 100e6}});
    CHECK(model.links[0].streams_back.rate == std::map<int, double>{{8, 100e6}});
    CHECK_FALSE(is_unfinished(model));

    // NICs, uplinks, or other pairs of hosts tell that one flow is all that there is.
    FakeProbes full(four_sites());
    model = sweep_links(full, input_for(four_sites()), [](Seconds) { return true; });
    CHECK(full.stream_trials.empty());

    fat.one_way = Seconds(0.5e-3);  // near
    FakeProbes near(fat);
    sweep_links(near, input_for(fat), [](Seconds) { return true; });
    CHECK(near.stream_trials.empty());
}

TEST_CASE("of two hosts alone a later job measures streams before the way back", "[link_sweep]") {
    FakeNetwork fat{{{0}, {1}}, 100e6, {100e6, 100e6}};
    fat.far_flow = 20e6;
    FakeProbes probes(fat);
    const auto sweep = [&](int steps, const LinkModel& known) {
        return sweep_links(
            probes, input_for(fat), [&](Seconds) { return --steps >= 0; }, known);
    };
    const LinkModel first = sweep(2, {});
    REQUIRE(first.links.size() == 1);
    CHECK(first.links[0].back.rate.empty());
    const auto has_streams = [](const LinkModel& model) {
        return !model.links[0].streams_there.rate.empty();
    };
    int steps = 1;
    while (steps < 10 && !has_streams(sweep(steps, first))) ++steps;
    const LinkModel second = sweep(steps, first);
    CHECK(second.links[0].streams_there.rate == std::map<int, double>{{8, 100e6}});
    CHECK(second.links[0].back.rate.empty());
    CHECK(is_unfinished(second));
}

TEST_CASE("where connections cannot be made, a sweep does not ask again", "[link_sweep]") {
    FakeNetwork fat{{{0}, {1}}, 100e6, {100e6, 100e6}};
    fat.far_flow = 20e6;
    FakeProbes probes(fat);
    probes.can_connect = false;
    const LinkModel model = sweep_links(probes, input_for(fat), [](Seconds) { return true; });
    CHECK(model.links[0].streams_there.rate == std::map<int, double>{{8, 0}});
    CHECK_FALSE(is_unfinished(model));
    sweep_links(
        probes, input_for(fat), [](Seconds) { return true; }, model);
    CHECK(probes.stream_trials[8].size() == 1);
}

TEST_CASE("a sweep measures streams where there is time to find that none can be made", "[link_sweep]") {
    FakeNetwork fat{{{0}, {1}}, 100e6, {100e6, 100e6}};
    fat.far_flow = 20e6;
    FakeProbes probes(fat);
    const LinkModel model =
        sweep_links(probes, input_for(fat), [](Seconds step) { return step < Seconds(1); });
    CHECK(probes.stream_trials.empty());
    CHECK(is_unfinished(model));
    CHECK(model.next_step >= Seconds(1));
}

TEST_CASE("flows on their way up say nothing against streams", "[link_sweep]") {
    // Of all lanes together one flow is taken to carry as much, which was not measured.
    FakeNetwork fat{{{0, 1}, {2, 3}}, 100e6, {100e6, 100e6}};
    fat.far_flow = 20e6;
    FakeProbes probes(fat);
    probes.slow_start = 0.1;
    probes.slow_trials = 100;
    const LinkModel model = sweep_links(probes, input_for(fat), [](Seconds) { return true; });
    REQUIRE(model.links.size() == 1);
    CHECK(model.links[0].there.rate.at(2) == Approx(4e6));
    CHECK(model.links[0].streams_there.rate == std::map<int, double>{{8, 100e6}});
}

TEST_CASE("each way of a link is measured alone", "[link_sweep]") {
    // Acknowledgements that wait behind data slow TCP down: links would seem slower than they are.
    for (const FakeNetwork& network :
         {four_sites(), FakeNetwork{{{0}, {1}, {2}}, 12.5e6, {12.5e6, 12.5e6, 12.5e6}}}) {
        FakeProbes probes(network);
        probes.two_way_part = 0.7;
        const LinkModel model = sweep_links(probes, input_for(network), [](Seconds) { return true; });
        FakeProbes undisturbed(network);
        const LinkModel right = sweep_links(undisturbed, input_for(network), [](Seconds) { return true; });
        CHECK(model.links == right.links);
    }
    // Near clusters have their uplinks measured so, too.
    FakeNetwork near{{{0, 1}, {2, 3}, {4, 5}}, 12.5e6, {20e6, 20e6, 20e6}};
    near.one_way = Seconds(0.5e-3);
    near.far_flow = 6e6;  // no link alone fills an uplink
    FakeProbes probes(near);
    probes.two_way_part = 0.7;
    for (const ClusterModel& cluster :
         sweep_links(probes, input_for(near), [](Seconds) { return true; }).clusters) {
        CHECK(cluster.uplink_out == Approx(20e6));
        CHECK(cluster.uplink_in == Approx(20e6));
    }
}

TEST_CASE("one way of all links comes first", "[link_sweep]") {
    FakeNetwork pair{{{0, 1}, {2, 3}}, 12.5e6, {20e6, 20e6}};
    FakeProbes probes(pair);
    int steps = 3;  // inside, eager limits, two lanes there
    const LinkModel part = sweep_links(probes, input_for(pair), [&](Seconds) { return --steps >= 0; });
    REQUIRE(part.links.size() == 1);
    CHECK(part.links[0].there.rate.at(2) == Approx(20e6));
    CHECK(part.links[0].back.rate.empty());
    CHECK(is_unfinished(part));
}

TEST_CASE("one flow back is taken from the other way where all lanes carry as much", "[link_sweep]") {
    FakeNetwork pair{{{0, 1}, {2, 3}}, 12.5e6, {20e6, 20e6}};
    const auto trials = [&](const FakeNetwork& network) {
        FakeProbes probes(network);
        const LinkModel model = sweep_links(probes, input_for(network), [](Seconds) { return true; });
        CHECK(model.links.at(0).back.of_one() == Approx(std::min(12.5e6, model.links[0].back.most())));
        return probes.flow_trials;
    };
    CHECK(trials(pair) == 1 + 3);
    // Not where nothing but lanes on their way up tells of the other way's.
    FakeProbes climbing({{{0, 1}, {2, 3}}, 12.5e6, {12.5e6, 12.5e6}});
    climbing.slow_start = 0.9;
    climbing.slow_trials = 1 + 2;  // inside, two lanes there twice
    const LinkModel model = sweep_links(climbing, input_for(pair), [](Seconds) { return true; });
    CHECK(model.links.at(0).there.of_one() == Approx(0.9 * 12.5e6));
    CHECK(model.links[0].back.of_one() == Approx(12.5e6));
    pair.uplink_in = {14e6, 20e6};
    CHECK(trials(pair) == 1 + 4);
}

TEST_CASE("only flows that climb to the end say that a link carries more", "[link_sweep]") {
    FakeNetwork fat{{{0, 1}, {2, 3}}, 100e6, {100e6, 100e6}};
    fat.far_flow = 20e6;
    FakeProbes probes(fat);
    int steps = 3;  // inside, eager limits, two lanes there
    const LinkModel part = sweep_links(probes, input_for(fat), [&](Seconds) { return --steps >= 0; });
    REQUIRE(part.links.at(0).back.rate.empty());
    CHECK_FALSE(part.links[0].carries_more);
    probes.slow_start = 0.1;
    probes.slow_trials = probes.flow_trials + 1;  // the first one back
    CHECK_FALSE(sweep_links(
                    probes, input_for(fat), [](Seconds) { return true; }, part)
                    .links.at(0)
                    .carries_more);
    // Of both ways it is enough that one of them does.
    FakeProbes climbing(fat);
    climbing.slow_start = 0.1;
    climbing.slow_trials = kAll;
    steps = 4;  // two lanes there twice
    const LinkModel one_way = sweep_links(climbing, input_for(fat), [&](Seconds) { return --steps >= 0; });
    REQUIRE(one_way.links.at(0).back.rate.empty());
    climbing.slow_trials = 0;
    steps = 1;  // back; later ones look again at what was slow there
    const auto has_time = [&](Seconds) { return --steps >= 0; };
    CHECK(sweep_links(climbing, input_for(fat), has_time, one_way).links.at(0).carries_more);
}

TEST_CASE("on near links a slow beginning is no sign that TCP climbs", "[link_sweep]") {
    FakeNetwork pair{{{0, 1}, {2, 3}}, 25e6, {3e6, 3e6}};
    const auto flow_of_two = [&](Seconds one_way) {
        pair.one_way = one_way;
        FakeProbes probes(pair);
        probes.slow_start = 0.9;
        probes.slow_trials = kAll;
        int steps = 4;  // inside, eager limits, two lanes there, once more
        const LinkModel model = sweep_links(probes, input_for(pair), [&](Seconds) { return --steps >= 0; });
        const LinkPair& link = model.links.at(0);
        CHECK(link.there.rate.at(2) == Approx(0.9 * 3e6));
        const double gap = link.plogp.gap.at(16384).count();
        return 16384 / gap;
    };
    CHECK(flow_of_two(Seconds(10e-3)) == Approx(0.9 * 1.5e6));
    CHECK(flow_of_two(Seconds(0.5e-3)) == Approx(0.9 * 3e6));
}

TEST_CASE("flows to a cluster that sends slowly are no smaller for that", "[link_sweep]") {
    FakeNetwork uneven{{{0}, {1}, {2}, {3}}, 12.5e6, {1e6, 12.5e6, 12.5e6, 12.5e6}};
    uneven.uplink_in = {12.5e6, 12.5e6, 12.5e6, 12.5e6};
    FakeProbes probes(uneven);
    sweep_links(probes, input_for(uneven), [](Seconds) { return true; });
    for (const Flow& flow : probes.slower_flows) CHECK(flow.from == 0);
    CHECK(!probes.slower_flows.empty());
}
