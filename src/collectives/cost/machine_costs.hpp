// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "plogp/curve.hpp"
#include "plogp/job_times.hpp"
#include "plogp/link_model.hpp"

namespace laple {

/// What the planner knows of the machine under a communicator, cluster by cluster (machine.hpp). A value:
/// every rank holds the same numbers, bit for bit, so that all choose alike. No link is left out: what was
/// not measured is estimated from what was (costs_of).
class MachineCosts {
  public:
    /// From one cluster to another, or inside one.
    struct Link {
        double latency = 0;     ///< one way, in seconds: L
        Curve gap;              ///< g(m) of a single message
        Curve stream;           ///< g(m) of many in a row
        double all = 0;         ///< bytes a second of all flows together; 0: not known
        double seen = 0;        ///< the most that any number of flows were seen to carry
        int flows_seen = 0;     ///< the largest number of them; 0: none was measured
        Lanes by_streams = {};  ///< between two hosts, by so many connections of LaPle's own
        int streams = 0;        ///< so many of them plans may have: as many as fill it, or as were asked for
        double streamed = 0;    ///< bytes a second by these; 0: not known
        bool carries_more = false;  ///< than was measured: TCP had not found its rate
        /// Messages of up to so many bytes to several others inside the cluster are copied in once
        /// (Step::repeats).
        Bytes copied_once = 0;

        bool operator==(const Link&) const = default;
        /// Of one host, whose ranks take the places of hosts (one_host.hpp).
        bool is_memory() const { return copied_once > 0; }
    };
    /// Shared memory, where it was not measured.
    static Link usual_memory();

    /// How long a program computes between two collectives, at least. Where it does so for longer, a call
    /// that loads NICs less is hardly slower; one that loads them more is much slower in a loop: 16 KiB to
    /// and from a root of twelve hosts of 100 Mbit/s took 4.3 ms, in parts 1.6.
    static constexpr double kUsualPause = 1e-3;

    /// Of the hosts of a cluster, which are alike, and of the cluster as a whole.
    struct Cluster {
        double nic_out = 0;  ///< of a host, in bytes a second; 0: not known, then it is no limit
        double nic_in = 0;
        double uplink_out = 0;  ///< of all its nodes together
        double uplink_in = 0;
        double reduction = 0;          ///< seconds for each byte combined (γ)
        double reserve = 0;            ///< token-bucket burst of an idle NIC, in bytes
        double burst = 0;              ///< bytes that may wait at its uplink; 0: no limit is known
        double eager_limit = 0;        ///< bytes that go inside it without a handshake; 0: not known
        Link memory = usual_memory();  ///< between two ranks of one host
        bool is_memory_known = false;  ///< it was measured

        bool operator==(const Cluster&) const = default;
        /// How much port time the burst saves in one collective.
        double credit() const { return nic_out > 0 ? reserve / nic_out : 0; }
        /// The same in each of many collectives: the bucket refills in pauses only.
        double usual_credit() const { return std::min(credit(), kUsualPause); }
    };

    /// Whether messages that a rank sends at the same time share its port, as they do over TCP; else they
    /// queue for it, as in simulator.hpp.
    bool shares_ports = true;

    /// What a port takes for a message of a flow that takes `flow`, and of several flows `by_nic`: one that
    /// is slower than the NIC leaves room for others. Inside a cluster a NIC is mostly as fast as one flow,
    /// of which more is known; but not where flows are limited.
    static double port_time(double flow, double by_nic, bool is_inside) {
        return is_inside && is_held_up_by_port(flow, by_nic) ? flow : std::min(flow, by_nic);
    }

    /// Whether a flow that takes `flow` for a message is held up by its port, which takes `port`: then what
    /// an idle port saves is saved by the flow, too. One that is much slower gains nothing.
    template <typename Time>
    static bool is_held_up_by_port(Time flow, Time port) {
        constexpr double kNotMuch = 1.25;
        return flow <= kNotMuch * port;
    }

    /// Whether an idle flow between clusters starts slowly, as TCP's do (SegmentTimes::ramp).
    bool flows_ramp = false;

    /// Whether an uplink that no rate is known of holds nothing up: all were measured.
    bool are_uplinks_known = false;

    /// How much longer a message takes when all ranks are at work than between two of them, in seconds
    /// (rank_delay.hpp); part of the latencies inside clusters.
    double rank_delay = 0;

    /// What each message of a call takes from processors that all ranks share, in seconds: where near
    /// clusters are on few of them (rank_delay.hpp).
    double message_time = 0;

    /// In a pipeline all ranks are at work all the time: one that shares its core passes on no segment inside
    /// cluster `c` faster than it passes on a message then, however short segments are. Copies were measured
    /// with all ranks at work.
    double time_at_work(int c) const { return link(c, c).is_memory() ? 0 : rank_delay; }
    /// Beyond the eager limit of cluster `c` sender and receiver wait for each other once; each of both may
    /// wait for its core.
    double handshake_at_work(int c, Bytes bytes) const {
        const double limit = cluster(c).eager_limit;
        return limit <= 0 || static_cast<double>(bytes) <= limit ? 0 : 2 * rank_delay;
    }

    /// Between clusters: the least that is known inside them, as that of hosts alone is not; 0: none is.
    double eager_limit() const;

    /// How long a message beyond the eager limit waits for its receiver's answer before its bytes can go from
    /// cluster `a` to another one, `b`: as far as what was measured of their link shows it.
    double handshake(int a, int b, Bytes bytes) const;

    /// What was measured of collectives on the communicator that these costs are for; nothing on parts of a
    /// job.
    JobTimes job;

    MachineCosts() = default;
    explicit MachineCosts(int clusters)
        : clusters_(static_cast<std::size_t>(clusters)), links_(clusters_.size() * clusters_.size()) {}

    bool operator==(const MachineCosts&) const = default;

    /// Without clusters nothing is known.
    bool is_empty() const { return clusters_.empty(); }
    int count() const { return static_cast<int>(clusters_.size()); }

    const Cluster& cluster(int c) const { return clusters_[static_cast<std::size_t>(c)]; }
    Cluster& cluster(int c) { return clusters_[static_cast<std::size_t>(c)]; }
    const Link& link(int from, int to) const { return links_[at(from, to)]; }
    Link& link(int from, int to) { return links_[at(from, to)]; }

    /// How much longer than by its rate a flow between clusters takes for the `bytes` that it carries in one
    /// call, if it rested before; `seconds_a_byte` as far as its rate allows. TCP sends at once what its
    /// initial window holds. After that it goes by what the flow has shown before, a few times as much as a
    /// call carried in a round trip: little for messages that are small against the bandwidth-delay product,
    /// which only several flows make up for. 0 where flows do not ramp.
    double ramp(double latency, double bytes, double seconds_a_byte) const;
    /// How much longer idle flows of so many bytes between clusters take while as many come the other way:
    /// TCP sends more with each acknowledgement, and these wait behind the other flows' data, until both fill
    /// the link: sooner where it is short. 0 where flows do not ramp.
    double ramp_against(double latency, double bytes, double seconds_a_byte) const;

    /// What the uplink of a cluster of `hosts` carries to all others together, or from them: as measured, or
    /// else the most that all its hosts at once, or as many as fill a link, were seen to carry to one other,
    /// for what holds them back is the uplink more often than a link of these two alone; where all uplinks
    /// are known, and this one holds nothing up, what its links carry together. In bytes a second; 0: nothing
    /// is known.
    ///
    ///          ┌──2──> B
    ///     A ═══╪══2──> C     A's uplink carries 2, if uplinks were not measured; else 6
    ///          └──2──> D
    double likely_uplink_out(int c, int hosts) const;
    double likely_uplink_in(int c, int hosts) const;

    /// Bytes a second of all flows together from any of some clusters to any of some others: the most that is
    /// known between two of them; 0: nothing is.
    double rate_between(std::span<const int> from, std::span<const int> to) const;

    /// Those of a communicator that holds ranks of `clusters` only, in that order; without native times.
    MachineCosts restricted_to(std::span<const int> clusters) const;

    /// How many connections of LaPle's own plans may have between two hosts, as LAPLE_STREAMS has it: with
    /// Settings::kAutomatic as many as fill each link that gains by them, 0 none. Any other number holds for
    /// all calls that LaPle does itself, whether they gain by them or not.
    void use_streams(int wanted);
    bool are_streams_given() const { return are_streams_given_; }

    /// Whether flows of MPI's on some link carry more than was measured.
    bool carry_more() const;

    /// The most connections of LaPle's own that plans may have on a link of these; 0: none gains by them.
    int most_streams() const;
    /// The same where messages between clusters go by as many: no slower anywhere, and without a handshake.
    /// Of known calls, those that went by them, unless their number is given, and MPI's own.
    MachineCosts with_streams() const;

    /// As plain numbers, to be sent to others, and back. Throws Error when they are no such numbers.
    std::vector<double> numbers() const;
    static MachineCosts from_numbers(std::span<const double> numbers);

  private:
    template <typename LinkWith>
    double likely_uplink(double measured, int c, int hosts, LinkWith link_with) const;
    std::size_t at(int from, int to) const {
        return static_cast<std::size_t>(from) * clusters_.size() + static_cast<std::size_t>(to);
    }

    bool are_streams_given_ = false;
    std::vector<Cluster> clusters_;
    std::vector<Link> links_;  // row by row; inside a cluster: the diagonal
};

/// The costs of a network of which `measured` is known, and `latency` between any two clusters (one way;
/// inside on the diagonal; 0: not known).
///
/// Where a curve is missing it is a line, kLikelyOverhead + m/rate, with the rate of one flow on that link;
/// or what both clusters have reached with others, and for one that was measured with none the median of all
/// rates. Where no rate between clusters is known at all nothing can be
/// said of sizes: the result is empty. So it is of one cluster in which nothing was measured.
MachineCosts costs_of(const LinkModel& measured, const std::vector<std::vector<Seconds>>& latency);

/// What a message costs on top of its bytes where that was not measured: MPI over TCP.
inline constexpr Seconds kLikelyOverhead = std::chrono::microseconds(10);

/// Of messages that one rank sends one after the other, where curves begin with 0: between eight hosts a flat
/// allreduce of 8 bytes took 155 us, of which 70 were two latencies and the rest 14 messages.
inline constexpr Seconds kLikelyGap = std::chrono::microseconds(5);

}  // namespace laple
