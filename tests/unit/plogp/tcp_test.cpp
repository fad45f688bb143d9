// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/tcp.hpp"

#include <catch2/catch.hpp>

using namespace laple;

namespace {

constexpr double kGigabit = 125e6;

/// Two hosts that are set up well, and a connection between them that has lost nothing.
struct Pair {
    std::vector<TcpHost> hosts{{"a-1", Bytes{32} << 20, Bytes{32} << 20, false, "cubic", {"10.0.0.1"}},
                               {"b-1", Bytes{32} << 20, Bytes{32} << 20, false, "cubic", {"10.0.1.1"}}};
    std::vector<TcpFlow> flows{flow()};

    static TcpFlow flow() {
        TcpFlow flow;
        flow.peer_address = "10.0.1.1";
        flow.round_trip = flow.least_round_trip = Seconds(20e-3);
        flow.sent = 5'000'000;
        return flow;
    }
    std::vector<TcpAdvice> advice(double rate = kGigabit) const { return tcp_advice(hosts, flows, rate); }
};

}  // namespace

TEST_CASE("nothing is said of connections that are as fast as they can be", "[tcp]") {
    CHECK(Pair().advice().empty());
    Pair unknown;
    unknown.hosts[0] = {"a-1", {}, {}, {}, "", {"10.0.0.1"}};
    CHECK(unknown.advice().empty());
}

TEST_CASE("half of the largest buffer has to hold what is under way", "[tcp]") {
    // 20 ms at 125 MB/s are 2.5 MB.
    CHECK(tcp_buffer_for(kGigabit, Seconds(20e-3)) == 5'000'000);
    Pair pair;
    pair.hosts[0].most_sent = 4 << 20;
    auto advice = pair.advice();
    REQUIRE(advice.size() == 1);
    CHECK(advice[0].line == "sysctl -w net.ipv4.tcp_wmem=\"4096 16384 8388608\"");
    CHECK(advice[0].problem ==
          "a-1 - b-1: with at most 4.19 MB of buffer for what is sent, a connection of 20.0 ms round trip "
          "carries 105 MB/s at most; a NIC does 125 MB/s");
    pair.hosts[0].most_sent = 8 << 20;
    CHECK(pair.advice().empty());
    pair.hosts[0].most_received = 1 << 20;
    advice = pair.advice();
    REQUIRE(advice.size() == 1);
    CHECK(advice[0].line == "sysctl -w net.ipv4.tcp_rmem=\"4096 131072 8388608\"");
    CHECK(pair.advice(12.5e6).empty());  // of 100 Mbit/s
    // No more than sysctl takes, whatever rate a model may hold.
    for (const double rate : {1e12, 1e300}) {
        REQUIRE(pair.advice(rate).size() == 2);
        CHECK(pair.advice(rate)[0].line == "sysctl -w net.ipv4.tcp_rmem=\"4096 131072 1073741824\"");
    }
}

TEST_CASE("buffers that the MPI has fixed do not grow", "[tcp]") {
    Pair pair;
    pair.flows[0].fixed_receive_buffer = 5'000'000;
    CHECK(pair.advice().empty());
    pair.flows[0].fixed_send_buffer = 250'000;
    const auto advice = pair.advice();
    REQUIRE(advice.size() == 1);
    CHECK(advice[0].problem.find("fixed a buffer at 0.25 MB") != std::string::npos);
    CHECK(advice[0].problem.find("carries 6.25 MB/s at most") != std::string::npos);
    CHECK(advice[0].line.find("UCX_TCP_SNDBUF=auto") != std::string::npos);
}

TEST_CASE("slow start after a pause, unless the control goes by rates", "[tcp]") {
    Pair pair;
    pair.hosts[0].restarts_after_idle = true;
    REQUIRE(pair.advice().size() == 1);
    CHECK(pair.advice()[0].line == "sysctl -w net.ipv4.tcp_slow_start_after_idle=0");
    pair.hosts[0].control = "bbr";
    CHECK(pair.advice().empty());
}

TEST_CASE("losses count where the control takes them for a full link", "[tcp]") {
    Pair pair;
    pair.flows[0].sent_again = 10'000;
    REQUIRE(pair.advice().size() == 1);
    CHECK(pair.advice()[0].line.find("tcp_congestion_control=bbr") != std::string::npos);
    pair.flows[0].sent_again = 4'000;  // less than one in a thousand
    CHECK(pair.advice().empty());
    pair.flows[0].sent_again = 10'000;
    pair.hosts[0].control = "bbr";
    CHECK(pair.advice().empty());
}

TEST_CASE("short ways are no matter, and of long ones the worst is named", "[tcp]") {
    Pair pair;
    pair.hosts[0].most_sent = 16384;  // too little for 0.1 ms, too
    pair.hosts[0].restarts_after_idle = true;
    pair.flows[0].least_round_trip = Seconds(0.1e-3);
    CHECK(pair.advice().empty());
    pair.flows.push_back(Pair::flow());
    pair.flows.push_back(Pair::flow());
    pair.flows.back().peer_address = "10.9.9.9";  // of no host that is known
    pair.flows.back().least_round_trip = Seconds(80e-3);
    REQUIRE(pair.advice().size() == 2);
    for (const TcpAdvice& advice : pair.advice()) CHECK(advice.problem.starts_with("a-1 - 10.9.9.9: "));
}

TEST_CASE("hosts and connections pass through JSON unchanged", "[tcp]") {
    Pair pair;
    pair.flows[0].fixed_send_buffer = 87380;
    pair.flows[0].sent_again = 3;
    pair.flows[0].window = 14480;
    pair.hosts[1].most_sent.reset();
    pair.hosts[1].restarts_after_idle.reset();
    for (const TcpHost& host : pair.hosts) CHECK(tcp_host_from(Json::parse(to_json(host).dump())) == host);
    for (const TcpFlow& flow : pair.flows) CHECK(tcp_flow_from(Json::parse(to_json(flow).dump())) == flow);
}
