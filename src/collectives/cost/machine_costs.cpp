// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/machine_costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/median.hpp"
#include "base/options.hpp"
#include "collectives/collective/collective.hpp"
#include "plogp/link_sweep.hpp"

namespace laple {
namespace {

constexpr double kLikelyRateInside = 1e9;  // bytes a second, where there is one node only: shared memory
constexpr Bytes kLineEnd = 1 << 20;        // a line is known at 0 and here

/// Where it is not known: memory, not a network.
constexpr double kLikelyLatencyInside = 1e-6;

Curve line(double rate) {
    const Seconds end(static_cast<double>(kLineEnd) / rate);
    return Curve({{0, kLikelyOverhead}, {kLineEnd, kLikelyOverhead + end}});
}

/// The same, with a round trip more for what is longer than `eager_limit`; 0: it is not known.
Curve line(double rate, double eager_limit, double latency) {
    Curve curve = line(rate);
    const auto limit = static_cast<Bytes>(eager_limit);
    if (limit == 0 || limit >= kLineEnd) return curve;
    const Seconds passing = curve.at(limit);
    const Seconds end = curve.at(kLineEnd);
    curve.set(limit, passing);
    curve.set(limit + 1, passing + Seconds(2 * latency));
    curve.set(kLineEnd, end + Seconds(2 * latency));
    return curve;
}

constexpr double kAtOnce = 16 * 1024;  // by an idle connection: some more than ten packets of 1448 bytes

/// Both directions of a pair have one curve; their rates may differ.
double rate_of_one(const Lanes& lanes) {
    if (lanes.of_one() > 0) return lanes.of_one();
    return lanes.most();
}

/// From one of the two to the other. Where there was no time to measure that, most links carry as much as
/// they do the other way.
const Lanes& lanes_known(const LinkPair& pair, int from) {
    const Lanes& lanes = pair.lanes_from(from);
    return lanes.rate.empty() ? pair.lanes_from(pair.other(from)) : lanes;
}

/// Whether the measured lanes fill the link. One lane alone does not tell, nor do lanes that each carry as
/// much as a single one.
bool is_full(const Lanes& lanes) {
    constexpr double kInProportion = 0.9;
    if (lanes.rate.empty() || lanes.rate.rbegin()->first == 1) return false;
    const auto& [count, rate] = *lanes.rate.rbegin();
    return lanes.of_one() <= 0 || rate < kInProportion * count * lanes.of_one();
}

/// What a flow is likely to carry between clusters whose link was not measured.
class LikelyRates {
  public:
    LikelyRates(const LinkModel& measured, int clusters)
        : out_(static_cast<std::size_t>(clusters)), in_(static_cast<std::size_t>(clusters)) {
        std::vector<double> rates;
        for (const LinkPair& pair : measured.links) {
            const bool is_known_by_gap =
                pair.there.rate.empty() && pair.back.rate.empty() && !pair.plogp.gap.is_empty();
            for (const int from : {pair.a, pair.b}) {
                const double rate =
                    is_known_by_gap ? rate_of(pair.plogp.gap) : rate_of_one(lanes_known(pair, from));
                note(from, pair.other(from), as_nics_allow(measured, pair, rate), rates);
            }
        }
        note_uplinks(measured, rates);
        usual_ = median(rates);
    }

    /// The median of all that are known; 0: none is.
    double usual() const { return usual_; }
    /// As much as both have reached with others, as far as that is known.
    double between(int from, int to) const {
        const double out = out_[static_cast<std::size_t>(from)];
        const double in = in_[static_cast<std::size_t>(to)];
        return std::min(out > 0 ? out : usual_, in > 0 ? in : usual_);
    }

  private:
    static double rate_of(const Curve& gap) {
        const auto& [bytes, time] = *gap.known().rbegin();
        return bytes > 0 && time.count() > 0 ? static_cast<double>(bytes) / time.count() : 0;
    }
    /// Where only several lanes were measured, they carry more than the NIC of one.
    static double as_nics_allow(const LinkModel& measured, const LinkPair& pair, double rate) {
        for (const int end : {pair.a, pair.b}) {
            const auto c = static_cast<std::size_t>(end);
            const double nic = c < measured.clusters.size() ? measured.clusters[c].nic_out : 0;
            if (nic > 0) rate = std::min(rate, nic);
        }
        return rate;
    }
    void note(int from, int to, double rate, std::vector<double>& rates) {
        if (!(rate > 0)) return;
        rates.push_back(rate);
        double& out = out_[static_cast<std::size_t>(from)];
        double& in = in_[static_cast<std::size_t>(to)];
        out = std::max(out, rate);
        in = std::max(in, rate);
    }

    /// Where no flow was measured alone: those of all links at once tell what a NIC and the uplink let pass.
    void note_uplinks(const LinkModel& measured, std::vector<double>& rates) {
        const bool is_none_known = rates.empty();
        for (std::size_t c = 0; c < std::min(out_.size(), measured.clusters.size()); ++c) {
            const ClusterModel& cluster = measured.clusters[c];
            const auto of_uplink = [&](double uplink, double nic, double& known) {
                if (known > 0 || !(uplink > 0)) return;
                known = nic > 0 ? std::min(uplink, nic) : uplink;
                if (is_none_known) rates.push_back(known);
            };
            of_uplink(cluster.uplink_out, cluster.nic_out, out_[c]);
            of_uplink(cluster.uplink_in, cluster.nic_in, in_[c]);
        }
    }

    std::vector<double> out_;  // by cluster
    std::vector<double> in_;
    double usual_ = 0;
};

/// A sweep in passing measures how fast flows are, and not what a message takes that has no bytes.
Curve with_likely_gap(Curve gap) {
    if (gap.is_empty() || gap.at(0) > Seconds(0)) return gap;
    for (const auto& [bytes, time] : std::vector(gap.known())) gap.set(bytes, std::max(time, kLikelyGap));
    return gap;
}

/// As measured, or else a line.
MachineCosts::Link link_of(const Plogp& plogp, double latency, double rate, double eager_limit = 0) {
    if (plogp.gap.is_empty()) {
        const Curve gap = line(rate, eager_limit, latency);
        return {latency, gap, gap, 0};
    }
    const Curve& flood_gap = plogp.flood_gap.is_empty() ? plogp.gap : plogp.flood_gap;
    return {plogp.latency.count(), with_likely_gap(plogp.gap), with_likely_gap(flood_gap), 0};
}

MachineCosts::Link memory_of(const Plogp& measured) {
    if (measured.gap.is_empty()) return MachineCosts::usual_memory();
    return {measured.latency.count(), measured.gap,
            measured.flood_gap.is_empty() ? measured.gap : measured.flood_gap, 0};
}

/// Whether a link carries about what uplinks that were measured let through: then it carries no more.
bool fills_uplinks(const Lanes& lanes, const LinkModel& measured, int from, int to) {
    constexpr double kFilled = 0.8;
    if (measured.clusters.size() <= static_cast<std::size_t>(std::max(from, to))) return false;
    const double out = measured.clusters[static_cast<std::size_t>(from)].uplink_out;
    const double in = measured.clusters[static_cast<std::size_t>(to)].uplink_in;
    return out > 0 && in > 0 && lanes.seen() > kFilled * std::min(out, in);
}

/// Fewer than were measured carry at least their share of it. 0: not known.
double rate_by_streams(const Lanes& measured, int connections) {
    if (measured.rate.empty()) return 0;
    const auto& [fewest, rate] = *measured.rate.begin();
    return connections < fewest ? rate * connections / fewest : measured.at(connections);
}

/// As many as both directions want, where they bring more than one flow of MPI's does.
void add_streams(const LinkPair& pair, int from, MachineCosts::Link& link) {
    link.by_streams = pair.streams_from(from);
    constexpr double kGain = 1.15;
    const auto gains = [&](int cluster) {
        const double flow = rate_of_one(pair.lanes_from(cluster));
        return pair.streams_from(cluster).most() > kGain * flow;
    };
    if (!gains(pair.a) && !gains(pair.b)) return;
    // A model's file may name more.
    link.streams =
        std::min(std::max(pair.streams_there.useful(), pair.streams_back.useful()), Settings::kMostStreams);
    link.streamed = rate_by_streams(link.by_streams, link.streams);
}

/// Single messages were measured with an unknown part of the burst available. Without it they take at least
/// as long as many in a row.
void take_out_reserve(MachineCosts::Link& link) {
    for (const auto& [bytes, time] : std::vector(link.gap.known()))
        link.gap.set(bytes, std::max(time, link.stream.at(bytes)));
}

/// The NIC of a host alone in its cluster cannot be measured. It is assumed to be like the others (their
/// lower median), if there are any; where it is not, the uplink is the limit that counts.
void fill_in_nics(MachineCosts& costs) {
    using Cluster = MachineCosts::Cluster;
    const auto fill_in = [&](double Cluster::*nic, auto uplink) {
        std::vector<double> known;
        for (int c = 0; c < costs.count(); ++c) {
            if (costs.cluster(c).*nic > 0) known.push_back(costs.cluster(c).*nic);
        }
        const double usual = median(known);
        for (int c = 0; c < costs.count(); ++c) {
            const double outside = (costs.*uplink)(c, 1);
            if (!(costs.cluster(c).*nic > 0) && outside > 0) costs.cluster(c).*nic = std::max(usual, outside);
        }
    };
    fill_in(&Cluster::nic_out, &MachineCosts::likely_uplink_out);
    fill_in(&Cluster::nic_in, &MachineCosts::likely_uplink_in);
}

/// What was measured from one cluster to another: bytes a second, and of how many flows; 0: nothing.
std::pair<double, int> rate_seen(const LinkModel& measured, int from, int to) {
    const LinkPair* pair = measured.between(from, to);
    if (pair == nullptr || pair->lanes_from(from).rate.empty()) return {0, 0};
    return {pair->lanes_from(from).most(), pair->lanes_from(from).rate.rbegin()->first};
}

/// The most that `cluster` was seen to send to one other but `but`, or to get from one.
double most_seen(const LinkModel& measured, int clusters, int cluster, int but, bool is_out) {
    double most = 0;
    for (int other = 0; other < clusters; ++other) {
        if (other == cluster || other == but) continue;
        most = std::max(most, is_out ? rate_seen(measured, cluster, other).first
                                     : rate_seen(measured, other, cluster).first);
    }
    return most;
}

/// Of a cluster with such a NIC, out or in, by its fastest link; 0: nothing tells.
double likely_by_links(const LinkModel& measured, int clusters, int cluster, double nic, bool is_out) {
    constexpr double kNearly = 0.85;
    constexpr double kClearly = 1.2;
    double most = 0;
    bool are_others_faster = false;
    for (int other = 0; other < clusters; ++other) {
        if (other == cluster) continue;
        const auto [rate, flows] =
            is_out ? rate_seen(measured, cluster, other) : rate_seen(measured, other, cluster);
        if (!(rate > 0)) continue;
        if (measured.between(cluster, other)->carries_more || rate >= kNearly * flows * nic) return 0;
        if (rate <= most) continue;
        most = rate;
        are_others_faster = most_seen(measured, clusters, other, cluster, !is_out) > kClearly * rate;
    }
    return are_others_faster ? most : 0;
}

/// Uplinks that a sweep had no time for yet: where no flow of a cluster is nearly as fast as its NICs are,
/// nor as what the other end exchanges with a third cluster, its uplink holds them up, most likely. Without
/// that a site of three hosts behind 23 Mbit/s had three times its rate, and an allreduce of 1 MiB between
/// ten sites took 1080 ms in place of 465.
///
///     A ──3──> B   A ──2──> C   D ──6──> B     hosts of 6 MB/s: A's uplink carries 3
void guess_uplinks(const LinkModel& measured, MachineCosts& costs) {
    for (int c = 0; c < costs.count(); ++c) {
        MachineCosts::Cluster& cluster = costs.cluster(c);
        if (!(cluster.uplink_out > 0))
            cluster.uplink_out = likely_by_links(measured, costs.count(), c, cluster.nic_out, true);
        if (!(cluster.uplink_in > 0))
            cluster.uplink_in = likely_by_links(measured, costs.count(), c, cluster.nic_in, false);
    }
}

/// Whether each link of a cluster was measured alone, out or in.
bool are_links_seen(const LinkModel& measured, int clusters, int cluster, bool is_out) {
    for (int other = 0; other < clusters; ++other) {
        if (other == cluster) continue;
        const auto seen = is_out ? rate_seen(measured, cluster, other) : rate_seen(measured, other, cluster);
        if (!(seen.first > 0)) return false;
    }
    return true;
}

/// Of uplinks of which a sweep has not seen each link alone: what all carried at once, both ways, is less,
/// for acknowledgements wait behind what comes: 0.5 to 0.9 of what one way does alone was measured. Uplinks
/// are mostly alike both ways, so they carry what the other way does, unless that is much more.
void make_even(const LinkModel& measured, MachineCosts& costs) {
    constexpr double kMuchMore = 2.5;
    for (int c = 0; c < costs.count(); ++c) {
        MachineCosts::Cluster& cluster = costs.cluster(c);
        const double out = cluster.uplink_out;
        const double in = cluster.uplink_in;
        if (std::max(out, in) >= kMuchMore * std::min(out, in)) continue;
        if (!are_links_seen(measured, costs.count(), c, true)) cluster.uplink_out = std::max(out, in);
        if (!are_links_seen(measured, costs.count(), c, false)) cluster.uplink_in = std::max(out, in);
    }
}

void add_curve(const Curve& curve, std::vector<double>& numbers) {
    numbers.push_back(static_cast<double>(curve.known().size()));
    for (const auto& [bytes, time] : curve.known()) {
        numbers.push_back(static_cast<double>(bytes));
        numbers.push_back(time.count());
    }
}

void add_lanes(const Lanes& lanes, std::vector<double>& numbers) {
    numbers.push_back(static_cast<double>(lanes.rate.size()));
    for (const auto& [count, rate] : lanes.rate) {
        numbers.push_back(count);
        numbers.push_back(rate);
    }
}

/// Letter by letter.
void add_text(const std::string& text, std::vector<double>& numbers) {
    numbers.push_back(static_cast<double>(text.size()));
    for (const char letter : text) numbers.push_back(letter);
}

/// Takes numbers off the front of a list.
class Numbers {
  public:
    explicit Numbers(std::span<const double> numbers) : left_(numbers) {}

    double next() {
        if (left_.empty()) throw broken();
        const double number = left_.front();
        left_ = left_.subspan(1);
        return number;
    }
    std::size_t next_count(std::size_t most) {
        const double count = next();
        if (!(count >= 0 && count <= static_cast<double>(most))) throw broken();
        return static_cast<std::size_t>(count);
    }
    Curve next_curve() {
        Curve curve;
        for (std::size_t left = next_count(left_.size()); left > 0; --left) {
            const auto bytes = static_cast<Bytes>(next());
            curve.set(bytes, Seconds(next()));
        }
        return curve;
    }
    Lanes next_lanes() {
        Lanes lanes;
        for (std::size_t left = next_count(left_.size()); left > 0; --left) {
            const auto count = static_cast<int>(next_count(std::numeric_limits<int>::max()));
            lanes.rate[count] = next();
        }
        return lanes;
    }
    std::string next_text() {
        std::string text(next_count(left_.size()), ' ');
        for (char& letter : text) letter = static_cast<char>(next());
        return text;
    }
    bool is_at_end() const { return left_.empty(); }
    static Error broken() {
        return Error("what another rank sent of the network's rates cannot be read on this rank",
                     "install the same build of LaPle on all hosts");
    }

  private:
    std::span<const double> left_;
};

}  // namespace

MachineCosts::Link MachineCosts::usual_memory() {
    constexpr double kLatency = 0.5e-6;
    constexpr double kOverhead = 0.5e-6;
    constexpr double kRate = 4e9;  // bytes a second, into a shared segment and out of it
    static const Curve kLine(
        {{0, Seconds(kOverhead)}, {kLineEnd, Seconds(kOverhead + static_cast<double>(kLineEnd) / kRate)}});
    return {kLatency, kLine, kLine, 0};
}

MachineCosts MachineCosts::restricted_to(std::span<const int> clusters) const {
    if (is_empty()) return {};
    MachineCosts part(static_cast<int>(clusters.size()));
    part.shares_ports = shares_ports;
    part.flows_ramp = flows_ramp;
    part.are_uplinks_known = are_uplinks_known;
    part.are_streams_given_ = are_streams_given_;
    part.rank_delay = rank_delay;
    part.message_time = message_time;
    for (int a = 0; a < part.count(); ++a) {
        const int old_a = clusters[static_cast<std::size_t>(a)];
        part.cluster(a) = cluster(old_a);
        for (int b = 0; b < part.count(); ++b)
            part.link(a, b) = link(old_a, clusters[static_cast<std::size_t>(b)]);
    }
    return part;
}

double MachineCosts::eager_limit() const {
    double limit = 0;
    for (const Cluster& cluster : clusters_) {
        const double known = cluster.eager_limit;
        if (known > 0) limit = limit > 0 ? std::min(limit, known) : known;
    }
    return limit;
}

double MachineCosts::handshake(int a, int b, Bytes bytes) const {
    const double limit = eager_limit();
    if (limit <= 0 || static_cast<double>(bytes) <= limit) return 0;
    const auto without = static_cast<Bytes>(limit);
    const Curve& gap = link(a, b).gap;
    return std::max(gap.at(without + 1) - gap.at(without), Seconds(0)).count();
}

/// Allreduces of 64 KiB by pipelines over 21 and 23 Mbit/s and 1.5 ms one way took 11 to 16 ms longer than
/// predicted without it, with one lane or with eight; over 24 Mbit/s and 0.5 ms 3 ms.
double MachineCosts::ramp_against(double latency, double bytes, double seconds_a_byte) const {
    constexpr double kWholeFrom = 1.5e-3;  // one way
    if (!flows_ramp) return 0;
    const double windows =
        std::clamp(bytes / kAtOnce - 1, 0.0, 1.0) + std::clamp(bytes / (2 * kAtOnce) - 1, 0.0, 1.0);
    return std::min(latency / kWholeFrom, 1.0) * windows * kAtOnce * seconds_a_byte;
}

/// The constants fit broadcasts of 16 to 256 KiB, one after the other, over 100 Mbit/s and 10, 18 and 45 ms
/// (TCP with BBR): 64 KiB took 2, 5 and 13 ms longer, 128 KiB over 45 ms 22 to 27.
double MachineCosts::ramp(double latency, double bytes, double seconds_a_byte) const {
    constexpr double kShown = 200 * 1024;  // in a round trip, by whatever came before
    constexpr double kGrowth = 2.4;        // of what a call carries
    if (!flows_ramp || bytes <= kAtOnce) return 0;
    const double ramping = 2 * latency / std::max(kShown, kGrowth * bytes);  // seconds a byte
    return (bytes - kAtOnce) * std::max(ramping - seconds_a_byte, 0.0);
}

bool MachineCosts::carry_more() const {
    return std::any_of(links_.begin(), links_.end(), [](const Link& link) { return link.carries_more; });
}

int MachineCosts::most_streams() const {
    int most = 0;
    for (const Link& link : links_) most = std::max(most, link.streams);
    return most;
}

void MachineCosts::use_streams(int wanted) {
    if (wanted == Settings::kAutomatic) return;
    are_streams_given_ = wanted > 0;
    for (int from = 0; from < count(); ++from) {
        for (int to = 0; to < count(); ++to) {
            if (from == to) continue;
            Link& known = link(from, to);
            known.streams = wanted;
            known.streamed = rate_by_streams(known.by_streams, wanted);
        }
    }
}

MachineCosts MachineCosts::with_streams() const {
    MachineCosts costs = *this;
    std::erase_if(costs.job.calls, [this](const CallTime& call) {
        const bool is_by_streams = call.algorithm.ends_with(CallTime::kByStreams);
        return is_by_streams ? are_streams_given_ : call.algorithm != CallTime::kByMpi;
    });
    for (CallTime& call : costs.job.calls) {
        if (call.algorithm.ends_with(CallTime::kByStreams))
            call.algorithm.resize(call.algorithm.size() - CallTime::kByStreams.size());
    }
    for (Link& link : costs.links_) {
        if (!(link.streamed > 0)) continue;
        const Curve streamed = line(link.streamed);
        for (Curve* curve : {&link.gap, &link.stream}) {
            for (const auto& [bytes, time] : std::vector(curve->known()))
                curve->set(bytes, std::min(time, streamed.at(bytes)));
        }
        if (link.all > 0) link.all = std::max(link.all, link.streamed);
        link.seen = std::max(link.seen, link.streamed);
        link.carries_more = false;
    }
    // NICs and uplinks carry at least as much.
    const auto raise = [](double& known, double shown) {
        if (known > 0) known = std::max(known, shown);
    };
    for (int from = 0; from < costs.count(); ++from) {
        for (int to = 0; to < costs.count(); ++to) {
            const double streamed = costs.link(from, to).streamed;
            for (double Cluster::*limit : {&Cluster::nic_out, &Cluster::uplink_out})
                raise(costs.cluster(from).*limit, streamed);
            for (double Cluster::*limit : {&Cluster::nic_in, &Cluster::uplink_in})
                raise(costs.cluster(to).*limit, streamed);
        }
    }
    // What connections of one host carry, where its NIC could do more, is what the link can.
    for (int from = 0; from < costs.count(); ++from) {
        for (int to = 0; to < costs.count(); ++to) {
            constexpr double kFull = 0.85;
            Link& link = costs.link(from, to);
            const double nic = std::min(costs.cluster(from).nic_out, costs.cluster(to).nic_in);
            const bool is_nic = nic > 0 && link.streamed >= kFull * nic;
            if (link.streamed > 0 && !is_nic) link.all = std::max(link.all, link.streamed);
        }
    }
    return costs;
}

double MachineCosts::rate_between(std::span<const int> from, std::span<const int> to) const {
    double most = 0;
    for (const int a : from) {
        for (const int b : to) most = std::max(most, link(a, b).all);
    }
    return most;
}

template <typename LinkWith>
double MachineCosts::likely_uplink(double measured, int c, int hosts, LinkWith link_with) const {
    if (measured > 0) return measured;
    double most = 0;
    double all = 0;
    for (int other = 0; other < count(); ++other) {
        if (other == c) continue;
        const Link& link = link_with(other);
        if (link.flows_seen >= hosts || link.all > 0) most = std::max(most, link.seen);
        all += std::max({link.seen, link.streamed, link.by_streams.most()});
    }
    return most > 0 && are_uplinks_known ? all : most;
}

double MachineCosts::likely_uplink_out(int c, int hosts) const {
    return likely_uplink(cluster(c).uplink_out, c, hosts,
                         [&](int other) -> const Link& { return link(c, other); });
}

double MachineCosts::likely_uplink_in(int c, int hosts) const {
    return likely_uplink(cluster(c).uplink_in, c, hosts,
                         [&](int other) -> const Link& { return link(other, c); });
}

std::vector<double> MachineCosts::numbers() const {
    std::vector<double> all{static_cast<double>(count()),
                            shares_ports ? 1.0 : 0.0,
                            flows_ramp ? 1.0 : 0.0,
                            are_uplinks_known ? 1.0 : 0.0,
                            are_streams_given_ ? 1.0 : 0.0,
                            rank_delay,
                            message_time};
    for (const Cluster& c : clusters_) {
        all.insert(all.end(), {c.nic_out, c.nic_in, c.uplink_out, c.uplink_in, c.reduction, c.reserve,
                               c.burst, c.eager_limit, c.memory.latency, c.is_memory_known ? 1.0 : 0.0});
        add_curve(c.memory.gap, all);
        add_curve(c.memory.stream, all);
    }
    for (const Link& link : links_) {
        all.push_back(link.latency);
        all.insert(all.end(),
                   {link.all, link.seen, static_cast<double>(link.flows_seen),
                    static_cast<double>(link.streams), link.streamed, link.carries_more ? 1.0 : 0.0});
        add_curve(link.gap, all);
        add_curve(link.stream, all);
        add_lanes(link.by_streams, all);
    }
    all.push_back(job.ranks);
    for (const Collective collective : kAllCollectives) add_curve(job.of(name_of(collective)), all);
    all.push_back(static_cast<double>(job.calls.size()));
    for (const CallTime& call : job.calls) {
        add_text(call.collective, all);
        add_text(call.algorithm, all);
        all.insert(all.end(),
                   {static_cast<double>(call.bytes), static_cast<double>(call.root), call.predicted.count()});
        all.push_back(static_cast<double>(call.times.size()));
        for (const Seconds time : call.times) all.push_back(time.count());
    }
    return all;
}

MachineCosts MachineCosts::from_numbers(std::span<const double> numbers) {
    Numbers in(numbers);
    MachineCosts costs(static_cast<int>(in.next_count(numbers.size())));
    costs.shares_ports = in.next() != 0;
    costs.flows_ramp = in.next() != 0;
    costs.are_uplinks_known = in.next() != 0;
    costs.are_streams_given_ = in.next() != 0;
    costs.rank_delay = in.next();
    costs.message_time = in.next();
    for (Cluster& c : costs.clusters_) {
        for (double* number : {&c.nic_out, &c.nic_in, &c.uplink_out, &c.uplink_in, &c.reduction, &c.reserve,
                               &c.burst, &c.eager_limit, &c.memory.latency})
            *number = in.next();
        c.is_memory_known = in.next() != 0;
        c.memory.gap = in.next_curve();
        c.memory.stream = in.next_curve();
    }
    for (Link& link : costs.links_) {
        link.latency = in.next();
        link.all = in.next();
        link.seen = in.next();
        link.flows_seen = static_cast<int>(in.next_count(std::numeric_limits<int>::max()));
        link.streams = static_cast<int>(in.next_count(std::numeric_limits<int>::max()));
        link.streamed = in.next();
        link.carries_more = in.next() != 0;
        link.gap = in.next_curve();
        link.stream = in.next_curve();
        link.by_streams = in.next_lanes();
    }
    costs.job.ranks = static_cast<int>(in.next_count(std::numeric_limits<int>::max()));
    for (const Collective collective : kAllCollectives) {
        Curve curve = in.next_curve();
        if (!curve.is_empty()) costs.job.times[std::string(name_of(collective))] = std::move(curve);
    }
    costs.job.calls.resize(in.next_count(numbers.size()));
    for (CallTime& call : costs.job.calls) {
        call.collective = in.next_text();
        call.algorithm = in.next_text();
        call.bytes = static_cast<Bytes>(in.next());
        call.root = static_cast<int>(in.next());
        call.predicted = Seconds(in.next());
        call.times.resize(in.next_count(numbers.size()));
        for (Seconds& time : call.times) time = Seconds(in.next());
    }
    if (!in.is_at_end()) throw Numbers::broken();
    return costs;
}

MachineCosts costs_of(const LinkModel& measured, const std::vector<std::vector<Seconds>>& latency) {
    const int count = static_cast<int>(latency.size());
    if (count == 0) return {};  // of a model without latencies
    const LikelyRates likely(measured, count);
    const bool is_one_known = count == 1 && measured.clusters.size() == 1 &&
                              (!measured.clusters[0].inside.gap.is_empty() ||
                               measured.clusters[0].nic_out > 0 || !measured.job.memory.gap.is_empty());
    if (!(likely.usual() > 0) && !is_one_known) return {};
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    MachineCosts costs(count);
    costs.job = measured.job;
    costs.flows_ramp = true;
    for (int a = 0; a < count; ++a) {
        const ClusterModel model =
            at(a) < measured.clusters.size() ? measured.clusters[at(a)] : ClusterModel{};
        costs.cluster(a) = {model.nic_out,
                            model.nic_in,
                            model.uplink_out,
                            model.uplink_in,
                            model.reduction,
                            model.reserve,
                            model.burst,
                            model.eager_limit,
                            memory_of(measured.job.memory),
                            !measured.job.memory.gap.is_empty()};
    }
    const double eager_limit = costs.eager_limit();
    for (int a = 0; a < count; ++a) {
        const ClusterModel model =
            at(a) < measured.clusters.size() ? measured.clusters[at(a)] : ClusterModel{};
        const double inside = latency[at(a)][at(a)].count();
        costs.link(a, a) = link_of(model.inside, inside > 0 ? inside : kLikelyLatencyInside,
                                   model.nic_out > 0 ? model.nic_out : kLikelyRateInside);
        for (int b = 0; b < count; ++b) {
            if (a == b) continue;
            const LinkPair* pair = measured.between(a, b);
            const Lanes lanes = pair == nullptr ? Lanes() : lanes_known(*pair, a);
            const double rate = rate_of_one(lanes);
            costs.link(a, b) = link_of(pair == nullptr ? Plogp{} : pair->plogp, latency[at(a)][at(b)].count(),
                                       rate > 0 ? rate : likely.between(a, b), eager_limit);
            if (is_full(lanes)) costs.link(a, b).all = lanes.most();
            costs.link(a, b).seen = lanes.most();
            if (pair != nullptr) add_streams(*pair, a, costs.link(a, b));
            costs.link(a, b).carries_more =
                pair != nullptr && pair->carries_more && !fills_uplinks(lanes, measured, a, b);
            costs.link(a, b).flows_seen = lanes.rate.empty() ? 0 : lanes.rate.rbegin()->first;
        }
        for (int b = 0; b < count && model.reserve > 0; ++b) take_out_reserve(costs.link(a, b));
    }
    if (is_unfinished(measured)) {
        make_even(measured, costs);
        guess_uplinks(measured, costs);
    }
    costs.are_uplinks_known = is_rough(measured) && !is_unfinished(measured);
    fill_in_nics(costs);
    return costs;
}

}  // namespace laple
