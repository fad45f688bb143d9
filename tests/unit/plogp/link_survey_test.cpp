// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/link_survey.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace laple;

namespace {

/// A network that shares its limits fairly: NICs and uplinks, each way.
struct FakeNetwork {
    std::vector<std::vector<int>> clusters;
    double nic = 0;
    std::vector<double> uplink;
    Seconds one_way{10e-3};
    Seconds lan{50e-6};

    int cluster_of(int node) const {
        for (std::size_t c = 0; c < clusters.size(); ++c) {
            if (std::count(clusters[c].begin(), clusters[c].end(), node) > 0) return static_cast<int>(c);
        }
        return -1;
    }
};

class FakeProbes final : public LinkProbes {
  public:
    explicit FakeProbes(FakeNetwork network) : network_(std::move(network)) {}

    std::vector<PlogpSamples> links(const std::vector<Link>& links) override {
        std::set<int> clusters;
        std::vector<PlogpSamples> samples;
        for (const Link& link : links) {
            const int a = network_.cluster_of(link.a);
            const int b = network_.cluster_of(link.b);
            // What shares an uplink disturbs each other.
            CHECK(clusters.insert(a).second);
            CHECK((a == b || clusters.insert(b).second));
            CHECK(link.options.is_far == (a != b));
            ++measured_links;
            auto& one = samples.emplace_back();
            const Seconds latency = a == b ? network_.lan : network_.one_way;
            for (const Bytes bytes : {0u, 1024u, 16384u, 1048576u}) {
                const Seconds gap(1e-6 + static_cast<double>(bytes) / network_.nic);
                one.round_trip[bytes] = 2 * latency + gap + Seconds(1e-6);
                one.flood[bytes] = gap;
            }
        }
        return samples;
    }

    std::vector<FlowRate> rates(const std::vector<Flow>& flows, const FlowOptions& options) override {
        CHECK(options.duration > Seconds(0));
        CHECK(options.message_bytes > 0);
        CHECK(options.window_bytes >= options.message_bytes);
        ++flow_trials;
        std::map<std::pair<std::string, int>, int> users;
        const auto limits = [&](const Flow& flow) {
            std::vector<std::pair<std::string, int>> all{{"out", flow.from}, {"in", flow.to}};
            const int from = network_.cluster_of(flow.from);
            const int to = network_.cluster_of(flow.to);
            if (from != to) {
                all.emplace_back("uplink out", from);
                all.emplace_back("uplink in", to);
            }
            return all;
        };
        for (const Flow& flow : flows) {
            CHECK(flow.from != flow.to);
            for (const auto& limit : limits(flow)) ++users[limit];
        }
        std::vector<FlowRate> rates;
        for (const Flow& flow : flows) {
            double rate = network_.nic;
            for (const auto& limit : limits(flow)) {
                const bool is_nic = limit.first == "out" || limit.first == "in";
                const double capacity =
                    is_nic ? network_.nic : network_.uplink[static_cast<std::size_t>(limit.second)];
                rate = std::min(rate, capacity / users[limit]);
            }
            // The first time somebody measures, TCP is still slow.
            const double part = flow_trials == 1 ? slow_start : 1;
            rates.push_back({part * rate / 2, part * rate});
            if (part == 1) rates.back().early = rate;
        }
        return rates;
    }

    std::vector<double> reductions(const std::vector<int>& nodes) override {
        return std::vector<double>(nodes.size(), 1e-9);
    }

    int measured_links = 0;
    int flow_trials = 0;
    double slow_start = 1;

  private:
    FakeNetwork network_;
};

LinkSurveyInput input_for(const FakeNetwork& network) {
    LinkSurveyInput input{network.clusters, {}};
    for (std::size_t a = 0; a < network.clusters.size(); ++a) {
        auto& row = input.latency.emplace_back(network.clusters.size(), network.one_way);
        row[a] = network.lan;
    }
    return input;
}

/// Sites of 5, 4, 2 and 1 hosts of 12.5 MB/s.
FakeNetwork four_sites() {
    return {{{0, 1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10}, {11}}, 12.5e6, {50e6, 37.5e6, 12.5e6, 6e6}};
}

}  // namespace

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

TEST_CASE("rates that still grow are measured again", "[link_survey]") {
    const FakeNetwork pair{{{0, 1}, {2, 3}}, 12.5e6, {25e6, 25e6}};
    FakeProbes probes(pair);
    probes.slow_start = 0.3;
    const LinkModel model = survey_links(probes, input_for(pair));
    CHECK(model.clusters[0].nic_out == Approx(12.5e6));
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
