// SPDX-License-Identifier: BSD-3-Clause
#include "model/model.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "model/describe.hpp"
#include "model/render.hpp"
#include "model/unfinished.hpp"

using namespace laple;

namespace {

/// Two sites: hosts a-1, a-2 and b-1, with two ranks each.
Model two_sites() {
    Model model;
    model.date = "2026-01-02T03:04:05Z";
    model.version = "0.1.0";
    model.mpi = "MPICH Version: 4.0.2";
    model.tolerance = 0.3;
    model.topology = Topology::from_clusters(6, {{0, 1, 2, 3}, {4, 5}});
    model.nodes = {{"a-1", {0, 1}}, {"a-2", {2, 3}}, {"b-1", {4, 5}}};
    model.node_levels = {{"node", {{0, 1}, {2, 3}, {4, 5}}}, {"package", {{0, 1}, {2}, {3}, {4}, {5}}}};
    model.inside = {Seconds(50e-6), Seconds(0)};
    model.between = LatencyMatrix(2);
    model.between.set(0, 1, Seconds(10e-3));
    model.matrix = LatencyMatrix(3);
    model.matrix.set(0, 1, Seconds(50e-6));
    model.matrix.set(0, 2, Seconds(10e-3));
    model.matrix.set(1, 2, Seconds(11e-3));
    model.pairs = 3;
    model.links.clusters.resize(2);
    model.links.clusters[0].inside.latency = Seconds(45e-6);
    model.links.clusters[0].inside.gap = Curve({{0, Seconds(1e-6)}, {1024, Seconds(9e-6)}});
    model.links.clusters[0].nic_out = 12.5e6;
    model.links.clusters[1].uplink_in = 25e6;
    model.links.clusters[1].is_uplink_sure = true;
    model.links.clusters[1].reserve = 131072;
    model.links.clusters[1].is_reserve_known = true;
    model.links.clusters[0].is_reserve_known = true;  // and is 0
    model.links.clusters[1].burst = 143360;
    model.links.clusters[1].eager_limit = 16384;
    model.links.sweeps = 2;
    model.links.next_step = Seconds(0.5);
    model.links.job.ranks = 3;
    model.links.job.is_unfinished = true;
    model.links.job.allowance = Seconds(0.25);
    model.links.job.times["bcast"] = Curve({{8, Seconds(0.01)}, {1024, Seconds(0.02)}});
    model.links.job.times["barrier"] = Curve({{0, Seconds(0.03)}});
    model.links.job.calls = {{"bcast", 8, 2, "flat/binomial", {Seconds(0.01), Seconds(0.02)}, Seconds(0.03)}};
    LinkPair link;
    link.a = 0;
    link.b = 1;
    link.plogp.latency = Seconds(10e-3);
    link.plogp.gap = Curve({{0, Seconds(1e-6)}, {65536, Seconds(5e-3)}});
    link.plogp.cold_gap = Curve({{0, Seconds(1e-6)}, {1048576, Seconds(1)}});
    link.there.rate = {{1, 12.5e6}, {2, 25e6}};
    link.streams_there.rate = {{4, 30e6}, {8, 50e6}};
    link.streams_back.rate = {{8, 0}};
    link.back.rate = {{1, 10e6}};
    link.carries_more = true;
    link.there.reached = 10e6;
    model.links.links.push_back(link);
    model.links.warnings = {"a warning"};
    return model;
}

Model read(const std::string& text) {
    return parse_model(JsonDocument::parse(text, "model.json"));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const auto found = text.find(what);
    REQUIRE(found != std::string::npos);
    return text.replace(found, what.size(), by);
}

}  // namespace

TEST_CASE("a model is written and read again", "[model]") {
    CHECK(read(model_text(two_sites())) == two_sites());
}

TEST_CASE("a model of hosts whose names are no UTF-8 is written", "[model]") {
    Model model = two_sites();
    model.nodes[0].host = "m\xfcnchen";
    CHECK(read(model_text(model)).nodes[0].host == "m\xef\xbf\xbdnchen");
    CHECK_THAT(unfinished_text(model.nodes, {}), Catch::Contains("m\xef\xbf\xbdnchen"));
}

TEST_CASE("a model may hold a topology alone", "[model]") {
    const Model model = read(R"({"format": "laple-model-1", "ranks": 3, "levels": [[[0, 2], [1]]]})");
    CHECK(model.topology == Topology::from_clusters(3, {{0, 2}, {1}}));
    CHECK(model.nodes.empty());
    CHECK(model.node_levels.empty());
    CHECK(model.links.clusters.empty());
    CHECK(model.topology.cluster_count() == 2);
}

TEST_CASE("what a model does not know stays unknown when it is written and read", "[model]") {
    const auto text = GENERATE(values<std::string>({
        // Several clusters, but nothing in or between them.
        R"({"format": "laple-model-1", "ranks": 3, "levels": [[[0, 2], [1]]]})",
        // A latency without a curve.
        R"({"format": "laple-model-1", "ranks": 1, "levels": [], "clusters": [{"inside": {"latency": 1}}]})",
    }));
    INFO(text);
    const Model model = read(text);
    CHECK(read(model_text(model)) == model);
}

TEST_CASE("the mean of two latencies is between them", "[model]") {
    const Model model = read(R"({"format": "laple-model-1", "ranks": 2, "levels": [[[0], [1]]],
        "between": [[0, 1.5e15], [1.7e15, 0]]})");
    CHECK(model.between.at(0, 1).count() == Approx(1.6e15));
}

TEST_CASE("a job may have had no time to measure anything", "[model]") {
    for (const bool is_unfinished : {false, true}) {
        Model model = two_sites();
        model.links.job = {};
        model.links.job.ranks = 3;
        model.links.job.is_unfinished = is_unfinished;
        CHECK(read(model_text(model)) == model);
    }
}

TEST_CASE("a job may have nothing but an allowance", "[model]") {
    Model model = two_sites();
    model.links.job = {};
    model.links.job.ranks = 3;
    model.links.job.allowance = Seconds(0.02);
    CHECK(read(model_text(model)).links.job.allowance == Seconds(0.02));
}

TEST_CASE("a matrix takes no memory before the file has its rows", "[model]") {
    std::string clusters = "[0]";
    for (int rank = 1; rank < 1 << 16; ++rank) clusters += ",[" + std::to_string(rank) + "]";
    const std::string text = R"({"format": "laple-model-1", "ranks": 65536, "levels": [[)" + clusters + "]]";
    CHECK_THROWS_WITH(read(text + R"(, "between": []})"), Catch::Contains("does not have 65536 rows"));
}

TEST_CASE("what is wrong in a model is named with its place", "[model]") {
    const std::string good = model_text(two_sites());
    const auto broken = GENERATE(values<std::pair<std::string, std::string>>({
        {R"("name":"a-2","ranks":[2,3])", R"("name":"a-2","ranks":[2,2])"},
        {R"("name":"a-2","ranks":[2,3])", R"("name":"a-2","ranks":[2,6])"},
        {R"("name":"a-2","ranks":[2,3])", R"("name":"a-2","ranks":[])"},
        {R"("name":"a-2","ranks":[2,3])", R"("name":"a-2","ranks":[2])"},
        {R"("name":"a-2","ranks":[2,3])", R"("name":7,"ranks":[2,3])"},
        {R"({"kind":"node","groups":[[0,1],)", R"({"kind":"node","groups":[[1],)"},
        {R"("inside":[)", R"("inside":[1,)"},
        {R"("between":[[0.0,0.01])", R"("between":[[0.0,"x"])"},
        {R"("between":[[0.0,0.01])", R"("between":[[0.0,-1])"},
        {R"("between":[[0.0,0.01])", R"("between":[[0.0])"},
        {R"("between":[0,1])", R"("between":[0,2])"},
        {R"("between":[0,1])", R"("between":[1,0])"},
        {R"("between":[0,1])", R"("between":[1,1])"},
        {R"("between":[0,1])", R"("between":[0])"},
        {R"("gap":[[0,1e-06],[65536,0.005]])", R"("gap":[[65536,1e-06],[0,0.005]])"},
        {R"("gap":[[0,1e-06],[65536,0.005]])", R"("gap":[[0,1e-06],[1.5,0.005]])"},
        {R"("gap":[[0,1e-06],[65536,0.005]])", R"("gap":[[0,1e-06],[1e300,0.005]])"},
        {R"("gap":[[0,1e-06],[65536,0.005]])", R"("gap":[[0,1e-06],[65536,1e300]])"},
        {R"("gap":[[0,1e-06],[65536,0.005]])", R"("gap":[[0,-1e-06]])"},
        {R"("gap":[[0,1e-06],[65536,0.005]])", R"("gap":7)"},
        {R"("there":[[1,)", R"("there":[[0,)"},
        {R"("nic_out":12500000.0)", R"("nic_out":-1)"},
        {R"("nic_out":12500000.0)", R"("nic_out":1e300)"},
        {R"("pairs":3)", R"("pairs":-3)"},
        {R"("reserve":131072.0)", R"("reserve":-1)"},
        {R"("burst":143360.0)", R"("burst":-1)"},
        {R"("eager_limit":16384.0)", R"("eager_limit":-1)"},
        {R"("algorithm":"flat/binomial")", R"("algorithm":7)"},
        {R"("bytes":8,)", R"("bytes":8.5,)"},
        {R"("root":2)", R"("root":200)"},
        {R"("times":[0.01,)", R"("times":[-0.01,)"},
        {R"("times":[0.01,0.02])", R"("times":[])"},
        {R"("times":[0.01,0.02])", R"("times":[0])"},
        {R"("times":[0.01,0.02])", R"("times":[1e300])"},
        {R"("predicted":0.03)", R"("predicted":5e-324)"},
        {R"("native":{)", R"("native":{"ranks":400},"x":{)"},
        {R"("native":{)", R"("native":{"ranks":4,"bcast":[]},"x":{)"},
        {R"("unfinished":true)", R"("unfinished":1)"},
        {R"("allowance":0.25)", R"("allowance":-1)"},
        {R"("sweeps":2)", R"("sweeps":-1)"},
        {R"("next_step":0.5)", R"("next_step":-1)"},
        {R"("clusters":[{)", R"("clusters":[{},{)"},
    }));
    INFO(broken.second);
    try {
        read(replaced(good, broken.first, broken.second));
        FAIL("was taken");
    } catch (const Error& error) {
        CHECK_THAT(error.what(), Catch::StartsWith("model.json:1: /") && Catch::Contains("; "));
    }
}

TEST_CASE("what is measured inside a cluster is measured between typical hosts", "[model]") {
    Model model;
    model.topology = Topology::from_clusters(4, {{0, 1, 2, 3}});
    model.nodes = {{"a", {0}}, {"b", {1}}, {"c", {2}}, {"d", {3}}};
    model.inside = {Seconds(50e-6)};
    model.between = LatencyMatrix(1);
    CHECK(link_survey_input(model).inside(0) == Flow{0, 1});
    model.matrix = LatencyMatrix(4);
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < a; ++b) model.matrix.set(a, b, Seconds(a == 1 ? 10e-6 : 50e-6));
    }
    CHECK(link_survey_input(model).inside(0) == Flow{0, 2});
    Findings found;
    found.clusters = {{0, 1, 2, 3}};
    found.between = LatencyMatrix(1);
    found.inside = model.inside;
    found.typical = {{0, {{1, 3}}}};
    CHECK(link_survey_input(found).inside(0) == Flow{1, 3});
}

TEST_CASE("a job on the same hosts finds its own ranks in a model", "[model]") {
    const Model model = two_sites();
    SECTION("nothing has changed") {
        CHECK(adapted_to(model, model.nodes, "m") == model);
    }
    SECTION("other ranks, the far site first: clusters change their numbers, links their directions") {
        const std::vector<Node> nodes{{"b-1", {0}}, {"a-2", {1, 3}}, {"a-1", {2}}};
        const Model other = adapted_to(model, nodes, "m");
        CHECK(other.nodes == nodes);
        CHECK(other.topology == Topology::from_clusters(4, {{0}, {1, 2, 3}}));
        CHECK(other.node_levels == std::vector<NodeLevel>{{"node", {{0}, {1, 3}, {2}}}});
        CHECK(other.inside == std::vector<Seconds>{Seconds(0), Seconds(50e-6)});
        CHECK(other.between.at(0, 1) == Seconds(10e-3));
        CHECK(other.matrix.at(0, 1) == Seconds(11e-3));  // b-1, a-2
        CHECK(other.links.clusters[1].nic_out == 12.5e6);
        CHECK(other.links.clusters[0].uplink_in == 25e6);
        REQUIRE(other.links.links.size() == 1);
        CHECK(other.links.links[0].back.rate == model.links.links[0].there.rate);
        CHECK(other.links.links[0].there.rate == model.links.links[0].back.rate);
        CHECK(other.links.links[0].back.reached == 10e6);
        CHECK(other.links.links[0].streams_back.rate == model.links.links[0].streams_there.rate);
        CHECK(other.links.links[0].streams_there.rate == model.links.links[0].streams_back.rate);
        CHECK(read(model_text(other)) == other);
    }
    SECTION("on some of the hosts") {
        const std::vector<Node> nodes{{"b-1", {0, 1}}, {"a-2", {2}}};
        const Model other = adapted_to(model, nodes, "m");
        CHECK(other.topology == Topology::from_clusters(3, {{0, 1}, {2}}));
        CHECK(other.inside == std::vector<Seconds>{Seconds(0), Seconds(50e-6)});
        CHECK(other.matrix.at(0, 1) == Seconds(11e-3));
        CHECK(other.links.clusters[0].uplink_in == 25e6);
        CHECK(other.links.links.at(0).back.rate == model.links.links[0].there.rate);
        CHECK(other.links.job.ranks == 0);
        CHECK(read(model_text(other)) == other);
    }
    SECTION("on one site of them") {
        const std::vector<Node> nodes{{"a-2", {0}}, {"a-1", {1}}};
        const Model other = adapted_to(model, nodes, "m");
        CHECK(other.topology.is_flat());
        CHECK(other.inside == std::vector<Seconds>{Seconds(50e-6)});
        REQUIRE(other.links.clusters.size() == 1);
        CHECK(other.links.clusters[0].nic_out == 12.5e6);
        CHECK(other.links.links.empty());
        CHECK(other.between.nodes() == 1);
        CHECK(read(model_text(other)) == other);
    }
    SECTION("one host of each cluster, which are clusters no more") {
        Model deep;
        deep.topology = Topology::from_labels(6, {{0, 0, 0, 0, 1, 1}, {0, 0, 1, 1, 2, 2}});
        deep.nodes = {{"a", {0}}, {"a2", {1}}, {"b", {2}}, {"b2", {3}}, {"c", {4}}, {"c2", {5}}};
        deep.inside = {Seconds(1e-5), Seconds(2e-5), Seconds(3e-5)};
        deep.between = LatencyMatrix(3);
        deep.between.set(0, 1, Seconds(1e-3));
        deep.between.set(0, 2, Seconds(5e-3));
        deep.between.set(1, 2, Seconds(6e-3));
        deep.links.clusters.resize(3);
        deep.links.clusters[0].nic_out = 1e6;
        deep.links.link(0, 1).plogp.latency = Seconds(1e-3);
        deep.links.link(0, 2).plogp.latency = Seconds(5e-3);
        const Model other = adapted_to(deep, {{"a", {0}}, {"b", {1}}, {"c", {2}}}, "m");
        CHECK(other.topology == Topology::from_clusters(3, {{0, 1}, {2}}));
        CHECK(other.inside == std::vector<Seconds>{Seconds(1e-3), Seconds(3e-5)});
        CHECK(other.between.at(0, 1) == Seconds(5e-3));
        CHECK(other.links.clusters[0].nic_out == 1e6);
        CHECK(other.links.clusters[0].inside.latency == Seconds(1e-3));
        CHECK(other.links.between(0, 1)->plogp.latency == Seconds(5e-3));
    }
    SECTION("a level that divides a host is no more") {
        Model inner = model;
        inner.topology = Topology::from_labels(6, {{0, 0, 0, 0, 1, 1}, {0, 1, 2, 2, 3, 3}});
        inner.inside.assign(4, Seconds(1e-6));
        inner.between = LatencyMatrix(4);
        inner.links = {};
        const Model other = adapted_to(inner, {{"a-1", {0}}, {"a-2", {1}}, {"b-1", {2}}}, "m");
        CHECK(other.topology == Topology::from_clusters(3, {{0, 1}, {2}}));
        CHECK(other.node_levels.empty());
        CHECK(other.inside.empty());
        CHECK(other.between.nodes() == 0);
    }
}

TEST_CASE("a model of other hosts is refused, with the difference", "[model]") {
    const auto problem = [](const std::vector<Node>& nodes) -> std::string {
        try {
            adapted_to(two_sites(), nodes, "model.json");
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(problem({{"a-1", {0}}, {"a-2", {1}}, {"c-1", {2}}}),
               Catch::Contains("model.json: does not know c-1 and describes b-1, not in this job"));
    CHECK_THAT(problem({{"a-1", {0}, "17"}, {"a-2", {1}}, {"b-1", {2}}}),
               Catch::Contains("does not know a-1 17 and describes a-1, not in this job"));
}

TEST_CASE("an unfinished measurement is taken up by hosts, not by ranks", "[model]") {
    const auto nodes = two_sites().nodes;
    const RememberedSurvey::Latencies known{{{0, 1}, Seconds(50e-6)}, {{0, 2}, Seconds(10e-3)}};
    const auto document = JsonDocument::parse(unfinished_text(nodes, known), "part.json");
    CHECK(parse_unfinished(document, nodes) == known);
    CHECK_THROWS_WITH(parse_model(document), Catch::Contains("laple-discover --resume"));
    // a-1 is node 1 now, and b-1 is gone.
    CHECK(parse_unfinished(document, {{"c-1", {0}}, {"a-1", {1}}, {"a-2", {2}}}) ==
          RememberedSurvey::Latencies{{{1, 2}, Seconds(50e-6)}});
    // Another host of that name.
    CHECK(parse_unfinished(document, {{"a-1", {0}, "17"}, {"a-2", {1}}}).empty());
    for (const char* wrong :
         {R"([[0,0,1]])", R"([[0,9,1]])", R"([[0,1]])", R"([[0,1,-1]])", R"([[0,1,61]])", "7"}) {
        const std::string text =
            std::string(R"({"format":"laple-latencies-1","hosts":["a-1","a-2"],"latencies":)") + wrong + "}";
        CHECK_THROWS_AS(parse_unfinished(JsonDocument::parse(text, "part.json"), nodes), Error);
    }
}

TEST_CASE("what is known is not asked for again, but when it is in doubt", "[model]") {
    class Asks final : public Survey {
      public:
        std::vector<ProbeRound> next() override {
            ++calls;
            if (calls == 1) return {{{0, 1}}, {{0, 2}, {1, 3}}};
            if (calls == 2) return {{{0, 1}}};
            return {};
        }
        void add(const PairLatency& measured) override { added.push_back(measured.pair); }
        Findings findings() const override { return {}; }
        int calls = 0;
        std::vector<NodePair> added;
    };
    auto inner = std::make_unique<Asks>();
    Asks& asks = *inner;
    RememberedSurvey survey(std::move(inner), {{{0, 1}, Seconds(1)}, {{1, 3}, Seconds(2)}});
    CHECK(survey.next() == std::vector<ProbeRound>{{{0, 2}}});
    CHECK(asks.added == std::vector<NodePair>{{0, 1}, {1, 3}});
    survey.add({{2, 0}, Seconds(5)});
    survey.add({{0, 2}, Seconds(4)});
    CHECK(survey.next() == std::vector<ProbeRound>{{{0, 1}}});  // asked twice: in doubt
    survey.add({{0, 1}, Seconds(3)});
    CHECK(survey.next().empty());
    CHECK(survey.known() ==
          RememberedSurvey::Latencies{{{0, 1}, Seconds(1)}, {{0, 2}, Seconds(4)}, {{1, 3}, Seconds(2)}});
}

TEST_CASE("pictures name every host, each cluster around its own", "[model]") {
    const std::string svg = svg_text(two_sites());
    const std::string dot = dot_text(two_sites());
    for (const char* host : {"a-1", "a-2", "b-1"}) {
        CHECK_THAT(svg, Catch::Contains(host));
        CHECK_THAT(dot, Catch::Contains(host));
    }
    CHECK(svg.find("cluster 0") < svg.find("a-1"));
    CHECK(svg.find("a-2") < svg.find("cluster 1"));
    CHECK(svg.find("cluster 1") < svg.find("b-1"));
    CHECK_THAT(dot, Catch::Contains("n0 -- n2 [label=\"10.0 ms\""));
    Model hostile = two_sites();
    hostile.nodes[0].host = "<a&\"b\\>";
    CHECK_THAT(svg_text(hostile), Catch::Contains("&lt;a&amp;&quot;b\\&gt;"));
    CHECK_THAT(dot_text(hostile), Catch::Contains(R"(<a&\"b\\>)"));
}

TEST_CASE("pictures say how many ranks a host has, where some have several", "[model]") {
    for (const std::string& picture : {svg_text(two_sites()), dot_text(two_sites())}) {
        CHECK_THAT(picture, Catch::Contains("6 ranks on 3 hosts in 2 clusters"));
        CHECK_THAT(picture, Catch::Contains("a-1 (2 ranks)"));
    }
    Model single = two_sites();
    single.topology = Topology::from_clusters(3, {{0, 1}, {2}});
    single.nodes = {{"a-1", {0}}, {"a-2", {1}}, {"b-1", {2}}};
    CHECK_THAT(svg_text(single), Catch::Contains(">3 ranks in 2 clusters (2 1)<") && !Catch::Contains("(1 "));
}

TEST_CASE("a model's ranks are on its hosts, in any order", "[model]") {
    const Machine machine = machine_of(two_sites());
    CHECK(machine == Machine(two_sites().topology, {0, 0, 1, 1, 2, 2}));
    Model dealt = two_sites();
    dealt.nodes = {{"a-1", {0, 2}}, {"a-2", {1, 3}}, {"b-1", {4, 5}}};
    CHECK(machine_of(dealt) == Machine(two_sites().topology, {0, 1, 0, 1, 2, 2}));
    // A file without hosts, and one host that its map divides: every rank counts as a host.
    Model unknown = two_sites();
    unknown.nodes = {};
    CHECK(machine_of(unknown).has_single_ranks());
    unknown.nodes = {{"laptop", {0, 1, 2, 3, 4, 5}}};
    CHECK(machine_of(unknown).has_single_ranks());
    unknown.nodes = {{"laptop", {0, 1, 2, 4}}, {"b-1", {3}}, {"b-2", {5}}};
    CHECK(machine_of(unknown).host_count() == 6);
}

TEST_CASE("pictures of a map without hosts name its ranks", "[model]") {
    Model map;
    map.topology = Topology::from_clusters(3, {{0, 2}, {1}});
    const std::string svg = svg_text(map);
    CHECK(svg.find("rank 2") < svg.find("cluster 1"));
    CHECK(svg.find("cluster 1") < svg.find("rank 1"));
    CHECK_THAT(dot_text(map), Catch::Contains("rank 0"));
}

TEST_CASE("a model is told in words", "[model]") {
    const std::string text = describe_model(two_sites());
    CHECK_THAT(text, Catch::StartsWith("6 ranks on 3 hosts in 2 clusters (2 1 hosts)\n"
                                       "ranks on hosts of cluster 0: a-1 (0, 1), a-2 (2, 3)\n"
                                       "ranks on hosts of cluster 1: b-1 (4, 5)\n"));
    CHECK_THAT(text, Catch::Contains("\n1 level inside hosts: package (5 groups)\n"));
    CHECK_THAT(text, Catch::Contains("12.5 MB/s"));
    CHECK_THAT(text, Catch::Contains("2 lanes, at least 25 MB/s (one: 12.5 MB/s)"));
    CHECK_THAT(text, Catch::Contains("note: a warning"));
    Model single = two_sites();
    single.links.job.memory.flood_gap = {};
    single.links.job.memory.gap = Curve({{0, Seconds(1e-6)}, {1 << 20, Seconds(1e-3)}});
    CHECK_THAT(describe_model(single), Catch::Contains("while all are at work"));
    Model divided = two_sites();
    divided.nodes = {{"laptop", {0, 1, 2, 4}}, {"b-1", {3}}, {"b-2", {5}}};
    CHECK_THAT(describe_model(divided), Catch::Contains("ranks 0, 1, 2, 4 of host laptop are in several "
                                                        "clusters: each counts as a host of its own\n"));
    Model large;
    large.topology = Topology::flat(1 << 24);
    CHECK(describe_model(large) == "16777216 ranks in one cluster\n");
    Model dealt;
    dealt.topology = Topology::flat(13);
    dealt.nodes = {{"a", {0, 2, 4, 6, 8}}, {"b", {1, 3, 5, 7}}, {"c", {9, 10, 11, 12}}};
    CHECK_THAT(describe_model(dealt),
               Catch::Contains("cluster 0: a (0, 2, 4 and 2 more), b (1, 3, 5, 7), c (9-12)\n"));
    CHECK(format_rate(999) == "999 B/s");
    CHECK(format_rate(12.5e9) == "12.5 GB/s");
}
