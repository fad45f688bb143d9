// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/probe_rounds.hpp"
#include "plogp/link_model.hpp"
#include "plogp/plogp.hpp"

namespace laple {

/// Data that flow from one node to another.
struct Flow {
    int from = 0;
    int to = 0;
    /// How many times less than others it is likely to carry: its messages and its window are as much
    /// smaller.
    int slower = 1;
    bool operator==(const Flow&) const = default;
};

/// How flows are measured: what is under way at a time must fill the link, but no more than that, for all of
/// it must have arrived before the next measurement.
struct FlowOptions {
    Bytes message_bytes = 0;
    Bytes window_bytes = 0;  ///< of each flow
    Seconds duration{0};
};

/// A flow's rate in the second third of its time, about, and in the last one: TCP may still be on its way up.
struct FlowRate {
    static constexpr double kPart = 0.3;  ///< of the flow's time that each of both takes
    double early = 0;
    double late = 0;
};

/// Of both directions between two nodes, in bytes a second.
struct StreamRates {
    double there = 0;
    double back = 0;
};

/// How a link between two nodes is measured.
struct LinkProbeOptions {
    bool is_far = false;         ///< far: few repetitions, and cold too; near: many, since all is short
    Seconds round_trip{0};       ///< of an empty message, about
    Seconds longest_trip{0.04};  ///< sizes that take longer are left out: beyond, a line will do
};

/// Who can measure. Nodes are numbered; every function measures all that it is given at the same time and
/// returns when that is done.
class LinkProbes {
  public:
    struct Link {
        int a = 0;
        int b = 0;
        LinkProbeOptions options;
    };

    virtual ~LinkProbes() = default;

    /// Round trips, overheads and floods of each of `links`, which have no node in common; those inside a
    /// cluster also after idle time.
    virtual std::vector<PlogpSamples> links(const std::vector<Link>& links) = 0;
    /// The rates of each flow in bytes per second while all of them flow.
    virtual std::vector<FlowRate> rates(const std::vector<Flow>& flows, const FlowOptions& options) = 0;
    /// `bytes` at once by each flow after idle time, all together: how long each takes until its sender knows
    /// that they have arrived.
    virtual std::vector<Seconds> bursts(const std::vector<Flow>& flows, Bytes bytes, Seconds rest) = 0;
    /// Seconds per byte that a reduction takes on each of `nodes`.
    virtual std::vector<double> reductions(const std::vector<int>& nodes) = 0;
    /// The eager limit of each of `flows`, which have no node in common: the largest message, in bytes, that
    /// leaves before its receiver asks for it; 0: even small ones wait.
    virtual std::vector<Bytes> eager_limits(const std::vector<Flow>& flows) = 0;
    /// The rates between the nodes of each of `pairs`, which have no node in common, by so many TCP
    /// connections of LaPle's own (streams::Link), in both directions and between all of them at once; 0
    /// where they cannot be made. `round_trip`: the longest of them, about.
    virtual std::vector<StreamRates> streams(const ProbeRound& pairs, int connections, Seconds round_trip,
                                             Seconds duration) = 0;
};

/// What is to be measured: clusters of nodes, and the one-way latency between each two of them, with that
/// inside on the diagonal.
struct LinkSurveyInput {
    std::vector<std::vector<int>> clusters;
    std::vector<std::vector<Seconds>> latency;
    bool is_undisturbed = false;  ///< nothing else uses processors and network: a simulation
    /// By cluster, pairs of nodes as far from each other as is usual there, with no node in common: the first
    /// two nodes may be virtual machines on one host. Missing: nothing tells.
    std::map<int, std::vector<NodePair>> typical = {};

    int count() const { return static_cast<int>(clusters.size()); }
    const std::vector<int>& nodes_of(int cluster) const {
        return clusters[static_cast<std::size_t>(cluster)];
    }
    Seconds one_way(int a, int b) const {
        return latency[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
    }
    /// A flow that stands for any between two nodes of a cluster of several.
    Flow inside(int cluster) const { return flows_inside(cluster).front(); }
    /// That one, and others at the same time.
    std::vector<Flow> flows_inside(int cluster) const {
        const auto found = typical.find(cluster);
        if (found == typical.end()) return {{nodes_of(cluster)[0], nodes_of(cluster)[1], 1}};
        std::vector<Flow> flows;
        for (const NodePair& pair : found->second) flows.push_back({pair.a, pair.b, 1});
        return flows;
    }
    /// As many as the smaller one of both has nodes.
    int most_lanes(int a, int b) const {
        return static_cast<int>(std::min(nodes_of(a).size(), nodes_of(b).size()));
    }
    /// From the i-th node of one cluster to the i-th one of another.
    Flow lane(int from, int to, int i) const {
        return {nodes_of(from)[static_cast<std::size_t>(i)], nodes_of(to)[static_cast<std::size_t>(i)], 1};
    }
    /// All pairs of clusters, in rounds without a cluster in common.
    std::vector<ProbeRound> rounds() const;
};

/// Told before each step: what is measured next.
using LinkProgress = std::function<void(const std::string& what, int done, int steps)>;

/// Measures the parameters of a network: in each cluster, between each two, lanes, uplinks and NICs.
///
/// - In a cluster, and between two of them, one pair of nodes stands for all: the first ones, on which
///   leaders sit.
/// - Pairs of clusters take turns so that no cluster is in two at a time: what is measured never shares an
///   uplink with anything else. (circle method: base/probe_rounds.hpp)
/// - Lanes: 1, 2, 4, ... pairs of nodes at once, until the sum no longer grows by a tenth; then between the
///   last two counts the least one that reaches the same.
/// - Uplink: every node of a cluster to nodes of all other clusters at once, and back. NIC: one node to
///   several of its own cluster, and back.
/// - Streams: where one connection does not fill a far link, 1, 2, 4, ... of them between two nodes, until
/// they
///   no longer bring a tenth more (plogp/stream_survey.hpp).
/// - Burst: where nodes together are faster than their uplink, all of them send more and more at once until
///   something is lost.
///
/// `known` are the results of an earlier survey of the same clusters: what it holds is not measured again.
/// `may_go_on` is asked before each step; when it says no, the model is what was measured until then.
/// (docs/algorithms.md, "Measuring links")
LinkModel survey_links(LinkProbes& probes, const LinkSurveyInput& input, LinkModel known = {},
                       const std::function<bool()>& may_go_on = {}, const LinkProgress& progress = {});

}  // namespace laple
