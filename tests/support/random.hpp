// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

namespace laple::test {

using Random = std::mt19937_64;

inline double uniform(Random& random, double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
}

inline int uniform_int(Random& random, int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
}

}  // namespace laple::test
