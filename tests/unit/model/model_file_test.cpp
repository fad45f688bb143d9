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
