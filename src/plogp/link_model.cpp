// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/link_model.hpp"

#include <algorithm>

namespace laple {
namespace {

constexpr double kNearlyAll = 0.95;

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

int Lanes::useful() const {
    const double enough = kNearlyAll * most();
    for (const auto& [lanes, bytes_per_second] : rate) {
        if (bytes_per_second >= enough) return lanes;
    }
    return 0;
}

const LinkPair* LinkModel::between(int a, int b) const {
    for (const LinkPair& link : links) {
        if (link.a == std::min(a, b) && link.b == std::max(a, b)) return &link;
    }
    return nullptr;
}

}  // namespace laple
