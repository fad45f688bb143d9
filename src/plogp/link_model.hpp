// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "plogp/job_times.hpp"
#include "plogp/plogp.hpp"

namespace laple {

/// How much k pairs of nodes carry at once from one cluster to another, in bytes a second.
///
///     rate │      *────*      the uplink is full: 2 lanes are useful, more are not
///          │  *
///          └───────────── lanes
struct Lanes {
    std::map<int, double> rate;  ///< by the number of lanes; empty: not measured
    /// What flows have carried at most where more is likely, for TCP was on its way up; 0: most().
    double reached = 0;

    /// Of one flow; 0 when it is not known.
    double of_one() const;
    /// Of as many as are useful; 0 when it is not known.
    double most() const;
    /// The most that was measured.
    double seen() const { return reached > 0 ? std::min(reached, most()) : most(); }
    /// Of `lanes`: measured, or as if each brought as much as the next lower number has brought on average,
    /// but no more than the next higher one; 0 when it is not known.
    double at(int lanes) const;
    /// The least number that reaches most() but for a tenth; 0 when it is not known.
    int useful() const;

    bool operator==(const Lanes&) const = default;
};

/// What was measured in one cluster. Rates in bytes a second; 0 where a rate is not known.
struct ClusterModel {
    Plogp inside;            ///< between two of its nodes; without curves when it has one only
    double nic_out = 0;      ///< of one node to several others of the cluster
    double nic_in = 0;       ///< of several others to one node
    double uplink_out = 0;   ///< of all its nodes to all other clusters: at least so much
    double uplink_in = 0;    ///< of all other clusters to all its nodes: at least so much
    double reduction = 0;    ///< seconds for each byte that a reduction combines (γ)
    double reserve = 0;      ///< token-bucket burst of an idle NIC, in bytes
    double burst = 0;        ///< bytes that the queue of its uplink holds; 0: no limit was found
    double eager_limit = 0;  ///< bytes that go inside it without a handshake; 0: not known
    /// A trial has told what its uplink carries, or, of many clusters, that it holds nothing up: no other
    /// trial is needed.
    bool is_uplink_sure = false;
    bool is_reserve_known = false;  ///< `reserve` was measured, if only to be 0

    bool operator==(const ClusterModel&) const = default;
};

/// What was measured between two clusters, a < b.
struct LinkPair {
    int a = 0;
    int b = 0;
    Plogp plogp;  ///< of one pair of nodes; both directions count alike
    Lanes there;  ///< from a to b
    Lanes back;
    Lanes streams_there;  ///< of one pair of nodes, by so many TCP connections of LaPle's own; 0: none can be
                          ///< made
    Lanes streams_back;
    bool carries_more = false;  ///< TCP had not found the link's rate: `there` and `back` are less than it

    bool joins(int cluster) const { return a == cluster || b == cluster; }
    /// The lanes from one of the two to the other, and that other one.
    const Lanes& lanes_from(int cluster) const { return cluster == a ? there : back; }
    Lanes& lanes_from(int cluster) { return cluster == a ? there : back; }
    const Lanes& streams_from(int cluster) const { return cluster == a ? streams_there : streams_back; }
    int other(int cluster) const { return cluster == a ? b : a; }

    bool operator==(const LinkPair&) const = default;
};

/// The parameters of a network of clusters: which hold between two of them, and in one. Clusters are those of
/// the innermost level of a topology, by number.
struct LinkModel {
    std::vector<ClusterModel> clusters;
    std::vector<LinkPair> links;        ///< ordered by (a, b); pairs that were not measured are missing
    JobTimes job;                       ///< of the job that measured, with its ranks in its order
    std::vector<std::string> warnings;  ///< what a person should know before trusting it
    int sweeps = 0;  ///< so many had no time for all rates (plogp/link_sweep.hpp); 0: none goes on with it
    Seconds next_step{0};  ///< then: what the next one needs at least; 0: not known

    /// nullptr when it was not measured.
    const LinkPair* between(int a, int b) const;
    /// That of a < b, which is made when there is none, at its place in the order.
    LinkPair& link(int a, int b);

    bool operator==(const LinkModel&) const = default;
};

/// Rates that some ranks of a job have measured, while others of the same hosts may have done so, too: those
/// ranks may go by them, but a job's measurement by all ranks begins anew.
void mark_as_of_part(LinkModel& model);
bool is_of_part(const LinkModel& model);

}  // namespace laple
