// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "model/model.hpp"

namespace laple {

/// For people: clusters, latencies in and between them, and as far as they were measured, parameters:
///
///     16 ranks on 8 hosts in 4 clusters (2 2 2 2 hosts)
///     ranks on hosts of cluster 0: north-1 (0, 1), north-2 (2, 3)
///     1 level inside hosts: package (16 groups)
///     median latency in a cluster: up to 9.64 us
///     median latency between clusters: 10.1 ms to 10.1 ms
///     cluster   hosts                      latency   1 flow      NIC   uplink out/in   reduction
///           0   north-1, north-2 and 2 m.. 9.2 us    12.3 MB/s  ...
///     link      latency  1K      64K     1M       lanes
///     0-1       10.1 ms  10.2 ms 15.4 ms 93.5 ms  2 x 12.3 MB/s = 24.4 MB/s
std::string describe_model(const Model& model);

/// "12.3 MB/s": decimal units, as networks are sold.
std::string format_rate(double bytes_per_second);

}  // namespace laple
