// SPDX-License-Identifier: BSD-3-Clause
#include "grid/layout.hpp"

#include <catch2/catch.hpp>

using namespace laple;
using namespace laple::grid;
using Catch::Matchers::Contains;

namespace {

Scenario two_sites() {
    Scenario scenario;
    scenario.name = "two";
    scenario.nic_burst_bytes = 131072;
    scenario.sites = {{"a", 2, 100e6, 200e6, 1 << 20}, {"b", 1, 10e9, 200e6, 1 << 20}};
    scenario.links.assign(2, std::vector<SiteLink>(2));
    return scenario;
}

}  // namespace

TEST_CASE("names carry the grid's id, addresses do not", "[grid]") {
    const GridLayout layout = make_layout(two_sites(), "two-7");
    REQUIRE(layout.hosts().size() == 3);
    CHECK(layout.hosts()[1].name == "a-2");
    CHECK(layout.hosts()[1].netns == "laple-two-7-a-2");
    CHECK(layout.hosts()[2].address == "10.2.0.1");
    CHECK(layout.netns_names().size() == 5);
    const unsigned char address[] = {10, 2, 0, 1};
    CHECK(site_of_address(address) == 1);
    const unsigned char other[] = {192, 168, 0, 1};
    CHECK(site_of_address(other) == -1);
}

TEST_CASE("a layout survives being written and read", "[grid]") {
    const GridLayout layout = make_layout(two_sites(), "two-1");
    const GridLayout copy = layout_from_json(to_json(layout));
    CHECK(copy.netns_names() == layout.netns_names());
    CHECK(copy.sites[1].address == layout.sites[1].address);
}

TEST_CASE("only a grid with several sites has a wide-area device", "[grid]") {
    Scenario scenario = two_sites();
    CHECK_THAT(site_ip_commands(scenario, make_layout(scenario, "x"), 0), Contains("wan0"));
    scenario.sites.pop_back();
    CHECK_THAT(site_ip_commands(scenario, make_layout(scenario, "x"), 0), !Contains("wan0"));
}

TEST_CASE("a fast NIC gets a bucket of a millisecond", "[grid]") {
    CHECK_THAT(host_tc_commands(two_sites(), 0), Contains("rate 100000000bit burst 131072 "));
    CHECK_THAT(host_tc_commands(two_sites(), 1), Contains("rate 10000000000bit burst 1250000 "));
}

TEST_CASE("TCP hands down at most what the slowest part of a grid passes in 5 ms", "[grid]") {
    Scenario scenario = two_sites();
    const auto train = [&] { return longest_train(scenario); };
    CHECK(train() == 65536);
    scenario.sites[1].uplink_bps = 50e6;
    CHECK(train() == 32768);
    const GridLayout layout = make_layout(scenario, "x");
    CHECK_THAT(host_ip_commands(scenario, layout.sites[0], layout.sites[0].hosts[0]),
               Contains("gso_max_size 32768 "));
    scenario.links[0][1].rate_bps = scenario.links[1][0].rate_bps = 20e6;
    CHECK(train() == 13107);
    scenario.links[0][1].rate_bps = 1e6;
    CHECK(train() == 9000);  // a packet
    for (Site& site : scenario.sites) site.nic_bps = site.uplink_bps = 1e9;
    scenario.links.assign(2, std::vector<SiteLink>(2));
    CHECK(train() == 65536);
}
