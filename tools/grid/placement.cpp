// SPDX-License-Identifier: BSD-3-Clause
#include "grid/placement.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace laple::grid {
namespace {

std::vector<RankRun> blocks(int ranks, int hosts) {
    const int block = (ranks + hosts - 1) / hosts;
    std::vector<RankRun> runs;
    for (int left = ranks; left > 0; left -= block)
        runs.push_back({static_cast<int>(runs.size()), std::min(block, left)});
    return runs;
}

void add_rank(int host, std::vector<RankRun>& runs) {
    if (runs.empty() || runs.back().host != host) runs.push_back({host, 0});
    ++runs.back().ranks;
}

}  // namespace

Placement Placement::parse(const std::string& text) {
    if (text == "block") return block();
    if (text == "cyclic") return cyclic();
    Placement placement(Kind::listed);
    placement.file_ = text;
    std::ifstream file(text);
    if (!file) {
        throw Error(fmt::format("--placement {}: there is no such file", text),
                    "write block, cyclic, or a file that names the host of each rank, one a line");
    }
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string host;
        std::string more;
        if (!(words >> host)) continue;
        if (words >> more) {
            throw Error(fmt::format("{}: \"{} {}\" is more than a host", text, host, more),
                        "name one host a line: that of the next rank");
        }
        placement.listed_.push_back(host);
    }
    if (placement.listed_.empty()) throw Error(fmt::format("{} names no host", text), "name one a line");
    return placement;
}

int Placement::ranks(int wanted, int hosts) const {
    const int listed = static_cast<int>(listed_.size());
    if (!is_listed()) return wanted > 0 ? wanted : hosts;
    if (wanted > 0 && wanted != listed) {
        throw Error(fmt::format("-n {}, but {} places {} ranks", wanted, file_, listed),
                    "leave out -n, or give as many lines");
    }
    return listed;
}

std::vector<RankRun> Placement::runs(int ranks, const std::vector<std::string>& hosts) const {
    const int count = static_cast<int>(hosts.size());
    if (kind_ == Kind::block) return blocks(ranks, count);
    std::vector<RankRun> runs;
    if (kind_ == Kind::cyclic) {
        for (int rank = 0; rank < ranks; ++rank) add_rank(rank % count, runs);
        return runs;
    }
    for (const std::string& name : listed_) {
        const auto found = std::find(hosts.begin(), hosts.end(), name);
        if (found == hosts.end()) {
            throw Error(fmt::format("{} places a rank on \"{}\", which is no host of the job", file_, name),
                        fmt::format("the hosts are: {}", fmt::join(hosts, ", ")));
        }
        add_rank(static_cast<int>(found - hosts.begin()), runs);
    }
    return runs;
}

}  // namespace laple::grid
