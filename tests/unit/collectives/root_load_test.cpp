// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/root_load.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/pricing.hpp"
#include "collectives/planner/planner.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;
using test::machine_of;

namespace {

std::vector<Candidate> looked_at(const Request& request, const Machine& machine, const MachineCosts& costs) {
    std::vector<Candidate> found = Pricing(request, machine, costs).all();
    look_at_roots(
        request, machine, [](const Algorithm&) { return true; }, found);
    return found;
}

const Candidate* find(const std::vector<Candidate>& found, const std::string& name) {
    const auto one = std::find_if(found.begin(), found.end(), [&](const Candidate& candidate) {
        return candidate.algorithm->name() == name;
    });
    return one != found.end() ? &*one : nullptr;
}

}  // namespace

TEST_CASE("a root with many short messages is not worth a little gain", "[root_load]") {
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    const Machine machine = machine_of({16});
    for (const Collective collective : {Collective::bcast, Collective::reduce}) {
        const auto found = looked_at(request_for(collective, 8), machine, costs);
        CHECK(find(found, "flat/flat") == nullptr);
        REQUIRE(find(found, "native") != nullptr);
        CHECK(find(found, "native")->root_messages == 4);
    }
    // All wait for all, or the message is long.
    for (const Request& request :
         {request_for(Collective::allreduce, 8), request_for(Collective::bcast, 64 * 1024)}) {
        for (const Candidate& candidate : looked_at(request, machine, costs))
            CHECK(candidate.root_messages == 0);
    }
}

TEST_CASE("where MPI's own is forbidden the fastest tree is taken, whatever its root has to do",
          "[root_load]") {
    const MachineCosts costs = test::uniform_costs(1, Seconds(0), 125e6);
    const Machine machine = machine_of({16});
    const Request request = request_for(Collective::bcast, 8);
    std::vector<Candidate> found = Pricing(request, machine, costs).all();
    const std::size_t all = found.size();
    look_at_roots(
        request, machine, [](const Algorithm& algorithm) { return !algorithm.is_native(); }, found);
    CHECK(found.size() == all);
}

TEST_CASE("of trees that are nearly as fast that with fewer messages of its root is taken", "[root_load]") {
    const MachineCosts costs = test::uniform_costs(4, Seconds(10e-3), 12.5e6);
    const Machine machine = machine_of({8, 8, 8, 8});
    const Request request = request_for(Collective::bcast, 8);
    const auto found = looked_at(request, machine, costs);
    const Plan plan = choose_plan(request, machine, {}, costs);
    REQUIRE_FALSE(plan.is_native());
    const Candidate* const chosen = find(found, plan.algorithm->name());
    REQUIRE(chosen != nullptr);
    // Three to other sites, and not to all seven of its own.
    CHECK(chosen->root_messages > 0);
    CHECK(chosen->root_messages < 3 + 7);
    CHECK(chosen->seconds <= kNearlyEqual * found.front().seconds);
}
