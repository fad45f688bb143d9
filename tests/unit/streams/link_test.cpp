// SPDX-License-Identifier: BSD-3-Clause
#include "streams/link.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <new>
#include <random>
#include <thread>

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace laple;
using namespace laple::streams;

namespace {

using Data = std::vector<std::byte>;

std::function<void()> while_system_is_asked;

/// While links look after their lanes, each such allocation of memory fails; 0: none.
unsigned failing_allocation = 0;
bool is_memory_short = false;
unsigned allocations = 0;

/// One way of a lane: what the sender has written waits here until it is let through.
struct Pipe {
    int from = -1;
    int to = -1;
    Data waiting;
    std::uint64_t carried = 0;

    void carry(std::size_t most) {
        std::array<std::byte, 65536> piece;
        while (waiting.size() < most) {
            const ssize_t come = read(from, piece.data(), std::min(piece.size(), most - waiting.size()));
            if (come <= 0) break;
            carried += static_cast<std::uint64_t>(come);
            waiting.insert(waiting.end(), piece.begin(), piece.begin() + come);
        }
        const ssize_t gone = waiting.empty() ? 0 : send(to, waiting.data(), waiting.size(), MSG_NOSIGNAL);
        if (gone > 0) waiting.erase(waiting.begin(), waiting.begin() + gone);
    }
};

/// Two links, joined by lanes that a test can hold up or cut, and by a clock that it sets.
class Pair {
  public:
    explicit Pair(std::size_t lanes, std::uint64_t window = 32U << 20, Seconds patience = Seconds(0)) {
        std::array<std::vector<Descriptor>, 2> ends;
        wires_.resize(lanes);
        for (Wire& wire : wires_) {
            auto [first, second] = connect(wire);
            ends[0].push_back(std::move(first));
            ends[1].push_back(std::move(second));
        }
        for (std::size_t end = 0; end < 2; ++end)
            links_[end] = std::make_unique<Link>(
                std::move(ends[end]),
                LinkOptions{Seconds(0.01), patience, window, [this](int own) { return carried_from(own); }});
    }

    Link& operator[](std::size_t end) { return *links_[end]; }
    void hold_up(std::size_t lane, bool yes) { wires_[lane].is_held_up = yes; }
    /// It carries so many bytes in a millisecond at most.
    void slow_down(std::size_t lane, std::size_t bytes) { wires_[lane].most = bytes; }
    /// What is on the way is lost.
    void cut(std::size_t lane) {
        Wire& wire = wires_[lane];
        wire.is_there = false;
        wire.a.reset();
        wire.b.reset();
    }
    /// Both ends have seen by now that it was cut, and get a new connection.
    void mend(std::size_t lane) {
        auto [first, second] = connect(wires_[lane]);
        links_[0]->replace(lane, std::move(first));
        links_[1]->replace(lane, std::move(second));
    }
    void close(std::size_t end) { links_[end].reset(); }
    /// Time goes on by a millisecond, in which each lane carries so much.
    void step(bool first = true, bool second = true, std::size_t bytes = 100000) {
        now_ += Seconds(1e-3);
        if (first && links_[0]) progress(*links_[0]);
        if (second && links_[1]) progress(*links_[1]);
        for (Wire& wire : wires_) {
            if (!wire.is_there || wire.is_held_up) continue;
            for (Pipe& pipe : wire.pipes) pipe.carry(std::min(bytes, wire.most));
        }
    }
    /// Without a look.
    void let_pass(Seconds time) { now_ += time; }
    void steps(int count) {
        for (int i = 0; i < count; ++i) step();
    }
    /// For so long neither link has said that anything has moved.
    Seconds silence() const { return now_ - last_move_; }
    /// Until all are done; false where that takes too long.
    bool until_done(std::initializer_list<const Posted*> all) {
        for (int i = 0; i < 20000; ++i) {
            if (std::all_of(all.begin(), all.end(), [](const Posted* one) { return one->is_done.load(); }))
                return true;
            step();
        }
        return false;
    }

  private:
    struct Wire {
        Descriptor a, b;
        std::array<Pipe, 2> pipes;
        bool is_there = true;
        bool is_held_up = false;
        std::array<int, 2> own{-1, -1};  // descriptors of the links' ends, in the order of pipes
        std::size_t most = ~std::size_t{0};
    };

    void progress(Link& link) {
        is_memory_short = failing_allocation > 0;
        try {
            if (link.progress(now_)) last_move_ = now_;
        } catch (const std::bad_alloc&) {
            // The owner goes on.
        }
        is_memory_short = false;
    }

    /// What the kernel knows of TCP.
    std::uint64_t carried_from(int own) const {
        for (const Wire& wire : wires_) {
            for (std::size_t end = 0; end < 2; ++end) {
                if (wire.own[end] == own) return wire.pipes[end].carried;
            }
        }
        return 0;
    }

    /// The two ends of a new one.
    static std::pair<Descriptor, Descriptor> connect(Wire& wire) {
        std::array<int, 2> first{};
        std::array<int, 2> second{};
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, first.data()) == 0);
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, second.data()) == 0);
        wire = {Descriptor(first[1]),
                Descriptor(second[0]),
                {Pipe{first[1], second[0], {}}, Pipe{second[0], first[1], {}}},
                true,
                false,
                {first[0], second[1]}};
        return {Descriptor(first[0]), Descriptor(second[1])};
    }

    std::vector<Wire> wires_;
    std::array<std::unique_ptr<Link>, 2> links_;
    Seconds now_{1000};
    Seconds last_move_{0};
};

Data drawn(std::size_t bytes, unsigned seed) {
    std::mt19937 draw(seed);
    Data data(bytes);
    std::generate(data.begin(), data.end(), [&] { return static_cast<std::byte>(draw() >> 7); });
    return data;
}

MessageKey key(std::uint32_t turn) {
    return {1, 2, 3, turn};
}

void* allocate(std::size_t bytes) noexcept {
    if (is_memory_short && ++allocations % failing_allocation == 0) return nullptr;
    return std::malloc(std::max<std::size_t>(bytes, 1));
}

}  // namespace

/// In place of the library's. The compiler takes free() for a mistake where it sees it behind `delete`.
void* operator new(std::size_t bytes) {
    void* const memory = allocate(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}

/// In place of the system's.
extern "C" int epoll_wait(int poller, epoll_event* events, int most, int timeout) {
    if (while_system_is_asked) while_system_is_asked();
    return epoll_pwait(poller, events, most, timeout, nullptr);
}

TEST_CASE("messages of all sizes arrive, over any number of lanes", "[streams]") {
    const std::size_t lanes = GENERATE(as<std::size_t>(), 1, 2, 8);
    const std::size_t bytes = GENERATE(as<std::size_t>(), 0, 1, 63, 65536, 262144, 262145, 5000000);
    const bool is_early = GENERATE(true, false);  // the receive
    Pair pair(lanes);
    const Data data = drawn(bytes, 1);
    Data result(bytes);
    Posted sent, received;
    if (is_early) pair[1].receive(key(0), result.data(), bytes, received);
    pair[0].send(key(0), data.data(), bytes, sent);
    if (!is_early) {
        pair.steps(static_cast<int>(bytes) % 40 + 20);  // in the middle of a long one
        pair[1].receive(key(0), result.data(), bytes, received);
    }
    REQUIRE(pair.until_done({&sent, &received}));
    CHECK_FALSE(sent.has_failed);
    CHECK_FALSE(received.has_failed);
    CHECK(received.total == bytes);
    CHECK((result == data));
    pair.steps(10);
    CHECK(pair[0].is_flushed());
    CHECK(pair[0].account().sent_again == 0);
    CHECK(pair[1].account().received == bytes);
}

TEST_CASE("each message is for the receive with its key, in any order and both ways", "[streams]") {
    Pair pair(3);
    constexpr int kCount = 40;
    std::vector<Data> data, results;
    std::list<Posted> sent, received;
    for (int i = 0; i < kCount; ++i) {
        data.push_back(drawn(static_cast<std::size_t>(i) * 9973, static_cast<unsigned>(i)));
        results.emplace_back(data.back().size());
    }
    for (int i = 0; i < kCount; ++i)
        pair[static_cast<std::size_t>(i % 2)].send(
            key(static_cast<std::uint32_t>(i)), data[static_cast<std::size_t>(i)].data(),
            data[static_cast<std::size_t>(i)].size(), sent.emplace_back());
    pair.steps(3);
    for (int i = kCount - 1; i >= 0; --i)
        pair[static_cast<std::size_t>((i + 1) % 2)].receive(
            key(static_cast<std::uint32_t>(i)), results[static_cast<std::size_t>(i)].data(),
            results[static_cast<std::size_t>(i)].size(), received.emplace_back());
    for (const Posted& one : received) REQUIRE(pair.until_done({&one}));
    CHECK((results == data));
}

TEST_CASE("a message longer than its receive is cut, a shorter one leaves the rest", "[streams]") {
    const std::size_t expected = GENERATE(as<std::size_t>(), 0, 1000, 300000, 900000);
    const bool is_early = GENERATE(true, false);
    Pair pair(2);
    const Data data = drawn(600000, 1);
    Data result(1000000, std::byte{42});
    Posted sent, received;
    if (is_early) pair[1].receive(key(0), result.data(), expected, received);
    pair[0].send(key(0), data.data(), data.size(), sent);
    if (!is_early) {
        pair.steps(3);
        pair[1].receive(key(0), result.data(), expected, received);
    }
    REQUIRE(pair.until_done({&sent, &received}));
    CHECK(received.total == data.size());
    const std::size_t common = std::min(expected, data.size());
    CHECK(std::equal(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(common), result.begin()));
    CHECK(std::all_of(result.begin() + static_cast<std::ptrdiff_t>(common), result.end(),
                      [](std::byte byte) { return byte == std::byte{42}; }));
}

TEST_CASE("lanes that break lose nothing as long as one lives", "[streams]") {
    Pair pair(4);
    const Data data = drawn(8000000, 1);
    Data result(data.size());
    Posted sent, received;
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair[0].send(key(0), data.data(), data.size(), sent);
    for (const std::size_t lane : {std::size_t{2}, std::size_t{0}, std::size_t{3}}) {
        pair.steps(4);
        CHECK_FALSE(received.is_done);
        pair.cut(lane);
    }
    REQUIRE(pair.until_done({&sent, &received}));
    CHECK((result == data));
    CHECK(pair[0].account().broken_lanes == 3);
    CHECK(pair[0].account().sent_again > 0);
    CHECK_FALSE(pair[0].is_broken());
}

TEST_CASE("without a lane all messages fail, and those to come", "[streams]") {
    Pair pair(2);
    const Data data = drawn(8000000, 1);
    Data result(data.size());
    Posted sent, received, other, late_send, late_receive;
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair[0].receive(key(1), result.data(), result.size(), other);
    pair[0].send(key(0), data.data(), data.size(), sent);
    pair.steps(3);
    pair.cut(0);
    pair.cut(1);
    REQUIRE(pair.until_done({&sent, &received, &other}));
    CHECK(sent.has_failed);
    CHECK(received.has_failed);
    CHECK(other.has_failed);
    CHECK(pair[0].is_broken());
    CHECK(pair[0].is_flushed());
    pair[0].send(key(2), data.data(), 10, late_send);
    pair[0].receive(key(3), result.data(), 10, late_receive);
    CHECK(late_send.has_failed);
    CHECK(late_receive.has_failed);
}

TEST_CASE("lanes that broke, even all of them, are replaced, and nothing is lost", "[streams]") {
    Pair pair(3, 32U << 20, Seconds(1));
    const Data data = drawn(8000000, 1);
    Data result(data.size());
    Posted sent, received;
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair[0].send(key(0), data.data(), data.size(), sent);
    for (int times = 0; times < 3; ++times) {
        pair.steps(4);
        REQUIRE_FALSE(received.is_done);
        for (std::size_t lane = 0; lane < 3; ++lane) pair.cut(lane);
        pair.steps(300);
        for (std::size_t end = 0; end < 2; ++end)
            CHECK(pair[end].missing() == std::vector<std::size_t>{0, 1, 2});
        CHECK_FALSE(pair[0].can_say_end());
        pair.mend(1);
        CHECK(pair[0].can_say_end());
    }
    REQUIRE(pair.until_done({&sent, &received}));
    CHECK_FALSE(received.has_failed);
    CHECK((result == data));
    CHECK(pair[0].account().replaced_lanes == 3);
    CHECK(pair[0].missing() == std::vector<std::size_t>{0, 2});
    pair.steps(10);
    CHECK(pair[0].is_flushed());
}

void send_without_lane(Pair& pair, const Data& data, Posted& sent) {
    pair.cut(0);
    pair.steps(2);
    pair[0].send(key(0), data.data(), data.size(), sent);
}

TEST_CASE("messages wait for a new lane as long as they may", "[streams]") {
    Pair pair(1, 32U << 20, Seconds(1));
    const Data data = drawn(1000, 1);
    Posted sent;
    send_without_lane(pair, data, sent);
    pair.steps(990);
    CHECK_FALSE(sent.is_done);
    CHECK_FALSE(pair[0].is_broken());
    pair.steps(20);
    CHECK(sent.is_done);
    CHECK(sent.has_failed);
    CHECK(pair[0].is_broken());
    CHECK(pair[0].missing().empty());
    pair.mend(0);
    CHECK(pair[0].is_broken());
}

TEST_CASE("new lanes that break before they have carried anything end no waiting", "[streams]") {
    Pair pair(1, 32U << 20, Seconds(1));
    const Data data = drawn(1000, 1);
    Posted sent;
    send_without_lane(pair, data, sent);
    for (int times = 0; times < 3; ++times) {
        pair.steps(300);
        CHECK_FALSE(pair[0].is_broken());
        pair.mend(0);
        pair.cut(0);
    }
    pair.steps(120);
    CHECK(pair[0].is_broken());
    CHECK(sent.has_failed);
}

TEST_CASE("what a new lane has carried ends the waiting", "[streams]") {
    Pair pair(1, 32U << 20, Seconds(1));
    Posted never_sent, never_sent_either;  // both ends wait all the time
    pair[0].receive(key(7), nullptr, 0, never_sent);
    pair[1].receive(key(8), nullptr, 0, never_sent_either);
    for (std::uint32_t number = 0; number < 3; ++number) {
        const Data data = drawn(1000, number);
        Data result(data.size());
        Posted sent, received;
        pair.cut(0);
        pair.steps(2);
        pair[0].send(key(number), data.data(), data.size(), sent);
        pair[1].receive(key(number), result.data(), result.size(), received);
        pair.steps(700);
        pair.mend(0);
        REQUIRE(pair.until_done({&sent, &received}));
        pair.steps(2);  // with the receipt
        CHECK_FALSE(received.has_failed);
        CHECK((result == data));
    }
    CHECK_FALSE(never_sent.is_done);
    CHECK_FALSE(pair[0].is_broken());
    CHECK_FALSE(pair[1].is_broken());
}

TEST_CASE("so does a life as long as messages wait", "[streams]") {
    Pair pair(1, 32U << 20, Seconds(1));
    Posted never_sent;
    pair[0].receive(key(7), nullptr, 0, never_sent);
    const int life = GENERATE(400, 1100);
    for (int times = 0; times < 3; ++times) {
        pair.cut(0);
        pair.steps(600);
        pair.mend(0);
        pair.steps(life);
    }
    CHECK(never_sent.has_failed == (life < 1000));
}

TEST_CASE("a link by which nothing is to go waits for new lanes as long as it takes", "[streams]") {
    Pair pair(2, 32U << 20, Seconds(1));
    const Data data = drawn(100000, 1);
    Data result(data.size());
    Posted sent, received;
    CHECK_FALSE(pair[0].is_held_up());
    for (const std::size_t lane : {std::size_t{0}, std::size_t{1}}) pair.cut(lane);
    pair.steps(5000);
    for (std::size_t end = 0; end < 2; ++end) {
        CHECK_FALSE(pair[end].is_broken());
        CHECK_FALSE(pair[end].is_held_up());
        CHECK(pair[end].missing() == std::vector<std::size_t>{0, 1});
    }
    pair[0].send(key(0), data.data(), data.size(), sent);
    pair[1].receive(key(0), result.data(), result.size(), received);
    for (std::size_t end = 0; end < 2; ++end) CHECK(pair[end].is_held_up());
    pair.steps(900);
    pair.mend(1);
    REQUIRE(pair.until_done({&sent, &received}));
    CHECK_FALSE(received.has_failed);
    CHECK((result == data));
}

TEST_CASE("time in which a link is not looked after does not break it", "[streams]") {
    Pair pair(1, 32U << 20, Seconds(10));
    const Data data = drawn(1000, 1);
    Data result(data.size());
    Posted sent, received;
    pair.cut(0);
    pair.steps(2);
    pair[0].send(key(0), data.data(), data.size(), sent);
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair.let_pass(Seconds(3600));
    pair.steps(2);
    CHECK_FALSE(pair[0].is_broken());
    CHECK_FALSE(pair[1].is_broken());
    pair.mend(0);
    REQUIRE(pair.until_done({&sent, &received}));
    CHECK_FALSE(received.has_failed);
    CHECK((result == data));
}

TEST_CASE("nobody waits for a thread that asks the system", "[streams]") {
    Pair pair(1);
    std::future<bool> other;
    bool is_answered = false;
    while_system_is_asked = [&] {
        other = std::async(std::launch::async, [&] { return pair[0].is_broken(); });
        is_answered = other.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
    };
    pair[0].progress(Seconds(1));
    while_system_is_asked = nullptr;
    REQUIRE(other.valid());
    CHECK(is_answered);
}

TEST_CASE("an end that closes the link is no fault", "[streams]") {
    Pair pair(3, 32U << 20, Seconds(1000));
    const Data data = drawn(100000, 1);
    Data result(data.size());
    Posted sent, received, late;
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair[0].send(key(0), data.data(), data.size(), sent);
    REQUIRE(pair.until_done({&sent, &received}));
    pair.steps(10);
    pair.close(0);
    pair.steps(10);
    CHECK(pair[1].missing().empty());
    CHECK(pair[1].account().broken_lanes == 0);
    CHECK(pair[1].can_say_end());
    // What is expected from it does not come any more, however long one waits.
    pair[1].receive(key(1), result.data(), result.size(), late);
    pair.steps(2);
    CHECK(late.has_failed);
}

TEST_CASE("others do the work of a lane that stands still, and what it brings later is dropped",
          "[streams]") {
    Pair pair(3);
    const Data data = drawn(4000000, 1);
    Data result(data.size());
    Posted sent, received;
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair[0].send(key(0), data.data(), data.size(), sent);
    pair.steps(2);
    pair.hold_up(1, true);
    REQUIRE(pair.until_done({&sent, &received}));
    CHECK((result == data));
    CHECK(pair[0].account().sent_again > 0);
    CHECK(pair[0].account().sent_again < 1000000);  // what that lane had, once
    CHECK(pair[0].account().broken_lanes == 0);
    std::fill(result.begin(), result.end(), std::byte{0});
    pair.hold_up(1, false);
    pair.steps(100);
    CHECK(pair[1].account().dropped > 0);
    CHECK(std::all_of(result.begin(), result.end(), [](std::byte byte) { return byte == std::byte{0}; }));
    CHECK(pair[0].is_flushed());
    CHECK(pair[1].account().unclaimed == 0);
    // It is used again, and does the work of the others.
    pair.hold_up(0, true);
    pair.hold_up(2, true);
    Posted again_sent, again_received;
    pair[1].receive(key(1), result.data(), result.size(), again_received);
    pair[0].send(key(1), data.data(), data.size(), again_sent);
    REQUIRE(pair.until_done({&again_sent, &again_received}));
    CHECK((result == data));
}

TEST_CASE("slow lanes, of which each carries a stripe in seconds, have others do nothing of it",
          "[streams]") {
    const unsigned seed = GENERATE(range(0U, 10U));
    std::mt19937 draw(seed);
    Pair pair(8);
    const Data data = drawn(8000000, 1);
    Data result(data.size());
    Posted sent, received;
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair[0].send(key(0), data.data(), data.size(), sent);
    for (int tenths = 0; tenths < 200 && !received.is_done; ++tenths) {
        for (std::size_t lane = 0; lane < 8; ++lane) pair.slow_down(lane, 30 + draw() % 300);
        pair.steps(100);
    }
    REQUIRE(pair.until_done({&sent, &received}));
    CHECK((result == data));
    CHECK(pair[0].account().sent_again == 0);
    CHECK(pair[1].account().dropped == 0);
}

TEST_CASE("others help a lane that crawls on long after they have done their own, and one that stops then",
          "[streams]") {
    const bool stops = GENERATE(false, true);
    Pair pair(8);
    const Data data = drawn(20000000, 1);
    Data result(data.size());
    Posted sent, received;
    pair.slow_down(0, 20);  // a stripe takes 13 seconds
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair[0].send(key(0), data.data(), data.size(), sent);
    pair.steps(700);
    CHECK_FALSE(received.is_done);
    if (stops) pair.hold_up(0, true);
    for (int i = 0; i < (stops ? 1500 : 5000) && !received.is_done; ++i) pair.step();
    CHECK(received.is_done);
    CHECK((result == data));
    CHECK(pair[0].account().sent_again > 0);
}

TEST_CASE("a receiver that is busy elsewhere is waited for, and nothing is sent again", "[streams]") {
    Pair pair(3, 1U << 20);
    const Data data = drawn(4000000, 1);
    Data result(data.size());
    Posted sent, received;
    pair[0].send(key(0), data.data(), data.size(), sent);
    for (int i = 0; i < 3000; ++i) pair.step(true, false);
    CHECK_FALSE(sent.is_done);
    pair[1].receive(key(0), result.data(), result.size(), received);
    REQUIRE(pair.until_done({&sent, &received}));
    CHECK((result == data));
    CHECK(pair[0].account().sent_again == 0);
    CHECK(pair[0].account().most_kept <= (1U << 20) + (256U << 10));
}

TEST_CASE("what is forgotten touches no memory any more", "[streams]") {
    Pair pair(2);
    auto data = std::make_unique<Data>(drawn(3000000, 1));
    const Data copy = *data;
    Data result(copy.size());
    Posted received, other_received;
    {
        Posted sent, never_begun;
        pair[0].send(key(0), data->data(), data->size(), sent);
        pair[0].send(key(1), data->data(), data->size(), never_begun);
        pair.steps(2);
        REQUIRE_FALSE(sent.is_done);
        pair[0].forget(sent);
        pair[0].forget(never_begun);
    }
    data.reset();
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair[1].receive(key(1), result.data(), result.size(), other_received);
    REQUIRE(pair.until_done({&received, &other_received}));
    CHECK(received.total == copy.size());
    CHECK((result == copy));
    CHECK(other_received.total == 0);

    // A receive, in the middle of its message.
    auto memory = std::make_unique<Data>(copy.size());
    Posted sent;
    {
        Posted forgotten;
        pair[1].receive(key(2), memory->data(), memory->size(), forgotten);
        pair[0].send(key(2), copy.data(), copy.size(), sent);
        pair.steps(3);
        REQUIRE_FALSE(forgotten.is_done);
        pair[1].forget(forgotten);
    }
    memory.reset();
    REQUIRE(pair.until_done({&sent}));
    pair.steps(50);
    CHECK(pair[0].is_flushed());
    CHECK(pair[1].account().unclaimed == 0);
}

TEST_CASE("bytes that are no frames break their lane alone", "[streams]") {
    std::array<int, 2> good{};
    std::array<int, 2> bad{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, good.data()) == 0);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, bad.data()) == 0);
    const Descriptor good_end(good[1]);
    const Descriptor bad_end(bad[1]);
    std::vector<Descriptor> lanes;
    lanes.emplace_back(good[0]);
    lanes.emplace_back(bad[0]);
    Link link(std::move(lanes), {});
    const auto frames = GENERATE(0, 1, 2);
    Frame frame;
    if (frames == 0) {
        const Data garbage = drawn(1000, 1);
        REQUIRE(write(bad[1], garbage.data(), garbage.size()) == 1000);
    } else {
        frame.kind = Frame::Kind::receipt;
        frame.count = frames == 1 ? 1 : ~std::uint64_t{0};  // of nothing that was sent
        REQUIRE(write(bad[1], encode(frame).data(), kFrameBytes) == kFrameBytes);
    }
    link.progress(Seconds(1));
    CHECK(link.account().broken_lanes == 1);
    CHECK(link.lane_descriptors() == std::vector<int>{good[0]});
}

TEST_CASE("in a storm of faults nothing is lost and nothing comes twice", "[streams]") {
    const unsigned seed = GENERATE(range(0U, 60U));
    std::mt19937 draw(seed);
    const auto below = [&](std::uint32_t most) { return static_cast<std::uint32_t>(draw() % most); };
    const std::size_t lanes = 2 + below(7);
    Pair pair(lanes, (1U << 20) << below(5), Seconds(1000));
    std::vector<bool> is_cut(lanes, false);
    struct Message {
        std::size_t from = 0;
        Data data, result;
        Posted sent, received;
    };
    std::list<Message> messages;
    for (std::uint32_t number = 0; number < 60;) {
        const std::uint32_t what = below(20);
        if (what < 6) {
            Message& message = messages.emplace_back();
            message.from = below(2);
            message.data = drawn(below(below(4) == 0 ? 3000000 : 70000), static_cast<unsigned>(draw()));
            message.result.resize(message.data.size());
            const auto send = [&] {
                pair[message.from].send(key(number), message.data.data(), message.data.size(), message.sent);
            };
            const auto receive = [&] {
                pair[1 - message.from].receive(key(number), message.result.data(), message.result.size(),
                                               message.received);
            };
            if (below(2) == 0) {
                receive();
                send();
            } else {
                send();
                pair.steps(static_cast<int>(below(30)));
                receive();
            }
            ++number;
        } else if (what == 6) {
            const std::size_t lane = below(static_cast<std::uint32_t>(lanes));
            pair.cut(lane);
            is_cut[lane] = true;
            pair.step();
        } else if (what == 7) {
            const std::size_t lane = below(static_cast<std::uint32_t>(lanes));
            if (is_cut[lane]) pair.mend(lane);
            is_cut[lane] = false;
        } else if (what < 10) {
            pair.hold_up(below(static_cast<std::uint32_t>(lanes)), below(2) == 0);
        } else {
            pair.step(below(3) != 0, below(3) != 0, 1 + below(200000));
        }
    }
    if (is_cut == std::vector<bool>(lanes, true)) pair.mend(0);
    // Of those that live, one at least goes on.
    for (std::size_t lane = 0; lane < lanes; ++lane) pair.hold_up(lane, false);
    for (const Message& message : messages) REQUIRE(pair.until_done({&message.sent, &message.received}));
    for (const Message& message : messages) {
        CHECK_FALSE(message.received.has_failed);
        CHECK((message.result == message.data));
    }
    pair.steps(200);
    for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) {
        CHECK(pair[end].is_flushed());
        CHECK(pair[end].account().unclaimed == 0);
    }
}

TEST_CASE("where memory is short, nothing is lost", "[streams]") {
    const unsigned each = GENERATE(2U, 3U, 5U, 7U, 13U, 29U);
    Pair pair(4, 8U << 20, Seconds(1000));
    std::vector<Data> data, results;
    std::list<Posted> sent, received;
    for (std::uint32_t i = 0; i < 16; ++i) {
        data.push_back(drawn(i % 3 == 0 ? 900000 : 5000 * i, i));
        results.emplace_back(data.back().size());
    }
    const auto receive = [&](std::uint32_t i) {
        pair[1 - i % 2].receive(key(i), results[i].data(), results[i].size(), received.emplace_back());
    };
    for (std::uint32_t i = 0; i < 8; ++i) receive(i);
    for (std::uint32_t i = 0; i < 16; ++i)
        pair[i % 2].send(key(i), data[i].data(), data[i].size(), sent.emplace_back());
    failing_allocation = each;
    for (int turn = 0; turn < 100; ++turn) {
        pair.steps(5);
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const auto misses = [&](std::size_t end) {
                const auto missing = pair[end].missing();
                return std::find(missing.begin(), missing.end(), lane) != missing.end();
            };
            if (!misses(0) && !misses(1)) continue;
            pair.cut(lane);
            for (int i = 0; i < 100 && !(misses(0) && misses(1)); ++i) pair.step();
            pair.mend(lane);
        }
    }
    failing_allocation = 0;
    for (std::uint32_t i = 8; i < 16; ++i) receive(i);
    for (const Posted& one : received) REQUIRE(pair.until_done({&one}));
    CHECK((results == data));
    pair.steps(200);
    for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) CHECK(pair[end].is_flushed());
}

TEST_CASE("where there is no memory to copy what is forgotten, the link breaks, and lets go of it",
          "[streams]") {
    Pair pair(2, 1U << 20, Seconds(1));
    const Data data = drawn(8000000, 1);
    const Data other = drawn(1000, 2);
    Data result(data.size()), other_result(other.size());
    Posted sent, received, other_sent, other_received;
    pair[1].receive(key(0), result.data(), result.size(), received);
    pair[1].receive(key(1), other_result.data(), other_result.size(), other_received);
    pair[0].send(key(0), data.data(), data.size(), sent);
    pair[0].send(key(1), other.data(), other.size(), other_sent);
    pair.steps(3);
    REQUIRE_FALSE(sent.is_done);
    failing_allocation = 1;
    is_memory_short = true;
    pair[0].forget(sent);
    is_memory_short = false;
    failing_allocation = 0;
    CHECK(pair[0].is_broken());
    CHECK(other_sent.has_failed);
    CHECK(pair[0].lane_descriptors().empty());
    for (std::size_t lane = 0; lane < 2; ++lane) pair.cut(lane);  // as the other end sees it
    REQUIRE(pair.until_done({&received, &other_received}));
    CHECK(received.has_failed);
    CHECK(other_received.has_failed);
}

TEST_CASE("threads share a link", "[streams]") {
    std::array<std::vector<Descriptor>, 2> ends;
    for (int lane = 0; lane < 3; ++lane) {
        std::array<int, 2> both{};
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()) == 0);
        ends[0].emplace_back(both[0]);
        ends[1].emplace_back(both[1]);
    }
    Link first(std::move(ends[0]), {});
    Link second(std::move(ends[1]), {});
    std::atomic<int> wrong{0};
    // Each thread has a context of its own, and sends back and forth with the one at the other end.
    const auto work = [&](Link& link, std::uint64_t context, unsigned own_seed, unsigned other_seed) {
        for (std::uint32_t turn = 0; turn < 30; ++turn) {
            const Data data = drawn(20011 * (turn + 1), own_seed);
            Data result(data.size());
            Posted sent, received;
            const MessageKey sends{context, turn, own_seed, 0};
            const MessageKey receives{context, turn, other_seed, 0};
            link.send(sends, data.data(), data.size(), sent);
            link.receive(receives, result.data(), result.size(), received);
            while (!sent.is_done || !received.is_done) {
                const Seconds now = std::chrono::steady_clock::now().time_since_epoch();
                if (!link.progress(now)) std::this_thread::yield();
            }
            if (received.has_failed || result != drawn(data.size(), other_seed)) ++wrong;
        }
    };
    std::vector<std::thread> threads;
    for (const unsigned context : {1U, 2U, 3U}) {
        threads.emplace_back([&, context] { work(first, context, 1, 2); });
        threads.emplace_back([&, context] { work(second, context, 2, 1); });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

namespace {

/// A megabyte each, from one end of a pair to the other one, which has no receive for them yet.
class Flood {
  public:
    Flood(Pair& pair, std::uint64_t context, std::size_t count) : pair_(pair), context_(context) {
        for (std::uint32_t i = 0; i < count; ++i) {
            data_.push_back(drawn(1 << 20, i + static_cast<unsigned>(100 * context)));
            sent_.push_back(std::make_unique<Posted>());
            pair[0].send({context, 1, 0, i}, data_[i].data(), data_[i].size(), *sent_[i]);
        }
    }
    std::size_t gone() const {
        return static_cast<std::size_t>(
            std::count_if(sent_.begin(), sent_.end(), [](const auto& one) { return one->is_done.load(); }));
    }
    /// One after the other; whether all come as they went.
    bool take() {
        for (std::uint32_t i = 0; i < data_.size(); ++i) {
            Data come(data_[i].size());
            Posted posted;
            pair_[1].receive({context_, 1, 0, i}, come.data(), come.size(), posted);
            if (!pair_.until_done({&posted}) || posted.has_failed || come != data_[i]) return false;
        }
        return true;
    }

  private:
    Pair& pair_;
    std::uint64_t context_;
    std::vector<Data> data_;
    std::vector<std::unique_ptr<Posted>> sent_;
};

constexpr std::uint64_t kSmallWindow = 4U << 20;

}  // namespace

TEST_CASE("a window is what the network holds twice over, and a bound where nobody knows that", "[streams]") {
    constexpr double kGigabit = 125e6;
    CHECK(laple::streams::window_for(kGigabit, Seconds(0.1)) == 25'000'000 + (4U << 20));
    CHECK(laple::streams::window_for(100 * kGigabit, Seconds(0.1)) == laple::streams::kMostWindow);
    CHECK(laple::streams::window_for(0, Seconds(0.1)) == laple::streams::kMostWindow);
    CHECK(laple::streams::window_for(kGigabit, Seconds(0)) == laple::streams::kMostWindow);
}

TEST_CASE("what comes without a receive takes a window of memory at most", "[streams]") {
    Pair pair(3, kSmallWindow);
    Flood flood(pair, 1, 40);
    pair.steps(2000);
    CHECK(flood.gone() < 10);
    CHECK(flood.gone() >= 2);
    CHECK(pair[1].account().most_unclaimed > kSmallWindow / 2);
    CHECK(pair[1].account().most_unclaimed <= kSmallWindow + 3 * (256U << 10));
    CHECK(flood.take());
    CHECK(pair[1].account().most_unclaimed <= kSmallWindow + 3 * (256U << 10));
}

TEST_CASE("what is told again of room does not count as something that moves", "[streams]") {
    Pair pair(3, kSmallWindow);
    Flood flood(pair, 1, 40);
    pair.steps(2000);
    CHECK(pair.silence() > Seconds(1));
    pair.steps(2000);
    CHECK(pair.silence() > Seconds(3));
    CHECK(flood.take());
    CHECK(pair.silence() < Seconds(0.01));
}

TEST_CASE("a message with a receive overtakes those without", "[streams]") {
    Pair pair(2, kSmallWindow);
    const Data data = drawn(3 << 20, 7);
    Data come(data.size());
    Posted sent;
    Posted posted;
    Flood flood(pair, 1, 20);
    const MessageKey key{2, 1, 0, 0};
    SECTION("the receive is there first") {
        pair[1].receive(key, come.data(), come.size(), posted);
        pair.steps(1000);
        pair[0].send(key, data.data(), data.size(), sent);
    }
    SECTION("the receive comes later") {
        pair[0].send(key, data.data(), data.size(), sent);
        pair.steps(1000);
        pair[1].receive(key, come.data(), come.size(), posted);
    }
    REQUIRE(pair.until_done({&posted, &sent}));
    CHECK(come == data);
    CHECK(flood.gone() < 20);
    CHECK(flood.take());
}

TEST_CASE("what is told of room is told again when a lane breaks or stands still", "[streams]") {
    for (int seed = 0; seed < 20; ++seed) {
        INFO(seed);
        Pair pair(2, kSmallWindow, Seconds(1000));
        Flood flood(pair, 1, 12);
        std::mt19937 draw(static_cast<unsigned>(seed));
        pair.steps(300);
        std::size_t cut = 0;
        bool is_over = false;
        std::vector<Data> come(12, Data(1 << 20));
        std::vector<std::unique_ptr<Posted>> posted;
        for (std::uint32_t i = 0; i < 12; ++i) {
            posted.push_back(std::make_unique<Posted>());
            pair[1].receive({1, 1, 0, i}, come[i].data(), come[i].size(), *posted[i]);
            pair.steps(static_cast<int>(draw() % 3));
            cut = draw() % 2;
            if (draw() % 2 == 0) {
                pair.cut(cut);
                pair.steps(5);
                pair.mend(cut);
            } else {
                pair.hold_up(cut, true);
                pair.hold_up(1 - cut, false);
            }
        }
        for (int i = 0; i < 20000 && !is_over; ++i) {
            pair.step();
            is_over = std::all_of(posted.begin(), posted.end(),
                                  [](const auto& one) { return one->is_done.load(); });
        }
        CHECK(is_over);
        CHECK(std::none_of(posted.begin(), posted.end(), [](const auto& one) { return one->has_failed; }));
    }
}

namespace {

/// The two ends of a TCP connection to this machine itself.
std::pair<Descriptor, Descriptor> tcp_connection() {
    const Descriptor listener(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(bind(listener.number(), general, length) == 0);
    REQUIRE(listen(listener.number(), 1) == 0);
    REQUIRE(getsockname(listener.number(), general, &length) == 0);
    Descriptor near(socket(AF_INET, SOCK_STREAM, 0));
    REQUIRE(connect(near.number(), general, length) == 0);
    Descriptor far(accept(listener.number(), nullptr, nullptr));
    for (const Descriptor* end : {&near, &far}) REQUIRE(fcntl(end->number(), F_SETFL, O_NONBLOCK) == 0);
    return {std::move(near), std::move(far)};
}

}  // namespace

// As where a firewall forgets a connection: only the end that sends is told.
TEST_CASE("an end that only receives notices that the other has lost the connection", "[streams]") {
    auto [near, far] = tcp_connection();
    std::vector<Descriptor> lanes;
    lanes.push_back(std::move(near));
    Link link(std::move(lanes), {});
    const int is_silent = 1;
    if (setsockopt(far.number(), IPPROTO_TCP, TCP_REPAIR, &is_silent, sizeof is_silent) != 0) {
        WARN("needs root");
        return;
    }
    far.reset();  // says nothing to its peer
    link.progress(Seconds(1));
    CHECK(link.account().broken_lanes == 0);
    for (int tenths = 0; tenths < 150 && link.account().broken_lanes == 0; ++tenths) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        link.progress(Seconds(2));
    }
    CHECK(link.account().broken_lanes == 1);
}
