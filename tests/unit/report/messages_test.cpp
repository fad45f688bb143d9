// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/messages.hpp"

#include <array>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace laple::mpi {
namespace {

constexpr Seconds kMilli(1e-3);
using Request = Messages::Request;

/// Rank 0's, of six: 0 and 1 are on a host, 2 is in their cluster, the others are in another one.
void learn(Messages& messages) {
    messages.learn({0, {0, 0, 0, 1, 1, 1}, {0, 0, 1, 2, 3, 4}});
}

Messages::Pending sent_to(Rank peer, Bytes bytes) {
    return {peer, true, false, {peer, bytes}};
}

double time_with(const Messages& messages, std::size_t rank) {
    const auto traffic = messages.traffic();
    return rank < traffic.size() ? traffic[rank].time.count() : 0;
}

}  // namespace

TEST_CASE("calls are counted by function, messages where they are sent", "[messages]") {
    Messages messages;
    auto& send = messages.line("Send");
    messages.sent(send, kMilli, {2, 100});
    messages.sent(send, 3 * kMilli, {2, 50});
    messages.received(messages.line("Recv"), 2 * kMilli, 1);
    const auto lines = messages.lines();
    CHECK(lines.at("Send").calls == 2);
    CHECK(lines.at("Send").messages == 2);
    CHECK(lines.at("Send").bytes == 150);
    CHECK(lines.at("Send").total.count() == Approx(4e-3));
    CHECK(lines.at("Send").longest.count() == Approx(3e-3));
    CHECK(lines.at("Recv").calls == 1);
    CHECK(lines.at("Recv").messages == 0);
    const auto traffic = messages.traffic();
    REQUIRE(traffic.size() == 3);
    CHECK(traffic[2].messages == 2);
    CHECK(traffic[2].bytes == 150);
    CHECK(traffic[2].time.count() == Approx(4e-3));
    CHECK(traffic[1].messages == 0);
    CHECK(traffic[1].time.count() == Approx(2e-3));
}

TEST_CASE("what goes to nobody is no message, and what goes to other worlds is apart", "[messages]") {
    Messages messages;
    auto& send = messages.line("Send");
    messages.sent(send, kMilli, {Messages::kNobody, 100});
    messages.sent(send, kMilli, {Messages::kElsewhere, 10});
    CHECK(messages.lines().at("Send").calls == 2);
    CHECK(messages.lines().at("Send").messages == 1);
    CHECK(messages.traffic().empty());
    CHECK(messages.elsewhere().messages == 1);
    CHECK(messages.elsewhere().bytes == 10);
}

TEST_CASE("a wait counts for the rank of its request", "[messages]") {
    Messages messages;
    learn(messages);
    auto& wait = messages.line("Wait");
    messages.opened(messages.line("Isend"), Seconds(0), 7, sent_to(3, 100));
    const std::array<Request, 1> request{7};
    CHECK(messages.traffic()[3].messages == 1);
    messages.waited(wait, kMilli, request, {});  // nothing has come yet
    messages.waited_for_all(wait, kMilli, request);
    CHECK(time_with(messages, 3) == Approx(2e-3));
    messages.waited_for_all(wait, kMilli, request);  // its number means nothing any more
    CHECK(time_with(messages, 3) == Approx(2e-3));
    CHECK(messages.elsewhere().time.count() == Approx(1e-3));
}

TEST_CASE("of several requests the farthest one counts", "[messages]") {
    Messages messages;
    learn(messages);
    auto& irecv = messages.line("Irecv");
    auto& wait = messages.line("Waitall");
    for (const Rank peer : {1, 4, 2}) messages.opened(irecv, Seconds(0), Request(peer), {peer});
    const std::vector<Request> requests{1, 4, 2};
    SECTION("of all") {
        messages.waited_for_all(wait, kMilli, requests);
        CHECK(time_with(messages, 4) == Approx(1e-3));
    }
    SECTION("that sends: what is sent is often complete at once") {
        messages.opened(messages.line("Isend"), Seconds(0), 8, sent_to(5, 100));
        const std::array<Request, 2> two{8, 2};
        messages.waited_for_all(wait, kMilli, two);
        CHECK(time_with(messages, 2) == Approx(1e-3));
        CHECK(time_with(messages, 5) == 0);
    }
    SECTION("not a receiver where a sender is not known") {
        messages.opened(messages.line("Isend"), Seconds(0), 8, sent_to(5, 100));
        messages.opened(irecv, Seconds(0), 9, {Messages::kElsewhere});
        const std::array<Request, 2> two{8, 9};
        messages.waited_for_all(wait, kMilli, two);
        CHECK(time_with(messages, 5) == 0);
        CHECK(messages.elsewhere().time.count() == Approx(1e-3));
    }
    SECTION("of those that are complete") {
        const std::array<int, 2> completed{0, 2};
        messages.waited(wait, kMilli, requests, completed);
        CHECK(time_with(messages, 2) == Approx(1e-3));
        messages.waited_for_all(wait, kMilli, requests);
        CHECK(time_with(messages, 4) == Approx(1e-3));
    }
    SECTION("of an exchange") {
        messages.exchanged(messages.line("Sendrecv"), kMilli, {1, 8}, 5);
        CHECK(time_with(messages, 5) == Approx(1e-3));
        CHECK(messages.traffic()[1].messages == 1);
        CHECK(messages.farther(3, Messages::kNobody) == 3);
        CHECK(messages.farther(Messages::kElsewhere, 3) == 3);
    }
}

TEST_CASE("messages that are sent at once, and share a handle, are not what is waited for", "[messages]") {
    Messages messages;
    learn(messages);
    auto& isend = messages.line("Isend");
    for (const Rank peer : {4, 1, 2}) messages.opened(isend, Seconds(0), 7, sent_to(peer, 100));
    messages.opened(isend, Seconds(0), 8, sent_to(5, 100));
    const std::array<Request, 4> requests{7, 7, 7, 8};
    messages.waited_for_all(messages.line("Waitall"), kMilli, requests);
    CHECK(time_with(messages, 5) == Approx(1e-3));
    CHECK(messages.elsewhere().time.count() == 0);
    CHECK(messages.traffic()[1].messages == 1);
    // As a handle of a message that is received it stands for that one.
    messages.opened(messages.line("Irecv"), Seconds(0), 7, {2});
    messages.waited_for_all(messages.line("Wait"), kMilli, std::array<Request, 1>{7});
    CHECK(time_with(messages, 2) == Approx(1e-3));
}

TEST_CASE("persistent requests send each time they are started", "[messages]") {
    Messages messages;
    learn(messages);
    const std::array<Request, 1> request{9};
    messages.opened(messages.line("Send_init"), Seconds(0), 9, {3, true, true, {3, 1000}});
    CHECK(messages.lines().at("Send_init").messages == 0);
    for (int i = 0; i < 3; ++i) {
        messages.started(messages.line("Start"), Seconds(0), request);
        messages.waited_for_all(messages.line("Wait"), kMilli, request);
    }
    CHECK(messages.lines().at("Start").messages == 3);
    CHECK(messages.traffic()[3].bytes == 3000);
    CHECK(time_with(messages, 3) == Approx(3e-3));
    messages.forget(9);
    messages.started(messages.line("Start"), Seconds(0), request);
    CHECK(messages.traffic()[3].messages == 3);
}

TEST_CASE("requests that are never completed do not take all memory", "[messages]") {
    Messages messages;
    auto& irecv = messages.line("Irecv");
    const auto most = Request(Messages::kMostRequests);
    for (Request request = 0; request <= most; ++request) messages.opened(irecv, Seconds(0), request, {1});
    const std::array<Request, 1> last{most};
    const std::array<Request, 1> kept{most - 1};
    messages.waited_for_all(messages.line("Wait"), kMilli, last);
    CHECK(time_with(messages, 1) == 0);
    messages.waited_for_all(messages.line("Wait"), kMilli, kept);
    CHECK(time_with(messages, 1) == Approx(1e-3));
}

TEST_CASE("threads count together", "[messages]") {
    Messages messages;
    auto& send = messages.line("Send");
    std::vector<std::thread> threads;
    for (Rank peer = 0; peer < 4; ++peer) {
        threads.emplace_back([&messages, &send, peer] {
            for (int i = 0; i < 1000; ++i) messages.sent(send, kMilli, {peer, 1});
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(messages.lines().at("Send").messages == 4000);
    for (const auto& traffic : messages.traffic()) CHECK(traffic.bytes == 1000);
}

}  // namespace laple::mpi
