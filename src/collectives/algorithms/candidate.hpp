// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/cost/tree_price.hpp"

namespace laple {

/// One way to do a call, with its predicted time and with what else a choice between nearly equal ones looks
/// at.
struct Candidate {
    AlgorithmPtr algorithm;
    double seconds = 0;
    TreeTime time = {};             ///< of its parts; of native calls only `last` is known
    std::vector<double> pace = {};  ///< SendWindows::pace
    /// Messages of a tree from one outermost group of clusters to another: fewer put less load on what groups
    /// share, which the model may not know. Other algorithms count as a tree that has as few as can be, or
    /// by how many copies pass the busiest uplink.
    int crossings = 0;
    double messages = 0;  ///< of all hosts together, where each sends to all others; 0: not counted
    int hops = 0;    ///< messages one after the other inside the largest cluster, of all but native calls
    int behind = 0;  ///< of a tree that a link or uplink between clusters binds: clusters that it serves
    int relays = 0;  ///< clusters that pass the message on to others, having got it themselves
    /// Parts of a reduction are so large that they are combined from main memory, and that the network waits
    /// for it: what a price by messages hardly knows.
    bool has_large_parts = false;
    int root_messages = 0;     ///< of a root with other hosts; 0: not looked at (root_load.hpp)
    bool is_pipeline = false;  ///< segments follow each other along a tree between clusters
    bool is_measured = false;  ///< not predicted; native calls only
    /// By how many seconds the predictions for others may be too short beside this one; below 0, by how many
    /// this one is likely to be; native calls only.
    double uncertainty = 0;

    Bytes segment_bytes() const { return algorithm->segment_bytes(); }
};

}  // namespace laple
