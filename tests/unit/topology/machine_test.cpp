// SPDX-License-Identifier: BSD-3-Clause
#include "topology/machine.hpp"

#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "support/random_topology.hpp"

using namespace laple;

namespace {

std::vector<Rank> listed(std::span<const Rank> ranks) {
    return {ranks.begin(), ranks.end()};
}

const std::vector<std::vector<Rank>> kTwoClusters{{0, 1, 2, 3}, {4, 5, 6, 7}};

}  // namespace

TEST_CASE("a machine of which nothing is said of hosts has one for each rank") {
    const Machine machine(Topology::from_clusters(5, {{0, 2, 4}, {1, 3}}));
    CHECK(machine.rank_count() == 5);
    CHECK(machine.host_count() == 5);
    CHECK(machine.cluster_count() == 2);
    CHECK(machine.has_single_ranks());
    for (Rank rank = 0; rank < 5; ++rank) {
        CHECK(machine.host_of(rank) == rank);
        CHECK(listed(machine.ranks_on(rank)) == std::vector{rank});
        CHECK(machine.cluster_of_rank(rank) == rank % 2);
    }
    CHECK(machine.ranks_in(0) == std::vector<Rank>{0, 2, 4});
    CHECK(machine.most_ranks_on_a_host(0) == 1);
    CHECK_FALSE(machine.has_consecutive_ranks());
    CHECK(describe(machine) == describe(machine.topology()));
}

TEST_CASE("a flat topology is one cluster of all hosts") {
    const Machine machine(Topology::flat(6), {7, 7, 7, 2, 2, 9});
    CHECK(machine.host_count() == 3);
    CHECK(machine.cluster_count() == 1);
    CHECK(machine.groups() == std::vector<std::vector<int>>{{0}});
    CHECK_FALSE(machine.has_groups());
    CHECK(listed(machine.hosts_in(0)) == std::vector<Host>{0, 1, 2});
    CHECK(machine.ranks_in(0) == std::vector<Rank>{0, 1, 2, 3, 4, 5});
    CHECK(machine.most_ranks_on_a_host(0) == 3);
    CHECK(machine.has_consecutive_ranks());
    CHECK(describe(machine) == "6 ranks on 3 hosts in one cluster");
    CHECK(describe(Machine(Topology::flat(2), {0, 0})) == "2 ranks on 1 host in one cluster");
}

TEST_CASE("a machine may have no ranks") {
    const Machine machine(Topology::flat(0));
    CHECK(machine.rank_count() == 0);
    CHECK(machine.host_count() == 0);
    CHECK(machine.cluster_count() == 1);
    CHECK(machine.group_of(0) == 0);
}

TEST_CASE("ranks in blocks, and dealt round the hosts of a cluster") {
    const Machine blocks(Topology::from_clusters(8, kTwoClusters), {30, 30, 10, 10, 20, 20, 5, 5});
    CHECK(blocks.host_count() == 4);
    CHECK(listed(blocks.ranks_on(1)) == std::vector<Rank>{2, 3});
    CHECK(listed(blocks.hosts_in(1)) == std::vector<Host>{2, 3});
    CHECK(blocks.host_of(7) == 3);
    CHECK(blocks.cluster_of(3) == 1);
    CHECK(blocks.has_consecutive_ranks());
    CHECK_FALSE(blocks.has_single_ranks());

    const Machine dealt(Topology::from_clusters(8, kTwoClusters), {0, 1, 0, 1, 2, 3, 2, 3});
    CHECK(listed(dealt.ranks_on(1)) == std::vector<Rank>{1, 3});
    CHECK(dealt.host_of(6) == 2);
    CHECK_FALSE(dealt.has_consecutive_ranks());

    // Over all hosts: clusters are interleaved, too.
    const Machine round(Topology::from_clusters(8, {{0, 1, 4, 5}, {2, 3, 6, 7}}), {0, 1, 2, 3, 0, 1, 2, 3});
    CHECK(listed(round.ranks_on(2)) == std::vector<Rank>{2, 6});
    CHECK(listed(round.hosts_in(1)) == std::vector<Host>{2, 3});
    CHECK(round.ranks_in(1) == std::vector<Rank>{2, 3, 6, 7});
    CHECK_FALSE(round.has_consecutive_ranks());
    CHECK(blocks != dealt);
}

TEST_CASE("hosts are numbered by their smallest ranks, and may have unequal numbers of ranks") {
    const Machine machine(Topology::from_clusters(7, {{1, 4}, {0, 2, 3, 5, 6}}), {8, 1, 4, 8, 1, 8, 4});
    CHECK(machine.host_of(0) == 0);
    CHECK(machine.host_of(1) == 1);
    CHECK(machine.host_of(2) == 2);
    CHECK(listed(machine.ranks_on(0)) == std::vector<Rank>{0, 3, 5});
    CHECK(machine.cluster_of_rank(0) == 0);
    CHECK(machine.cluster_of_rank(4) == 1);
    CHECK(listed(machine.hosts_in(0)) == std::vector<Host>{0, 2});
    CHECK(machine.most_ranks_on_a_host(0) == 3);
    CHECK(machine.most_ranks_on_a_host(1) == 2);
}

TEST_CASE("hosts in two clusters, and ranks without a host, are refused") {
    const Topology topology = Topology::from_clusters(8, kTwoClusters);
    CHECK_THROWS_WITH(Machine(topology, {0, 0, 0, 1, 1, 2, 2, 2}), Catch::Contains("ranks 3 and 4"));
    CHECK_THROWS_AS(Machine(topology, {0, 0, 0, 0}), Error);
    CHECK_THROWS_AS(Machine(topology, {0, 0, 0, 0, 1, 1, 1, 1, 1}), Error);
    // One host may not have ranks in two groups of any level.
    const Topology levels = Topology::from_labels(8, {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}});
    CHECK_THROWS_AS(Machine(levels, {0, 0, 0, 0, 1, 1, 1, 1}), Error);
    CHECK_NOTHROW(Machine(levels, {0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST_CASE("groups are those of the outermost level, as lists of clusters") {
    const Topology levels =
        Topology::from_labels(10, {{0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4}});
    const Machine machine(levels, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4});
    CHECK(machine.has_groups());
    CHECK(machine.groups() == std::vector<std::vector<int>>{{0, 1}, {2, 3, 4}});
    CHECK(machine.group_of(1) == 0);
    CHECK(machine.group_of(4) == 1);
    CHECK(machine.has_consecutive_ranks());
    CHECK(describe(machine) == "10 ranks on 5 hosts in 5 clusters (1 1 1 1 1 hosts) in 2 groups (2 3 hosts)");
    const Machine one_level(Topology::from_clusters(8, kTwoClusters));
    CHECK(one_level.groups() == std::vector<std::vector<int>>{{0}, {1}});
    CHECK_FALSE(one_level.has_groups());
}

TEST_CASE("a communicator of some ranks sees their hosts") {
    const Machine machine(Topology::from_clusters(8, kTwoClusters), {0, 0, 1, 1, 2, 2, 3, 3});
    const Machine part = machine.restricted_to(std::vector<Rank>{7, 2, 3, 6, 0});
    CHECK(part.rank_count() == 5);
    CHECK(part.host_count() == 3);
    CHECK(part.host_of(0) == part.host_of(3));
    CHECK(part.host_of(1) == part.host_of(2));
    CHECK(listed(part.ranks_on(0)) == std::vector<Rank>{0, 3});
    CHECK(listed(part.hosts_in(1)) == std::vector<Host>{1, 2});
    CHECK_FALSE(part.has_consecutive_ranks());
    CHECK(machine.restricted_to(std::vector<Rank>{0, 2, 4, 6}).has_single_ranks());
    const Machine one = machine.restricted_to(std::vector<Rank>{4, 5});
    CHECK(one.cluster_count() == 1);
    CHECK(one.host_count() == 1);
    CHECK(machine.restricted_to(std::vector<Rank>{0, 1, 2, 3, 4, 5, 6, 7}) == machine);
    CHECK_THROWS_AS(machine.restricted_to(std::vector<Rank>{0, 8}), Error);
}

TEST_CASE("what is asked of a machine fits together, on random ones") {
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 200; ++trial) {
        const Machine machine = test::random_machine(random, 12);
        int ranks = 0;
        Rank before = -1;
        for (Host host = 0; host < machine.host_count(); ++host) {
            const auto here = machine.ranks_on(host);
            REQUIRE_FALSE(here.empty());
            CHECK(here.front() > before);
            before = here.front();
            ranks += static_cast<int>(here.size());
            CHECK(static_cast<int>(here.size()) <= machine.most_ranks_on_a_host(machine.cluster_of(host)));
            for (const Rank rank : here) {
                CHECK(machine.host_of(rank) == host);
                CHECK(machine.cluster_of_rank(rank) == machine.cluster_of(host));
            }
        }
        CHECK(ranks == machine.rank_count());
        int clusters = 0;
        for (std::size_t group = 0; group < machine.groups().size(); ++group) {
            for (const int cluster : machine.groups()[group]) {
                CHECK(machine.group_of(cluster) == static_cast<int>(group));
                ++clusters;
            }
        }
        CHECK(clusters == machine.cluster_count());
    }
}
