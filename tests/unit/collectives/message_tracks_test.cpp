// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/message_tracks.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "base/json.hpp"

using namespace laple;

namespace {

std::vector<Json> slices_of(const TraceEvents& events) {
    std::vector<Json> slices;
    const Json trace = Json::parse(events.text(Json()));
    for (const Json& event : trace["traceEvents"]) {
        if (event["ph"] == "X") slices.push_back(event);
    }
    return slices;
}

}  // namespace

TEST_CASE("what is under way at the same time has tracks of its own", "[message_tracks]") {
    TraceEvents events;
    MessageTracks tracks(events, 0);
    const std::vector<SimulatedMessage> messages{
        {0, 1, 0, 8, Seconds(0), Seconds(2), Seconds(5)},   // rank 0 sends two at the same time
        {0, 2, 0, 8, Seconds(1), Seconds(3), Seconds(4)},   //
        {0, 3, 0, 8, Seconds(2), Seconds(4), Seconds(4)}};  // and one when the first has gone
    tracks.add(messages, Seconds(10), "a call");
    tracks.finish();

    std::vector<std::pair<int, int>> places;  // of sends
    for (const Json& slice : slices_of(events)) {
        if (!slice["args"].contains("arrived_us")) continue;
        places.emplace_back(slice["pid"], slice["tid"]);
        CHECK(slice["args"]["call"] == "a call");
        CHECK(slice["ts"].get<double>() >= 1e7);
    }
    REQUIRE(places.size() == 3);
    CHECK(places[0] != places[1]);
    CHECK(places[0] == places[2]);
}

TEST_CASE("ranks are processes from the first one on", "[message_tracks]") {
    TraceEvents events;
    MessageTracks tracks(events, 16);
    const std::vector<SimulatedMessage> messages{{3, 1, 0, 8, Seconds(0), Seconds(1), Seconds(2)}};
    tracks.add(messages, Seconds(0), "");
    std::set<int> processes;
    for (const Json& slice : slices_of(events)) processes.insert(slice["pid"].get<int>());
    CHECK(processes == std::set<int>{17, 19});
}

TEST_CASE("what takes no time is seen all the same, and names are quoted", "[message_tracks]") {
    TraceEvents events;
    events.slice({0, 0}, "a \"name\"\n", Seconds(1), Seconds(1));
    events.counter(0, "bytes", Seconds(2), {{"bytes", 3}});
    const Json trace = Json::parse(events.text({{"ranks", 1}}));
    CHECK(trace["otherData"]["ranks"] == 1);
    CHECK(trace["traceEvents"][0]["name"] == "a \"name\"\n");
    CHECK(trace["traceEvents"][0]["dur"].get<double>() > 0);
    CHECK(trace["traceEvents"][1]["args"]["bytes"] == 3);
}
