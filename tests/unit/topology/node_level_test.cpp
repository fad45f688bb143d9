// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "topology/node.hpp"
#include "topology/topology_file.hpp"

using namespace laple;

namespace {

using Groups = std::vector<std::vector<Rank>>;

Placement place(int package, int numa, int l3) {
    return {.package = package, .numa = numa, .l3 = l3};
}

const std::vector<Node> kTwoHosts{{"a", {0, 2}}, {"b", {1, 3}}};

std::vector<NodeLevel> read(const std::string& levels, int ranks) {
    const auto document =
        JsonDocument::parse(R"({"format": "f", "node_levels": )" + levels + "}", "model.json");
    return parse_node_levels(JsonReader(document, "f"), ranks);
}

}  // namespace

TEST_CASE("hosts are a level when there are several, and one has several ranks", "[node-level]") {
    CHECK(node_levels_of(kTwoHosts, {}) == std::vector<NodeLevel>{{"node", {{0, 2}, {1, 3}}}});
    CHECK(node_levels_of({{"a", {0, 1}}, {"b", {2}}}, {}) == std::vector<NodeLevel>{{"node", {{0, 1}, {2}}}});
    CHECK(node_levels_of({{"a", {0}}, {"b", {1}}}, {}).empty());
    CHECK(node_levels_of({{"a", {0, 1}}}, {}).empty());
}

TEST_CASE("hosts are divided by package, by NUMA node, and by L3", "[node-level]") {
    const std::vector<Node> one{{"a", {0, 1, 2, 3, 4, 5}}};
    const std::vector<Placement> placements{place(0, 0, 0), place(0, 0, 1), place(0, 1, 2),
                                            place(1, 2, 4), place(1, 2, 4), place(1, 2, 5)};
    CHECK(node_levels_of(one, placements) == std::vector<NodeLevel>{{"package", {{0, 1, 2}, {3, 4, 5}}},
                                                                    {"numa", {{0, 1}, {2}, {3, 4, 5}}},
                                                                    {"l3", {{0}, {1}, {2}, {3, 4}, {5}}}});
}

TEST_CASE("parts of different hosts are different parts", "[node-level]") {
    const std::vector<Placement> placements{place(0, 0, 0), place(0, 0, 0), place(1, 0, 0), place(1, 0, 0)};
    CHECK(node_levels_of(kTwoHosts, placements) ==
          std::vector<NodeLevel>{{"node", {{0, 2}, {1, 3}}}, {"package", {{0}, {1}, {2}, {3}}}});
}

TEST_CASE("parts that divide nothing further are no level", "[node-level]") {
    const std::vector<Node> one{{"a", {0, 1}}};
    CHECK(node_levels_of(one, {place(1, 1, 1), place(1, 1, 1)}).empty());
    CHECK(node_levels_of(one, {place(0, 0, 0), place(1, 1, 1)}) ==
          std::vector<NodeLevel>{{"package", {{0}, {1}}}});
    CHECK(node_levels_of({{"a", {0}}, {"b", {1}}}, {place(0, 0, 0), place(1, 1, 1)}).empty());
}

TEST_CASE("a rank in several parts keeps its host whole, and others' divided", "[node-level]") {
    const std::vector<Placement> placements{place(0, 0, 0), place(0, 0, 0), place(kNoPart, 1, kNoPart),
                                            place(1, 1, 1)};
    CHECK(node_levels_of(kTwoHosts, placements) == std::vector<NodeLevel>{{"node", {{0, 2}, {1, 3}}},
                                                                          {"package", {{0, 2}, {1}, {3}}},
                                                                          {"numa", {{0}, {1}, {2}, {3}}}});
}

TEST_CASE("an inner part that crosses outer ones is cut by them", "[node-level]") {
    const std::vector<Node> one{{"a", {0, 1, 2, 3}}};
    const std::vector<Placement> placements{place(0, 0, 0), place(0, 1, 0), place(1, 1, 0), place(1, 1, 0)};
    CHECK(node_levels_of(one, placements) ==
          std::vector<NodeLevel>{{"package", {{0, 1}, {2, 3}}}, {"numa", {{0}, {1}, {2, 3}}}});
}

TEST_CASE("levels inside hosts are described", "[node-level]") {
    CHECK(describe(std::vector<NodeLevel>{}) == "");
    CHECK(describe(std::vector<NodeLevel>{{"node", {{0, 1}, {2}}}}) == "");  // the hosts themselves
    CHECK(describe(std::vector<NodeLevel>{{"node", {{0, 1}, {2}}}, {"l3", {{0}, {1}, {2}}}}) ==
          "1 level inside hosts: l3 (3 groups)\n");
    CHECK(describe(std::vector<NodeLevel>{{"package", {{0, 1}, {2}}}, {"l3", {{0}, {1}, {2}}}}) ==
          "2 levels inside hosts: package (2 groups), l3 (3)\n");
}

TEST_CASE("levels inside hosts are written and read again", "[node-level]") {
    const std::vector<NodeLevel> levels{{"node", {{0, 2}, {1, 3}}}, {"l3", {{0}, {1, 3}, {2}}}};
    Json document;
    write_node_levels(levels, document);
    CHECK(document["node_levels"].dump() ==
          R"([{"kind":"node","groups":[[0,2],[1,3]]},{"kind":"l3","groups":[[0],[1,3],[2]]}])");
    CHECK(read(document["node_levels"].dump(), 4) == levels);
    CHECK(read("[]", 4).empty());
}

TEST_CASE("a hand may write groups in any order", "[node-level]") {
    CHECK(read(R"([{"kind": "package", "groups": [[3, 1], [2, 0]]}])", 4) ==
          std::vector<NodeLevel>{{"package", {{0, 2}, {1, 3}}}});
}

TEST_CASE("wrong levels inside hosts are refused at their place", "[node-level]") {
    const auto wrong = GENERATE(values<std::pair<std::string, std::string>>({
        {R"({})", "/node_levels is not a list"},
        {R"([7])", "there is no /node_levels/0/kind"},
        {R"([{"kind": "node"}])", "there is no /node_levels/0/groups"},
        {R"([{"kind": "nodes", "groups": [[0, 1], [2, 3]]}])", "/node_levels/0/kind names no nodes"},
        {R"([{"kind": 1, "groups": [[0, 1], [2, 3]]}])", "/node_levels/0/kind is not a string"},
        {R"([{"kind": "node", "groups": [[0, 1], [2]]}])", "/node_levels/0/groups does not name rank 3"},
        {R"([{"kind": "node", "groups": [[0, 1], [1, 2, 3]]}])", "/node_levels/0/groups/1/0 repeats rank 1"},
        {R"([{"kind": "node", "groups": [[0, 1], [2, 4]]}])",
         "/node_levels/0/groups/1/1 is not a whole number"},
        {R"([{"kind": "node", "groups": [[], [], [], [0, 1, 2, 3], []]}])",
         "/node_levels/0/groups/0 is empty"},
        {R"([{"kind": "numa", "groups": [[0, 1], [2, 3]]}, {"kind": "node", "groups": [[0], [1], [2, 3]]}])",
         "/node_levels/1/kind is out of order"},
        {R"([{"kind": "numa", "groups": [[0, 1], [2, 3]]}, {"kind": "numa", "groups": [[0], [1], [2, 3]]}])",
         "/node_levels/1/kind is out of order"},
        {R"([{"kind": "node", "groups": [[0, 1], [2, 3]]}, {"kind": "l3", "groups": [[0], [1, 2], [3]]}])",
         "/node_levels/1/groups/1 holds ranks of several groups"},
    }));
    INFO(wrong.first);
    try {
        read(wrong.first, 4);
        FAIL("was taken");
    } catch (const Error& error) {
        CHECK_THAT(error.what(), Catch::Contains(wrong.second) && Catch::Contains("; "));
    }
}

TEST_CASE("hosts that share a name get labels in the order of their ids", "[node]") {
    std::vector<Node> nodes{
        {"node", {0}, "c"}, {"node (2)", {1}, "x"}, {"node", {2}, "a"}, {"b", {3}, "b"}, {"node", {4}, "b"}};
    label_hosts(nodes);
    CHECK(nodes == std::vector<Node>{{"node (4)", {0}, "c"},
                                     {"node (2)", {1}},
                                     {"node", {2}, "a"},
                                     {"b", {3}},
                                     {"node (3)", {4}, "b"}});
    CHECK(describe_labels(nodes) == "hosts that share a name are called node, node (3), node (4)");
    CHECK(describe_labels({{"a", {0}}}).empty());
}
