// SPDX-License-Identifier: BSD-3-Clause
#include "streams/endpoint.hpp"

#include <vector>

#include <catch2/catch.hpp>
#include <netinet/in.h>

#include "streams/joining.hpp"

using namespace laple::streams;

namespace {

Endpoint v4(int a, int b, int c, int d) {
    Endpoint endpoint;
    endpoint.address = {std::byte(a), std::byte(b), std::byte(c), std::byte(d)};
    endpoint.port = 4711;
    return endpoint;
}

Endpoint v6() {
    Endpoint endpoint;
    endpoint.is_v6 = true;
    endpoint.address[0] = std::byte{0x20};
    endpoint.address[15] = std::byte{1};
    endpoint.port = 4711;
    return endpoint;
}

}  // namespace

TEST_CASE("an endpoint is the same as the system has it", "[streams]") {
    for (const Endpoint& endpoint : {v4(10, 1, 2, 3), v6()}) {
        socklen_t length = 0;
        const auto back = from_system(to_system(endpoint, length));
        REQUIRE(back);
        CHECK(*back == endpoint);
    }
    CHECK(text(v4(10, 1, 2, 3)) == "10.1.2.3:4711");
    CHECK(text(v6()) == "[2000::1]:4711");
}

TEST_CASE("an address of IPv4 in IPv6's form is one of IPv4", "[streams]") {
    Endpoint mapped = v6();
    mapped.address = {};
    mapped.address[10] = mapped.address[11] = std::byte{0xff};
    mapped.address[12] = std::byte{10};
    mapped.address[15] = std::byte{7};
    socklen_t length = 0;
    CHECK(from_system(to_system(mapped, length)) == v4(10, 0, 0, 7));
    CHECK_FALSE(from_system(sockaddr_storage{}));
}

TEST_CASE("an interface is found by its name", "[streams]") {
    const auto loopback = address_of_interface("lo");
    REQUIRE(loopback);
    CHECK(loopback->address[0] == std::byte{127});
    CHECK(loopback->port == 0);
    CHECK_FALSE(address_of_interface("no-such-interface"));
}

TEST_CASE("connections inside the host do not tell the way to others", "[streams]") {
    const auto listener = Listener::open(*address_of_interface("lo"), {});
    REQUIRE(listener);
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
    socklen_t length = 0;
    const sockaddr_storage address = to_system(listener->endpoint(), length);
    REQUIRE(connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), length) == 0);
    const auto used = address_in_use();  // of whoever runs this, there may be others
    CHECK((!used || used->address[0] != std::byte{127}));
}

TEST_CASE("sockets that are not of TCP do not tell the way of connections", "[streams]") {
    const auto before = address_in_use();
    std::vector<Descriptor> others;
    for (int i = 0; i < 20; ++i) {
        others.emplace_back(::socket(AF_INET, SOCK_DGRAM, 0));
        socklen_t length = 0;
        const sockaddr_storage address = to_system(v4(198, 51, 100, 1), length);
        if (connect(others.back().number(), reinterpret_cast<const sockaddr*>(&address), length) == 0)
            continue;
        WARN("needs a network");
        return;
    }
    CHECK(address_in_use() == before);
}
