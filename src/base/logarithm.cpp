// SPDX-License-Identifier: BSD-3-Clause
#include "base/logarithm.hpp"

#include <cmath>

namespace laple {

/// Of x = m 2^e with m next to 1: log m = 2 (z + z^3/3 + z^5/5 + ...) with z = (m-1)/(m+1), |z| < 0.172.
/// Sums, products and quotients are rounded alike everywhere.
double log_alike(double x) {
    constexpr double kLogOfTwo = 0.69314718055994530942;
    constexpr double kRootOfHalf = 0.70710678118654752440;
    constexpr int kLastPower = 21;
    int exponent = 0;
    double mantissa = std::frexp(x, &exponent);
    if (mantissa < kRootOfHalf) {
        mantissa *= 2;
        --exponent;
    }
    const double z = (mantissa - 1) / (mantissa + 1);
    double sum = 0;
    for (int power = kLastPower; power >= 1; power -= 2) sum = sum * z * z + 1.0 / power;
    return 2 * z * sum + exponent * kLogOfTwo;
}

}  // namespace laple
