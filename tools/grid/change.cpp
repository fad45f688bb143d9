// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "grid/link.hpp"
#include "grid/quantity.hpp"

namespace laple::grid {
namespace {

using What = Change::What;

constexpr std::array<const char*, 4> kNames{"delay", "rate", "loss", "uplink"};

What what_named(const std::string& name) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end())
        throw Error(fmt::format("\"{}\" is nothing that can be set", name),
                    "write delay, rate or loss after SITE:SITE, or uplink after a SITE");
    return static_cast<What>(found - kNames.begin());
}

std::size_t site_named(const std::string& name, const std::vector<std::string>& sites) {
    const auto found = std::find(sites.begin(), sites.end(), name);
    if (found == sites.end())
        throw Error(fmt::format("there is no site \"{}\"", name),
                    fmt::format("the sites are {}", fmt::join(sites, ", ")));
    return static_cast<std::size_t>(found - sites.begin());
}

double value_of(What what, const std::string& text) {
    switch (what) {
        case What::delay:
            return Seconds(parse_duration(text)).count();
        case What::loss:
            return parse_percentage(text);
        case What::rate:
        case What::uplink:
            break;
    }
    return parse_rate_bps(text);
}

}  // namespace

Change parse_change(const std::string& link, const std::string& what, const std::string& value,
                    const std::vector<std::string>& sites) {
    if (sites.size() < 2)
        throw Error("a grid of one site has no uplink and no links", "raise one of two sites or more");
    Change change;
    change.what = what_named(what);
    const auto colon = link.find(':');
    const bool is_of_site = colon == std::string::npos;
    if (is_of_site != (change.what == What::uplink))
        throw Error(fmt::format("\"{} {}\" names no figure of the network", link, what),
                    "write delay, rate or loss after SITE:SITE, or uplink after a SITE");
    change.a = site_named(link.substr(0, colon), sites);
    change.b = is_of_site ? change.a : site_named(link.substr(colon + 1), sites);
    if (!is_of_site && change.a == change.b)
        throw Error(fmt::format("\"{}\" is no link", link), "name two different sites");
    change.value = value_of(change.what, value);
    return change;
}

std::string line_of(const Change& change) {
    return fmt::format("{} {} {} {}\n", static_cast<int>(change.what), change.a, change.b, change.value);
}

Change change_of_line(const std::string& line) {
    std::istringstream in(line);
    Change change;
    std::size_t what = 0;
    if (!(in >> what >> change.a >> change.b >> change.value) || what >= kNames.size())
        throw Error("the change is not readable", "use laple-grid set");
    change.what = static_cast<What>(what);
    return change;
}

}  // namespace laple::grid
