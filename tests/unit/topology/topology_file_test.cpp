// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology_file.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace laple;

namespace {

std::string error_of(const std::string& text, int world_size = 0) {
    try {
        parse_topology(text, "f", world_size);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

std::string model(const std::string& ranks, const std::string& levels) {
    return R"({"format": "laple-model-1", "ranks": )" + ranks + ", \"levels\":\n" + levels + "}";
}

}  // namespace

TEST_CASE("both formats are told apart by their beginning") {
    const Topology expected = Topology::from_clusters(4, {{0, 2}, {1, 3}});
    CHECK(parse_topology("# {\ncluster 0 process 0 2 cluster 1 process 1 3", "f") == expected);
    CHECK(parse_topology(" \n" + model("4", "[[[0, 2], [3, 1]]]"), "f") == expected);
}

TEST_CASE("several levels are written and read back") {
    for (const Topology& topology :
         {Topology::from_labels(8, {{0, 0, 1, 1, 0, 0, 2, 2}, {0, 0, 1, 2, 3, 3, 4, 4}}),
          Topology::flat(3)}) {
        Json document{{"format", kModelFormat}, {"date", "today"}};
        write_topology_json(topology, document);
        CHECK(parse_topology(document.dump(), "f", topology.size()) == topology);
    }
}

TEST_CASE("a file made for another number of ranks is refused, in either format") {
    const std::string refusal = "f: describes 2 ranks, but this job has 4; run laple-discover";
    CHECK(error_of("cluster 0 process 0 1", 4).starts_with(refusal));
    CHECK(error_of(model("2", "[]"), 4).starts_with(refusal));
}

TEST_CASE("a broken model is refused with its place") {
    CHECK(error_of("{").starts_with("f:1: not valid JSON"));
    CHECK(error_of(model("2", "[]") + '\0').starts_with("f: holds a NUL character"));
    CHECK(error_of(model("2", "[[[0], [1]],\n[[0, 1]]]")).starts_with("f:1: /levels do not fit together"));
    CHECK(error_of("{}").starts_with("f:1: there is no /format"));
    CHECK(error_of(R"({"format": "laple-model-9"})").starts_with("f:1: /format is unknown; write"));
    CHECK(error_of(model("0", "[]")).starts_with("f:1: /ranks is not a whole number from 1 to"));
    CHECK(error_of(model("1e3", "[]")).starts_with("f:1: /ranks is not a whole number"));
    CHECK(error_of(model("99999999999999999999", "[]")).starts_with("f:1: /ranks is not a whole number"));
    CHECK(error_of(model("2", "[[0, 1]]")).starts_with("f:2: /levels/0/0 is not a list"));
    CHECK(error_of(model("2", "[[[0], [2]]]"))
              .starts_with("f:2: /levels/0/1/0 is not a whole number from 0 to 1"));
    CHECK(error_of(model("2", "[[[0], [1, 0]]]")).starts_with("f:2: /levels/0/1/1 repeats rank 0"));
    CHECK(error_of(model("3", "[[[0], [2]]]")).starts_with("f:2: /levels/0 does not name rank 1"));
    CHECK(error_of(model("4", "[[[0, 1], [2, 3]],\n[[0], [1, 2], [3]]]"))
              .starts_with("f:1: /levels do not fit together; ranks 1 and 2 share an inner group"));
}
