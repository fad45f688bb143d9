// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/link_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace laple {
namespace {

constexpr double kNearlyAll = 0.90;

constexpr const char* kOfPart =
    "rates were measured by some ranks of a job, while others may have measured too: the next collective of "
    "all ranks measures them again";

/// Models of hundreds of clusters are searched as often as they have links.
template <typename Links>
auto at_or_after(Links& links, std::pair<int, int> pair) {
    return std::lower_bound(links.begin(), links.end(), pair, [](const LinkPair& link, const auto& wanted) {
        return std::pair(link.a, link.b) < wanted;
    });
}

}  // namespace

double Lanes::of_one() const {
    const auto found = rate.find(1);
    return found == rate.end() ? 0 : found->second;
}

double Lanes::most() const {
    double most = 0;
    for (const auto& [lanes, bytes_per_second] : rate) most = std::max(most, bytes_per_second);
    return most;
}

double Lanes::at(int lanes) const {
    const auto above = rate.lower_bound(lanes);
    if (above != rate.end() && above->first == lanes) return above->second;
    if (above == rate.begin()) return 0;
    const auto& [below, rate_below] = *std::prev(above);
    const double in_proportion = rate_below * lanes / below;
    return std::min(in_proportion, above == rate.end() ? rate_below : above->second);
}

int Lanes::useful() const {
    if (rate.empty()) return 0;
    const double enough = kNearlyAll * most();
    const auto reaches =
        std::find_if(rate.begin(), rate.end(), [&](const auto& counted) { return counted.second >= enough; });
    if (reaches == rate.begin()) return reaches->first;
    // Between the last number that is not enough and the first one that is: in proportion, see at().
    const auto& [below, rate_below] = *std::prev(reaches);
    const double lanes = rate_below > 0 ? std::ceil(enough / rate_below * below) : reaches->first;
    return static_cast<int>(std::clamp(lanes, below + 1.0, static_cast<double>(reaches->first)));
}

const LinkPair* LinkModel::between(int a, int b) const {
    const std::pair<int, int> pair = std::minmax(a, b);
    const auto place = at_or_after(links, pair);
    return place != links.end() && place->a == pair.first && place->b == pair.second ? &*place : nullptr;
}

LinkPair& LinkModel::link(int a, int b) {
    const auto place = at_or_after(links, {a, b});
    if (place != links.end() && place->a == a && place->b == b) return *place;
    LinkPair fresh;
    fresh.a = a;
    fresh.b = b;
    return *links.insert(place, std::move(fresh));
}

void mark_as_of_part(LinkModel& model) {
    model.warnings.emplace_back(kOfPart);
}

bool is_of_part(const LinkModel& model) {
    return std::find(model.warnings.begin(), model.warnings.end(), kOfPart) != model.warnings.end();
}

}  // namespace laple
