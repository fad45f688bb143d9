// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/link_model_json.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace laple {
namespace {

constexpr Bytes kMaxBytes = Bytes{1} << 53;  // what JSON readers everywhere read exactly
constexpr int kMaxLanes = 1 << 24;
constexpr std::size_t kMostCalls = 1000;  // more than are kept (known_calls.cpp)
constexpr int kMostSweeps = 1'000'000;
constexpr std::size_t kMostTimes = 64;  // the same, of one plan

/// Members by their names in the file.
#define LAPLE_MEMBER(type, name) std::make_pair(#name, &type::name)
constexpr std::array kCurves{LAPLE_MEMBER(Plogp, send_overhead), LAPLE_MEMBER(Plogp, receive_overhead),
                             LAPLE_MEMBER(Plogp, gap),           LAPLE_MEMBER(Plogp, flood_gap),
                             LAPLE_MEMBER(Plogp, cold_gap),      LAPLE_MEMBER(Plogp, gap_confidence)};
constexpr std::array kRates{LAPLE_MEMBER(ClusterModel, nic_out),    LAPLE_MEMBER(ClusterModel, nic_in),
                            LAPLE_MEMBER(ClusterModel, uplink_out), LAPLE_MEMBER(ClusterModel, uplink_in),
                            LAPLE_MEMBER(ClusterModel, reduction),  LAPLE_MEMBER(ClusterModel, reserve),
                            LAPLE_MEMBER(ClusterModel, burst),      LAPLE_MEMBER(ClusterModel, eager_limit)};
#undef LAPLE_MEMBER

Json json_of(const Curve& curve) {
    Json points = Json::array();
    for (const auto& [bytes, time] : curve.known()) points.push_back({bytes, time.count()});
    return points;
}

Json json_of(const Plogp& plogp) {
    Json object{{"latency", plogp.latency.count()}};
    for (const auto& [name, curve] : kCurves) {
        if (!(plogp.*curve).is_empty()) object[name] = json_of(plogp.*curve);
    }
    return object;
}

void expect_pair(const JsonReader& in, const std::string& pointer, const char* what) {
    if (in.array(pointer).size() != 2) throw in.wrong(pointer, "does not hold two numbers", what);
}

Bytes read_bytes(const JsonReader& in, const std::string& pointer) {
    const double bytes = in.at_least_0(pointer, "bytes");
    if (bytes > static_cast<double>(kMaxBytes) || bytes != std::floor(bytes))
        throw in.wrong(pointer, "is no size of a message", "give whole bytes");
    return static_cast<Bytes>(bytes);
}

Curve read_curve(const JsonReader& in, const std::string& pointer) {
    Curve curve;
    for (const std::string& point : in.items(pointer)) {
        expect_pair(in, point, "write [bytes, seconds]");
        const Bytes size = read_bytes(in, point + "/0");
        if (!curve.is_empty() && size <= curve.known().rbegin()->first)
            throw in.wrong(point + "/0", "is not larger than the size before it", "order them by size");
        curve.set(size, Seconds(in.at_least_0(point + "/1", "seconds")));
    }
    return curve;
}

Plogp read_plogp(const JsonReader& in, const std::string& pointer) {
    Plogp plogp;
    plogp.latency = Seconds(in.at_least_0(pointer + "/latency", "seconds"));
    for (const auto& [name, curve] : kCurves) {
        const std::string member = pointer + "/" + name;
        if (in.has(member)) plogp.*curve = read_curve(in, member);
    }
    return plogp;
}

Lanes read_lanes(const JsonReader& in, const std::string& pointer) {
    Lanes lanes;
    if (!in.has(pointer)) return lanes;
    for (const std::string& point : in.items(pointer)) {
        expect_pair(in, point, "write [lanes, bytes a second]");
        lanes.rate[in.whole(point + "/0", 1, kMaxLanes)] = in.at_least_0(point + "/1", "bytes a second");
    }
    return lanes;
}

void read_clusters(const JsonReader& in, int clusters, LinkModel& model) {
    model.clusters.resize(static_cast<std::size_t>(clusters));
    if (!in.has("/clusters")) return;
    if (in.array("/clusters").size() != model.clusters.size())
        throw in.wrong("/clusters", "is not as long as the innermost level", "describe each cluster of it");
    for (std::size_t c = 0; c < model.clusters.size(); ++c) {
        const std::string pointer = item_pointer("/clusters", c);
        if (in.has(pointer + "/inside")) model.clusters[c].inside = read_plogp(in, pointer + "/inside");
        for (const auto& [name, rate] : kRates) {
            const std::string member = pointer + "/" + name;
            if (in.has(member)) model.clusters[c].*rate = in.at_least_0(member, "a rate, a time or bytes");
        }
        const std::string sure = pointer + "/uplink_sure";
        if (in.has(sure)) model.clusters[c].is_uplink_sure = in.truth(sure);
        model.clusters[c].is_reserve_known = in.has(pointer + "/reserve");
    }
}

void read_links(const JsonReader& in, int clusters, LinkModel& model) {
    if (!in.has("/links")) return;
    for (const std::string& item : in.items("/links")) {
        const std::string between = item + "/between";
        expect_pair(in, between, "write [a, b]: two clusters of the innermost level");
        LinkPair link;
        link.a = in.whole(between + "/0", 0, clusters - 1);
        link.b = in.whole(between + "/1", 0, clusters - 1);
        if (link.a >= link.b) throw in.wrong(between, "is not in ascending order", "write [a, b] with a < b");
        if (!model.links.empty() &&
            std::pair(link.a, link.b) <= std::pair(model.links.back().a, model.links.back().b))
            throw in.wrong(between, "does not come after the link before it",
                           "order links by their clusters");
        link.plogp = read_plogp(in, item + "/plogp");
        link.there = read_lanes(in, item + "/there");
        link.back = read_lanes(in, item + "/back");
        if (in.has(item + "/reached_there"))
            link.there.reached = in.at_least_0(item + "/reached_there", "bytes a second");
        if (in.has(item + "/reached_back"))
            link.back.reached = in.at_least_0(item + "/reached_back", "bytes a second");
        link.streams_there = read_lanes(in, item + "/streams_there");
        link.streams_back = read_lanes(in, item + "/streams_back");
        if (in.has(item + "/carries_more")) link.carries_more = in.truth(item + "/carries_more");
        model.links.push_back(std::move(link));
    }
}

JobTimes read_native(const JsonReader& in, int ranks) {
    JobTimes native;
    if (!in.has("/native")) return native;
    native.ranks = in.whole("/native/ranks", 1, ranks);
    for (const auto& [name, member] : in.members("/native")) {
        if (name == "ranks") continue;
        if (name == "unfinished") {
            native.is_unfinished = in.truth(member);
            continue;
        }
        if (name == "allowance") {
            native.allowance = Seconds(in.at_least_0(member, "seconds"));
            continue;
        }
        if (name == "exchange") {
            native.exchange = Seconds(in.at_least_0(member, "seconds"));
            continue;
        }
        if (name == "memory") {
            native.memory = read_plogp(in, member);
            continue;
        }
        Curve curve = read_curve(in, member);
        if (curve.is_empty()) throw in.wrong(member, "holds nothing", "leave it out");
        native.times[name] = std::move(curve);
    }
    return native;
}

/// Plans are compared by these times, and what may be tried is a share of them.
Seconds read_time_of_call(const JsonReader& in, const std::string& pointer) {
    constexpr double kLeast = 1e-8;
    constexpr double kMost = 1e4;
    const double time = in.at_least_0(pointer, "seconds");
    if (!(time >= kLeast && time <= kMost))
        throw in.wrong(pointer, "is no time that a collective takes", "leave the call out");
    return Seconds(time);
}

std::vector<CallTime> read_calls(const JsonReader& in, int ranks) {
    std::vector<CallTime> calls;
    if (!in.has("/calls")) return calls;
    if (in.array("/calls").size() > kMostCalls)
        throw in.wrong("/calls", "has more entries than LaPle keeps", "remove the file");
    for (const std::string& item : in.items("/calls")) {
        CallTime call;
        call.collective = in.text(item + "/collective");
        call.algorithm = in.text(item + "/algorithm");
        call.bytes = read_bytes(in, item + "/bytes");
        call.root = in.whole(item + "/root", 0, ranks - 1);
        call.predicted = read_time_of_call(in, item + "/predicted");
        const std::size_t times = in.array(item + "/times").size();
        if (times == 0 || times > kMostTimes)
            throw in.wrong(item + "/times", fmt::format("does not hold 1 to {} times", kMostTimes),
                           "leave the call out");
        for (const std::string& time : in.items(item + "/times"))
            call.times.push_back(read_time_of_call(in, time));
        calls.push_back(std::move(call));
    }
    return calls;
}

}  // namespace

void write_link_model_json(const LinkModel& model, Json& document) {
    Json& clusters = document["clusters"] = Json::array();
    for (const ClusterModel& cluster : model.clusters) {
        Json object = Json::object();
        if (cluster.inside != Plogp()) object["inside"] = json_of(cluster.inside);
        for (const auto& [name, rate] : kRates) {
            if (cluster.*rate > 0) object[name] = cluster.*rate;
        }
        if (cluster.is_reserve_known) object["reserve"] = cluster.reserve;
        if (cluster.is_uplink_sure) object["uplink_sure"] = true;
        clusters.push_back(std::move(object));
    }
    Json& links = document["links"] = Json::array();
    for (const LinkPair& link : model.links) {
        Json object{{"between", {link.a, link.b}}, {"plogp", json_of(link.plogp)}};
        if (!link.there.rate.empty()) object["there"] = link.there.rate;
        if (!link.back.rate.empty()) object["back"] = link.back.rate;
        if (link.there.reached > 0) object["reached_there"] = link.there.reached;
        if (link.back.reached > 0) object["reached_back"] = link.back.reached;
        if (!link.streams_there.rate.empty()) object["streams_there"] = link.streams_there.rate;
        if (!link.streams_back.rate.empty()) object["streams_back"] = link.streams_back.rate;
        if (link.carries_more) object["carries_more"] = true;
        links.push_back(std::move(object));
    }
    if (model.job.ranks > 0) {
        Json& native = document["native"] = Json::object();
        native["ranks"] = model.job.ranks;
        if (model.job.is_unfinished) native["unfinished"] = true;
        if (model.job.allowance > Seconds(0)) native["allowance"] = model.job.allowance.count();
        if (model.job.exchange > Seconds(0)) native["exchange"] = model.job.exchange.count();
        if (model.job.memory != Plogp()) native["memory"] = json_of(model.job.memory);
        for (const auto& [name, curve] : model.job.times) {
            if (!curve.is_empty()) native[name] = json_of(curve);
        }
    }
    for (const CallTime& call : model.job.calls) {
        document["calls"].push_back({{"collective", call.collective},
                                     {"bytes", call.bytes},
                                     {"root", call.root},
                                     {"algorithm", call.algorithm},
                                     {"predicted", call.predicted.count()},
                                     {"times", Json::array()}});
        for (const Seconds time : call.times) document["calls"].back()["times"].push_back(time.count());
    }
    document["warnings"] = model.warnings;
    if (model.sweeps > 0) document["sweeps"] = model.sweeps;
    if (model.next_step > Seconds(0)) document["next_step"] = model.next_step.count();
}

LinkModel parse_link_model_json(const JsonReader& in, int clusters, int ranks) {
    LinkModel model;
    read_clusters(in, clusters, model);
    read_links(in, clusters, model);
    model.job = read_native(in, ranks);
    model.job.calls = read_calls(in, ranks);
    if (!model.job.calls.empty() && model.job.ranks == 0)
        throw in.wrong("/calls", "are of unknown ranks", "say in /native/ranks how many there were");
    if (in.has("/warnings")) {
        for (const std::string& item : in.items("/warnings")) model.warnings.push_back(in.text(item));
    }
    if (in.has("/next_step")) model.next_step = Seconds(in.at_least_0("/next_step", "seconds"));
    if (in.has("/sweeps")) model.sweeps = in.whole("/sweeps", 0, kMostSweeps);
    return model;
}

}  // namespace laple
