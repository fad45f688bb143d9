// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cfenv>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/registry.hpp"
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

namespace {

/// Of calls of which nothing is seen; no more than `most`.
int calls_until_recovery(DriftWatch watch, int most) {
    const std::vector<double> nothing(kClusters * kClusters);
    for (int call = 1; call <= most; ++call) {
        const DriftWatch::Due due = watch.next();
        if (due != DriftWatch::Due::end) continue;
        const DriftWatch::Finding finding = watch.conclude(nothing);
        CHECK(finding.ratios.empty());
        if (finding.have_recovered) return call;
    }
    return most;
}

/// A network that has become slower, and what is known of it.
struct Slower {
    Machine machine = machine_of({4, 4, 4, 4});
    MachineCosts measured = four_sites();
    LinksNow links{machine, measured};
    Request request = request_for(Collective::bcast, 1 << 20);
    Plan plan = choose_plan(request, machine, parse_rules("^native"), measured);
    Plan by_mpi = choose_plan(request, machine, parse_rules("native"), measured);

    /// Whether it is noticed that links have become slower. `usual`: of what was predicted.
    bool learn(const RateLimits& limits, double usual_share = 1) {
        std::vector<double> usual = predicted_spans(plan, machine, measured).all();
        for (double& span : usual) span *= usual_share;
        DriftWatch::Finding finding;
        finding.ratios = predicted_spans(plan, machine, with_limits(measured, limits)).all();
        for (std::size_t link = 0; link < usual.size(); ++link)
            finding.ratios[link] = usual[link] > 0 ? finding.ratios[link] / usual[link] : 0;
        return links.learn(plan, finding, usual);
    }
    int calls_until_recovery(const Plan& of, int most) const {
        return ::calls_until_recovery(DriftWatch(kReduction, links.expected_spans(of)), most);
    }
};

}  // namespace

// What has come before its receiver is there at once.
TEST_CASE("links have not become slower where receivers were late before") {
    constexpr double kLate = 0.1;
    Slower network;
    CHECK_FALSE(network.learn(kAsMeasured, kLate));
    CHECK(network.links.are_as_measured());
    CHECK(network.learn(slow_uplink(1, kUplink / 4), kLate));
}

TEST_CASE("links that were slower are supposed to have recovered where calls tell nothing") {
    constexpr int kMost = 10000;
    Slower network;
    const Plan& plan = GENERATE(0, 1) == 0 ? network.plan : network.by_mpi;
    CHECK(network.calls_until_recovery(plan, kMost) == kMost);  // nothing was ever slower
    const RateLimits slow = slow_uplink(0, kUplink / 4);
    // In vain each time: they are still slow.
    int before = 0;
    for (int time = 0; time < 10; ++time) {
        CAPTURE(time);
        REQUIRE(network.learn(slow));
        CHECK_FALSE(network.links.are_as_measured());
        const int calls = network.calls_until_recovery(plan, kMost);
        if (time == 0) {
            CHECK(calls > 4 * kCycle);
            CHECK(calls < 60);
        } else if (time < 7) {
            CHECK(calls > 1.9 * before);
        } else {
            CHECK(calls == before);  // but not for ever
        }
        before = calls;
        DriftWatch::Finding recovery;
        recovery.have_recovered = true;
        CHECK(network.links.learn(plan, recovery, {}));
        CHECK(network.links.are_as_measured());
    }
}

TEST_CASE("spans of which nothing is known are no drift") {
    const std::vector<double> nothing(kClusters * kClusters);
    std::vector<double> something = nothing;
    something[1] = 0.1;
    DriftWatch watch(kReduction, {something});
    std::feclearexcept(FE_ALL_EXCEPT);
    for (int look = 0; look < 4; ++look) CHECK(watch.conclude(nothing).is_nothing());
    CHECK(DriftWatch(kReduction, {nothing}).conclude(nothing).is_nothing());
    // Programs may trap it.
    CHECK(std::fetestexcept(FE_INVALID | FE_DIVBYZERO) == 0);
    CHECK(watch.conclude(something).is_nothing());
    // Where there was nothing, it cannot be told what has changed.
    DriftWatch other(kReduction, {nothing});
    CHECK(other.conclude(something).is_nothing());
    const DriftWatch::Finding finding = other.conclude(something);
    Slower network;
    CHECK_FALSE(network.links.learn(network.plan, finding, nothing));
    CHECK(network.links.are_as_measured());
}

namespace {

Plan plan_of(const char* name, double milliseconds, std::vector<double> pace = {}) {
    const Request request = request_for(Collective::bcast, 1 << 20);
    Plan plan{request, parse_algorithm(name, request.collective), "some"};
    plan.predicted = Seconds(milliseconds * 1e-3);
    plan.windows.pace = std::move(pace);
    return plan;
}

std::vector<std::string> names_of(const std::vector<Plan>& plans) {
    std::vector<std::string> names;
    for (const Plan& plan : plans) names.push_back(plan.name());
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the former plan stays where none is clearly faster") {
    const Plan former = plan_of("chain/chain@8K", 100);
    std::vector<Plan> plans{plan_of("flat/binomial", 95), plan_of("native", 150)};
    put_former_first(former, plans);
    CHECK(names_of(plans) == Names{"chain/chain@8K", "flat/binomial", "native"});
    CHECK(plans.front().predicted == former.predicted);

    plans = {plan_of("flat/binomial", 85), plan_of("native", 150)};
    put_former_first(former, plans);
    CHECK(names_of(plans) == Names{"flat/binomial", "native"});
}

TEST_CASE("with the former plan there are no more plans than can be tried, and each once") {
    const std::vector<Plan> five{plan_of("flat/binomial", 95), plan_of("native", 96),
                                 plan_of("chain/chain@8K", 97), plan_of("binary/chain@8K", 98),
                                 plan_of("binary/binary@8K", 98)};
    std::vector<Plan> plans = five;
    put_former_first(plan_of("flat/flat", 99), plans);
    CHECK(names_of(plans) ==
          Names{"flat/flat", "flat/binomial", "native", "chain/chain@8K", "binary/chain@8K"});
    CHECK(plans.size() == kMostToTry);

    plans = five;
    std::swap(plans[1], plans[4]);  // MPI's own comes last where it is predicted to be far slower
    put_former_first(plan_of("flat/flat", 99), plans);
    CHECK(names_of(plans) ==
          Names{"flat/flat", "flat/binomial", "binary/binary@8K", "chain/chain@8K", "native"});

    plans = five;
    put_former_first(plan_of("chain/chain@8K", 99), plans);
    CHECK(names_of(plans) ==
          Names{"chain/chain@8K", "flat/binomial", "native", "binary/chain@8K", "binary/binary@8K"});
}

TEST_CASE("plans for slower links show when these recover") {
    // No call goes faster than its pace, and MPI's own calls show nothing.
    std::vector<Plan> plans{plan_of("native", 100), plan_of("flat/binomial", 130),
                            plan_of("chain/chain@8K", 120, {2e-8, 1e-8})};
    make_watchable(plans);
    CHECK(names_of(plans) == Names{"chain/chain@8K", "native", "flat/binomial"});
    CHECK(plans.front().windows.pace[0] < 1.3e-8);
    CHECK(plans.front().windows.pace[1] < 0.65e-8);

    plans = {plan_of("native", 100), plan_of("flat/binomial", 130)};
    make_watchable(plans);
    CHECK(names_of(plans) == Names{"native", "flat/binomial"});

    // The former plan is watchable, whatever is predicted of others.
    plans = {plan_of("native", 100), plan_of("flat/binomial", 101)};
    put_former_first(plan_of("chain/chain@8K", 105), plans);
    make_watchable(plans);
    CHECK(names_of(plans) == Names{"chain/chain@8K", "native", "flat/binomial"});
}
