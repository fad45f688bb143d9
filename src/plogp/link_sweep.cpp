// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/link_sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/index.hpp"
#include "plogp/likely_uplinks.hpp"
#include "plogp/stream_survey.hpp"

namespace laple {
namespace {

constexpr Bytes kMessage = 16 * 1024;  // less than what a handshake precedes on common links
constexpr Bytes kLeastWindow = 128 * 1024;
constexpr Bytes kMostWindow = 4 * 1024 * 1024;
constexpr Bytes kFirstWindow = 256 * 1024;  // where nothing is known yet
constexpr double kUsualRate = 12.5e6;  // bytes a second; then a window for a longer link holds a round trip
constexpr double kFilled = 0.5;        // of its window: a flow that carries less is held up by the link
constexpr Seconds kShortestFlow = std::chrono::milliseconds(60);
constexpr Seconds kShortestTrial = std::chrono::milliseconds(200);  // of an uplink
constexpr Seconds kShortestTogether = std::chrono::milliseconds(240);
constexpr double kFlowTrips = 7;    // round trips that a flow lasts: TCP doubles its rate with each
constexpr double kWindowTrips = 2;  // round trips' worth of data under way
constexpr double kOtherTrips = 4;   // to begin, to drain, to tell
constexpr double kClimbing = 1.2;   // as much faster in the end: TCP has not found the link's rate yet
constexpr int kMostClimbs = 4;      // flows one after the other, until it has
constexpr double kLost = 0.7;       // as much slower in the end: a queue was full
// TCP hands the NIC up to 64 KiB at once, which routers or the receiver may deliver in one piece.
constexpr double kTellingBytes = 192 * 1024;  // that a link carries while its rate is told
constexpr Seconds kLongestToTell = std::chrono::milliseconds(240);  // flows that are longer anyway stay so
constexpr double kSettledTrips = 20;  // round trips that a flow lasts: TCP has long found its rate
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDoubtful = 0.65;  // of what both ends of a link have reached with others
constexpr int kMostTrials = 4;      // of a link, while each time it is faster than its window was made for
constexpr int kMostSlower = 8;      // Flow::slower
constexpr Bytes kRestedBytes = 256 * 1024;
constexpr int kRestedTrials = 2;
constexpr Seconds kLeastRest = std::chrono::milliseconds(20);
constexpr Seconds kEagerTime = std::chrono::milliseconds(10);
constexpr double kEagerTrips = 4;

constexpr const char* kRough =
    "rates were measured in passing, and no overheads: laple-discover --model measures all";

constexpr const char* kUnfinished =
    "there was no time to measure all rates: later jobs on these hosts go on, once they last long enough";

bool has_warning(const LinkModel& model, const char* warning) {
    return std::find(model.warnings.begin(), model.warnings.end(), warning) != model.warnings.end();
}

/// What the two-parameter line knows: m / rate. Beyond `eager_limit`, unless that is 0, a round trip more.
Plogp plogp_of(Seconds latency, double rate, Bytes eager_limit = 0) {
    constexpr Bytes kLarge = 1 << 20;
    Plogp plogp;
    plogp.latency = latency;
    const auto passing = [&](Bytes bytes) { return Seconds(static_cast<double>(bytes) / rate); };
    if (rate > 0) plogp.gap = Curve({{0, Seconds(0)}, {kMessage, passing(kMessage)}});
    if (rate > 0 && eager_limit > 0 && eager_limit < kLarge) {
        plogp.gap.set(eager_limit, passing(eager_limit));
        for (const Bytes bytes : {eager_limit + 1, kMessage, kLarge}) {
            if (bytes > eager_limit) plogp.gap.set(bytes, passing(bytes) + 2 * latency);
        }
    }
    plogp.flood_gap = plogp.gap;
    return plogp;
}

Seconds duration_of_flow(Seconds trip) {
    return std::max(kShortestFlow, kFlowTrips * trip);
}

/// Whether flows that last `times` as long as usual do so for so many round trips that TCP has long found
/// their rate; as usual, those of near links.
bool has_settled(Seconds one_way, int times = 1) {
    const Seconds trip = 2 * one_way;
    return kSettledTrips * trip <= times * duration_of_flow(trip);
}

/// As many times as long as usual flows may last, to tell more.
int most_times(Seconds one_way) {
    return std::max(static_cast<int>(kLongestToTell / duration_of_flow(2 * one_way)), 1);
}

/// How many times as long as usual flows of a link last that carries so many bytes a second, so that these
/// are enough to tell it.
int times_to_tell(double rate, Seconds one_way) {
    const Seconds usual = duration_of_flow(2 * one_way);
    int times = 1;
    const auto are_enough = [&] {
        const double part = has_settled(one_way, times) ? 2 * FlowRate::kPart : FlowRate::kPart;
        return part * times * usual.count() * rate >= kTellingBytes;
    };
    while (times < most_times(one_way) && !are_enough()) ++times;
    return times;
}

enum class Way { there, back };  // of a pair of clusters a < b: from a to b, from b to a
constexpr std::array kWays{Way::there, Way::back};

/// Of flows that last `times` as long as usual.
Seconds time_of_step(Seconds one_way, int times) {
    const Seconds trip = 2 * one_way;
    return times * duration_of_flow(trip) + kOtherTrips * trip;
}

/// Of one flow, or of several lanes together.
struct MeasuredRate {
    double early = 0;
    double late = 0;
    bool has_settled = true;  // so that both parts tell it

    void add(const FlowRate& flow) { add(MeasuredRate{flow.early, flow.late, has_settled}); }
    void add(const MeasuredRate& other) {
        early += other.early;
        late += other.late;
        has_settled = has_settled && other.has_settled;
    }
    bool is_climbing() const { return late > kClimbing * early; }
    /// TCP has not found the link's rate. Where it has, a rank that had to wait for a core looks the same.
    bool is_slow_start() const { return is_climbing() && !has_settled; }
    /// What was held up for a while may have come at once later, or not at all: a longer flow tells.
    bool is_uneven() const { return has_settled && (is_climbing() || has_lost()); }
    /// It has filled a queue until packets were lost.
    bool has_lost() const { return late < kLost * early; }
    double rate() const {
        const bool tell_both = has_lost() || (has_settled && !is_climbing());
        return tell_both ? (early + late) / 2 : late;
    }
};

class LinkSweep {
  public:
    LinkSweep(LinkProbes& probes, const LinkSurveyInput& input, LinkModel known,
              const std::function<bool(Seconds)>& has_time)
        : probes_(probes), input_(input), has_time_(has_time), model_(std::move(known)) {
        std::erase(model_.warnings, kRough);
        std::erase(model_.warnings, kUnfinished);
        model_.clusters.resize(input_.clusters.size());
        reached_.resize(input_.clusters.size());
        recall();
        known_ = model_;
    }

    LinkModel run() {
        if (is_one_node()) measure_node();
        measure_inside();
        measure_eager_limits();
        // All links at once take as long as the farthest one, and tell something of each. Then near ones
        // first: they take the least time, so more of them fit in.
        std::vector<ProbeRound> rounds = input_.rounds();
        std::stable_sort(rounds.begin(), rounds.end(), [this](const ProbeRound& a, const ProbeRound& b) {
            return longest_latency(a) < longest_latency(b);
        });
        if (fastest_ == 0 && !rounds.empty()) find_fastest(rounds.front());
        if (eager_limit_ == 0 && !rounds.empty()) find_eager_limit(rounds.front().front());
        if (is_worth_measuring_together(rounds)) measure_together();
        // What all lanes carry says more than what one does, and one way tells of the way back: all links
        // have their turn first.
        for (const int most_lanes : {kMostLanes, 1}) {
            // Uplinks tell more than single flows, which are as fast as all lanes or a NIC, mostly.
            if (most_lanes == 1 && are_near()) measure_uplinks_by_turns();
            for (const Way way : kWays) {
                if (way == Way::back && is_lone_pair()) measure_streams_of(rounds.front());
                for (const ProbeRound& round : rounds) {
                    if (is_first_of_farthest(rounds, round)) measure_together();
                    measure_fastest_uplinks(round);
                    measure_between(round, most_lanes, way);
                }
            }
        }
        const bool has_rates = !misses_rates() && !misses_uplinks();
        if (has_rates) {
            measure_uplinks_alone();
            measure_reserves();
            // Uplinks tell where streams may gain.
            set_all_uplinks(true);
            for (const ProbeRound& round : rounds) measure_streams_of(round);
        }
        // By now it is known what both ends of a link can do.
        for (const int most_lanes : {kMostLanes, 1}) {
            for (const Way way : kWays) {
                for (const ProbeRound& round : rounds) measure_doubtful(round, most_lanes, way);
            }
        }
        if (has_rates) {
            // What was doubtful may tell of others.
            measure_uplinks_alone();
            measure_reserves();
            set_all_uplinks(true);
            for (const ProbeRound& round : rounds) measure_streams_of(round);
        }
        add_handshakes();
        set_all_uplinks(has_rates);
        const bool has_all =
            has_rates && !misses_insides() && !misses_reserves_ && !misses_trials_ && !misses_streams();
        set_all_uplinks(false);  // from which the next sweep goes on
        const bool is_new = model_.clusters != known_.clusters || model_.links != known_.links;
        model_.warnings.emplace_back(kRough);
        // One that had time for all, and brings nothing new, is the last one.
        const bool goes_on = !has_all && (is_new || refused_ > Seconds(0));
        if (goes_on) {
            model_.warnings.emplace_back(kUnfinished);
        } else {
            set_all_uplinks(has_rates);
        }
        model_.sweeps = goes_on ? known_.sweeps + 1 : 0;
        model_.next_step = goes_on ? refused_ : Seconds(0);
        return std::move(model_);
    }

  private:
    bool has_time_for(Seconds step) {
        if (has_time_(step)) return true;
        refuse(step);
        return false;
    }

    /// There was no time for a step.
    void refuse(Seconds step) { refused_ = refused_ > Seconds(0) ? std::min(refused_, step) : step; }

    /// What an earlier sweep has found. Uplinks are what all links carried together, until it is finished.
    void recall() {
        for (int c = 0; c < input_.count(); ++c) {
            const ClusterModel& cluster = model_.clusters[at(c)];
            fastest_ = std::max(fastest_, cluster.nic_out);
            note_eager_limit(static_cast<Bytes>(cluster.eager_limit));
            if (!(cluster.uplink_out > 0)) continue;
            together_.resize(input_.clusters.size());
            together_[at(c)] = {cluster.uplink_out, cluster.uplink_in};
            // What trials have told was not always reached.
            if (!cluster.is_uplink_sure) note_reached(c, together_[at(c)]);
        }
        for (LinkPair& link : model_.links) {
            for (Lanes* lanes : {&link.there, &link.back}) {
                std::erase_if(lanes->rate, [](const auto& rate) { return !(rate.second > 0); });
                if (lanes->rate.empty()) continue;
                const auto& [flows, rate] = *lanes->rate.begin();
                if (flows == 1) fastest_ = std::max(fastest_, rate);
            }
            note_reached(link.a, link.b, link.there.seen());
            note_reached(link.b, link.a, link.back.seen());
        }
    }

    static bool is_known(const LinkPair* link, Way way, int lanes) {
        return link != nullptr && (way == Way::there ? link->there : link->back).rate.contains(lanes);
    }

    bool misses_rates() const {
        for (int a = 0; a < input_.count(); ++a) {
            for (int b = a + 1; b < input_.count(); ++b) {
                const LinkPair* link = model_.between(a, b);
                for (const int lanes : {kMostLanes, 1}) {
                    for (const Way way : kWays) {
                        if (!is_known(link, way, std::min(input_.most_lanes(a, b), lanes))) return true;
                    }
                }
            }
        }
        return false;
    }

    /// Two sites, of which one has a single host. There streams gain the most, and where the sites are far
    /// the first jobs have time for few steps: streams come before the way back.
    bool is_lone_pair() const { return input_.count() == 2 && input_.most_lanes(0, 1) == 1; }

    bool misses_streams(const NodePair& pair) const {
        const LinkPair* link = model_.between(pair.a, pair.b);
        return link != nullptr && link->streams_there.rate.empty() &&
               may_gain_by_streams(model_, input_, pair.a, pair.b);
    }

    bool misses_streams() const {
        for (int a = 0; a < input_.count(); ++a) {
            for (int b = a + 1; b < input_.count(); ++b) {
                if (misses_streams({a, b})) return true;
            }
        }
        return false;
    }

    void measure_streams_of(const ProbeRound& round) {
        ProbeRound pairs = round;
        std::erase_if(pairs, [this](const NodePair& pair) { return !misses_streams(pair); });
        if (pairs.empty() || is_over_) return;
        is_over_ = !has_time_for(time_to_measure_streams(2 * longest_latency(pairs)));
        if (is_over_) return;
        measure_streams(probes_, input_, pairs, kUsualStreams, model_);
    }

    /// Of near clusters, which take their turns.
    bool misses_uplinks() const {
        return are_near() &&
               (together_.empty() || std::any_of(together_.begin(), together_.end(),
                                                 [](const UplinkRates& all) { return !(all.out > 0); }));
    }

    /// Three clusters or more, but not too many to take turns, none of which is far from another.
    bool are_near() const {
        constexpr int kMostTurns = 8;
        if (input_.count() < 3 || input_.count() > kMostTurns) return false;
        Seconds farthest{0};
        for (int a = 0; a < input_.count(); ++a) {
            for (int b = a + 1; b < input_.count(); ++b) farthest = std::max(farthest, input_.one_way(a, b));
        }
        return duration_of_flow(2 * farthest) <= kShortestFlow;
    }

    bool is_one_node() const { return input_.count() == 1 && input_.nodes_of(0).size() == 1; }

    /// Without a network, the time of reductions is all there is.
    void measure_node() {
        model_.clusters.front().reduction = probes_.reductions(input_.nodes_of(0)).front();
    }

    Seconds longest_latency(const ProbeRound& round) const {
        Seconds longest{0};
        for (const auto& [a, b] : round) longest = std::max(longest, input_.one_way(a, b));
        return longest;
    }

    /// Measures unless there is no time for it: then it returns nothing, and so do all later calls. For
    /// `times` as long as usual.
    std::vector<FlowRate> rates(const std::vector<Flow>& flows, Seconds one_way, int times = 1) {
        return rates(flows, one_way, window_for(one_way), times);
    }

    std::vector<FlowRate> rates(const std::vector<Flow>& flows, Seconds one_way, Bytes window, int times) {
        if (flows.empty() || is_over_) return {};
        is_over_ = !has_time_for(time_of_step(one_way, times));
        if (is_over_) return {};
        return measured_rates(flows, one_way, window, times);
    }

    std::vector<FlowRate> measured_rates(const std::vector<Flow>& flows, Seconds one_way, Bytes window,
                                         int times) {
        FlowOptions options;
        options.message_bytes = kMessage;
        options.duration = times * duration_of_flow(2 * one_way);
        options.window_bytes = window;
        return probes_.rates(flows, options);
    }

    /// That holds some round trips' worth of data under way.
    Bytes window_for(Seconds one_way) const { return window_for(one_way, fastest_); }

    static Bytes window_for(Seconds one_way, double fastest) {
        const double window = kWindowTrips * 2 * one_way.count() * fastest;
        return static_cast<Bytes>(std::clamp(window, double{kLeastWindow}, double{kMostWindow}));
    }

    /// Where every host is alone no flow inside a cluster tells how fast NICs are, and a window that is much
    /// too large for a link is under way long after its measurement: it grows until flows do not fill it, and
    /// TCP has as many flows as it needs to find the rate. What later flows do not reach because there is one
    /// of each is taken from here.
    void find_fastest(const ProbeRound& round) {
        const Seconds one_way = longest_latency(round);
        Bytes window =
            std::clamp(static_cast<Bytes>(2 * one_way.count() * kUsualRate), kFirstWindow, kMostWindow);
        for (const Way way : kWays) {
            int climbs = 0;
            std::vector<Measuring> links;
            for (const NodePair& pair : round) {
                const auto [from, to] = ends_of(pair, way);
                links.push_back({from, to, 1, {}});
            }
            int times = times_for(links, one_way);
            while (true) {
                const auto measure_once = [&] {
                    return fill(links, rates(flows_of(links, 0), one_way, window, times), times);
                };
                if (!measure_once()) return;
                const int longer = longer_for(links, one_way, times);
                if (longer > times && has_time_(time_of_step(one_way, longer))) {
                    times = longer;
                    measure_once();
                }
                bool is_climbing = false;
                for (const Measuring& link : links) {
                    take(link);
                    is_climbing = is_climbing || link.rate.is_climbing();
                    fastest_ = std::max(fastest_, link.rate.rate());
                }
                const bool is_too_small = is_filled(window, fastest_, one_way) && window < kMostWindow;
                if (is_too_small) window *= 4;
                if (!is_too_small && (!is_climbing || ++climbs >= kMostClimbs)) break;
            }
        }
    }

    void note_reached(int cluster, const UplinkRates& rates) {
        UplinkRates& known = reached_[at(cluster)];
        known.out = std::max(known.out, rates.out);
        known.in = std::max(known.in, rates.in);
    }

    void note_reached(int from, int to, double rate) {
        note_reached(from, {rate, 0});
        note_reached(to, {0, rate});
    }

    /// What one cluster can send to others and another one get from them, for all that is known; 0: nothing
    /// is.
    double likely_from(int from, int to) const {
        return std::min(reached_[at(from)].out, reached_[at(to)].in);
    }

    /// Of each of some clusters, one flow inside.
    struct InsideFlows {
        std::vector<Flow> flows;
        std::vector<int> clusters;
        Seconds longest{0};  // latency

        void add(const Flow& flow, int cluster, Seconds one_way) {
            flows.push_back(flow);
            clusters.push_back(cluster);
            longest = std::max(longest, one_way);
        }
    };

    /// Of the clusters of several nodes of which `is_missing` is true.
    template <typename IsMissing>
    InsideFlows inside_flows(IsMissing is_missing) const {
        InsideFlows inside;
        for (int c = 0; c < input_.count(); ++c) {
            if (input_.nodes_of(c).size() < 2 || !is_missing(model_.clusters[at(c)])) continue;
            inside.add(input_.inside(c), c, input_.one_way(c, c));
        }
        return inside;
    }

    /// Whether a flow has as much under way as `window` allows, for all that is known: a larger one may
    /// bring more.
    static bool is_filled(Bytes window, double rate, Seconds one_way) {
        return rate * 2 * one_way.count() > kFilled * static_cast<double>(window);
    }

    /// In each of some clusters one flow or some.
    std::vector<Flow> flows_inside(const std::vector<int>& clusters) const {
        std::vector<Flow> flows;
        for (const int c : clusters) {
            const std::vector<Flow> pairs = input_.flows_inside(c);
            flows.insert(flows.end(), pairs.begin(), pairs.end());
        }
        return flows;
    }

    /// Of what these flows have brought, for each cluster the middle value, since hosts may have slower NICs
    /// than others, and ranks may wait for a core; of two the faster one. Nothing of nothing.
    template <typename Value, typename IsSlower>
    std::vector<Value> usual_of(const std::vector<int>& clusters, std::vector<Value> of_flows,
                                IsSlower is_slower) const {
        std::vector<Value> usual;
        auto begin = of_flows.begin();
        for (std::size_t i = 0; i < clusters.size() && !of_flows.empty(); ++i) {
            const auto count = static_cast<std::ptrdiff_t>(input_.flows_inside(clusters[i]).size());
            std::nth_element(begin, begin + count / 2, begin + count, is_slower);
            usual.push_back(begin[count / 2]);
            begin += count;
        }
        return usual;
    }

    static bool lacks_rate(const ClusterModel& cluster) { return !(cluster.nic_out > 0); }

    /// Nothing tells how fast NICs are, so windows grow until flows do not fill them. A flow that became much
    /// slower was disturbed, and is measured once more.
    void measure_inside() {
        const InsideFlows missing = inside_flows(lacks_rate);
        std::vector<int> clusters = missing.clusters;
        for (Bytes window = window_for(missing.longest); !clusters.empty();) {
            const auto measured =
                usual_of(clusters, rates(flows_inside(clusters), missing.longest, window, 1),
                         [](const FlowRate& a, const FlowRate& b) { return a.late < b.late; });
            std::vector<int> filled;
            std::vector<int> again;
            for (std::size_t i = 0; i < measured.size(); ++i) {
                const int c = clusters[i];
                const auto [early, late] = measured[i];
                take_inside(c, late);
                if (window < kMostWindow && is_filled(window, late, input_.one_way(c, c))) {
                    filled.push_back(c);
                } else if (late < kLost * early && disturbed_.insert(c).second) {
                    again.push_back(c);
                }
            }
            if (!filled.empty()) window = std::min(4 * window, kMostWindow);
            clusters = std::move(filled);
            clusters.insert(clusters.end(), again.begin(), again.end());
        }
    }

    /// Of several hosts: without it nothing is known of a cluster.
    bool misses_insides() const { return !inside_flows(lacks_rate).clusters.empty(); }

    /// The best of several windows: one that is too large may overfill a queue.
    void take_inside(int cluster, double rate) {
        ClusterModel& model = model_.clusters[at(cluster)];
        rate = std::max(rate, model.nic_out);
        model.inside = plogp_of(input_.one_way(cluster, cluster), rate);
        model.nic_out = model.nic_in = rate;
        fastest_ = std::max(fastest_, rate);
    }

    void note_eager_limit(Bytes limit) {
        if (limit > 0) eager_limit_ = eager_limit_ > 0 ? std::min(eager_limit_, limit) : limit;
    }

    std::vector<Bytes> eager_limits(const std::vector<Flow>& flows, Seconds one_way) {
        if (flows.empty() || is_over_) return {};
        is_over_ = !has_time_for(kEagerTime + kEagerTrips * 2 * one_way);
        if (is_over_) return {};
        std::vector<Bytes> limits = probes_.eager_limits(flows);
        for (const Bytes limit : limits) note_eager_limit(limit);
        return limits;
    }

    void measure_eager_limits() {
        const InsideFlows inside =
            inside_flows([](const ClusterModel& cluster) { return !(cluster.eager_limit > 0); });
        const std::vector<Bytes> limits = eager_limits(inside.flows, inside.longest);
        for (std::size_t i = 0; i < limits.size(); ++i)
            model_.clusters[at(inside.clusters[i])].eager_limit = static_cast<double>(limits[i]);
    }

    /// Where every host is alone.
    void find_eager_limit(const NodePair& clusters) {
        const std::vector<Bytes> limits =
            eager_limits({input_.lane(clusters.a, clusters.b, 0)}, input_.one_way(clusters.a, clusters.b));
        for (const int cluster : {clusters.a, clusters.b}) {
            double& known = model_.clusters[at(cluster)].eager_limit;
            if (!limits.empty() && !(known > 0)) known = static_cast<double>(limits.front());
        }
    }

    /// After the rates: without reserves prices are too high, without rates between clusters there are none.
    void measure_reserves() {
        const auto& [flows, clusters, longest] = inside_flows(
            [](const ClusterModel& cluster) { return cluster.nic_out > 0 && !cluster.is_reserve_known; });
        double slowest = fastest_;
        for (const int c : clusters) slowest = std::min(slowest, model_.clusters[at(c)].nic_out);
        if (clusters.empty()) return;
        const Seconds passing(static_cast<double>(kRestedBytes) / slowest);
        const Seconds rest = std::max(kLeastRest, 2 * passing);
        misses_reserves_ =
            is_over_ || !has_time_for(kRestedTrials * (rest + passing + kOtherTrips * 2 * longest));
        if (misses_reserves_) return;
        // What disturbs makes it seem less: where all NICs have shown one, another trial would tell little.
        bool have_all = false;
        for (int trial = 0; trial < kRestedTrials && !have_all; ++trial) {
            const std::vector<Seconds> times = usual_of(
                clusters, probes_.bursts(flows_inside(clusters), kRestedBytes, rest), std::greater<>());
            have_all = true;
            for (std::size_t i = 0; i < clusters.size(); ++i) {
                ClusterModel& model = model_.clusters[at(clusters[i])];
                const Seconds trip = 2 * input_.one_way(clusters[i], clusters[i]);
                model.reserve =
                    std::max(model.reserve, reserve_of(kRestedBytes, times[i] - trip, model.nic_out));
                model.is_reserve_known = true;
                have_all = have_all && model.reserve > 0;
            }
        }
    }

    /// From one cluster to another, while it is measured.
    struct Measuring {
        int from = 0;
        int to = 0;
        int lanes = 0;
        MeasuredRate rate;
        bool tell_of_one = false;  // what one flow carries is not known otherwise
        int slower = 1;            // Flow::slower, of all lanes
        double slowest = 0;        // lane
        double first_look = 0;     // what it carries, about; 0: that is not known
    };

    static std::pair<int, int> ends_of(const NodePair& clusters, Way way) {
        return way == Way::there ? std::pair(clusters.a, clusters.b) : std::pair(clusters.b, clusters.a);
    }

    /// One way of all pairs at once. Where flows go both ways, the acknowledgements of each wait behind the
    /// other's data and come in bursts (Zhang, Shenker and Clark, Observations on the Dynamics of a
    /// Congestion Control Algorithm: The Effects of Two-Way Traffic, 1991): on emulated grids of thin links,
    /// and of lanes 10 ms apart, they carried 0.65 to 0.9 of what one way does alone.
    void measure_between(const ProbeRound& round, int most_lanes, Way way) {
        std::vector<Measuring> links;
        for (const NodePair& pair : round) {
            const int lanes = std::min(input_.most_lanes(pair.a, pair.b), most_lanes);
            const LinkPair* known = model_.between(pair.a, pair.b);
            if (is_known(known, way, lanes)) continue;
            const auto [from, to] = ends_of(pair, way);
            if (lanes == 1 && takes_one_from_other_way(from, to)) continue;
            links.push_back({from, to, lanes, {}});
            links.back().tell_of_one = lanes > 1 && !is_known(known, way, 1);
        }
        const Seconds longest = longest_latency(round);
        for (int trial = 0; trial < kMostTrials; ++trial) {
            const double fastest = fastest_;
            if (!measure_long_enough(links, longest)) return;
            for (const Measuring& link : links) take(link, trial > 0);
            std::erase_if(links, [&](const Measuring& link) {
                return !fills_window(link, fastest, longest) && (trial > 0 || !says_little(link));
            });
        }
    }

    /// Whether a link is clearly faster than the flows that its windows were made for: then these held it up,
    /// and larger ones may bring more.
    bool fills_window(const Measuring& link, double fastest, Seconds longest) const {
        const double rate = link.rate.rate() / link.lanes;
        const Bytes window = window_for(longest, fastest);
        if (window >= kMostWindow && link.slower == 1) return false;
        // Where ranks wait for cores, round trips take longer than they do at rest.
        const Seconds one_way = input_.one_way(link.from, link.to);
        const bool was_supposed = link.slower > 1 && has_settled(one_way);
        return link.slower * rate > kClimbing * fastest &&
               (was_supposed || is_filled(window / static_cast<Bytes>(link.slower), rate, one_way));
    }

    /// Where all lanes carry as much both ways, one flow does, too: that saves a step for each round. Not
    /// where nothing but the lanes tells of one flow the other way.
    bool takes_one_from_other_way(int from, int to) {
        const auto [a, b] = std::minmax(from, to);
        if (model_.between(a, b) == nullptr) return false;
        LinkPair& link = model_.link(a, b);
        const Lanes& other = link.lanes_from(to);
        Lanes& lanes = link.lanes_from(from);
        const int most = std::min(input_.most_lanes(a, b), kMostLanes);
        if (most == 1 || other.rate.count(1) + other.rate.count(most) + lanes.rate.count(most) < 3)
            return false;
        if (guessed_.contains({to, from})) return false;
        const double there = other.rate.at(most);
        const double back = lanes.rate.at(most);
        if (std::max(there, back) > kClimbing * std::min(there, back)) return false;
        lanes.rate[1] = std::min(other.rate.at(1), back);
        return true;
    }

    /// Once more those that carry much less than both of their clusters have reached with others: where
    /// packets are lost, TCP takes its time.
    void measure_doubtful(const ProbeRound& round, int most_lanes, Way way) {
        std::vector<Measuring> links;
        for (const NodePair& pair : round) {
            const int lanes = std::min(input_.most_lanes(pair.a, pair.b), most_lanes);
            const LinkPair* known = model_.between(pair.a, pair.b);
            if (!is_known(known, way, lanes)) continue;
            const auto [from, to] = ends_of(pair, way);
            const double usual = std::min(fastest_link_of(from), fastest_link_of(to));
            if (known->lanes_from(from).rate.at(lanes) < kDoubtful * as_nics_allow(from, to, lanes, usual))
                links.push_back({from, to, lanes, {}});
        }
        if (!measure_long_enough(links, longest_latency(round), Windows::as_usual)) return;
        for (const Measuring& link : links) take(link);
    }

    /// Where all are near, each cluster has a turn of its own.
    bool is_worth_measuring_together(const std::vector<ProbeRound>& rounds) const {
        return !rounds.empty() && together_.empty() &&
               duration_of_flow(2 * longest_latency(rounds.back())) > kShortestFlow;
    }

    /// Whether the time has come for all links together, at the latest: it takes as long as the farthest
    /// ones.
    bool is_first_of_farthest(const std::vector<ProbeRound>& rounds, const ProbeRound& round) const {
        return is_worth_measuring_together(rounds) &&
               2 * longest_latency(round) >= longest_latency(rounds.back());
    }

    /// Clusters that are next to each other, or next but one: as many as show what an uplink carries.
    bool are_neighbours(int a, int b) const {
        constexpr int kFarthest = 2;
        const int apart = b - a;
        return std::min(apart, input_.count() - apart) <= kFarthest;
    }

    /// All links of a cluster at once, or four of many: an uplink carries at least what they do together.
    /// Where packets are lost now and then, one link's flows do not fill it. Where there is no time for it,
    /// there may be for near links.
    ///
    ///     A ══╗  6 + 6 MB/s: this uplink carries 12,
    ///         ╠══> C         though no link alone is faster than 6
    ///     B ══╝
    void measure_together() {
        if (input_.count() < 3) return;
        std::vector<Measuring> links;
        Seconds longest{0};
        for (int a = 0; a < input_.count(); ++a) {
            for (int b = a + 1; b < input_.count(); ++b) {
                if (!are_neighbours(a, b)) continue;
                const int lanes = std::min(input_.most_lanes(a, b), kMostLanes);
                links.push_back({a, b, lanes, {}});
                links.push_back({b, a, lanes, {}});
                longest = std::max(longest, input_.one_way(a, b));
            }
        }
        const std::vector<Flow> flows = flows_of(links, static_cast<int>(links.size()) / input_.count());
        // This one step tells of all uplinks. Between sites some milliseconds apart it is worth more time
        // than others, so that each of the flows that share an uplink brings enough to tell its rate.
        const int times = static_cast<int>(std::ceil(kShortestTogether / duration_of_flow(2 * longest)));
        if (is_over_ || !has_time_for(time_of_step(longest, times))) return;
        fill(links, measured_rates(flows, longest, window_for(longest), times), times);
        // A flow that becomes slower where another one becomes faster has lost nothing: their sum tells.
        std::vector<MeasuredRate> out(input_.clusters.size());
        std::vector<MeasuredRate> in(input_.clusters.size());
        for (const Measuring& link : links) {
            out[at(link.from)].add(link.rate);
            in[at(link.to)].add(link.rate);
        }
        together_.resize(input_.clusters.size());
        for (int c = 0; c < input_.count(); ++c) {
            together_[at(c)] = {out[at(c)].rate(), in[at(c)].rate()};
            note_reached(c, together_[at(c)]);
        }
    }

    /// Each cluster alone with all others, to which its uplink sends and from which it gets as much as it
    /// can: where links of equal rates do not tell whether they share an uplink, this does.
    ///
    ///          ┌──> B  8 MB/s
    ///     A ═══╪══> C  8 MB/s: this uplink carries 24, and each link alone 24, too
    ///          └──> D  8 MB/s
    void measure_uplinks_by_turns() {
        together_.resize(input_.clusters.size());
        for (int c = 0; c < input_.count(); ++c) {
            UplinkRates& known = together_[at(c)];
            const auto seems_slow = [&] {
                const UplinkRates& reached = reached_[at(c)];
                return known.out < kDoubtful * reached.out || known.in < kDoubtful * reached.in;
            };
            // Packets that are lost make it seem slow.
            for (int trial = 0; trial < 2 && seems_slow(); ++trial) {
                const UplinkRates all = measure_with_all_others(c);
                known.out = std::max(known.out, all.out);
                known.in = std::max(known.in, all.in);
            }
        }
    }

    UplinkRates measure_with_all_others(int c) {
        std::vector<int> others;
        for (int other = 0; other < input_.count(); ++other) {
            if (other != c) others.push_back(other);
        }
        // The bursts of token buckets make up less of what is sent in a longer time.
        constexpr int kLeastTimes = 2;
        const UplinkTrial trial{c, others, {}};
        const UplinkRates& reached = reached_[at(c)];
        const double slower = std::min(known_or(reached.out, reached.in), known_or(reached.in, reached.out));
        const int times = times_to_tell(slower, farthest_of({trial}));
        const auto rates = rates_with({trial}, std::max(times, kLeastTimes), Ways::apart);
        return rates.empty() ? UplinkRates() : UplinkRates{rates[0].out.rate(), rates[0].in.rate()};
    }

    struct BothWays {
        MeasuredRate out;
        MeasuredRate in;
    };

    static constexpr std::array kEitherWay{&BothWays::out, &BothWays::in};

    /// Trials of far clusters take long: both ways at once, where what their links carry alone counts, too.
    enum class Ways { apart, at_once };

    /// Of flows between the cluster of each trial and its others; empty where there was no time for them.
    std::vector<BothWays> rates_with(const std::vector<UplinkTrial>& trials, int times, Ways ways) {
        const Seconds step = time_of_step(farthest_of(trials), times);
        is_over_ = is_over_ || !has_time_for(ways == Ways::apart ? 2 * step : step);
        return is_over_ ? std::vector<BothWays>() : measured_with(trials, times, ways);
    }

    std::vector<BothWays> measured_with(const std::vector<UplinkTrial>& trials, int times, Ways ways) {
        std::vector<Measuring> links;
        std::size_t most_others = 1;
        for (const UplinkTrial& trial : trials) {
            most_others = std::max(most_others, trial.others.size());
            for (const int other : trial.others) {
                const int lanes = std::min(input_.most_lanes(trial.cluster, other), kMostLanes);
                links.push_back({trial.cluster, other, lanes, {}});
            }
        }
        const std::size_t out = links.size();
        for (std::size_t i = 0; i < out; ++i)
            links.push_back({links[i].to, links[i].from, links[i].lanes, {}});
        std::vector<FlowRate> measured;
        const Seconds longest = farthest_of(trials);
        const std::vector<Flow> flows = flows_of(links, static_cast<int>(most_others));
        const auto run = [&](auto begin, auto end) {
            for (const FlowRate& rate : measured_rates({begin, end}, longest, window_for(longest), times))
                measured.push_back(rate);
        };
        const auto half = flows.begin() + static_cast<std::ptrdiff_t>(flows.size() / 2);
        if (ways == Ways::apart) {
            run(flows.begin(), half);
            run(half, flows.end());
        } else {
            run(flows.begin(), flows.end());
        }
        fill(links, measured, times);
        std::vector<BothWays> rates(trials.size());
        auto link = links.begin();
        for (const auto way : kEitherWay) {
            for (std::size_t i = 0; i < trials.size(); ++i) {
                for (std::size_t left = trials[i].others.size(); left > 0; --left)
                    (rates[i].*way).add(link++->rate);
            }
        }
        return rates;
    }

    Seconds farthest_of(const std::vector<UplinkTrial>& trials) const {
        Seconds longest{0};
        for (const UplinkTrial& trial : trials) {
            for (const int other : trial.others)
                longest = std::max(longest, input_.one_way(trial.cluster, other));
        }
        return longest;
    }

    /// Where what all links carried at once does not tell whether a cluster's uplink held them up, or others
    /// that had flows of all.
    void measure_uplinks_alone() {
        while (!are_near() && !misses_trials_) {
            const std::vector<UplinkTrial> trials = uplink_trials(model_, input_, together_);
            if (trials.empty()) return;
            misses_trials_ = !run_trials(trials);
        }
    }

    /// Of far clusters, which take no turns, those that stand out: that tells more than any one link of this
    /// round, unless these are much nearer; they are to have time, too. A trial that is not steady has
    /// another one in the next sweep, if that is one of the first, and once links are known.
    void measure_fastest_uplinks(const ProbeRound& round) {
        while (!are_near() && !is_over_ && known_.sweeps < kFreeSweeps) {
            const std::optional<UplinkTrial> trial = trial_of_fastest(model_, input_, together_, tried_);
            if (!trial || 2 * longest_latency(round) < farthest_of({*trial})) return;
            const int times = times_of_trial({*trial});
            const Seconds step = time_of_step(farthest_of({*trial}), times);
            tried_.insert(trial->cluster);
            if (are_links_known(*trial)) continue;
            if (!has_time_for(2 * step + time_of_step(longest_latency(round), 1))) return;
            const BothWays rates = measured_with({*trial}, times, Ways::apart).front();
            if (is_steady(rates)) {
                take_trial(*trial, {rates.out.rate(), rates.in.rate()}, model_, input_, together_);
            } else {
                unsteady_.insert(trial->cluster);
                UplinkRates& known = together_[at(trial->cluster)];
                known.out = std::max(known.out, rates.out.rate());
                known.in = std::max(known.in, rates.in.rate());
            }
        }
    }

    /// Then the trials of all clusters come soon.
    bool are_links_known(const UplinkTrial& trial) const {
        return std::all_of(trial.others.begin(), trial.others.end(),
                           [&](int other) { return model_.between(trial.cluster, other) != nullptr; });
    }

    static bool is_steady(const BothWays& rates) {
        return std::none_of(kEitherWay.begin(), kEitherWay.end(),
                            [&](auto way) { return (rates.*way).is_climbing() || (rates.*way).has_lost(); });
    }

    /// To wait for a core distorts a short flow more than a long one.
    int times_of_trial(const std::vector<UplinkTrial>& trials) const {
        return static_cast<int>(std::ceil(kShortestTrial / duration_of_flow(2 * farthest_of(trials))));
    }

    /// False where there was no time for them.
    bool run_trials(const std::vector<UplinkTrial>& trials) {
        const std::vector<BothWays> rates = rates_with(trials, times_of_trial(trials), Ways::at_once);
        for (std::size_t i = 0; i < rates.size(); ++i) take_trial_of(rates[i], trials[i]);
        return !rates.empty();
    }

    /// Where packets were lost, or all flows together were still speeding up, the trial is repeated once. If
    /// they are speeding up again, TCP limits them, and the uplink is taken to carry all of the links; if
    /// packets are lost again, the mean rate counts.
    void take_trial_of(const BothWays& rates, const UplinkTrial& trial) {
        const auto& [out, in] = rates;
        if (!is_steady(rates) && unsteady_.insert(trial.cluster).second) return;
        const auto measured = [](const MeasuredRate& rate, double of_links) {
            return rate.is_climbing() ? std::max(rate.rate(), of_links) : rate.rate();
        };
        take_trial(trial, {measured(out, trial.links.out), measured(in, trial.links.in)}, model_, input_,
                   together_);
    }

    void set_all_uplinks(bool has_rates) {
        if (are_near()) {
            set_measured_uplinks(has_rates);
        } else {
            set_uplinks(model_, input_, together_, has_rates);
        }
    }

    /// Nothing where there was no time for it. What one link alone has carried they carry, too. Where some of
    /// many hosts have sent all that they can, nothing is known of the uplink, once all is measured.
    void set_measured_uplinks(bool is_finished) {
        for (int c = 0; c < input_.count(); ++c) {
            const bool is_known = !together_.empty() && together_[at(c)].out > 0;
            const UplinkRates& reached = reached_[at(c)];
            const auto uplink = [&](double all, double one) {
                const double most = is_known ? std::max(all, one) : 0;
                return is_finished && most >= as_hosts_can(c) ? 0 : most;
            };
            ClusterModel& cluster = model_.clusters[at(c)];
            cluster.uplink_out = uplink(is_known ? together_[at(c)].out : 0, reached.out);
            cluster.uplink_in = uplink(is_known ? together_[at(c)].in : 0, reached.in);
        }
    }

    /// What the NICs of those hosts can, about, that have had flows to other clusters, and of those that
    /// these had flows with; of a cluster whose hosts all had some, or of which too little is known:
    /// infinite.
    ///
    ///     16 hosts, 8 of which    ─ 8 ─> 16 hosts
    ///     have sent               ─ 4 ─>  4 hosts:  8 NICs, as 12 can get more
    double as_hosts_can(int cluster) const {
        constexpr double kNearly = 0.85;
        int hosts = 0;
        double of_others = 0;
        for (int other = 0; other < input_.count(); ++other) {
            if (other == cluster) continue;
            const int lanes = std::min(input_.most_lanes(cluster, other), kMostLanes);
            const double nic = model_.clusters[at(other)].nic_out;
            hosts = std::max(hosts, lanes);
            of_others += nic > 0 ? lanes * nic : kInfinity;
        }
        const double nic = model_.clusters[at(cluster)].nic_out;
        const bool have_all = at(hosts) >= input_.nodes_of(cluster).size();
        return have_all || !(nic > 0) ? kInfinity : kNearly * std::min(hosts * nic, of_others);
    }

    /// At most what NICs can.
    double as_nics_allow(int a, int b, int lanes, double rate) const {
        for (const int cluster : {a, b}) {
            const double nic = model_.clusters[at(cluster)].nic_out;
            if (nic > 0) rate = std::min(rate, lanes * nic);
        }
        return rate;
    }

    double fastest_link_of(int cluster) const {
        double fastest = 0;
        for (const LinkPair& link : model_.links) {
            if (link.joins(cluster)) fastest = std::max({fastest, link.there.most(), link.back.most()});
        }
        return fastest;
    }

    /// False where there is nothing to measure, or no time.
    bool measure(std::vector<Measuring>& links, Seconds one_way, int times) {
        return fill(links, rates(flows_of(links, 0), one_way, times), times);
    }

    /// For the slowest of these links: as it was measured now, or earlier, or else as both ends seem to be.
    int times_for(const std::vector<Measuring>& links, Seconds one_way) const {
        int times = 1;
        for (const Measuring& link : links) {
            const UplinkRates& from = reached_[at(link.from)];
            const UplinkRates& to = reached_[at(link.to)];
            const double of_ends = std::min(known_or(from.out, from.in), known_or(to.in, to.out));
            const double rate = known_or(link.rate.rate(), known_or(known_rate(link), of_ends));
            times = std::max(times, times_to_tell(rate, one_way));
        }
        return times;
    }

    /// Rates are more than 0; infinite: neither is known.
    static double known_or(double rate, double other) {
        if (rate > 0) return rate;
        return other > 0 ? other : kInfinity;
    }

    /// What it has carried before, by however many lanes; 0: not known.
    double known_rate(const Measuring& link) const {
        const LinkPair* pair = model_.between(link.from, link.to);
        return pair == nullptr ? 0 : pair->lanes_from(link.from).most();
    }

    /// How many times as long as usual these are to be measured, after `times`: no more where they are even,
    /// and brought enough.
    int longer_for(const std::vector<Measuring>& links, Seconds one_way, int times) const {
        int longer = std::max(times, times_for(links, one_way));
        for (const Measuring& link : links) {
            if (link.rate.is_uneven()) longer = std::max(longer, std::min(2 * times, most_times(one_way)));
        }
        return longer;
    }

    enum class Windows { as_measured, as_usual };

    /// Those that bring too little to tell a rate, or are uneven, are measured for longer, unless their
    /// windows held them up. Where there is no time for that, they are left out, but keep what they have
    /// where neither way of a link is known. `longer_windows`: made for what the links have carried first, or
    /// for what they may.
    bool measure_long_enough(std::vector<Measuring>& links, Seconds one_way,
                             Windows longer_windows = Windows::as_measured) {
        const double fastest = fastest_;
        const int times = times_for(links, one_way);
        if (!measure(links, one_way, times)) return false;
        const auto are_done = std::partition(links.begin(), links.end(), [&](const Measuring& link) {
            return longer_for({link}, one_way, times) == times || fills_window(link, fastest, one_way);
        });
        std::vector<Measuring> again(are_done, links.end());
        if (again.empty()) return true;
        const int longer = longer_for(again, one_way, times);
        const Seconds step = time_of_step(one_way, longer);
        if (!has_time_(step)) {
            // The next job begins with the first look, too.
            refuse(time_of_step(one_way, times) + step);
            std::erase_if(
                again, [&](const Measuring& link) { return model_.between(link.from, link.to) != nullptr; });
        } else {
            for (Measuring& link : again) {
                if (longer_windows == Windows::as_measured) link.first_look = link.rate.rate();
            }
            measure(again, one_way, longer);
            for (Measuring& link : again) link.first_look = 0;
        }
        links.erase(are_done, links.end());
        links.insert(links.end(), again.begin(), again.end());
        return true;
    }

    /// Those of all lanes. `at_once` links of each cluster, about, share its uplink; 0: they do not. It may
    /// be no faster than a NIC; two windows for each that it were give flows of a faster one some more.
    std::vector<Flow> flows_of(std::vector<Measuring>& links, int at_once) const {
        std::vector<Flow> flows;
        for (Measuring& link : links) {
            link.slower =
                at_once == 0 ? how_much_slower(link) : std::clamp(at_once * link.lanes / 2, 1, kMostSlower);
            for (int lane = 0; lane < link.lanes; ++lane) {
                flows.push_back(input_.lane(link.from, link.to, lane));
                flows.back().slower = link.slower;
            }
        }
        return flows;
    }

    /// Sums up the rates of their flows, which have lasted `times` as long as usual; false where these were
    /// not measured.
    bool fill(std::vector<Measuring>& links, const std::vector<FlowRate>& measured, int times) const {
        if (measured.empty()) return false;
        auto rate = measured.begin();
        for (Measuring& link : links) {
            link.rate = {};
            link.rate.has_settled = has_settled(input_.one_way(link.from, link.to), times);
            link.slowest = kInfinity;
            for (int lane = 0; lane < link.lanes; ++lane) {
                link.slowest = std::min(link.slowest, rate->late);
                link.rate.add(*rate++);
            }
        }
        return true;
    }

    /// As in Flow: windows are made for flows that are as fast as any. A single slow link does not tell which
    /// of both ends is slow. Of near links it is supposed to: what their windows hold takes longer to arrive
    /// than another trial does, if they turn out to be faster.
    int how_much_slower(const Measuring& link) const {
        const int enough = has_settled(input_.one_way(link.from, link.to)) ? 1 : 2;
        const auto are_known = [&](int cluster, bool is_out) {
            return std::count_if(model_.links.begin(), model_.links.end(), [&](const LinkPair& known) {
                       return known.joins(cluster) &&
                              !known.lanes_from(is_out ? cluster : known.other(cluster)).rate.empty();
                   }) >= enough;
        };
        double likely = fastest_;
        if (are_known(link.from, true)) likely = std::min(likely, reached_[at(link.from)].out / link.lanes);
        if (are_known(link.to, false)) likely = std::min(likely, reached_[at(link.to)].in / link.lanes);
        if (link.first_look > 0) likely = std::min(likely, link.first_look / link.lanes);
        return likely > 0 ? static_cast<int>(std::clamp(fastest_ / likely, 1.0, double{kMostSlower})) : 1;
    }

    /// Whether the first rate may be far from what the link carries, and nothing else tells.
    bool says_little(const Measuring& link) const {
        const MeasuredRate& rate = link.rate;
        return rate.has_lost() ||
               (rate.is_slow_start() && likely_from(link.from, link.to) <= kClimbing * rate.rate());
    }

    /// To links that were measured before it was known from which size on messages have one.
    void add_handshakes() {
        for (LinkPair& link : model_.links) {
            const Curve& gap = link.plogp.gap;
            if (eager_limit_ == 0 || gap.known().empty() || gap.known().rbegin()->first > kMessage) continue;
            link.plogp =
                plogp_of(input_.one_way(link.a, link.b), kMessage / gap.at(kMessage).count(), eager_limit_);
        }
    }

    /// `is_again`: right after a measurement of the same flows, on which no trial of an uplink has built.
    void take(const Measuring& measured, bool is_again = false) {
        const auto& [from, to, lanes, rate, tells_of_one, slower, slowest, first_look] = measured;
        const auto [a, b] = std::minmax(from, to);
        LinkPair& link = model_.link(a, b);
        Lanes& known = link.lanes_from(from);
        const double before = std::max(link.there.most(), link.back.most());
        raise_nics(from, lanes, slowest);
        raise_nics(to, lanes, slowest);
        take_rate(link, from, lanes, rate);
        if (!is_again && before > 0 && known.most() > kClimbing * before) forget_trials(a, b);
        note_reached(from, to, rate.rate());
        fastest_ = std::max(fastest_, rate.rate() / lanes);
        if (lanes == known.rate.rbegin()->first) {
            climbing_[{from, to}] = rate.is_slow_start() && is_only_tcp(link, from);
            link.carries_more = climbing_[{from, to}] || is_way_climbing(to, from);
        }
        if (tells_of_one) tell_of_one(measured, link);
        link.plogp = plogp_of(input_.one_way(a, b), as_nics_are(a, b, slower_of_one(link)), eager_limit_);
    }

    /// Of a link that an earlier sweep has measured it is only known that one of both ways was.
    bool is_way_climbing(int from, int to) const {
        const auto measured = climbing_.find({from, to});
        if (measured != climbing_.end()) return measured->second;
        const LinkPair* known = known_.between(from, to);
        return known != nullptr && known->carries_more && !known->lanes_from(from).rate.empty();
    }

    /// Of both ways, what one flow carries, or is likely to.
    double slower_of_one(const LinkPair& link) const {
        double slower = 0;
        for (const Lanes* lanes : {&link.there, &link.back}) {
            if (lanes->rate.empty()) continue;
            const double one =
                lanes->of_one() > 0 ? lanes->of_one() : likely_of_one(link.a, link.b, lanes->most());
            slower = slower > 0 ? std::min(slower, one) : one;
        }
        return slower;
    }

    /// Of the direction that begins at `from`. What is likely is told apart from what was seen.
    void take_rate(LinkPair& link, int from, int lanes, const MeasuredRate& measured) const {
        Lanes& known = link.lanes_from(from);
        const double seen = std::max(known.seen(), measured.rate());
        const double likely = likely_reached(link, from, lanes, measured);
        double& rate = known.rate[lanes];
        rate = std::max(rate, likely);
        known.reached = seen < known.most() ? seen : 0;
    }

    /// Where all of several hosts have carried more than the NICs of their cluster were measured to can,
    /// these were disturbed; where one has, it may be a faster one, unless they seemed to be.
    void raise_nics(int cluster, int lanes, double slowest) {
        ClusterModel& model = model_.clusters[at(cluster)];
        const bool tells = lanes > 1 || disturbed_.contains(cluster);
        if (!tells || !(model.nic_out > 0) || slowest <= kClimbing * model.nic_out) return;
        take_inside(cluster, slowest);
        model.reserve = 0;  // which was found by the rate
        model.is_reserve_known = false;
    }

    /// Which supposed a slower link between them.
    void forget_trials(int a, int b) {
        for (const int cluster : {a, b}) model_.clusters[at(cluster)].is_uplink_sure = false;
    }

    /// Where several flows are on their way up, one would be for longer yet and say nothing: it is not
    /// measured.
    void tell_of_one(const Measuring& measured, LinkPair& link) {
        Lanes& known = link.lanes_from(measured.from);
        if (measured.rate.is_slow_start()) {
            known.rate[1] =
                likely_of_one_climbing(link, measured.from, measured.lanes, known.rate[measured.lanes]);
            guessed_.insert({measured.from, measured.to});
        } else {
            known.rate.erase(1);
            guessed_.erase({measured.from, measured.to});
        }
    }

    /// Of one flow, where all lanes carry `together` and become faster yet. Where that is much less than a
    /// NIC can, and no more is known, nothing but TCP holds them up, which gives each the same.
    double likely_of_one_climbing(const LinkPair& link, int from, int lanes, double together) const {
        return is_only_tcp(link, from) ? together / lanes : likely_of_one(link.a, link.b, together);
    }

    /// Whether nothing is known that holds flows from one end up at these rates, but that TCP has not found
    /// others yet.
    bool is_only_tcp(const LinkPair& link, int from) const {
        const double rate = link.lanes_from(from).most();
        const double nic = slower_nic(link.a, link.b);
        return likely_from(from, link.other(from)) <= kClimbing * rate &&
               (!(nic > 0) || rate <= kFilled * nic);
    }

    /// 0: not known.
    double slower_nic(int a, int b) const {
        return std::min(model_.clusters[at(a)].nic_out, model_.clusters[at(b)].nic_out);
    }

    /// What flows would carry once TCP has found the link's rate: one flow, as all lanes of this link tell;
    /// or, where no more lanes are known, as much as both clusters have reached with others.
    double likely_reached(const LinkPair& link, int from, int lanes, const MeasuredRate& measured) const {
        if (!measured.is_slow_start()) return measured.rate();
        const Lanes& known = link.lanes_from(from);
        const bool are_more_known = !known.rate.empty() && known.rate.rbegin()->first != lanes;
        const double likely =
            are_more_known ? likely_of_one_climbing(link, from, known.rate.rbegin()->first, known.most())
                           : as_nics_allow(link.a, link.b, lanes, likely_from(from, link.other(from)));
        return std::max(measured.rate(), likely);
    }

    /// A flow that is nearly as fast as the slower NIC is held up by that, for all that is known: that it
    /// were a little slower would be a reason for lanes.
    double as_nics_are(int a, int b, double rate) const {
        constexpr double kNearly = 0.85;
        const double nic = slower_nic(a, b);
        return rate >= kNearly * nic ? std::max(rate, nic) : rate;
    }

    /// Of one flow, where all lanes together carry `together`: as much as a NIC can, or all of it.
    double likely_of_one(int a, int b, double together) const {
        for (const int cluster : {a, b}) {
            const double nic = model_.clusters[at(cluster)].nic_out;
            if (nic > 0) together = std::min(together, nic);
        }
        return together;
    }

    LinkProbes& probes_;
    const LinkSurveyInput& input_;
    const std::function<bool(Seconds)>& has_time_;
    LinkModel known_;  // before this sweep
    LinkModel model_;
    double fastest_ = 0;                 // of the flows so far, in bytes a second
    std::vector<UplinkRates> reached_;   // the most of flows to and from others, by cluster
    std::vector<UplinkRates> together_;  // of all flows of a cluster at once; empty: not measured
    Bytes eager_limit_ = 0;              // the least that was found
    Seconds refused_{0};                 // the shortest step that there was no time for; 0: there was for all
    bool is_over_ = false;
    bool misses_reserves_ = false;           // for want of time
    bool misses_trials_ = false;             // of uplinks, for want of time
    std::set<int> unsteady_;                 // clusters of which a trial did not count
    std::set<int> disturbed_;                // clusters in which a flow became much slower
    std::set<int> tried_;                    // that have stood out
    std::set<std::pair<int, int>> guessed_;  // from where to where what one flow carries is
    std::map<std::pair<int, int>, bool>
        climbing_;  // whether flows from a cluster to another were, in the end
};

// Of sites that are so far from each other that one step takes longer than a budget. That of all links at
// once is worth it: it tells so much of each uplink that unmeasured links have a likely rate, too.
constexpr double kForFirstUplinks = 2;  // budgets
constexpr double kForNear = 0.25;       // of a budget, besides: for what is near

/// Two clusters have one link.
bool knows_uplinks(const LinkModel& model) {
    if (model.clusters.size() == 2 && !model.links.empty()) return true;
    return std::any_of(model.clusters.begin(), model.clusters.end(),
                       [](const ClusterModel& cluster) { return cluster.uplink_out > 0; });
}

}  // namespace

LinkModel sweep_links(LinkProbes& probes, const LinkSurveyInput& input,
                      const std::function<bool(Seconds)>& has_time, LinkModel known) {
    return LinkSweep(probes, input, std::move(known), has_time).run();
}

bool is_rough(const LinkModel& model) {
    return has_warning(model, kRough);
}

bool is_unfinished(const LinkModel& model) {
    return model.sweeps > 0;
}

SweepTime time_for_sweep(const LinkModel& known, Seconds one_way, Seconds budget) {
    if (budget <= Seconds(0)) return {};
    const Seconds step = time_of_step(one_way, 1);
    // Of two sites streams are measured in the first jobs, too (is_lone_pair), where a budget is nearly
    // enough for them.
    const Seconds streams = time_to_measure_streams(2 * one_way);
    const Seconds longest = known.clusters.size() == 2 && streams < budget ? std::max(step, streams) : step;
    const Seconds most = std::max(budget, longest + kForNear * budget);
    if (known.sweeps < kFreeSweeps && !knows_uplinks(known) && step < kForFirstUplinks * budget)
        return {most, true};
    if (known.sweeps < kFreeSweeps && step < budget) return {longest > step ? most : budget, true};
    const Seconds least = step + known.next_step;  // to begin takes about as long as a step
    const Seconds allowance = known.job.allowance;
    if (least >= allowance) return {};
    return {std::min(allowance, std::max(budget, least)), false};
}

}  // namespace laple
