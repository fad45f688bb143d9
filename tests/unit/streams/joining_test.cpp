// SPDX-License-Identifier: BSD-3-Clause
#include "streams/joining.hpp"

#include <array>
#include <barrier>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace laple;
using namespace laple::streams;

namespace {

std::function<void(int)> before_listening;

Seconds now() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

Endpoint loopback() {
    Endpoint endpoint;
    endpoint.address[0] = std::byte{127};
    endpoint.address[3] = std::byte{1};
    return endpoint;
}

JoinedLink new_link(std::uint64_t number, std::size_t lanes) {
    JoinedLink link;
    link.number = number;
    link.secret = new_secret();
    link.lanes.resize(lanes);
    return link;
}

JoinedLink other_end(const JoinedLink& link, const Listener& listener) {
    JoinedLink other;
    other.number = link.number;
    other.secret = link.secret;
    other.connects = true;
    other.endpoint = listener.endpoint();
    other.lanes.resize(link.lanes.size());
    return other;
}

/// What connects in a thread of its own while `listens` is joined.
template <typename Connect>
int join_with(const Listener& listener, std::vector<JoinedLink>& listens, Seconds time, Connect connect) {
    std::thread thread(connect);
    const int strangers = join(
        {&listener, 1}, listens, [end = now() + time] { return end; }, now, [] {});
    thread.join();
    return strangers;
}

void connect_all(std::vector<JoinedLink>& links, Seconds time) {
    join(
        {}, links, [end = now() + time] { return end; }, now, [] {});
}

/// From another address of this host, where one is given.
Descriptor connected_to(const Listener& listener, const char* from = "127.0.0.1") {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    REQUIRE(inet_pton(AF_INET, from, &own.sin_addr) == 1);
    REQUIRE(::bind(socket.number(), reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
    socklen_t length = 0;
    const sockaddr_storage address = to_system(listener.endpoint(), length);
    REQUIRE(::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), length) == 0);
    return socket;
}

/// What the other end asks of a new connection.
Nonce challenged(const Descriptor& connection, Joining& joining) {
    std::array<std::byte, kChallengeBytes> challenge{};
    joining.go_on(now());
    REQUIRE(read(connection.number(), challenge.data(), challenge.size()) ==
            static_cast<ssize_t>(kChallengeBytes));
    return *read_challenge(challenge);
}

/// As lane 0 of `link`.
void answer(const Descriptor& connection, const Nonce& nonce, const JoinedLink& link) {
    const auto hello = encode(make_hello(link.number, 0, nonce, link.secret));
    REQUIRE(write(connection.number(), hello.data(), hello.size()) == static_cast<ssize_t>(hello.size()));
}

int count_open(const std::vector<JoinedLink>& links) {
    int open = 0;
    for (const JoinedLink& link : links) {
        for (const Descriptor& lane : link.lanes) open += lane.is_open() ? 1 : 0;
    }
    return open;
}

/// Whether a byte that one end writes is read at the other.
bool are_connected(const Descriptor& a, const Descriptor& b, char mark) {
    char read_mark = 0;
    for (int i = 0; i < 1000 && ::write(a.number(), &mark, 1) != 1; ++i) usleep(1000);
    for (int i = 0; i < 1000 && ::read(b.number(), &read_mark, 1) != 1; ++i) usleep(1000);
    return read_mark == mark;
}

}  // namespace

/// In place of the system's.
extern "C" int listen(int socket, int backlog) {
    if (before_listening) std::exchange(before_listening, nullptr)(socket);
    return static_cast<int>(syscall(SYS_listen, socket, backlog));
}

TEST_CASE("links of several lanes are joined, each lane to its own", "[streams]") {
    const auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    CHECK(listener->endpoint().port != 0);
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 8));
    listens.push_back(new_link(2, 3));
    std::vector<JoinedLink> connects;
    for (const JoinedLink& link : listens) connects.push_back(other_end(link, *listener));
    const int strangers =
        join_with(*listener, listens, Seconds(20), [&] { connect_all(connects, Seconds(20)); });
    CHECK(strangers == 0);
    REQUIRE(count_open(listens) == 11);
    REQUIRE(count_open(connects) == 11);
    for (std::size_t link = 0; link < listens.size(); ++link) {
        for (std::size_t lane = 0; lane < listens[link].lanes.size(); ++lane)
            CHECK(are_connected(connects[link].lanes[lane], listens[link].lanes[lane],
                                static_cast<char>('A' + 10 * link + lane)));
    }
}

TEST_CASE("who connects before the other end listens tries again", "[streams]") {
    auto early = Listener::open(loopback(), {});
    REQUIRE(early);
    const std::uint16_t port = early->endpoint().port;
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 2));
    std::vector<JoinedLink> connects;
    connects.push_back(other_end(listens[0], *early));
    early.reset();
    std::thread thread([&] { connect_all(connects, Seconds(20)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto listener = Listener::open(loopback(), {port, port});
    if (listener)
        join(
            {&*listener, 1}, listens, [end = now() + Seconds(20)] { return end; }, now, [] {});
    thread.join();
    REQUIRE(listener);
    CHECK(count_open(connects) == 2);
}

TEST_CASE("where the other end is known to listen, a refused connection is the last one", "[streams]") {
    auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    std::vector<JoinedLink> connects;
    connects.push_back(other_end(new_link(1, 4), *listener));
    connects[0].time_to_connect = Seconds(10);
    listener.reset();
    const Seconds begin = now();
    connect_all(connects, Seconds(20));
    CHECK(now() - begin < Seconds(5));
    CHECK(count_open(connects) == 0);
}

// As where a firewall drops all.
TEST_CASE("what does not answer is given up in time, and others are joined", "[streams]") {
    const Descriptor full(::socket(AF_INET, SOCK_STREAM, 0));
    socklen_t length = 0;
    sockaddr_storage address = to_system(loopback(), length);
    REQUIRE(bind(full.number(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(listen(full.number(), 0) == 0);
    REQUIRE(getsockname(full.number(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
    std::vector<Descriptor> ahead;
    for (int i = 0; i < 4; ++i) {
        ahead.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
        ::connect(ahead.back().number(), reinterpret_cast<const sockaddr*>(&address), length);
    }
    const auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 3));
    std::vector<JoinedLink> connects;
    connects.push_back(other_end(new_link(2, 3), *listener));
    connects[0].endpoint = *from_system(address);
    connects.push_back(other_end(listens[0], *listener));
    for (JoinedLink& link : connects) link.time_to_connect = Seconds(0.3);
    std::thread thread([&] { connect_all(connects, Seconds(20)); });
    // The kernel connects; who answers may take as long as he likes.
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    const Seconds begin = now();
    join(
        {&*listener, 1}, listens, [&] { return begin + Seconds(20); }, now, [] {});
    thread.join();
    CHECK(now() - begin < Seconds(10));
    CHECK(count_open(listens) == 3);
    CHECK(count_open(connects) == 3);
}

TEST_CASE("an end listens as soon as its port is free", "[streams]") {
    auto other = Listener::open(loopback(), {});
    REQUIRE(other);
    const std::uint16_t port = other->endpoint().port;
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 2));
    std::vector<JoinedLink> connects;
    connects.push_back(other_end(listens[0], *other));
    std::thread thread([&] { connect_all(connects, Seconds(20)); });
    Joining joining({}, listens);
    std::optional<Listener> listener;
    const Seconds end = now() + Seconds(20);
    for (int look = 0; !joining.is_complete() && now() < end; ++look) {
        if (look == 20) other.reset();
        if (!listener) listener = Listener::open(loopback(), {port, port});
        if (listener) joining.listen_at({&*listener, 1});
        joining.go_on(now());
        joining.wait();
        usleep(1000);
    }
    thread.join();
    CHECK(listener);
    CHECK(count_open(listens) == 2);
    CHECK(count_open(connects) == 2);
}

TEST_CASE("a lane is joined once", "[streams]") {
    const auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 2));
    std::vector<JoinedLink> first;
    std::vector<JoinedLink> second;
    for (auto* links : {&first, &second}) {
        links->push_back(other_end(listens[0], *listener));
        links->back().lanes.resize(1);
    }
    join_with(*listener, listens, Seconds(1), [&] {
        connect_all(first, Seconds(20));
        connect_all(second, Seconds(0.3));
    });
    CHECK(count_open(first) == 1);
    CHECK(count_open(second) == 0);
    CHECK(listens[0].lanes[0].is_open());
}

TEST_CASE("strangers are closed and counted, and the link is joined", "[streams]") {
    const auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 4));
    std::vector<JoinedLink> connects;
    connects.push_back(other_end(listens[0], *listener));
    std::vector<JoinedLink> liars;
    liars.push_back(other_end(listens[0], *listener));
    liars[0].secret = new_secret();
    std::vector<Descriptor> silent;
    for (int i = 0; i < 300; ++i) silent.push_back(connected_to(*listener));  // more than may be unproven
    const Descriptor scan = connected_to(*listener);
    const std::array<char, 100> garbage{"GET / HTTP/1.0\r\n"};
    REQUIRE(write(scan.number(), garbage.data(), garbage.size()) == 100);
    const Descriptor truncated = connected_to(*listener);
    const auto hello = encode(make_hello(1, 0, new_nonce(), listens[0].secret));
    REQUIRE(write(truncated.number(), hello.data(), 40) == 40);
    shutdown(truncated.number(), SHUT_WR);
    const Descriptor replayed = connected_to(*listener);
    REQUIRE(write(replayed.number(), hello.data(), hello.size()) == static_cast<ssize_t>(hello.size()));
    const int strangers = join_with(*listener, listens, Seconds(20), [&] {
        connect_all(liars, Seconds(0.3));
        connect_all(connects, Seconds(20));
    });
    CHECK(count_open(liars) == 0);
    CHECK(count_open(listens) == 4);
    CHECK(count_open(connects) == 4);
    CHECK(strangers >= 303);
}

TEST_CASE("a host that floods the listener does not keep others out", "[streams]") {
    const auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 1));
    Joining joining({&*listener, 1}, listens);
    const Descriptor genuine = connected_to(*listener);
    const Nonce nonce = challenged(genuine, joining);
    std::vector<Descriptor> flood;
    for (int i = 0; i < 400; ++i) {
        flood.push_back(connected_to(*listener, "127.0.0.2"));
        if (i % 100 == 99) joining.go_on(now());
    }
    joining.go_on(now());
    CHECK(joining.strangers() == 401);  // some of which were closed, and the one that has not spoken yet
    answer(genuine, nonce, listens[0]);
    for (int look = 0; look < 100 && !joining.is_complete(); ++look) joining.go_on(now());
    CHECK(joining.is_complete());
}

TEST_CASE("lanes are no strangers, however many arrive at once", "[streams]") {
    const auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    std::vector<JoinedLink> listens;
    std::vector<JoinedLink> connects;
    for (std::uint64_t number = 0; number < 5; ++number) {
        listens.push_back(new_link(number, 64));
        connects.push_back(other_end(listens.back(), *listener));
    }
    std::thread thread([&] { connect_all(connects, Seconds(20)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // until the kernel has connected all
    const int strangers = join(
        {&*listener, 1}, listens, [end = now() + Seconds(20)] { return end; }, now, [] {});
    thread.join();
    CHECK(count_open(listens) == 5 * 64);
    CHECK(count_open(connects) == 5 * 64);
    CHECK(strangers == 0);
}

TEST_CASE("who proves to be of a lane that is there already is no stranger", "[streams]") {
    const auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 1));
    listens[0].lanes[0] = connected_to(*listener);
    Joining joining({&*listener, 1}, listens);
    const Descriptor late = connected_to(*listener);
    answer(late, challenged(late, joining), listens[0]);
    const int before = joining.strangers();
    joining.go_on(now());
    char none = 0;
    CHECK(recv(late.number(), &none, 1, 0) == 0);
    CHECK(joining.strangers() == before - 1);  // it was unproven, too
}

TEST_CASE("where the system gives no descriptor for who connects, time passes", "[streams]") {
    const auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 1));
    Joining joining({&*listener, 1}, listens);
    const Descriptor client = connected_to(*listener);
    rlimit usual{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    const Descriptor next(dup(client.number()));
    const rlimit taken{static_cast<rlim_t>(next.number()) + 1, usual.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &taken) == 0);
    const Seconds begin = now();
    for (int look = 0; look < 20; ++look) {
        joining.go_on(now());
        joining.wait();
    }
    const Seconds time = now() - begin;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &usual) == 0);
    CHECK(time > Seconds(10e-3));
    CHECK(joining.strangers() == 0);
    for (int look = 0; look < 1000 && joining.strangers() == 0; ++look) {
        joining.go_on(now());
        joining.wait();
    }
    CHECK(joining.strangers() == 1);  // it has been accepted
}

TEST_CASE("what is not joined in time stays closed", "[streams]") {
    const auto listener = Listener::open(loopback(), {});
    REQUIRE(listener);
    std::vector<JoinedLink> listens;
    listens.push_back(new_link(1, 2));
    int calls = 0;
    const Seconds begin = now();
    join(
        {&*listener, 1}, listens, [&] { return begin + Seconds(0.1); }, now, [&] { ++calls; });
    CHECK(now() - begin >= Seconds(0.1));
    CHECK(calls > 1);
    CHECK(count_open(listens) == 0);
}

TEST_CASE("a listener takes a port of the range that is free", "[streams]") {
    const auto any = Listener::open(loopback(), {});
    REQUIRE(any);
    const std::uint16_t taken = any->endpoint().port;
    CHECK_FALSE(Listener::open(loopback(), {taken, taken}));
    if (taken < 65530) {
        const auto other = Listener::open(loopback(), {taken, static_cast<std::uint16_t>(taken + 5)});
        REQUIRE(other);
        CHECK(other->endpoint().port > taken);
    }
}

TEST_CASE("ports are tried in turn, some of them last", "[streams]") {
    const auto tried = [](PortRange ports, int first, const std::set<std::uint16_t>& last) {
        std::vector<int> all;
        for (const PortRange& some : ports_in_turn(ports, first, last)) {
            CHECK(some.first == some.last);
            all.push_back(some.first);
        }
        return all;
    };
    CHECK(tried({5, 8}, 0, {}) == std::vector<int>{5, 6, 7, 8});
    CHECK(tried({5, 8}, 6, {}) == std::vector<int>{7, 8, 5, 6});
    CHECK(tried({5, 8}, 2, {7, 5}) == std::vector<int>{8, 6, 7, 5});
    CHECK(tried({5, 5}, 3, {5}) == std::vector<int>{5});
    CHECK(tried({0, 0}, 3, {}) == std::vector<int>{0});
}

TEST_CASE("a listener takes the next port where another one was quicker", "[streams]") {
    const Descriptor other(::socket(AF_INET, SOCK_STREAM, 0));
    const int yes = 1;
    REQUIRE(setsockopt(other.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
    std::uint16_t taken = 0;
    before_listening = [&](int socket) {
        sockaddr_in address{};
        socklen_t length = sizeof address;
        auto* const general = reinterpret_cast<sockaddr*>(&address);
        REQUIRE(getsockname(socket, general, &length) == 0);
        REQUIRE(bind(other.number(), general, length) == 0);
        REQUIRE(listen(other.number(), 1) == 0);
        taken = ntohs(address.sin_port);
    };
    const auto listener = Listener::open(loopback(), {61000, 61999});
    before_listening = nullptr;
    REQUIRE(taken >= 61000);
    REQUIRE(listener);
    CHECK(listener->endpoint().port > taken);
}

TEST_CASE("each of many that look for a port at the same time gets one", "[streams]") {
    constexpr int kCount = 20;
    constexpr PortRange kPorts{61000, 61999};
    std::barrier all(kCount);
    std::vector<int> failures(kCount);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kCount; ++i) {
        threads.emplace_back([&, i] {
            for (int turn = 0; turn < 100; ++turn) {
                all.arrive_and_wait();
                const auto listener = Listener::open(loopback(), kPorts);
                failures[i] += listener ? 0 : 1;
                all.arrive_and_wait();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(std::accumulate(failures.begin(), failures.end(), 0) == 0);
}
