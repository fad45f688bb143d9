// SPDX-License-Identifier: BSD-3-Clause
#include "topology/magpie_file.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/file.hpp"

using namespace laple;

namespace {

std::string error_of(const std::string& text) {
    try {
        parse_magpie(text, "f");
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("the example file is a good one") {
    const Topology topology = parse_magpie(read_file(LAPLE_SOURCE_DIR "/magpie_clusters.example"), "example");
    CHECK(describe(topology) == "12 ranks in 3 clusters (4 5 3)");
}

TEST_CASE("white space, comments and the order of things do not matter") {
    const Topology expected = Topology::from_clusters(4, {{0, 2}, {1, 3}});
    CHECK(parse_magpie("cluster 0 process 0 2\ncluster 1 process 1 3\n", "f") == expected);
    CHECK(parse_magpie("cluster 7 process 3 1 cluster 2 process\n\t2 # site\n0", "f") == expected);
    CHECK(parse_magpie("#\r\ncluster 0 process 0 2\r\ncluster 1process 1 3#", "f") == expected);
}

TEST_CASE("comments may say which ranks are on which host") {
    const std::vector<Node> nodes{{"a", {0, 2}}, {"b.site.org", {1}}};
    const std::string text = format_magpie_hosts(nodes);
    CHECK(text == "# host a: 0 2\n# host b.site.org: 1\n");
    CHECK(parse_magpie_hosts("# made by hand\n" + text + "cluster 0 process 0 1 2 # host c: 3\n", 3) ==
          nodes);
    CHECK(parse_magpie_hosts("# host b: 2 1\r\n# host a: 0\r\n", 3) ==
          std::vector<Node>{{"a", {0}}, {"b", {1, 2}}});
    // Not every rank once, or other remarks.
    for (const char* other :
         {"", "# host a: 0 1\n", "# host a: 0 1 2\n# host b: 2\n", "# host a: 0 1 2 3\n",
          "# host a: 0\n# host a: 1 2\n", "# host a: 0 1 2\n# host b: \n", "# host a: the first\n",
          "# host: 0 1 2\n", "# host a: 0 1 -2\n", "# host a: 0 1 99999999999\n", "# host a (2): 0 1 2\n"}) {
        INFO(other);
        CHECK(parse_magpie_hosts(other, 3).empty());
    }
}

TEST_CASE("what is written is read back") {
    for (const Topology& topology : {Topology::from_clusters(5, {{0, 4}, {1}, {2, 3}}), Topology::flat(3),
                                     Topology::from_clusters(2, {{0}, {1}})}) {
        CHECK(parse_magpie(format_magpie(topology), "f") == topology);
    }
}

TEST_CASE("of several levels the innermost is written") {
    const Topology topology = Topology::from_labels(5, {{0, 0, 0, 1, 1}, {0, 0, 1, 2, 2}});
    CHECK(format_magpie(topology) == "cluster 0 process 0 1\ncluster 1 process 2\ncluster 2 process 3 4\n");
}

TEST_CASE("the seed's listing is read, its missing blank included") {
    const Topology topology =
        parse_magpie("cluster 0 process 0 3\ncluster 1 process 1\ncluster 2process 2", "f");
    CHECK(topology.group_count(0) == 3);
}

TEST_CASE("each mistake is reported at its place") {
    CHECK(error_of("cluster 0 process 0 1\ncluster 1 process 1") ==
          "f:2:19: rank 1 stands at f:1:21 already; remove one");
    CHECK(error_of("cluster 0 process\ncluster 1 process 0") ==
          "f:1:1: cluster 0 has no process; name its ranks or remove it");
    CHECK(error_of("cluster 0 process -1 0").starts_with("f:1:19: expected a rank, found \"-\""));
    CHECK(
        error_of("cluster 0 process 0 2").starts_with("f:1:21: rank 2 is here, but rank 1 is in no cluster"));
    CHECK(error_of("cluster 0 process 0 -1").starts_with("f:1:21: expected \"cluster\", found \"-\""));
    CHECK(error_of("cluster 0 process 99999999999").starts_with("f:1:19: 99999999999 is out of range"));
    CHECK(error_of("").starts_with("f: describes no cluster"));
    CHECK(error_of("cluster 0 process 0 cluster 0 process 1")
              .starts_with("f:1:29: cluster 0 stands at f:1:1 already"));
    CHECK(error_of("cluster\nx process 0").starts_with("f:2:1: expected the cluster's number, found \"x\""));
    CHECK(error_of("cluster 0").find("the file ends here") != std::string::npos);
}
