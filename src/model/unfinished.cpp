// SPDX-License-Identifier: BSD-3-Clause
#include "model/unfinished.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/json.hpp"

namespace laple {
namespace {

constexpr int kNotHere = -1;

/// For each host of the file its place in `nodes`.
std::vector<int> read_hosts(const JsonReader& in, const std::vector<Node>& nodes) {
    std::vector<int> places;
    std::set<std::string> names;
    for (const std::string& item : in.items("/hosts")) {
        const std::string name = in.text(item);
        if (!names.insert(name).second) throw in.wrong(item, "is given twice", "measure anew");
        const auto has_name = [&](const Node& node) { return node.key() == name; };
        const auto found = std::find_if(nodes.begin(), nodes.end(), has_name);
        places.push_back(found == nodes.end() ? kNotHere : static_cast<int>(found - nodes.begin()));
    }
    return places;
}

}  // namespace

std::string unfinished_text(const std::vector<Node>& nodes, const RememberedSurvey::Latencies& known) {
    Json document;
    document["format"] = kUnfinishedFormat;
    document["hosts"] = Json::array();
    for (const Node& node : nodes) document["hosts"].push_back(node.key());
    document["latencies"] = Json::array();
    for (const auto& [pair, latency] : known)
        document["latencies"].push_back({pair.first, pair.second, latency.count()});
    return json_text(document) + "\n";
}

RememberedSurvey::Latencies parse_unfinished(const JsonDocument& document, const std::vector<Node>& nodes) {
    const JsonReader in(document, kUnfinishedFormat);
    const std::vector<int> places = read_hosts(in, nodes);
    RememberedSurvey::Latencies known;
    for (const std::string& item : in.items("/latencies")) {
        if (in.array(item).size() != 3)
            throw in.wrong(item, "does not hold three numbers", "write [host, host, seconds]");
        const int last = static_cast<int>(places.size()) - 1;
        const int a = in.whole(item + "/0", 0, last);
        const int b = in.whole(item + "/1", 0, last);
        if (a == b) throw in.wrong(item, "joins a host with itself", "name two hosts");
        const Seconds latency(in.at_least_0(item + "/2", "seconds"));
        if (latency > kLongestLatency) throw in.wrong(item + "/2", "is longer than a minute", "measure anew");
        const auto [from, to] = std::minmax(places[at(a)], places[at(b)]);
        if (from != kNotHere) known[{from, to}] = latency;
    }
    return known;
}

}  // namespace laple
