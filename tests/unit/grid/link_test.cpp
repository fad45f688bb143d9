// SPDX-License-Identifier: BSD-3-Clause
#include "grid/link.hpp"

#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace laple;
using namespace laple::grid;
using namespace std::chrono_literals;

namespace {

/// Two sites 10 ms apart, uplinks of 80 Mbit/s: 10 bytes take a microsecond.
Scenario two_sites() {
    Scenario scenario;
    scenario.sites = {{"a", 1, 1e9, 80e6, 1 << 20}, {"b", 1, 1e9, 80e6, 1 << 20}};
    SiteLink link;
    link.delay = 10ms;
    scenario.links.assign(2, std::vector<SiteLink>(2, link));
    return scenario;
}

Train one_packet(Instant at, Bytes bytes) {
    return {at, at, {bytes, 1}};
}

/// The first bytes of an IPv4 packet with 20 bytes of IP and 32 of TCP header.
std::array<unsigned char, 60> tcp_packet() {
    std::array<unsigned char, 60> packet{};
    packet[0] = 0x45;
    packet[9] = 6;
    packet[20 + 12] = 0x80;
    return packet;
}

}  // namespace

TEST_CASE("a packet that is whole has its own size on the wire", "[grid]") {
    const auto packet = tcp_packet();
    const WireSize size = wire_size(packet.data(), 1500, 0);
    CHECK(size.bytes == 1500);
    CHECK(size.packets == 1);
}

TEST_CASE("each packet of a segment has headers of its own", "[grid]") {
    const auto packet = tcp_packet();
    const WireSize size = wire_size(packet.data(), 52 + 10 * 1000 + 1, 1000);
    CHECK(size.packets == 11);
    CHECK(size.bytes == 11 * 52 + 10 * 1000 + 1);
}

TEST_CASE("a packet shorter than its headers claim is not read beyond its end", "[grid]") {
    std::array<unsigned char, 60> packet{};
    packet[0] = 0x4f;
    packet[9] = 6;
    CHECK(wire_size(packet.data(), 30, 1000).packets == 1);
    CHECK(wire_size(packet.data(), 8, 1000).bytes == 8);
}

TEST_CASE("a transmitter sends one packet after the other", "[grid]") {
    Transmitter transmitter(80e6, 1 << 20);
    CHECK(transmitter.pass(one_packet(1s, 1000))->last == 1s + 100us);
    CHECK(transmitter.pass(one_packet(1s, 1000))->last == 1s + 200us);
    CHECK(transmitter.pass(one_packet(2s, 1000))->last == 2s + 100us);
}

TEST_CASE("a transmitter without a rate lets everything pass at once", "[grid]") {
    Transmitter transmitter(0, 10);
    CHECK(transmitter.pass(one_packet(1s, 1000))->last == 1s);
}

TEST_CASE("a full queue drops, and takes again when it has drained", "[grid]") {
    Transmitter transmitter(80e6, 2500);
    CHECK(transmitter.pass(one_packet(1s, 1000)));
    CHECK(transmitter.pass(one_packet(1s, 1000)));
    CHECK_FALSE(transmitter.pass(one_packet(1s, 1000)));
    CHECK(transmitter.pass(one_packet(1s + 60us, 1000)));
}

TEST_CASE("a train runs through two transmitters at once", "[grid]") {
    Transmitter first(80e6, 1 << 20);
    Transmitter second(80e6, 1 << 20);
    const auto half_way = first.pass({1s, 1s, {10'000, 10}});
    REQUIRE(half_way);
    CHECK(half_way->first == 1s + 100us);
    CHECK(half_way->last == 1s + 1ms);
    CHECK(second.pass(*half_way)->last == 1s + 1ms + 100us);
}

TEST_CASE("a packet takes the uplink, the delay and the other uplink", "[grid]") {
    Wan wan(two_sites(), 1);
    const auto train = wan.depart(0, 1, 1s, {1000, 1});
    REQUIRE(train);
    CHECK(train->first == 1s + 100us + 10ms);
    CHECK(*wan.arrive(0, 1, *train) == 1s + 100us + 10ms + 100us);
    CHECK(wan.counters(0, 1).packets == 1);
    CHECK(wan.counters(0, 1).bytes == 1000);
    CHECK(wan.counters(1, 0).packets == 0);
}

TEST_CASE("a link of its own rate is slower than the uplink", "[grid]") {
    Scenario scenario = two_sites();
    scenario.links[0][1].rate_bps = 8e6;
    scenario.links[0][1].queue_bytes = 1 << 20;
    Wan wan(scenario, 1);
    CHECK(wan.depart(0, 1, 1s, {1000, 1})->first == 1s + 100us + 1ms + 10ms);
}

TEST_CASE("one lost packet loses the segment", "[grid]") {
    Scenario scenario = two_sites();
    scenario.links[0][1].loss = 0.1;
    Wan wan(scenario, 1);
    const int segments = 4000;
    int lost = 0;
    for (int i = 0; i < segments; ++i) {
        if (!wan.depart(0, 1, i * 1s, {5000, 5})) ++lost;
    }
    CHECK(lost / double(segments) == Approx(1 - 0.9 * 0.9 * 0.9 * 0.9 * 0.9).margin(0.03));
    CHECK(wan.counters(0, 1).lost == 5u * static_cast<unsigned>(lost));
}

TEST_CASE("jitter changes the delay and keeps the order", "[grid]") {
    Scenario scenario = two_sites();
    scenario.links[0][1].jitter = 2ms;
    Wan wan(scenario, 1);
    Instant before{};
    bool early = false;
    bool late = false;
    for (int i = 0; i < 1000; ++i) {
        const Instant now = 1s + i * 300us;
        const auto train = wan.depart(0, 1, now, {100, 1});
        REQUIRE(train);
        REQUIRE(train->first >= before);
        REQUIRE(train->first >= now + 8ms);
        REQUIRE(train->first <= now + 13ms);
        early = early || train->first < now + 9500us;
        late = late || train->first > now + 10500us;
        before = train->first;
    }
    CHECK(early);
    CHECK(late);
}

TEST_CASE("a full uplink at the destination drops and counts", "[grid]") {
    Scenario scenario = two_sites();
    scenario.sites[1].uplink_queue_bytes = 1500;
    Wan wan(scenario, 1);
    const Train train = one_packet(1s, 1000);
    CHECK(wan.arrive(0, 1, train));
    CHECK_FALSE(wan.arrive(0, 1, train));
    CHECK(wan.counters(0, 1).overflowed == 1);
}

TEST_CASE("the network can be changed while it stands") {
    Wan wan(two_sites(), 1);
    const std::vector<std::string> sites{"a", "b"};
    const auto change = [&](const std::string& link, const std::string& what, const std::string& value) {
        wan.apply(change_of_line(line_of(parse_change(link, what, value, sites))));
    };
    // 1000 bytes pass the uplink in 100 us.
    CHECK(wan.depart(0, 1, 0ms, {1000, 1})->first == 10ms + 100us);
    change("b:a", "delay", "20ms");
    CHECK(wan.depart(0, 1, 100ms, {1000, 1})->first == 120ms + 100us);
    CHECK(wan.depart(1, 0, 100ms, {1000, 1})->first == 120ms + 100us);
    change("a", "uplink", "20Mbit");
    CHECK(wan.depart(0, 1, 200ms, {1000, 1})->first == 220ms + 400us);
    change("a:b", "rate", "10Mbit");
    CHECK(wan.depart(0, 1, 300ms, {1000, 1})->first == 320ms + 400us + 800us);
    change("a:b", "loss", "100%");
    CHECK(!wan.depart(1, 0, 400ms, {1000, 1}));
}

TEST_CASE("changes that mean nothing are refused") {
    const std::vector<std::string> sites{"a", "b"};
    for (const auto& [link, what, value] : std::vector<std::array<std::string, 3>>{{"a:c", "delay", "1ms"},
                                                                                   {"a:a", "delay", "1ms"},
                                                                                   {"a", "delay", "1ms"},
                                                                                   {"a:b", "uplink", "1Mbit"},
                                                                                   {"a:b", "width", "1"},
                                                                                   {"a:b", "rate", "-1Mbit"},
                                                                                   {"a:b", "loss", "101%"},
                                                                                   {"", "uplink", "1Mbit"}})
        CHECK_THROWS_AS(parse_change(link, what, value, sites), Error);
    CHECK_THROWS_AS(parse_change("home", "uplink", "10Mbit", {"home"}), Error);
    CHECK_THROWS_AS(change_of_line("7 0 1 1"), Error);
    CHECK_THROWS_AS(change_of_line(""), Error);
    Wan wan(two_sites(), 1);
    CHECK_THROWS_AS(wan.apply({Change::What::delay, 0, 2, 1}), Error);
}

TEST_CASE("what is queued leaves at the new rate") {
    Transmitter transmitter(1e6, Bytes{1} << 20);
    for (int i = 0; i < 600; ++i) REQUIRE(transmitter.pass(one_packet(0ms, 1250)));  // 6 s
    transmitter.set_rate(100e6);
    // 5 s of 1 Mbit/s are 50 ms of 100.
    const auto next = transmitter.pass(one_packet(1s, 1250));
    REQUIRE(next);
    CHECK(next->last == 1s + 50ms + 100us);
}
