// SPDX-License-Identifier: BSD-3-Clause
#include "model/model_file.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace laple;

namespace {

/// Hosts a and b, two ranks each, one cluster each.
Model two_hosts() {
    Model model;
    model.topology = Topology::from_clusters(4, {{0, 1}, {2, 3}});
    model.nodes = {{"a", {0, 1}}, {"b", {2, 3}}};
    return model;
}

std::string problem(const Model& model, const std::vector<Node>& nodes, const std::vector<Rank>& in_world,
                    int world_size) {
    try {
        model_for(model, nodes, in_world, world_size, "file");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a file is a map or a model", "[model_file]") {
    const Topology expected = Topology::from_clusters(3, {{0, 2}, {1}});
    CHECK(parse_model_file("cluster 0 process 0 2 cluster 1 process 1", "f").topology == expected);
    CHECK(parse_model_file(R"( {"format":"laple-model-1","ranks":3,"levels":[[[0,2],[1]]]})", "f").topology ==
          expected);
    CHECK_THROWS_AS(parse_model_file("", "f"), Error);
    CHECK_THROWS_AS(parse_model_file(R"({"format":"laple-latencies-1"})", "f"), Error);
}

TEST_CASE("a map that names its hosts follows them", "[model_file]") {
    const std::string map =
        "# made by hand\n# host a: 0 1\n# host b: 2 3\ncluster 0 process 0 1\ncluster 1 process 2 3\n";
    const Model model = parse_model_file(map, "f");
    CHECK(model.nodes == two_hosts().nodes);
    CHECK(model_for(model, {{"a", {0, 2}}, {"b", {1, 3}}}, {0, 1, 2, 3}, 4, "f").topology ==
          Topology::from_clusters(4, {{0, 2}, {1, 3}}));
    CHECK_THAT(problem(model, {{"a", {0, 1}}, {"c", {2, 3}}}, {0, 1, 2, 3}, 4),
               Catch::Contains("does not know c and describes b"));
}

TEST_CASE("clusters that divide a host hold for the same ranks only", "[model_file]") {
    const Model model =
        parse_model_file("# host a: 0 1 2 3\ncluster 0 process 0 1\ncluster 1 process 2 3\n", "f");
    CHECK(model_for(model, {{"a", {0, 1, 2, 3}}}, {0, 1, 2, 3}, 4, "f").topology == model.topology);
    CHECK_THAT(problem(model, {{"a", {0, 1, 2}}}, {0, 1, 2}, 3), Catch::Contains("describes 4 ranks"));
    CHECK_THAT(problem(model, {{"b", {0, 1, 2, 3}}}, {0, 1, 2, 3}, 4),
               Catch::Contains("has rank 0 on a, but in this job it is on b"));
}

TEST_CASE("a model of this job's hosts gives its topology, in any order of ranks", "[model_file]") {
    CHECK(model_for(two_hosts(), {{"a", {0, 1}}, {"b", {2, 3}}}, {0, 1, 2, 3}, 4, "f").topology ==
          two_hosts().topology);
    // Round robin, and seen from a communicator whose ranks are reversed.
    const Topology round_robin = Topology::from_clusters(4, {{0, 2}, {1, 3}});
    CHECK(model_for(two_hosts(), {{"a", {0, 2}}, {"b", {1, 3}}}, {0, 1, 2, 3}, 4, "f").topology ==
          round_robin);
    CHECK(model_for(two_hosts(), {{"b", {0, 2}}, {"a", {1, 3}}}, {3, 2, 1, 0}, 4, "f").topology ==
          round_robin);
    // More ranks on the same hosts.
    CHECK(model_for(two_hosts(), {{"a", {0, 1, 2}}, {"b", {3}}}, {0, 1, 2, 3}, 4, "f").topology ==
          Topology::from_clusters(4, {{0, 1, 2}, {3}}));
}

TEST_CASE("a map may take its rates from a model", "[model_file]") {
    // Three clusters of a host each, 5 ms apart, but the last one 9 ms from the first.
    Model rates;
    rates.topology = Topology::from_clusters(6, {{0, 1}, {2, 3}, {4, 5}});
    rates.nodes = {{"a", {0, 1}}, {"b", {2, 3}}, {"c", {4, 5}}};
    rates.inside.assign(3, Seconds(1e-5));
    rates.between = LatencyMatrix(3);
    rates.between.set(0, 1, Seconds(5e-3));
    rates.between.set(1, 2, Seconds(5e-3));
    rates.between.set(0, 2, Seconds(9e-3));
    rates.links.clusters.resize(3);
    for (int c = 0; c < 3; ++c) {
        ClusterModel& cluster = rates.links.clusters[static_cast<std::size_t>(c)];
        cluster.nic_out = 1e6 * (c + 1);
        cluster.is_uplink_sure = true;
        cluster.inside.gap = Curve({{0, Seconds(1e-6)}, {1024, Seconds(1e-3)}});
    }
    for (const auto& [a, b] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
        LinkPair& link = rates.links.link(a, b);
        link.plogp.latency = Seconds(1e-3 * (a + b));
        link.there.rate[1] = 10.0 * a + b;
        link.back.rate[1] = 10.0 * b + a;
    }
    const auto with = [&](const std::vector<std::vector<Rank>>& clusters) {
        Model map;
        map.topology = Topology::from_clusters(6, clusters);
        return with_rates(map, rates);
    };
    SECTION("the same clusters in another order") {
        const Model model = with({{4, 5}, {0, 1}, {2, 3}});  // numbered by their first ranks
        CHECK(model.nodes == rates.nodes);
        CHECK(model.links == rates.links);
        CHECK(model.between == rates.between);
        CHECK(model.inside == rates.inside);
    }
    SECTION("two of them joined") {
        const Model model = with({{0, 1}, {2, 3, 4, 5}});
        CHECK(model.inside == std::vector<Seconds>{Seconds(1e-5), Seconds(5e-3)});
        CHECK(model.between.at(0, 1) == Seconds(5e-3));
        CHECK(model.links.clusters[1].inside.latency == rates.links.between(1, 2)->plogp.latency);
        CHECK(model.links.clusters[1].nic_out == 2e6);
        CHECK(model.links.clusters[0].is_uplink_sure);
        CHECK_FALSE(model.links.clusters[1].is_uplink_sure);  // that of one does not tell of both
        REQUIRE(model.links.links.size() == 1);
        CHECK(model.links.links[0].there.rate.at(1) == 1);
    }
    SECTION("one of them divided") {
        const Model model = with({{0}, {1, 4, 5}, {2, 3}});
        CHECK(model.between.at(0, 1) == Seconds(1e-5));
        CHECK(model.inside[1] == Seconds(9e-3));
        REQUIRE(model.links.links.size() == 3);
        CHECK_FALSE(model.links.clusters[0].is_uplink_sure);
        CHECK_FALSE(model.links.clusters[1].is_uplink_sure);
        CHECK(model.links.clusters[2].is_uplink_sure);
        CHECK(model.links.between(0, 1)->there.rate.at(1) == 1e6);
        CHECK(model.links.between(1, 2)->back.rate.at(1) == 10);
    }
    SECTION("no rates") {
        rates.links = {};
        CHECK(with({{0, 1}, {2, 3, 4, 5}}).links == LinkModel());
        rates.between = LatencyMatrix(0);
        CHECK(with({{0, 1}, {2, 3, 4, 5}}).between.nodes() == 0);
    }
}

TEST_CASE("a part of the job must be where the model says", "[model_file]") {
    CHECK(model_for(two_hosts(), {{"a", {0}}, {"b", {1}}}, {1, 2}, 4, "f").topology == two_hosts().topology);
    CHECK_THAT(problem(two_hosts(), {{"b", {0}}, {"a", {1}}}, {1, 2}, 4),
               Catch::Contains("has rank 1 on a, but in this job it is on b"));
    CHECK_THAT(problem(two_hosts(), {{"a", {0}}, {"b", {1}}}, {1, 2}, 5),
               Catch::Contains("describes 4 ranks, but this job has 5"));
}

TEST_CASE("a map without hosts is checked by its number of ranks", "[model_file]") {
    Model map = two_hosts();
    map.nodes.clear();
    CHECK(model_for(map, {{"x", {0, 1, 2, 3}}}, {0, 1, 2, 3}, 4, "f").topology == map.topology);
    CHECK_THAT(problem(map, {{"x", {0, 1, 2}}}, {0, 1, 2}, 3),
               Catch::Contains("describes 4 ranks, but this job has 3"));
    CHECK_THAT(problem(two_hosts(), {{"a", {0, 1}}, {"c", {2, 3}}}, {0, 1, 2, 3}, 4),
               Catch::Contains("does not know c and describes b"));
}
