// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/collective/request.hpp"
#include "collectives/schedule/builder.hpp"
#include "collectives/trees/send_order.hpp"
#include "collectives/trees/tree.hpp"
#include "topology/machine.hpp"

namespace laple {

class Algorithm;
class Pricing;
struct Candidate;

/// Immutable, and shared by plans.
using AlgorithmPtr = std::shared_ptr<const Algorithm>;

/// How far ranks may be ahead of each other. In bytes; what is 0 or empty is as usual.
struct SendWindows {
    Bytes channel = 0;  ///< under way in a channel to another cluster
    /// Of each cluster: how far a rank's contributions inside it may be ahead of those that come to it there.
    std::vector<Bytes> local = {};
    Bytes global = 0;  ///< how far contributions may be ahead of results; 0: no limit
    /// Of each cluster: the seconds that a byte takes of what a rank there may send to other clusters.
    std::vector<double> pace = {};
    std::vector<Bytes> ahead = {};  ///< of each cluster: what a rank there may send ahead of its pace
};

/// One rank's part of a call.
struct Part {
    const Request& request;
    const Machine& machine;
    const SendWindows& windows;
    Rank rank;
};

/// One way to do a collective, with all its parameters: those that its name says, and those that were decided
/// by costs (an order of clusters, shares, relays). Each family of algorithms has a class of its own, in a
/// file of its own (registry.hpp).
class Algorithm {
  public:
    Algorithm() = default;
    virtual ~Algorithm() = default;
    Algorithm(const Algorithm&) = delete;
    Algorithm& operator=(const Algorithm&) = delete;

    /// What users write in LAPLE_ALGORITHM and read in reports; parse_algorithm() is its inverse.
    virtual std::string name() const = 0;
    /// What was decided by costs, for people; empty: nothing, or " order 0>1 0>2".
    virtual std::string details() const { return {}; }

    /// What it does, for people: half a sentence.
    virtual std::string in_words() const = 0;
    /// Equal for algorithms that differ in the size of segments only, or in the name of the rule that has
    /// found the same order.
    virtual std::string kind() const;
    /// The tree over all ranks, if it uses one; of several in turn the first. For pictures.
    virtual std::optional<Tree> tree(const Request&, const Machine&) const { return std::nullopt; }

    /// MPI's own call: there are no steps.
    virtual bool is_native() const { return false; }
    /// MPI's own calls inside clusters, each of which needs a communicator.
    virtual bool is_native_in_clusters() const { return false; }
    /// How the message is cut; 0: not.
    virtual Bytes segment_bytes() const { return 0; }
    virtual int lanes() const { return 1; }
    /// The messages between clusters; empty: between any two of them.
    virtual const SendOrder& order() const;
    /// Whether segments take turns between trees, so that those of one lane are as far apart as there are
    /// lanes.
    virtual bool takes_turns() const { return false; }

    /// Where blocks have different sizes (Request::is_varied): those of up to so many bytes go as the steps
    /// say, in messages that begin with their lengths; longer ones go straight. 0: all of them.
    virtual Bytes longest_together(const Request&, const Machine&) const { return 0; }

    /// Whether nothing can be done before price() has decided something.
    virtual bool needs_costs() const { return false; }
    /// What a machine must have for it, for people: "needs ..."; empty: nothing special.
    virtual std::string needs() const { return {}; }
    /// Whether it can carry out `request` exactly on `machine`.
    virtual bool can_do(const Request& request, const Machine& machine) const = 0;

    /// Its predicted time, with what costs decide; nothing where there is no price for it. `pricing` is that
    /// of a request that it can do.
    virtual std::optional<Candidate> price(Pricing& pricing) const = 0;

    /// Writes this rank's steps. It must not be native, and can_do() must hold. What all ranks write is one
    /// consistent whole: each send has its receive, in the same order on both sides, and no cycle of waiting
    /// (the verifier checks it).
    virtual void write_steps(const Part& part, ScheduleBuilder& builder) const = 0;

    Segments segments(const Request& request) const {
        return Segments::cut(request.units, request.unit_bytes, segment_bytes());
    }
};

/// This rank's steps as a schedule. As for Algorithm::write_steps().
Schedule expand(const Algorithm& algorithm, const Part& part);

}  // namespace laple
