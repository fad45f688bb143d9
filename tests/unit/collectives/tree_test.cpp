// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/trees/tree.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include <catch2/catch.hpp>

#include "collectives/algorithms/registry.hpp"
#include "collectives/algorithms/tree.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/trees/hierarchy.hpp"
#include "collectives/trees/host_tree.hpp"
#include "collectives/trees/striped_trees.hpp"
#include "support/random_topology.hpp"

using namespace laple;

namespace {

const Shape kShapes[] = {{Shape::Kind::flat},
                         {Shape::Kind::binomial},
                         {Shape::Kind::chain},
                         {Shape::Kind::kary, 2},
                         {Shape::Kind::kary, 5}};

int depth_of(Shape shape, int size) {
    const ShapeLinks links = links_of(shape, size);
    int deepest = 0;
    for (int i = 0; i < size; ++i) {
        int depth = 0;
        for (int at = i; at != 0; at = links.parent[static_cast<std::size_t>(at)]) ++depth;
        deepest = std::max(deepest, depth);
    }
    return deepest;
}

/// The tree of the algorithm of that name, a broadcast's.
Tree tree_of(const char* name, const Machine& machine, Rank root) {
    return parse_algorithm(name, Collective::bcast)
        ->tree(request_for(Collective::bcast, 8, root), machine)
        .value();
}

/// Whether every rank is reached from `root` once.
bool reaches_all(const Tree& tree, Rank root) {
    const auto depth = depths_below(tree, root);
    std::size_t edges = 0;
    for (const auto& children : tree.children) edges += children.size();
    return std::count(depth.begin(), depth.end(), -1) == 0 && edges + 1 == tree.children.size();
}

}  // namespace

TEST_CASE("every shape links every member once and keeps subtrees consecutive") {
    for (const Shape shape : kShapes) {
        for (int size = 1; size <= 70; ++size) {
            const ShapeLinks links = links_of(shape, size);
            Tree tree = Tree::lone_root(size, 0);
            int edges = 0;
            for (int parent = 0; parent < size; ++parent) {
                for (const int child : links.children[static_cast<std::size_t>(parent)]) {
                    REQUIRE(links.parent[static_cast<std::size_t>(child)] == parent);
                    tree.link(parent, child);
                    ++edges;
                }
            }
            CHECK(edges == size - 1);
            CHECK(keeps_rank_order(tree));
            const auto depth = depths_below(tree, 0);
            CHECK(std::count(depth.begin(), depth.end(), -1) == 0);
        }
    }
}

TEST_CASE("shapes have the depth that gives them their name") {
    CHECK(depth_of({Shape::Kind::flat}, 20) == 1);
    CHECK(depth_of({Shape::Kind::chain}, 20) == 19);
    CHECK(depth_of({Shape::Kind::binomial}, 16) == 4);
    CHECK(depth_of({Shape::Kind::binomial}, 17) == 4);  // 16's subtree is a lone child of the root
    CHECK(depth_of({Shape::Kind::kary, 2}, 15) == 3);
    CHECK(links_of({Shape::Kind::binomial}, 8).children[0] == std::vector<int>{4, 2, 1});
    CHECK(links_of({Shape::Kind::kary, 5}, 31).children[0].size() == 5);
}

TEST_CASE("the links of one member are those that all links say", "[tree]") {
    for (const Shape shape :
         {Shape{Shape::Kind::flat}, Shape{Shape::Kind::binomial}, Shape{Shape::Kind::chain},
          Shape{Shape::Kind::kary, 2}, Shape{Shape::Kind::kary, 5}}) {
        for (int size = 1; size <= 40; ++size) {
            const ShapeLinks all = links_of(shape, size);
            for (int member = 0; member < size; ++member) {
                INFO(name_of(shape) << " of " << size << ", member " << member);
                const RankLinks links = links_of_member(shape, size, member);
                CHECK(links.parent == all.parent[static_cast<std::size_t>(member)]);
                CHECK(links.children == all.children[static_cast<std::size_t>(member)]);
            }
        }
    }
}

TEST_CASE("the tree drawn in hierarchy.hpp") {
    const Machine machine(Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}}));
    const Tree tree = tree_of("flat/binomial", machine, 5);
    CHECK(tree.children[5] == std::vector<Rank>{0, 7, 6});
    CHECK(tree.children[0] == std::vector<Rank>{2, 1});
    CHECK(tree.children[2] == std::vector<Rank>{3});
    CHECK(tree.children[7] == std::vector<Rank>{4});
}

TEST_CASE("each link between clusters carries the message once, from one rank or from several") {
    const Machine machine(
        Topology::from_clusters(16, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}));
    for (const char* name : {"flat/chain", "multi-leader-flat/chain", "multi-leader-chain/chain",
                             "binomial/flat", "flat/native"}) {
        const Tree tree = tree_of(name, machine, 6);
        int between = 0;
        for (Rank rank = 0; rank < 16; ++rank) {
            for (const Rank child : tree.children[static_cast<std::size_t>(rank)]) {
                between += machine.cluster_of_rank(rank) != machine.cluster_of_rank(child) ? 1 : 0;
            }
        }
        INFO(name);
        CHECK(between == 3);
    }
}

TEST_CASE("a spread chain is one pipeline: nobody sends twice") {
    const Machine machine(Topology::from_clusters(10, {{0, 3, 5}, {1, 2, 9, 8}, {4, 6, 7}}));
    const Tree tree = tree_of("multi-leader-chain/chain", machine, 2);
    for (const auto& children : tree.children) CHECK(children.size() <= 1);
    const Tree spread = tree_of("multi-leader-flat/chain", machine, 2);
    for (const auto& children : spread.children) CHECK(children.size() <= 2);
}

TEST_CASE("the long way comes first") {
    const Machine machine(Topology::from_labels(8, {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}}));
    const Tree tree = tree_of("flat/flat/flat", machine, 0);
    CHECK(tree.children[0] == std::vector<Rank>{4, 2, 1});  // other site, other node, same node
}

TEST_CASE("the lanes drawn in striped_trees.hpp") {
    const Machine machine(Topology::from_clusters(7, {{0, 1, 2, 3}, {4, 5, 6}}));
    const std::vector<std::vector<Rank>> ways{
        {0, 1, 2, 3, 4, 5, 6}, {0, 2, 3, 1, 5, 6, 4}, {0, 3, 1, 2, 6, 4, 5}};
    const StripedTrees trees(machine, {{0, 1}}, {Shape::Kind::chain}, 0);
    for (std::size_t lane = 0; lane < ways.size(); ++lane) {
        const Tree tree = trees.tree(static_cast<int>(lane));
        const auto& way = ways[lane];
        for (std::size_t i = 0; i + 1 < way.size(); ++i)
            CHECK(tree.children[static_cast<std::size_t>(way[i])] == std::vector{way[i + 1]});
    }
}

TEST_CASE("lanes share the work: all flows between clusters, and all NICs alike") {
    const std::vector<Shape> shapes{{Shape::Kind::chain}, {Shape::Kind::kary, 2}};
    for (const auto& [here, there] : {std::pair{8, 8}, std::pair{7, 8}, std::pair{9, 8}, std::pair{4, 2}}) {
        std::vector<std::vector<Rank>> clusters(3);
        for (Rank rank = 0; rank < here + 2 * there; ++rank)
            clusters[rank < here ? 0 : rank < here + there ? 1 : 2].push_back(rank);
        const Machine machine(Topology::from_clusters(here + 2 * there, clusters));
        const SendOrder order{{0, 1}, {1, 2}};
        const Rank root = 1;
        for (const Shape shape : shapes) {
            const int lanes = (here - 1) * there * there;
            std::vector<int> sent(static_cast<std::size_t>(machine.rank_count()));
            std::set<std::pair<Rank, Rank>> flows[2];
            const StripedTrees trees(machine, order, shape, root);
            for (int lane = 0; lane < lanes; ++lane) {
                const Tree tree = trees.tree(lane);
                const auto depth = depths_below(tree, root);
                REQUIRE(std::count(depth.begin(), depth.end(), -1) == 0);
                CHECK(tree.children[root].size() == 1);
                for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
                    sent[static_cast<std::size_t>(rank)] +=
                        static_cast<int>(tree.children[static_cast<std::size_t>(rank)].size());
                    for (const Rank child : tree.children[static_cast<std::size_t>(rank)]) {
                        const int from = machine.cluster_of_rank(rank);
                        if (from != machine.cluster_of_rank(child)) flows[from].insert({rank, child});
                    }
                }
            }
            INFO(here << " and " << there << " ranks, " << name_of(shape));
            CHECK(flows[0].size() == static_cast<std::size_t>((here - 1) * there));
            CHECK(flows[1].size() == static_cast<std::size_t>(there * there));
            for (const auto& cluster : clusters) {
                for (const Rank rank : cluster) {
                    if (rank == root) continue;
                    const bool is_last = cluster == clusters.back();
                    CHECK(sent[static_cast<std::size_t>(rank)] * there ==
                          (is_last ? lanes * (there - 1) : lanes * there));
                }
            }
        }
    }
}

TEST_CASE("in a lane each hears from who sends to it, and all hear") {
    const Machine machine(
        Topology::from_clusters(16, {{0, 1, 2, 3, 4}, {5, 6, 7}, {8}, {9, 10, 11, 12, 13, 14, 15}}));
    for (const Rank root : {8, 10}) {
        const int home = machine.cluster_of_rank(root);
        const SendOrder order =
            home == 3 ? SendOrder{{3, 0}, {0, 1}, {0, 2}} : SendOrder{{2, 1}, {2, 3}, {2, 0}};
        const StripedTrees trees(machine, order, {Shape::Kind::kary, 2}, root);
        for (int lane = 0; lane < 40; ++lane) {
            const Tree tree = trees.tree(lane);
            const auto depth = depths_below(tree, root);
            CHECK(std::count(depth.begin(), depth.end(), -1) == 0);
            for (Rank rank = 0; rank < machine.rank_count(); ++rank)
                CHECK(trees.links(lane, rank).parent == tree.parent[static_cast<std::size_t>(rank)]);
        }
    }
}

TEST_CASE("ranks of a host are below its leader, and the way to other hosts comes first") {
    // Two clusters of two hosts of four and of two ranks.
    const Machine machine(Topology::from_clusters(12, {{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}),
                          {0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3});
    const Tree tree = tree_of("flat/flat", machine, 1);
    CHECK(tree.children[1] == std::vector<Rank>{6, 4, 3, 2});  // cluster, host, own host
    CHECK(tree.children[3] == std::vector<Rank>{0});
    CHECK(tree.children[4] == std::vector<Rank>{5});
    CHECK(tree.children[6] == std::vector<Rank>{10, 8, 7});
    CHECK(reaches_all(tree, 1));
}

TEST_CASE("the tree drawn in host_tree.hpp") {
    const Machine machine(Topology::flat(8), {0, 1, 0, 1, 0, 1, 0, 1});
    const Shape binomial = shape_on_host(false);
    CHECK(leader_on(machine, 1) == 1);
    CHECK(leader_on(machine, 1, 2) == 5);
    CHECK(leader_on(machine, 1, 6) == 5);
    CHECK(leader_on(machine, 1, 6, 3) == 3);
    CHECK(leader_on(machine, 1, 6, 4) == 5);
    CHECK(links_on_host(machine, 5, 5, binomial).parent == Tree::kNoParent);
    CHECK(links_on_host(machine, 5, 5, binomial).children == std::vector<Rank>{1, 7});
    CHECK(links_on_host(machine, 1, 5, binomial).parent == 5);
    CHECK(links_on_host(machine, 1, 5, binomial).children == std::vector<Rank>{3});
    CHECK(links_on_host(machine, 7, 5, binomial).parent == 5);
    for (Rank leader = 0; leader < 8; ++leader) {
        for (const Rank rank : machine.ranks_on(machine.host_of(leader)))
            CHECK(links_on_host(machine, rank, leader, shape_on_host(true)).children.size() <= 2);
    }
}

TEST_CASE("of each host one rank has edges to others, in every kind of tree") {
    std::mt19937_64 random(4);
    for (int trial = 0; trial < 60; ++trial) {
        const Machine machine = test::random_machine(random, 12);
        const Rank root = static_cast<Rank>(random() % static_cast<std::size_t>(machine.rank_count()));
        for (const char* name : {"flat/binomial", "multi-leader-chain/chain", "chain/flat/binary"}) {
            const Tree tree = tree_of(name, machine, root);
            INFO(name << ", " << describe(machine) << ", root " << root);
            REQUIRE(reaches_all(tree, root));
            std::set<Rank> entered;  // from other hosts
            for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
                const Rank parent = tree.parent[static_cast<std::size_t>(rank)];
                bool is_outwards = true;
                for (const Rank child : tree.children[static_cast<std::size_t>(rank)]) {
                    const bool leaves = machine.host_of(child) != machine.host_of(rank);
                    CHECK((is_outwards || !leaves));
                    is_outwards = leaves;
                    if (!leaves) continue;
                    // Who sends to other hosts hears from another host, or is the root.
                    CHECK((rank == root || machine.host_of(parent) != machine.host_of(rank)));
                }
                if (parent >= 0 && machine.host_of(parent) != machine.host_of(rank)) entered.insert(rank);
            }
            CHECK(static_cast<int>(entered.size()) == machine.host_count() - 1);
        }
    }
}

TEST_CASE("in lanes the ranks of a host lead it in turn") {
    const Machine machine(Topology::from_clusters(12, {{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}),
                          {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
    const StripedTrees trees(machine, {{0, 1}}, {Shape::Kind::chain}, 0);
    std::vector<int> led(12, 0);
    for (int lane = 0; lane < 12; ++lane) {
        const Tree tree = trees.tree(lane);
        REQUIRE(reaches_all(tree, 0));
        for (Rank rank = 0; rank < 12; ++rank) {
            const Rank parent = tree.parent[static_cast<std::size_t>(rank)];
            CHECK(trees.links(lane, rank).parent == parent);
            CHECK(trees.links(lane, rank).children == tree.children[static_cast<std::size_t>(rank)]);
            if (parent >= 0 && machine.host_of(parent) != machine.host_of(rank))
                ++led[static_cast<std::size_t>(rank)];
        }
    }
    CHECK(led == std::vector<int>{0, 0, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6});
}
