// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/drift/drift_watch.hpp"
#include "collectives/drift/link_spans.hpp"
#include "collectives/drift/links_now.hpp"
#include "collectives/planner/planner.hpp"
#include "collectives/simulation/simulated_plan.hpp"
#include "unit/collectives/simulated.hpp"
#include "unit/collectives/some_costs.hpp"

using namespace laple;
using namespace laple::test;

namespace {

constexpr int kClusters = 4;
constexpr double kUplink = 25e6;
constexpr int kReduction = 2;
constexpr int kCycle = DriftWatch::kWatched + kReduction;

/// Four sites 10 ms apart with four hosts of 12.5 MB/s each.
MachineCosts four_sites() {
    MachineCosts costs = uniform_costs(kClusters, Seconds(10e-3), 12.5e6);
    for (int c = 0; c < kClusters; ++c) {
        MachineCosts::Cluster& cluster = costs.cluster(c);
        cluster.nic_out = cluster.nic_in = 12.5e6;
        cluster.uplink_out = cluster.uplink_in = kUplink;
    }
    return costs;
}

/// A program that makes the same call again and again, on a network whose rates change. Its plans are those
/// of the planner, but for MPI's own, which shows nothing.
class Program {
  public:
    explicit Program(const Request& request) : request_(request) { make_plan(); }

    /// So many calls while the network has these limits.
    void call(int times, const RateLimits& network) {
        for (int i = 0; i < times; ++i) call(network);
    }

    const Plan& plan() const { return plan_; }
    const LinksNow& links() const { return links_; }
    int changes() const { return changes_; }
    double time(const RateLimits& network) const { return time(plan_, network); }
    /// Of a plan for this network.
    double time_if_known(const RateLimits& network) const {
        return time(plan_for(with_limits(measured_, network)), network);
    }
    /// Spans are up to so many times longer.
    double noise = 1;

  private:
    Plan plan_for(const MachineCosts& costs) const {
        return choose_plan(request_, machine_, parse_rules("^native"), costs);
    }
    void make_plan() {
        plan_ = plan_for(links_.costs());
        watch_.emplace(kReduction, links_.expected_spans(plan_));
    }
    void call(const RateLimits& network) {
        const DriftWatch::Due due = watch_->next();
        if (due == DriftWatch::Due::begin) seen_ = watch_->spans();
        if (due == DriftWatch::Due::end && is_drift(watch_->conclude(seen_))) return call(network);
        if (watch_->wants_spans()) watch_->add(noisy(spans_with(network)));
    }
    bool is_drift(const DriftWatch::Finding& finding) {
        if (finding.is_nothing()) return false;
        const bool is_learnt = links_.learn(plan_, finding, watch_->usual());
        if (!is_learnt) watch_->take_as_usual(seen_);
        if (is_learnt) make_plan();
        changes_ += is_learnt ? 1 : 0;
        return is_learnt;
    }
    std::vector<double> noisy(std::vector<double> spans) {
        std::uniform_real_distribution<double> factor(1, noise);
        for (double& span : spans) span *= factor(random_);
        return spans;
    }
    std::vector<double> spans_with(const RateLimits& network) const {
        return spans_of(simulated_messages(plan_, machine_, with_limits(measured_, network)), machine_).all();
    }
    double time(const Plan& plan, const RateLimits& network) const {
        return simulated_seconds(plan, machine_, with_limits(measured_, network));
    }

    Machine machine_ = machine_of({4, 4, 4, 4});
    MachineCosts measured_ = four_sites();
    LinksNow links_{machine_, measured_};
    Request request_;
    Plan plan_;
    std::optional<DriftWatch> watch_;
    std::vector<double> seen_;
    int changes_ = 0;
    std::mt19937_64 random_{1};
};

RateLimits slow_uplink(std::size_t cluster, double rate) {
    RateLimits limits(kClusters);
    limits.out[cluster] = limits.in[cluster] = rate;
    return limits;
}

RateLimits slow_link(int a, int b, double rate) {
    RateLimits limits(kClusters);
    limits.link(a, b) = limits.link(b, a) = rate;
    return limits;
}

const RateLimits kAsMeasured(kClusters);

Request some_request() {
    const auto collective = GENERATE(Collective::bcast, Collective::reduce, Collective::allreduce,
                                     Collective::allgather, Collective::alltoall);
    const bool is_in_blocks = is_personalized(collective) || is_gathered(collective);
    return request_for(collective, is_in_blocks ? 64 << 10 : 1 << 20);
}

}  // namespace

TEST_CASE("plans follow an uplink that becomes slower, and recovers") {
    const Request request = some_request();
    const RateLimits slow =
        GENERATE(slow_uplink(0, kUplink / 4), slow_uplink(2, kUplink / 4), slow_uplink(3, kUplink / 8));
    Program program(request);
    const std::string at_first = program.plan().name();
    CAPTURE(name_of(request.collective), at_first);
    program.call(2 * kCycle, kAsMeasured);
    CHECK(program.changes() == 0);
    program.call(3 * kCycle, slow);
    CAPTURE(describe(program.links().limits()), program.plan().name());
    CHECK(program.time(slow) < 1.06 * program.time_if_known(slow));
    program.call(20 * kCycle, kAsMeasured);
    CHECK(program.time(kAsMeasured) < 1.06 * program.time_if_known(kAsMeasured));
    CHECK(program.plan().name() == at_first);
}

TEST_CASE("plans follow a link that becomes slower") {
    const Request request = some_request();
    const RateLimits slow = GENERATE(slow_link(1, 2, kUplink / 8), slow_link(0, 3, kUplink / 10));
    Program program(request);
    CAPTURE(name_of(request.collective), program.plan().name());
    program.call(2 * kCycle, kAsMeasured);
    const double unchanged = program.time(slow);
    program.call(10 * kCycle, slow);
    CAPTURE(describe(program.links().limits()), program.plan().name());
    // Where nothing else leaves its cluster, a slow link and a slow uplink look alike.
    CHECK(program.time(slow) < 1.06 * std::max(program.time_if_known(slow), 0.5 * unchanged));
    CHECK(program.time(slow) < 1.1 * unchanged);
}

TEST_CASE("noise is no drift") {
    Program program(some_request());
    program.noise = 1.5;
    program.call(100 * kCycle, kAsMeasured);
    CHECK(program.changes() == 0);
}
