// SPDX-License-Identifier: BSD-3-Clause
#include "topology/probe_rounds.hpp"

namespace laple {

int probe_round_count(int n) {
    if (n < 2) return 0;
    return n % 2 == 0 ? n - 1 : n;
}

// m-1 nodes sit on a circle, and in round r those whose numbers add up to r (mod m-1) meet. The one that
// would meet itself, 2i = r, meets node m-1 in the middle instead; r*m/2 is that i, since m = 1 (mod m-1).
// With an odd n the middle is empty: who is sent there idles.
int partner(int i, int round, int n) {
    const int m = n + n % 2;
    const int circle = m - 1;
    int other = 0;
    if (i == circle) {
        other = static_cast<int>(static_cast<long long>(round) * (m / 2) % circle);
    } else {
        other = (round - i + circle) % circle;
        if (other == i) other = circle;
    }
    return other < n ? other : -1;
}

}  // namespace laple
