// SPDX-License-Identifier: BSD-3-Clause
#include "model/known_hosts.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace laple {

std::string hosts_text(const std::vector<Node>& nodes) {
    Json document;
    document["format"] = kHostsFormat;
    document["hosts"] = Json::array();
    for (const Node& node : nodes)
        document["hosts"].push_back({{"name", node.host}, {"id", node.id}, {"ranks", node.ranks}});
    return json_text(document) + "\n";
}

std::vector<Node> parse_hosts(const JsonDocument& document, int ranks) {
    const JsonReader in(document, kHostsFormat);
    std::vector<bool> is_given(at(ranks));
    std::vector<Node> nodes;
    for (const std::string& item : in.items("/hosts")) {
        Node node{in.text(item + "/name"), {}, in.text(item + "/id")};
        for (const std::string& member : in.items(item + "/ranks")) {
            const Rank rank = in.whole(member, 0, ranks - 1);
            if (is_given[at(rank)] || (!node.ranks.empty() && rank < node.ranks.back()))
                throw in.wrong(member, "is given twice, or out of order", "remove the file");
            is_given[at(rank)] = true;
            node.ranks.push_back(rank);
        }
        if (node.ranks.empty() || (!nodes.empty() && node.ranks.front() < nodes.back().ranks.front()))
            throw in.wrong(item, "has no ranks, or is out of order", "remove the file");
        nodes.push_back(std::move(node));
    }
    if (std::find(is_given.begin(), is_given.end(), false) != is_given.end())
        throw in.wrong("/hosts", "lacks some of the ranks", "remove the file");
    return nodes;
}

}  // namespace laple
