// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace laple;

TEST_CASE("groups are numbered by their smallest rank, members ascend") {
    const Topology topology = Topology::from_clusters(6, {{4, 1}, {5, 0, 2}, {3}});
    CHECK(topology.level_count() == 1);
    CHECK(topology.group_count(0) == 3);
    CHECK(topology.group_of(0, 5) == 0);
    CHECK(topology.group_of(0, 4) == 1);
    CHECK(topology.group_of(0, 3) == 2);
    const auto members = topology.members(0, 0);
    CHECK(std::vector<Rank>(members.begin(), members.end()) == std::vector<Rank>{0, 2, 5});
    CHECK(describe(topology) == "6 ranks in 3 clusters (3 2 1)");
    CHECK(topology == Topology::from_clusters(6, {{3}, {2, 0, 5}, {1, 4}}));
}

TEST_CASE("levels that say nothing are dropped") {
    CHECK(Topology::from_clusters(3, {{0, 1, 2}}).is_flat());
    CHECK(Topology::from_labels(4, {{1, 1, 2, 2}, {5, 5, 6, 6}}).level_count() == 1);
    CHECK(Topology::from_labels(4, {{1, 1, 2, 2}, {5, 6, 7, 8}}).level_count() == 1);
    CHECK(Topology::from_labels(4, {{1, 2, 3, 4}}).level_count() == 1);
    CHECK(Topology::from_labels(5, {{1, 1, 1, 2, 2}, {5, 5, 6, 7, 7}}).level_count() == 2);
    CHECK(Topology::flat(7).is_flat());
}

TEST_CASE("clusters are told from the inside out") {
    const Topology topology = Topology::from_labels(6, {{0, 0, 0, 0, 1, 1}, {0, 0, 1, 1, 2, 2}});
    CHECK(describe(topology) == "6 ranks in 3 clusters (2 2 2) in 2 groups (4 2)");
    CHECK(describe(Topology::flat(2)) == "2 ranks in one cluster");
}

TEST_CASE("what is no partition is refused") {
    CHECK_THROWS_AS(Topology::from_clusters(3, {{0, 1}}), Error);
    CHECK_THROWS_AS(Topology::from_clusters(3, {{0, 1}, {1, 2}}), Error);
    CHECK_THROWS_AS(Topology::from_clusters(3, {{0, 1}, {2, 3}}), Error);
    CHECK_THROWS_AS(Topology::from_labels(3, {{0, 1}}), Error);
    CHECK_THROWS_AS(Topology::from_labels(4, {{0, 0, 1, 1}, {0, 1, 1, 2}}), Error);
}

TEST_CASE("a communicator sees its own ranks") {
    const Topology world = Topology::from_labels(8, {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}});
    CHECK(world.restricted_to(std::vector<Rank>{0, 1, 2}).level_count() == 1);  // within one site: its nodes
    CHECK(world.restricted_to(std::vector<Rank>{4, 5}).is_flat());
    const Topology reversed = world.restricted_to(std::vector<Rank>{7, 6, 5, 4, 3, 2, 1, 0});
    CHECK(reversed.group_of(0, 0) == 0);
    CHECK(reversed.group_of(0, 7) == 1);
    CHECK_THROWS_AS(world.restricted_to(std::vector<Rank>{8}), Error);
}
