// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/planner.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "collectives/algorithms/native.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/choice.hpp"
#include "collectives/planner/known_calls.hpp"
#include "collectives/planner/preferences.hpp"
#include "collectives/planner/root_load.hpp"
#include "collectives/planner/send_windows.hpp"
#include "collectives/planner/trials.hpp"

namespace laple {
namespace {

constexpr auto kAllForbidden = "what LaPle would choose is forbidden in LAPLE_ALGORITHM";

static_assert(kNearlyEqual == 1.04 && kNearlyEqualIfLessBusy == 1.08 && kWorthwhile == 0.95,
              "reason_for says how near");

/// `best` of those candidates that are allowed, of which `fastest` is the first.
std::string reason_for(const Candidate& best, const Candidate& fastest, bool are_all_allowed) {
    const char* of_whom = are_all_allowed ? "" : " of what is allowed";
    if (&best == &fastest && best.algorithm->is_native() && !best.is_measured)
        return fmt::format("MPI's own is predicted to be the fastest{}; it was not measured", of_whom);
    if (&best == &fastest) return fmt::format("predicted the fastest{}", of_whom);
    if (best.algorithm->is_native() && fastest.seconds < kWorthwhile * best.seconds)
        return fmt::format("what could be gained{} is less than ranks that share cores wait for one",
                           of_whom);
    if (best.algorithm->is_native()) return fmt::format("nothing{} is predicted to be 5 % faster", of_whom);
    if (fastest.algorithm->is_native())
        return fmt::format("predicted the fastest{} but MPI's own, whose estimate is of the best case",
                           of_whom);
    const int percent = best.seconds <= kNearlyEqual * fastest.seconds ? 4 : 8;
    return fmt::format("predicted within {} % of the fastest{}, and simpler", percent, of_whom);
}

Plan plan_of(const Candidate& candidate, const Request& request, const Machine& machine,
             const MachineCosts& costs, std::string reason) {
    Plan plan{request, candidate.algorithm, std::move(reason)};
    plan.predicted = Seconds(candidate.seconds);
    if (!plan.is_native()) plan.windows = windows_for(candidate, request, machine, costs);
    return plan;
}

/// Those of `found`, the fastest first, that may turn out to be faster than `chosen`. MPI's own call is
/// always among them, however long it is predicted to take.
std::vector<const Candidate*> rivals_of(const Candidate& chosen, const std::vector<Candidate>& found,
                                        const std::function<bool(const Algorithm&)>& may_use) {
    std::vector<const Candidate*> rivals;
    std::vector<std::string> kinds{chosen.algorithm->kind()};
    const Candidate* coarser = nullptr;
    const Candidate* far_native = nullptr;
    for (const Candidate& candidate : found) {
        const bool is_native = candidate.algorithm->is_native();
        if (&candidate == &chosen || !may_use(*candidate.algorithm)) continue;
        if (candidate.seconds > Trials::kWorthTrying * chosen.seconds) {
            if (is_native) far_native = &candidate;
            continue;
        }
        const std::string kind = candidate.algorithm->kind();
        const bool is_coarser = kind == kinds.front() && candidate.segment_bytes() > chosen.segment_bytes();
        if (is_coarser && (coarser == nullptr || candidate.segment_bytes() < coarser->segment_bytes()))
            coarser = &candidate;
        if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
        kinds.push_back(kind);
        rivals.insert(is_native ? rivals.begin() : rivals.end(), &candidate);
    }
    if (coarser != nullptr) rivals.insert(rivals.begin(), coarser);
    rivals.resize(std::min(rivals.size(), kMostToTry - 2));
    if (far_native != nullptr) rivals.push_back(far_native);
    return rivals;
}

/// Whether MPI's own call, the one of `plans` that is predicted to take far longer than the first, is
/// predicted to take less than calls by the first one `took`.
bool is_native_worth_trying(const std::vector<Plan>& plans, Seconds took) {
    return std::any_of(plans.begin(), plans.end(), [&](const Plan& plan) {
        return plan.is_native() && plan.predicted > Trials::kWorthTrying * plans.front().predicted &&
               plan.predicted < took;
    });
}

/// What is known from calls counts for more than what is predicted, by which the others are compared with the
/// best one; but not MPI's own call where its prediction says that it shall be tried (trials.hpp).
void take_known_times(const KnownCalls& known, std::vector<Plan>& plans) {
    const CallTime* const best = known.of(*plans.front().algorithm);
    if (best == nullptr || plans.front().predicted <= Seconds(0)) return;
    const double scale = usual_time(*best) / plans.front().predicted;
    const double scale_of_native = is_native_worth_trying(plans, usual_time(*best)) ? 1 : scale;
    const CallTime* const by_mpi = known.of(*native());
    for (Plan& plan : plans) {
        plan.is_as_calls_took = true;
        if (by_mpi != nullptr) {
            plan.native = usual_time(*by_mpi);
            plan.is_native_measured = true;
        } else if (!plan.is_native_measured) {
            plan.native *= scale_of_native;
        }
        const CallTime* const call = known.of(*plan.algorithm);
        plan.predicted *= plan.is_native() ? scale_of_native : scale;
        if (call == nullptr) continue;
        plan.predicted = usual_time(*call);
        plan.tried = call->times;
    }
}

/// Of long calls, whose time is a matter of rates. Short ones wait for processors, by all algorithms alike.
bool is_matter_of_rates(const Request& request) {
    return request.bytes() >= kLeastToCut;
}

/// What calls by MPI took is a measurement of those. It tells nothing of others: they are not slower for that
/// MPI's own took longer than was estimated.
std::vector<Candidate> with_known_time_of_native(const KnownCalls& known, const MachineCosts& costs,
                                                 std::vector<Candidate> found) {
    const CallTime* const by_mpi = known.of(*native());
    if (by_mpi == nullptr) return found;
    for (Candidate& candidate : found) {
        if (!candidate.algorithm->is_native()) continue;
        candidate.seconds = candidate.time.last = usual_time(*by_mpi).count();
        candidate.is_measured = true;
        candidate.uncertainty = costs.rank_delay;
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
    return found;
}

/// What messages between clusters take: those of LaPle's plans, and those of MPI's own call, which knows no
/// streams.
struct Ways {
    const MachineCosts& costs;
    const MachineCosts& of_mpi;
    bool may_be_native = true;  ///< MPI's own call may be chosen where rules do not ask for it
};

/// The choice between all candidates; after it its rivals, if they are wanted.
std::vector<Plan> cheapest(const Request& request, const Machine& machine, const Rules& rules,
                           const Ways& ways, bool with_rivals) {
    const MachineCosts& costs = ways.costs;
    const KnownCalls known(request, costs.job, machine.rank_count());
    // Where a number of streams is given, calls by these are known of no earlier job.
    const bool tell_of_native_alone = is_matter_of_rates(request) || costs.are_streams_given();
    auto found = candidates(request, machine, costs, ways.of_mpi);
    if (tell_of_native_alone) found = with_known_time_of_native(known, costs, std::move(found));
    const auto may_use = [&](const Algorithm& algorithm) {
        // Whose blocks may be large, and fill the queues of uplinks.
        if ((request.is_varied || !ways.may_be_native) && algorithm.is_native()) return false;
        return !rules.forbids(algorithm, request.collective, request.bytes());
    };
    look_at_roots(request, machine, may_use, found);
    const bool is_tried = !tell_of_native_alone || !known.is_of_native_alone();
    const Candidate* const tried = is_tried ? known.best_of(found, may_use) : nullptr;
    const Candidate* const best = tried != nullptr ? tried : best_of(found, may_use);
    if (best == nullptr) return {{request, native(), kAllForbidden}};
    const auto fastest = std::find_if(found.begin(), found.end(), [&](const Candidate& candidate) {
        return may_use(*candidate.algorithm);
    });
    const std::string reason = tried != nullptr ? "the fastest of those that earlier jobs have tried"
                                                : reason_for(*best, *fastest, fastest == found.begin());
    std::vector<Plan> plans{plan_of(*best, request, machine, costs, reason)};
    for (const Candidate* rival :
         with_rivals ? rivals_of(*best, found, may_use) : std::vector<const Candidate*>())
        plans.push_back(plan_of(*rival, request, machine, costs, "tried"));
    const auto by_mpi = std::find_if(found.begin(), found.end(), [](const Candidate& candidate) {
        return candidate.algorithm->is_native();
    });
    for (Plan& plan : plans) {
        if (by_mpi == found.end()) break;
        plan.native = Seconds(by_mpi->seconds);
        plan.is_native_measured = by_mpi->is_measured;
    }
    take_known_times(known, plans);
    return plans;
}

/// Whether algorithms may be compared by their prices: those for ranks in another order are among them, but
/// where all that there are keep it.
bool is_free_to_choose(const Request& request) {
    return request.commutative || is_prefix(request.collective);
}

/// What rules ask for, with what costs decide; nothing where it cannot be done, and why in `why_not`.
std::optional<Plan> as_wanted(const AlgorithmPtr& algorithm, const Request& request, const Machine& machine,
                              const Ways& ways, std::string& why_not) {
    const MachineCosts& costs = algorithm->is_native() ? ways.of_mpi : ways.costs;
    const std::string needs = algorithm->needs().empty() ? "does not fit these clusters" : algorithm->needs();
    why_not = request.commutative ? needs : "does not keep the order of the ranks here";
    if (!algorithm->can_do(request, machine)) return std::nullopt;
    if (algorithm->needs_costs()) {
        why_not = request.commutative
                      ? "orders clusters by rates, which are not known here: give LAPLE_MODEL what "
                        "laple-discover --model wrote"
                      : "does not keep the order of the ranks";
        if (costs.is_empty() || !request.commutative) return std::nullopt;
    }
    if (!costs.is_empty() && is_free_to_choose(request)) {
        Pricing pricing(request, machine, costs);
        if (const auto priced = algorithm->price(pricing))
            return plan_of(*priced, request, machine, costs, "asked for");
    }
    if (algorithm->needs_costs()) {
        why_not = needs;
        return std::nullopt;
    }
    return Plan{request, algorithm, "asked for"};
}

/// The first that can be done of those that are good for such a size.
Plan preferred(const Request& request, const Machine& machine, const Rules& rules) {
    const char* why_native = "nothing else can do it exactly";
    for (const std::string& name : preferences(request, machine)) {
        AlgorithmPtr algorithm = parse_algorithm(name, request.collective);
        if (!algorithm->can_do(request, machine)) continue;
        if (!rules.forbids(*algorithm, request.collective, request.bytes()))
            return {request, std::move(algorithm), "preferred for this size"};
        why_native = kAllForbidden;
    }
    return {request, native(), why_native};
}

std::vector<Plan> plans_for(const Request& request, const Machine& machine, const Rules& rules,
                            const Ways& ways, bool with_rivals) {
    if (request.bytes() == 0 && row_of(request.collective).has_data) return {{request, native(), "no data"}};
    if (request.bytes() > kMostPlannedBytes) return {{request, native(), "2 GiB and more are left to MPI"}};
    std::string passed_over;
    const auto with_note = [&](std::vector<Plan> plans) {
        for (Plan& plan : plans) plan.passed_over = passed_over;
        return plans;
    };
    for (const AlgorithmPtr& algorithm : rules.wanted(request.collective, request.bytes())) {
        std::string why_not;
        if (auto plan = as_wanted(algorithm, request, machine, ways, why_not))
            return with_note({std::move(*plan)});
        if (passed_over.empty()) passed_over = fmt::format("{} {}", algorithm->name(), why_not);
    }
    if (request.is_varied && machine.cluster_count() == 1)
        return with_note({{request, native(), "blocks of different sizes, and one cluster"}});
    if (!ways.costs.is_empty() && is_free_to_choose(request))
        return with_note(cheapest(request, machine, rules, ways, with_rivals));
    if (machine.cluster_count() == 1)
        return with_note({{request, native(), "nothing is known of the network"}});
    return with_note({preferred(request, machine, rules)});
}

/// The most of any two clusters.
int most_streams_of_pair(const Request& request, const Machine& machine, const MachineCosts& costs) {
    int most = 0;
    for (int a = 0; a < machine.cluster_count(); ++a) {
        for (int b = 0; b < a; ++b) most = std::max(most, streams_of_pair(request, machine, costs, a, b));
    }
    return most;
}

std::vector<Plan> plans_by_either_way(const Request& request, const Machine& machine, const Rules& rules,
                                      const MachineCosts& costs, bool with_rivals);

/// Those of a plan for blocks of different sizes, of which long ones may gain by them; 0: they do not.
int streams_for_varied(const Request& request, const Machine& machine, const Rules& rules,
                       const MachineCosts& costs) {
    constexpr Bytes kLongBlock = 4U << 20;
    const int streams = most_streams_of_pair(request, machine, costs);
    if (streams == 0) return 0;
    const Request of_long = request_for(request.collective, kLongBlock, request.root);
    const bool gain = plans_by_either_way(of_long, machine, rules, costs, false).front().streams > 0;
    return gain ? streams : 0;
}

/// `streamed` are plans that go by streams.
void mark_as_streamed(const MachineCosts& costs, std::vector<Plan>& streamed) {
    for (Plan& plan : streamed) {
        plan.streams = plan.is_native() ? 0 : costs.most_streams();
        plan.windows.pace.clear();  // their connections share a link by themselves
        plan.is_native_at_most = !plan.is_native_measured && plan.streams > 0 && costs.carry_more();
    }
}

/// MPI's own call among `without` becomes the last one of `streamed`, in the place of others by it.
void take_native_from(std::vector<Plan>& without, std::vector<Plan>& streamed, std::size_t most) {
    const auto is_native = [](const Plan& plan) { return plan.is_native(); };
    std::erase_if(streamed, is_native);
    const auto by_mpi = std::find_if(without.begin(), without.end(), is_native);
    if (by_mpi == without.end()) return;
    streamed.resize(std::min(streamed.size(), most - 1));
    streamed.push_back(std::move(*by_mpi));
}

/// plans_for(), and the same by streams, where these are better; then what is best without them comes next.
std::vector<Plan> plans_by_either_way(const Request& request, const Machine& machine, const Rules& rules,
                                      const MachineCosts& costs, bool with_rivals) {
    std::vector<Plan> plans = plans_for(request, machine, rules, {costs, costs}, with_rivals);
    const int streams = costs.most_streams();
    if (streams == 0 || plans.front().predicted <= Seconds(0)) return plans;
    if (request.is_varied) {
        if (!plans.front().is_native()) {
            plans.front().streams =
                costs.are_streams_given() ? streams : streams_for_varied(request, machine, rules, costs);
        }
        return plans;
    }
    const MachineCosts by_streams = costs.with_streams();
    std::vector<Plan> streamed =
        plans_for(request, machine, rules, {by_streams, costs, costs.are_streams_given()}, with_rivals);
    if (costs.are_streams_given()) {
        mark_as_streamed(costs, streamed);
        return streamed;
    }
    const Plan& best = streamed.front();
    if (best.is_native() || best.predicted <= Seconds(0) ||
        best.predicted > kStreamsGain * plans.front().predicted)
        return plans;
    for (Plan& plan : streamed) {
        plan.native = plans.front().native;
        plan.is_native_measured = plans.front().is_native_measured;
    }
    mark_as_streamed(costs, streamed);
    if (!with_rivals) return streamed;
    Plan best_without = std::move(plans.front());
    plans.erase(plans.begin());
    take_native_from(plans, streamed, kMostToTry - 1);
    streamed.insert(streamed.begin() + 1, std::move(best_without));
    return streamed;
}

}  // namespace

std::vector<Candidate> candidates(const Request& request, const Machine& machine, const MachineCosts& costs,
                                  const MachineCosts& of_mpi) {
    auto found = Pricing(request, machine, costs).all();
    if (&costs == &of_mpi) return found;
    Pricing pricing(request, machine, of_mpi);
    for (Candidate& candidate : found) {
        if (!candidate.algorithm->is_native()) continue;
        if (auto price = candidate.algorithm->price(pricing)) candidate = std::move(*price);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
    return found;
}

int streams_of_pair(const Request& request, const Machine& machine, const MachineCosts& costs, int a, int b) {
    constexpr int kMostPeers = 32;
    const bool is_rooted = row_of(request.collective).is_rooted;
    const int of_root = is_rooted ? machine.cluster_of_rank(request.root) : -1;
    if (is_rooted && a != of_root && b != of_root) return 0;
    const auto peers_of = [&](int cluster) {
        const auto others = machine.rank_count() - static_cast<int>(machine.ranks_in(cluster).size());
        return is_rooted && cluster != of_root ? 1 : others;
    };
    const int peers = std::max(peers_of(a), peers_of(b));
    const int wanted = std::max(costs.link(a, b).streams, costs.link(b, a).streams);
    return peers > kMostPeers ? 0 : (wanted + peers - 1) / peers;
}

Bytes size_class_of(Bytes bytes) {
    constexpr int kBits = 3;
    const int width = static_cast<int>(std::bit_width(bytes));
    return width > kBits ? bytes >> (width - kBits) << (width - kBits) : bytes;
}

Request size_class_of(Request request) {
    request.units = size_class_of(request.units);
    return request;
}

void fit_windows(const Machine& machine, const MachineCosts& costs, Plan& plan) {
    if (plan.is_native() || costs.is_empty() || !is_free_to_choose(plan.request)) return;
    std::optional<MachineCosts> streamed;
    if (plan.streams > 0) streamed = costs.with_streams();
    const MachineCosts& by_way = streamed ? *streamed : costs;
    Pricing pricing(plan.request, machine, by_way);
    const auto priced = plan.algorithm->price(pricing);
    if (!priced) return;
    plan.windows = windows_for(*priced, plan.request, machine, by_way);
    if (plan.streams > 0) plan.windows.pace.clear();
}

Plan plan_in_fixed_order(Request request) {
    constexpr Bytes kLong = 128 * 1024;
    if (request.bytes() == 0) return {request, native(), "no data"};
    if (request.bytes() > kMostPlannedBytes) return {request, native(), "2 GiB and more are left to MPI"};
    if (!is_one_message(request.collective)) return {request, native(), "strict: MPI's own order"};
    request.commutative = false;
    const char* name = request.bytes() > kLong ? "binomial@64K" : "binomial";
    return {request, parse_algorithm(name, request.collective), "strict: one tree over the ranks"};
}

Plan choose_plan(const Request& request, const Machine& machine, const Rules& rules,
                 const MachineCosts& costs) {
    return std::move(plans_by_either_way(request, machine, rules, costs, false).front());
}

std::vector<Plan> plans_to_try(const Request& request, const Machine& machine, const Rules& rules,
                               const MachineCosts& costs) {
    return plans_by_either_way(request, machine, rules, costs, !request.is_varied);
}

}  // namespace laple
