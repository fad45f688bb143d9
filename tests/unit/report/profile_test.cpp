// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/profile.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "mpi/comm/report.hpp"

namespace laple::mpi {
namespace {

constexpr Seconds kMilli(1e-3);

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Ranks 0, 2, 4 in one cluster, 1 and 3 in another; 0 and 2 on one host.
Machine machine() {
    return {Topology::from_labels(5, {{0, 1, 0, 1, 0}}), {0, 1, 0, 2, 3}};
}

RankTimes times_of(double outside, double late, double between) {
    RankTimes times;
    times.counts_messages = 1;
    times.collectives = late + 1;
    times.late = late;
    times.between_clusters = between;
    times.wall = outside + times.collectives + between;
    return times;
}

/// Of two ranks, one in each cluster.
Profile profile() {
    Profile profile;
    profile.has_all_ranks = true;
    profile.lines["Isend"] = {10, 10, 2'500'000, kMilli, kMilli};
    profile.lines["Wait"] = {20, 0, 0, Seconds(2), Seconds(1)};
    profile.ranks = {times_of(6, 1, 2), times_of(8, 0, 1)};
    profile.parts.ranks = {{0}, {1}};
    profile.traffic = TrafficMatrix(2);
    profile.traffic.messages = {0, 10, 3, 0};
    profile.traffic.bytes = {0, 2'500'000, 700, 0};
    return profile;
}

}  // namespace

TEST_CASE("the parts of a machine are its clusters, or the hosts of one cluster", "[profile]") {
    CHECK(parts_of(machine()).kind == "cluster");
    CHECK(parts_of(machine()).ranks == std::vector<std::vector<Rank>>{{0, 2, 4}, {1, 3}});
    const Parts hosts = parts_of(Machine(Topology::flat(3), {0, 1, 0}));
    CHECK(hosts.kind == "host");
    CHECK(hosts.ranks == std::vector<std::vector<Rank>>{{0, 2}, {1}});
    CHECK_FALSE(parts_of(Machine(Topology::flat(static_cast<int>(Parts::kMost) + 1))).is_known());
}

TEST_CASE("messages are added up by the parts of their ends", "[profile]") {
    const Parts parts = parts_of(machine());
    TrafficMatrix traffic(parts.ranks.size());
    Messages messages;
    auto& send = messages.line("Send");
    for (Rank to = 0; to < 5; ++to) messages.sent(send, kMilli, {to, Bytes{1} << static_cast<unsigned>(to)});
    messages.sent(send, kMilli, {9, 1000});  // of no rank that is known
    traffic.add(parts, 2, messages.traffic());
    traffic.add(parts, 3, messages.traffic());
    CHECK(traffic.messages == std::vector<std::uint64_t>{3, 2, 3, 2});
    CHECK(traffic.bytes == std::vector<std::uint64_t>{1 + 4 + 16, 2 + 8, 1 + 4 + 16, 2 + 8});
}

TEST_CASE("time counts for where the other rank is", "[profile]") {
    Messages messages;
    auto& receive = messages.line("Recv");
    for (Rank from = 0; from < 5; ++from) messages.received(receive, (1 << from) * kMilli, from);
    messages.received(receive, 100 * kMilli, Messages::kElsewhere);
    const Machine known = machine();
    RankTimes times;
    add_messages(messages, &known, 0, times);
    CHECK(times.on_host == Approx(5e-3));
    CHECK(times.in_cluster == Approx(16e-3));
    CHECK(times.between_clusters == Approx(10e-3));
    CHECK(times.elsewhere == Approx(100e-3));
    CHECK(times.messages() == Approx(131e-3));
    RankTimes unknown;
    add_messages(messages, nullptr, 0, unknown);
    CHECK(unknown.elsewhere == Approx(131e-3));
}

TEST_CASE("a profile says who has sent how much to whom", "[profile]") {
    const std::string text = profile().table();
    CHECK(has(text,
              "isend                        10         10     2.5 MB    1.00 ms     100 us    1.00 ms\n"));
    CHECK(has(text,
              "wait                         20          -          -     2.00 s     100 ms     1.00 s\n"));
    CHECK(has(text, "2.00 s of 2.00 s in these calls were waiting"));
    CHECK(has(text, "from cluster (row) to cluster\n"));
    CHECK(has(text,
              "0                            -        2.5 MB in 10\n"
              "1                   700 B in 3                   -\n"));
    CHECK(has(text, "What collectives move is not in it"));
}

TEST_CASE("there is no matrix where nobody has sent anything", "[profile]") {
    Profile silent = profile();
    silent.lines.clear();
    silent.traffic = TrafficMatrix(2);
    CHECK(has(silent.table(), "No rank has sent a point-to-point message"));
    CHECK_FALSE(has(silent.table(), "(row)"));
}

TEST_CASE("a matrix that does not fit on a screen is left to programs", "[profile]") {
    Profile large = profile();
    large.parts.ranks.assign(9, {0});
    large.traffic = TrafficMatrix(9);
    large.traffic.messages[1] = 1;
    CHECK(has(large.table(),
              "9 clusters are too many for a matrix here: laple-run --profile --json FILE.json"));
    CHECK_FALSE(has(large.table(), "(row)"));
    Json json;
    large.add_to(json);
    CHECK(json["bytes"].size() == 9);
}

TEST_CASE("a profile says what LaPle does not change", "[profile]") {
    CHECK(profile().remainder() ==
          "LaPle does not change point-to-point calls. On the average of ranks they took: between clusters "
          "1.50 s "
          "of 10.0 s (15.0 %; at most 2.00 s).\n"
          "LaPle cannot keep ranks from coming late to collectives: waiting for them 500 ms of 10.0 s (5.0 "
          "%; at most 1.00 "
          "s).\n"
          "LaPle does not change imbalance: outside of these calls ranks spend 7.00 s on the average, and "
          "rank 1 8.00 s.\n");
}

TEST_CASE("what is not known is not told", "[profile]") {
    Profile alone = profile();
    alone.has_all_ranks = false;
    alone.ranks.resize(1);
    alone.parts = {};
    CHECK(has(alone.table(), "What other ranks have sent is not known: "));
    CHECK(has(alone.remainder(), "On this rank they took: between clusters 2.00 s of 10.0 s (20.0 %)."));
    CHECK_FALSE(has(alone.remainder(), "imbalance"));
    SECTION("without liblaple_profile") {
        alone.lines.clear();
        alone.ranks.front().counts_messages = 0;
        CHECK(has(alone.table(), "Point-to-point calls were not counted: "));
        CHECK_FALSE(has(alone.remainder(), "point-to-point"));
    }
    SECTION("in JSON") {
        Json json;
        alone.add_to(json);
        CHECK_FALSE(json.contains("bytes"));
        CHECK(json["ranks"][0]["between_clusters"] == 2.0);
    }
}

TEST_CASE("where threads call MPI at the same time, nothing is told of imbalance", "[profile]") {
    Profile threads = profile();
    for (RankTimes& rank : threads.ranks) rank.between_clusters += 20;
    CHECK(has(threads.remainder(), "point-to-point"));
    CHECK_FALSE(has(threads.remainder(), "imbalance"));
}

TEST_CASE("there is no matrix where not all ranks have counted", "[profile]") {
    Profile partial = profile();
    partial.ranks.back().counts_messages = 0;
    CHECK(has(partial.table(), "isend  "));
    CHECK(has(partial.table(), "not all ranks have counted it\n"));
    CHECK_FALSE(has(partial.table(), "(row)"));
    CHECK_FALSE(has(partial.remainder(), "point-to-point"));
}

TEST_CASE("a profile in JSON has all of it", "[profile]") {
    Report report;
    Expectation expected;
    expected.native = 10 * kMilli;
    expected.predicted = 4 * kMilli;
    report.add(Collective::bcast, "Bcast", 8, "flat/binomial", 12 * kMilli, expected, Report::DoneBy::mpi);
    Report::Job job;
    job.duration.wall = Seconds(1);
    job.is_profile = true;
    Json json = report.json("LaPle", job);
    profile().add_to(json);
    CHECK(json["format"] == "laple-profile-1");
    CHECK(json["collectives"][0]["function"] == "Bcast");
    CHECK(json["collectives"][0]["gain"] == Approx(6e-3));
    CHECK(json["gain"] == Approx(6e-3));
    CHECK(json["point_to_point"][0]["function"] == "Isend");
    CHECK(json["point_to_point"][0]["bytes"] == 2'500'000);
    CHECK(json["point_to_point"][1]["total"] == 2.0);
    CHECK(json["point_to_point"][1]["longest"] == 1.0);
    CHECK(json["messages"] == Json::array({{0, 10}, {3, 0}}));
    CHECK(json["bytes"] == Json::array({{0, 2'500'000}, {700, 0}}));
    CHECK(json["parts"]["ranks"] == Json::array({Json::array({0}), Json::array({1})}));
    CHECK(json["ranks"][1]["between_clusters"] == 1.0);
}

}  // namespace laple::mpi
