// SPDX-License-Identifier: BSD-3-Clause
#include "grid/scenario.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace laple;
using namespace laple::grid;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

// One thing to a line, so that a test can replace a line and knows its number.
const std::string kGood = R"({
"format": "laple-grid-1",
"name": "two",
"description": "two sites",
"nic": "100Mbit",
"uplink": "200Mbit",
"sites": [
{"name": "a", "hosts": 2},
{"name": "b", "hosts": 3, "nic": "1Gbit", "uplink": "50Mbit"}],
"link": {"delay": "10ms"},
"links": [
{"between": ["b", "a"],
"jitter": "1ms"}]
})";

Scenario parse(const std::string& text) {
    return parse_scenario(JsonDocument::parse(text, "x.json"));
}

std::string replaced(const std::string& what, const std::string& with) {
    std::string text = kGood;
    text.replace(text.find(what), what.size(), with);
    return text;
}

std::string error_of(const std::string& what, const std::string& with) {
    try {
        parse(replaced(what, with));
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("a scenario is read with its defaults", "[grid]") {
    const Scenario scenario = parse(kGood);
    REQUIRE(scenario.sites.size() == 2);
    CHECK(scenario.host_count() == 5);
    CHECK(scenario.mtu == 9000);
    CHECK(scenario.sites[0].nic_bps == 100e6);
    CHECK(scenario.sites[0].uplink_bps == 200e6);
    CHECK(scenario.sites[1].nic_bps == 1e9);
    CHECK(scenario.sites[1].uplink_bps == 50e6);
    CHECK(scenario.links[0][1].delay == 10ms);
    CHECK(scenario.links[1][0].jitter == 1ms);
    CHECK(scenario.links[0][1].loss == 0);
    CHECK(scenario.sites[0].uplink_queue_bytes >= (1u << 20));
}

TEST_CASE("the default queue holds what is on the way", "[grid]") {
    const Scenario scenario = parse(replaced("\"10ms\"", "\"500ms\""));
    CHECK(scenario.sites[0].uplink_queue_bytes == 25'000'000);  // 200 Mbit/s for a second
}

TEST_CASE("a wrong scenario is answered with place and advice", "[grid]") {
    struct Case {
        std::string what, with, start, part;
    };
    const std::vector<Case> cases = {
        {"laple-grid-1", "laple-grid-9", "x.json:2: the format is \"laple-grid-9\"", "\"laple-grid-1\""},
        {"\"format\": \"laple-grid-1\",\n", "", "x.json:1: the scenario has no \"format\"", "add"},
        {"\"two\"", "\"Two!\"", "x.json:3: \"Two!\" is not a name", "small letters"},
        {"\"two\"", "7", "x.json:3: \"name\" is not a string", "quotes"},
        {"\"nic\": \"100Mbit\",\n", "", "x.json:7: \"sites/0\" has no \"nic\"", "add \"nic\""},
        {"\"uplink\": \"200Mbit\",\n", "", "x.json:7: \"sites/0\" has no \"uplink\"", "add \"uplink\""},
        {"\"nic\"", "\"nics\"", "x.json:5: the scenario has an unknown key \"nics\"",
         "did you mean \"nic\"?"},
        {"\"100Mbit\"", "\"100MB\"", "x.json:5: \"nic\": \"100MB\" is not a rate", "Mbit"},
        {"\"100Mbit\"", "\"-1Mbit\"", "x.json:5: \"nic\": \"-1Mbit\" is not a rate", "Mbit"},
        {"\"100Mbit\"", "\"1bit\"", "x.json:5: \"nic\" is \"1bit\"", "from 64kbit to 100Gbit"},
        {"\"100Mbit\"", "\"nanGbit\"", "x.json:5: \"nic\"", "not a rate"},
        {"\"100Mbit\"", "100", "x.json:5: \"nic\" is not a string", "quotes"},
        {"\"hosts\": 2", "\"hosts\": 0", "x.json:8: \"hosts\" is 0", "from 1 to"},
        {"\"hosts\": 2", "\"hosts\": -2", "x.json:8: \"hosts\" is -2", "from 1 to"},
        {"\"hosts\": 2", "\"hosts\": 1.5", "x.json:8: \"hosts\" is 1.5", "whole number"},
        {"\"hosts\": 2", "\"hosts\": 99999999999999999999", "x.json:8: \"hosts\"", "whole number"},
        {"\"hosts\": 2", "\"host\": 2", "x.json:8: \"sites/0\" has an unknown key \"host\"", "\"hosts\"?"},
        {"\"name\": \"b\"", "\"name\": \"a\"", "x.json:9: site \"a\" is there twice", "rename"},
        {"\"name\": \"b\"", "\"name\": \"a-2\"", "x.json:7: site \"a-2\" and a host of \"a\" have one name",
         "rename"},
        {"\"10ms\"", "\"10m\"", "x.json:10: \"delay\": \"10m\" is not a time", "10ms"},
        {"\"10ms\"", "\"-10ms\"", "x.json:10: \"delay\"", "not a time"},
        {"\"10ms\"", "\"11s\"", "x.json:10: \"delay\" is \"11s\"", "to 10s"},
        {"{\"delay\": \"10ms\"}", "{}", "x.json:12: no delay between a and b", "give their link a \"delay\""},
        {"\"delay\": \"10ms\"", "\"delay\": \"10ms\", \"loss\": \"0.01\"", "x.json:10: \"loss\"", "%"},
        {"\"delay\": \"10ms\"", "\"delay\": \"10ms\", \"loss\": \"80%\"", "x.json:10: \"loss\" is", "50%"},
        {"\"delay\": \"10ms\"", "\"delay\": \"10ms\", \"queue\": \"4K\"", "x.json:10: \"queue\" is", "128K"},
        {"\"delay\": \"10ms\"", "\"delay\": \"10ms\", \"queue\": \"lots\"", "x.json:10: \"queue\"", "size"},
        {"\"1ms\"", "\"11ms\"", "x.json:12: the jitter is larger than the delay", "smaller"},
        {"[\"b\", \"a\"]", "[\"b\", \"bb\"]", "x.json:12: there is no site \"bb\"", "did you mean \"b\"?"},
        {"[\"b\", \"a\"]", "[\"b\", \"b\"]", "x.json:12: a link joins a site to itself", "different"},
        {"[\"b\", \"a\"]", "[\"b\"]", "x.json:12: \"between\" is not a pair", "["},
        {"\"sites\": [", "\"sites\": [],\n\"name2\": [", "x.json:8: the scenario has an unknown key", ""},
    };
    for (const Case& c : cases) {
        INFO(c.what << " -> " << c.with);
        const std::string message = error_of(c.what, c.with);
        CHECK_THAT(message, StartsWith(c.start));
        CHECK_THAT(message, Contains(c.part));
        CHECK_THAT(message, Contains("; "));
    }
}

TEST_CASE("two links of the same pair are one too many", "[grid]") {
    CHECK_THAT(error_of("\"links\": [", "\"links\": [{\"between\": [\"a\", \"b\"]},"),
               StartsWith("x.json:12: these two sites have two links"));
}

TEST_CASE("a grid of one site has no uplink and needs no link", "[grid]") {
    const std::string text = R"({"format": "laple-grid-1", "name": "one", "description": "",
"sites": [{"name": "a", "hosts": 2, "nic": "1Gbit")";
    CHECK(parse(text + "}]}").sites[0].uplink_bps == 0);
    CHECK_THROWS_WITH(parse(text + ", \"uplink\": \"1Mbit\"}]}"), Contains("has no uplink"));
}
