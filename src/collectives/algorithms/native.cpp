// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/native.hpp"

#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/native_price.hpp"
#include "collectives/algorithms/pricing.hpp"

namespace laple {

std::string Native::name() const {
    return std::string(kNativeName);
}

std::optional<Candidate> Native::price(Pricing& pricing) const {
    const NativePrice price = native_price(pricing.request(), pricing.machine(), pricing.costs());
    Candidate candidate;
    candidate.algorithm = native();
    candidate.is_measured = price.is_measured;
    candidate.seconds = candidate.time.last = price.seconds;
    return candidate;
}

const AlgorithmPtr& native() {
    static const AlgorithmPtr kNative = std::make_shared<Native>();
    return kNative;
}

AlgorithmPtr parse_native(const AlgorithmName& name, Collective) {
    return name.text == kNativeName ? native() : nullptr;
}

void propose_native(Pricing& pricing, std::vector<Candidate>& found) {
    found.push_back(*native()->price(pricing));
}

}  // namespace laple
