// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/network.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace laple;
using Catch::Matchers::Contains;

namespace {

constexpr const char* kGood = R"({
  "format": "laple-network-1",
  "name": "two",
  "nic_Bps": 1e8,
  "clusters": [
    {"name": "a", "hosts": ["a1", "a2"]},
    {"name": "b", "hosts": ["b1"]},
    {"name": "c", "hosts": ["c1"]}
  ],
  "latency_s": [
    [1e-5, 1e-4, 1e-2],
    [1e-4, 1e-5, 1e-2],
    [1e-2, 1e-2, 1e-5]
  ],
  "sites": [
    {"name": "east", "clusters": ["a", "b"], "uplink_Bps": 2e7},
    {"name": "west", "clusters": ["c"], "uplink_Bps": 3e7}
  ],
  "links": [
    {"between": ["east", "west"], "rate_Bps": 1e6}
  ]
})";

Network parse(std::string text, const std::string& from = "", const std::string& to = "") {
    if (!from.empty()) {
        const auto at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
    }
    return parse_network(JsonDocument::parse(text, "net.json"));
}

}  // namespace

TEST_CASE("a network file is read") {
    const Network network = parse(kGood);
    CHECK(network.name == "two");
    CHECK(network.nic == 1e8);
    CHECK(network.cluster_of_host.at("b1") == 1);
    CHECK(network.site_of(1) == 0);
    CHECK(network.sites[1].uplink == 3e7);
    CHECK(network.latency[0][2] == Seconds(1e-2));
    CHECK(network.link[1][0] == 1e6);
    CHECK(std::isinf(network.link[0][0]));
}

TEST_CASE("a broken network file is refused with its line") {
    const auto refuses = [](const char* from, const char* to, const char* message) {
        CHECK_THROWS_WITH(parse(kGood, from, to), Contains(message));
    };
    refuses("laple-network-1", "laple-network-9", "net.json:2:");
    refuses("1e8", "-1", "net.json:4: /nic_Bps is not a positive number");
    refuses("\"c1\"", "\"a1\"", "net.json:8: /clusters/2/hosts/0 is given twice");
    refuses("[\"c\"]", "[\"d\"]", "names no d");
    refuses("[\"c\"]", "[\"b\"]", "is in a site already");
    refuses("[\"c\"]", "[]", "net.json:8: /clusters/2 is in no site");
    refuses("[1e-4, 1e-5, 1e-2]", "[1e-4]", "is not as long as /clusters");
    refuses("[\"east\", \"west\"]", "[\"east\"]", "there is no /links/0/between/1");
    refuses("\"name\": \"two\"", "\"name\": 2", "is not a string");
    refuses("\"sites\": [", "\"places\": [", "there is no /sites");
}

TEST_CASE("the networks that come with LaPle are good") {
    for (const char* name : {"wan4x4", "hetero6", "metro2x8", "ocean3x4", "single8", "grid5000-88",
                             "cloud-512", "continental-1024"}) {
        const std::string file =
            std::string(LAPLE_SOURCE_DIR "/bench/smpi/platforms/") + name + ".network.json";
        CHECK(parse_network(JsonDocument::load(file)).name == name);
    }
}
