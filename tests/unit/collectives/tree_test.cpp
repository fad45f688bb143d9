// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/tree.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <catch2/catch.hpp>

#include "collectives/hierarchy.hpp"
#include "collectives/striped_trees.hpp"

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

TEST_CASE("the tree drawn in hierarchy.hpp") {
    const Topology topology = Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}});
    const Tree tree = hierarchical_tree(topology, parse_algorithm("flat/binomial", Collective::bcast), 5);
    CHECK(tree.children[5] == std::vector<Rank>{0, 7, 6});
    CHECK(tree.children[0] == std::vector<Rank>{2, 1});
    CHECK(tree.children[2] == std::vector<Rank>{3});
    CHECK(tree.children[7] == std::vector<Rank>{4});
}

TEST_CASE("each link between clusters carries the message once, from one rank or from several") {
    const Topology topology =
        Topology::from_clusters(16, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}});
    for (const char* name :
         {"flat/chain", "spread-flat/chain", "spread-chain/chain", "binomial/flat", "flat/native"}) {
        const Tree tree = hierarchical_tree(topology, parse_algorithm(name, Collective::bcast), 6);
        int between = 0;
        for (Rank rank = 0; rank < 16; ++rank) {
            for (const Rank child : tree.children[static_cast<std::size_t>(rank)]) {
                between += topology.group_of(0, rank) != topology.group_of(0, child) ? 1 : 0;
            }
        }
        INFO(name);
        CHECK(between == 3);
    }
}

TEST_CASE("a spread chain is one pipeline: nobody sends twice") {
    const Topology topology = Topology::from_clusters(10, {{0, 3, 5}, {1, 2, 9, 8}, {4, 6, 7}});
    const Tree tree =
        hierarchical_tree(topology, parse_algorithm("spread-chain/chain", Collective::bcast), 2);
    for (const auto& children : tree.children) CHECK(children.size() <= 1);
    const Tree spread =
        hierarchical_tree(topology, parse_algorithm("spread-flat/chain", Collective::bcast), 2);
    for (const auto& children : spread.children) CHECK(children.size() <= 2);
}

TEST_CASE("the long way comes first") {
    const Topology topology = Topology::from_labels(8, {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}});
    const Tree tree = hierarchical_tree(topology, parse_algorithm("flat/flat/flat", Collective::bcast), 0);
    CHECK(tree.children[0] == std::vector<Rank>{4, 2, 1});  // other site, other node, same node
}

TEST_CASE("the lanes drawn in striped_trees.hpp") {
    const Topology topology = Topology::from_clusters(7, {{0, 1, 2, 3}, {4, 5, 6}});
    const std::vector<std::vector<Rank>> ways{
        {0, 1, 2, 3, 4, 5, 6}, {0, 2, 3, 1, 5, 6, 4}, {0, 3, 1, 2, 6, 4, 5}};
    const StripedTrees trees(topology, {{0, 1}}, {Shape::Kind::chain}, 0);
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
        const Topology topology = Topology::from_clusters(here + 2 * there, clusters);
        const SendOrder order{{0, 1}, {1, 2}};
        const Rank root = 1;
        for (const Shape shape : shapes) {
            const int lanes = (here - 1) * there * there;
            std::vector<int> sent(static_cast<std::size_t>(topology.size()));
            std::set<std::pair<Rank, Rank>> flows[2];
            const StripedTrees trees(topology, order, shape, root);
            for (int lane = 0; lane < lanes; ++lane) {
                const Tree tree = trees.tree(lane);
                const auto depth = depths_below(tree, root);
                REQUIRE(std::count(depth.begin(), depth.end(), -1) == 0);
                CHECK(tree.children[root].size() == 1);
                for (Rank rank = 0; rank < topology.size(); ++rank) {
                    sent[static_cast<std::size_t>(rank)] +=
                        static_cast<int>(tree.children[static_cast<std::size_t>(rank)].size());
                    for (const Rank child : tree.children[static_cast<std::size_t>(rank)]) {
                        const int from = topology.group_of(0, rank);
                        if (from != topology.group_of(0, child)) flows[from].insert({rank, child});
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
    const Topology topology =
        Topology::from_clusters(16, {{0, 1, 2, 3, 4}, {5, 6, 7}, {8}, {9, 10, 11, 12, 13, 14, 15}});
    for (const Rank root : {8, 10}) {
        const int home = topology.group_of(0, root);
        const SendOrder order =
            home == 3 ? SendOrder{{3, 0}, {0, 1}, {0, 2}} : SendOrder{{2, 1}, {2, 3}, {2, 0}};
        const StripedTrees trees(topology, order, {Shape::Kind::kary, 2}, root);
        for (int lane = 0; lane < 40; ++lane) {
            const Tree tree = trees.tree(lane);
            const auto depth = depths_below(tree, root);
            CHECK(std::count(depth.begin(), depth.end(), -1) == 0);
            for (Rank rank = 0; rank < topology.size(); ++rank)
                CHECK(trees.links(lane, rank).parent == tree.parent[static_cast<std::size_t>(rank)]);
        }
    }
}
