// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/plan_cache.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/default_rounding.hpp"
#include "base/error.hpp"
#include "base/index.hpp"
#include "collectives/algorithms/native.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/root_order.hpp"
#include "collectives/drift/link_spans.hpp"
#include "collectives/planner/known_calls.hpp"
#include "collectives/planner/planner.hpp"
#include "collectives/planner/slowness_watch.hpp"
#include "collectives/simulation/simulated_plan.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/process.hpp"
#include "mpi/exec/transport.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr std::size_t kMaxCachedPlans = 256;
constexpr std::size_t kMaxCachedSteps = 1u << 20;
constexpr std::size_t kMostChoices = 2048;
constexpr Seconds kLong(5e-3);                   // of calls whose links are watched
constexpr std::size_t kMostSimulated = 100'000;  // messages of a call

/// The prediction for the slowness watch; 0 where it does not watch.
Seconds watched_prediction(const Plan& plan) {
    const bool is_watched =
        row_of(plan.request.collective).waits_for_all && plan.predicted >= SlownessWatch::kLeastPredicted;
    return is_watched ? plan.predicted : Seconds(0);
}

MachineCosts with_wanted_streams(MachineCosts costs, int streams) {
    costs.use_streams(streams);
    return costs;
}

/// How many messages a call by `plan` has about, on all ranks together; equal on all of them.
std::size_t likely_messages(const Plan& plan, const Request& request, int ranks) {
    const bool is_in_blocks = is_gathered(request.collective) || is_personalized(request.collective) ||
                              is_combined_in_parts(request.collective);
    const std::size_t of_rank =
        2 * plan.algorithm->segments(request).count() * (is_in_blocks ? at(ranks) : 1);
    return of_rank * at(ranks);
}

Plan of_request(Plan plan, const Request& request) {
    plan.request = request;
    return plan;
}

/// Of calls whose sizes are not known there are no times.
Expectation expected_of(const Plan& plan) {
    if (plan.request.is_varied) return {.reason = plan.reason};
    return {plan.predicted, plan.native, plan.is_native_measured, plan.reason, plan.is_native_at_most};
}

}  // namespace

PlanCache::PlanCache(Process& process, const Machine& machine, MachineCosts costs, const std::string& rules,
                     Adapting adapting, int streams, const OwnCalls& own_calls, OwnComms& comms,
                     NativeCalls& native_calls, int rank, bool is_traced)
    : process_(process),
      machine_(machine),
      costs_(with_wanted_streams(std::move(costs), streams)),
      links_now_(machine, costs_),
      agreed_rules_(rules),
      rules_(parse_rules(rules)),
      comms_(comms),
      native_calls_(native_calls),
      rank_(rank),
      adapting_(adapting),
      streams_(streams),
      is_traced_(is_traced),
      own_calls_(own_calls) {}

std::size_t PlanCache::RequestHash::operator()(const Request& request) const {
    std::uint64_t hash = request.units * 0x9E3779B97F4A7C15u;
    const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0xD6E8FEB86659FD93u; };
    mix(static_cast<std::uint64_t>(request.collective));
    mix(request.unit_bytes);
    mix(static_cast<std::uint64_t>(request.root));
    mix((request.commutative ? 1U : 0U) + (request.in_fixed_order ? 2U : 0U) + (request.rounds ? 4U : 0U) +
        (request.is_varied ? 8U : 0U));
    for (const std::uint64_t begin : request.counts.begins()) mix(begin);
    return static_cast<std::size_t>(hash ^ (hash >> 32));
}

/// Where there is no memory for the new ones, the old ones hold.
bool PlanCache::set_rules(const std::string& rules) {
    Rules parsed;
    try {
        parsed = parse_rules(rules == "default" ? agreed_rules_ : rules);
    } catch (const Error& error) {
        if (rank_ == 0 && process_.may_warn_of(Warning::info_key))
            say(fmt::format("the info key laple_algorithm is ignored: {}", error.what()));
        return false;
    }
    std::vector<CallTime> tried = tried_calls();
    rules_ = std::move(parsed);
    forget_plans(std::move(tried));
    return true;
}

PlanCache::Choice PlanCache::choose(const Request& request) const {
    if (request.in_fixed_order) return {{plan_in_fixed_order(request)}, std::nullopt};
    if (!may_adapt()) return {{choose_plan(request, machine_, rules_, costs_)}, std::nullopt};
    const bool is_by_limits = depends_on_limits(request);
    const MachineCosts& costs = is_by_limits ? links_now_.costs() : costs_;
    Choice choice{plans_to_try(request, machine_, rules_, costs), std::nullopt, is_by_limits};
    // Some ranks ask for these plans twice in a call (treat), so that trials would begin at different calls.
    if (request.is_varied) return choice;
    if (is_by_limits) {
        if (auto former = former_plan(request)) put_former_first(std::move(*former), choice.plans);
        make_watchable(choice.plans);
    }
    choice.trials = trials_of(choice.plans, keeps_its_plan(request));
    return choice;
}

bool PlanCache::may_adapt() const {
    return adapting_ != Adapting::never && !costs_.is_empty() && rules_.rules.empty();
}

/// Such a call has the bits of its first plan.
bool PlanCache::keeps_its_plan(const Request& request) const {
    return request.rounds && adapting_ == Adapting::exact;
}

/// What calls went by before links changed.
std::optional<Plan> PlanCache::former_plan(const Request& request) const {
    const auto found = former_.find(class_of(request));
    if (found == former_.end() || found->second->is_native()) return std::nullopt;
    return choose_plan(request, machine_, parse_rules(found->second->name()), costs_of(request));
}

const MachineCosts& PlanCache::costs_of(const Request& request) const {
    return keeps_its_plan(request) ? costs_ : links_now_.costs();
}

/// Whether its plans must be for links that are slower than they were measured. What is short enough goes on
/// as before, with what was found out about it.
bool PlanCache::depends_on_limits(const Request& request) const {
    constexpr double kHardly = 1.1;
    if (keeps_its_plan(request) || links_now_.are_as_measured()) return false;
    MachineCosts measured = costs_;
    measured.job = {};
    const Plan before = choose_plan(request, machine_, rules_, measured);
    const Plan now =
        choose_plan(request, machine_, parse_rules(before.algorithm->name()), links_now_.costs());
    return now.predicted > kHardly * before.predicted;
}

/// Nothing where there is one plan only, or nothing to compare it with.
std::optional<Trials> PlanCache::trials_of(const std::vector<Plan>& plans, bool is_for_later) const {
    std::vector<Trials::Tried> tried;
    for (const Plan& plan : plans) tried.push_back({plan.predicted, plan.tried});
    const auto is_unknown = [](const Plan& plan) { return plan.predicted <= Seconds(0); };
    if (plans.size() < 2 || std::any_of(plans.begin(), plans.end(), is_unknown)) return std::nullopt;
    Trials::Conditions conditions = conditions_of_trials();
    conditions.is_for_later = is_for_later;
    conditions.may_run_ahead = !row_of(plans.front().request.collective).waits_for_all;
    return Trials(tried, conditions);
}

const Trials::Conditions& PlanCache::conditions_of_trials() const {
    if (!conditions_) {
        const MachineCosts costs = costs_of_own_calls();
        const auto time_of = [&](const Request& request) {
            return choose_plan(request, machine_, rules_, costs).predicted;
        };
        constexpr double kOneWays = 16;  // of finding a rate
        const Seconds start = time_of(own_calls_.start);
        conditions_ = {start, time_of(own_calls_.agreement), Seconds(costs_.rank_delay), false,
                       kOneWays * start};
    }
    return *conditions_;
}

/// For their few bytes no connections are made.
MachineCosts PlanCache::costs_of_own_calls() const {
    MachineCosts costs = costs_;
    costs.use_streams(0);
    return costs;
}

/// Rules may switch algorithms at any size.
bool PlanCache::is_by_class(const Request& request) const {
    return rules_.rules.empty() && !request.in_fixed_order;
}

/// Where counts differ, programs may have other ones at each call: those that have about as much in all, and
/// at most, go by one choice. But not sums, whose bits must not depend on what was called before.
PlanCache::CallClass PlanCache::class_of(const Request& request) const {
    if (!is_by_class(request)) return {request};
    const bool has_counts = !request.counts.are_equal();
    if (has_counts && request.rounds) return {request};
    CallClass calls{size_class_of(request)};
    if (has_counts) {
        calls.request.counts = {};
        calls.all_units = size_class_of(request.block_begin(machine_.rank_count()));
    }
    return calls;
}

PlanCache::Choice& PlanCache::choice_for(const Request& request) {
    const CallClass calls = class_of(request);
    const auto found = choices_.find(calls);
    if (found != choices_.end()) return found->second;
    return choices_.emplace(calls, choose(calls.all_units > 0 ? request : calls.request)).first->second;
}

/// `plan`, with this rank's steps. It becomes native where it, or its clusters, cannot have a communicator.
/// Only a plan that needs one waits for the other ranks.
PreparedPlan PlanCache::prepare(Plan& plan, Wait wait) {
    if (!plan.is_native() && !comms_.create()) {
        plan.algorithm = native();
        plan.reason = "no communicator left";
        if (rank_ == 0 && process_.may_warn_of(Warning::communicators))
            say("MPI has no communicator left for LaPle, which takes one for each that it works on; on the "
                "others MPI's own collectives are used. Free communicators that are not needed any more");
    }
    if (plan.algorithm->is_native_in_clusters() && !comms_.join_cluster(machine_, rank_)) {
        plan.algorithm = native();
        plan.reason = "no communicator left for the clusters";
    }
    if (plan.is_native()) plan.streams = 0;
    PreparedPlan prepared{plan.name(), nullptr, nullptr, nullptr, false, Seconds(0), {}};
    prepared.expected = expected_of(plan);
    if (plan.is_native()) return prepared;
    comms_.join_host();
    if (plan.request.is_varied) {
        prepared.blocks = std::make_unique<BlockPlan>(block_plan(plan));
    } else {
        prepared.watched_prediction = watched_prediction(plan);
    }
    const bool is_fixed = plan.request.in_fixed_order;
    prepared.schedule = std::make_unique<PreparedSchedule>(
        is_fixed ? expand(plan, Machine(Topology::flat(machine_.rank_count())), rank_)
                 : expand(plan, machine_, rank_));
    give_streams(plan, wait, prepared);
    const std::size_t likely = prepared.schedule->schedule.steps.size() * at(machine_.rank_count()) / 2;
    if (is_traced_ && rank_ == 0 && likely <= kMostSimulated) prepared.simulate = simulation_of(plan);
    return prepared;
}

BlockPlan PlanCache::block_plan(const Plan& plan) const {
    const int cluster = machine_.cluster_of_rank(rank_);
    BlockPlan blocks;
    blocks.units = plan.request.units;
    blocks.longest_together = plan.algorithm->longest_together(plan.request, machine_);
    blocks.straight =
        straight_blocks(plan.request, machine_, rank_, root_order(plan.request, machine_, costs_));
    blocks.near_ranks = static_cast<int>(machine_.ranks_in(cluster).size());
    blocks.pace = pace_of(plan.windows, machine_, rank_);
    if (blocks.pace.seconds_per_byte <= 0) return blocks;
    const auto hosts_in = [this](int c) { return static_cast<int>(machine_.hosts_in(c).size()); };
    const auto seconds_a_byte = [](double rate) { return rate > 0 ? 1 / rate : 0; };
    blocks.uplink = seconds_a_byte(costs_.likely_uplink_out(cluster, hosts_in(cluster)));
    std::vector<BlockPlan::Way> ways;  // to each cluster
    for (int c = 0; c < machine_.cluster_count(); ++c) {
        // Where it is known, it may carry more than the NICs behind it.
        double uplink = seconds_a_byte(costs_.likely_uplink_in(c, hosts_in(c)));
        if (uplink > 0) uplink = std::max(uplink, seconds_a_byte(hosts_in(c) * costs_.cluster(c).nic_in));
        ways.push_back({c, uplink, seconds_a_byte(costs_.link(cluster, c).all)});
    }
    for (const StraightBlock& block : blocks.straight)
        blocks.ways.push_back(ways[at(machine_.cluster_of_rank(block.peer))]);
    return blocks;
}

/// Good when this is gone. What has no times, or no schedule for the clusters, is not simulated.
std::function<std::vector<SimulatedMessage>()> PlanCache::simulation_of(const Plan& plan) const {
    if (costs_.is_empty() || plan.request.is_varied || plan.request.in_fixed_order) return {};
    struct Simulation {
        Plan plan;
        Machine machine;
        MachineCosts costs;
        std::optional<std::vector<SimulatedMessage>> messages = {};
    };
    const auto simulation = std::make_shared<Simulation>(Simulation{plan, machine_, costs_of(plan.request)});
    return [simulation] {
        if (!simulation->messages)
            simulation->messages =
                simulated_messages(simulation->plan, simulation->machine, simulation->costs);
        return *simulation->messages;
    };
}

/// Links are made by all ranks at the same plan, which each of them makes at the same call.
void PlanCache::give_streams(const Plan& plan, Wait wait, PreparedPlan& prepared) {
    if (plan.streams == 0) return;
    if (wait == Wait::no) {
        prepared.routes = comms_.routes();
        prepared.lacks_streams = true;
        return;
    }
    prepared.routes = comms_.join_streams(process_.streams(), stream_peers(plan, prepared));
    const std::string problem = process_.streams().problem();
    const bool is_first = machine_.ranks_in(machine_.cluster_of_rank(rank_)).front() == rank_;
    if (!problem.empty() && (is_first || process_.settings().debug >= 1) &&
        process_.may_warn_of(Warning::streams))
        say(fmt::format("streams: {}; messages go by MPI there (LAPLE_STREAMS=off: everywhere)", problem));
}

/// Of this rank, in other clusters: where the number of connections is not given, those that gain by them.
/// Blocks of different sizes go straight, or so they may, to all that there are blocks for.
std::vector<StreamLinks::Peer> PlanCache::stream_peers(const Plan& plan, const PreparedPlan& prepared) const {
    const int here = machine_.cluster_of_rank(rank_);
    std::set<Rank> far;
    const auto add = [&](Rank peer) {
        if (machine_.cluster_of_rank(peer) != here) far.insert(peer);
    };
    if (prepared.blocks != nullptr) {
        for (const StraightBlock& block : prepared.blocks->straight) add(block.peer);
    } else {
        for (const Step& step : prepared.schedule->schedule.steps) {
            if (step.is_message()) add(step.peer);
        }
    }
    std::vector<StreamLinks::Peer> peers;
    for (const Rank peer : far) {
        const int there = machine_.cluster_of_rank(peer);
        const auto link_to = [&](int from, int to) {
            return costs_.is_empty() ? MachineCosts::Link() : costs_.link(from, to);
        };
        const MachineCosts::Link out = link_to(here, there);
        const MachineCosts::Link in = link_to(there, here);
        const auto wanted = [&] {
            return prepared.blocks != nullptr ? streams_of_pair(plan.request, machine_, costs_, here, there)
                                              : out.streams;
        };
        const int connections = streams_ > 0 ? plan.streams : wanted();
        if (connections == 0) continue;
        // Equal at both ends, though one direction may carry more; what the link carries by any number of
        // them.
        const double rate =
            std::max({out.streamed, in.streamed, out.by_streams.most(), in.by_streams.most()});
        peers.push_back({peer, connections, Seconds(out.latency + in.latency), rate});
    }
    return peers;
}

/// Communicators come and go, and what LaPle needs beside one takes as long to make as some collectives. So
/// it is made when calls could have saved as much; but for MPI_COMM_WORLD, which stays, and where calls are
/// started, which go by LaPle's plans from the first blocking one on.
bool PlanCache::is_worth_its_comms(const Plan& plan) {
    constexpr double kCollectives = 2;  // of MPI's own, to make a communicator
    const bool is_known = plan.predicted > Seconds(0) && plan.native > Seconds(0) && rules_.rules.empty();
    // Of calls whose blocks differ, ranks do not all ask as often; and sums keep their bits from the first
    // call.
    const bool may_wait = !plan.request.is_varied && (!plan.request.rounds || adapting_ == Adapting::always);
    if (comms_.inner() != MPI_COMM_NULL || comms_.is_for_world() || starts_calls_ || plan.is_native() ||
        !is_known || !may_wait)
        return true;
    if (!cost_of_comms_)
        cost_of_comms_ =
            kCollectives * choose_plan(own_calls_.agreement, machine_, rules_, costs_of_own_calls()).native;
    // An estimate of MPI's own is of the best case: others are chosen that are predicted to take longer.
    if (plan.native <= plan.predicted) return true;
    could_have_saved_ += plan.native - plan.predicted;
    if (could_have_saved_ >= *cost_of_comms_) return true;
    left_to_mpi_.algorithm = native()->name();
    left_to_mpi_.expected = {plan.native, plan.native, plan.is_native_measured,
                             "its communicator is new, and may be gone soon"};
    return false;
}

/// A call that is MPI's own for good is not counted any more: ranks may pass it on without asking. Where
/// links are slower for a while it is not for good.
PlanCache::Next PlanCache::next(const Request& request, bool may_be_repeated) {
    const DefaultRounding guard;
    Entry& entry = entry_for(request);
    Choice& choice = *entry.choice;
    std::optional<Trials>& trials = choice.trials;
    const std::size_t usual = trials ? trials->plan_of_calls() : 0;
    const bool may_recover = choice.is_by_limits;
    if (trials && trials->is_confirmed() && choice.plans[usual].is_native() && !may_recover)
        return {&prepared(request, usual, entry)};
    if (!is_worth_its_comms(choice.plans[usual])) return {&left_to_mpi_, nullptr, nullptr, nullptr, false};
    const Trials::Turn turn = trials ? trials->next(now(), may_be_repeated, entry.number) : Trials::Turn{};
    LinkWatch* links = nullptr;
    if (turn.plan == usual && turn.beside == 0) {
        links = watch_of(request, usual, entry);
        if (links != nullptr && have_links_changed(*links, choice))
            return this->next(request, may_be_repeated);
    }
    Next next{&prepared(request, turn.plan, entry)};
    next.is_for_good = !trials && !may_recover;
    if (turn.beside > 0) next.beside = &prepared(request, turn.beside, entry);
    if (turn.is_timed || turn.beside > 0) next.trials = &*trials;
    if (links != nullptr && links->wants_times()) next.links = links;
    return next;
}

/// Whether calls by it are long, and have enough messages one after the other between two ranks.
bool PlanCache::shows_links(const Plan& plan) const {
    constexpr std::size_t kMostMessages = 50000;  // their simulation takes some ten milliseconds
    constexpr int kMostRanks = 512;               // whose schedules are made, on each of them
    if (plan.is_native() || plan.request.is_varied || plan.predicted < kLong ||
        machine_.rank_count() > kMostRanks ||
        likely_messages(plan, plan.request, machine_.rank_count()) > kMostMessages)
        return false;
    try {
        const std::vector<double> spans = predicted_spans(plan, machine_, costs_).all();
        return std::any_of(spans.begin(), spans.end(), [](double span) { return span > 0; });
    } catch (const Error&) {
        return false;  // it cannot be simulated
    }
}

bool PlanCache::shows_links(Choice& choice, std::size_t number) const {
    choice.shows_links.resize(choice.plans.size());
    std::optional<bool>& known = choice.shows_links[number];
    if (!known) known = shows_links(choice.plans[number]);
    return *known;
}

/// Of calls whose messages tell how fast links are, and whose plan may be changed. nullptr: they are not
/// watched. One request of the class is, unless its counts differ, as long as it is called. MPI's own calls
/// tell nothing, but that they are made: where LaPle's would tell, limits do not stay for ever.
LinkWatch* PlanCache::watch_of(const Request& request, std::size_t number, Entry& entry) {
    constexpr int kMostClusters = 32;  // 8 KiB are agreed on then
    constexpr double kReductions = 4;  // what goes on beside calls may take that much longer
    constexpr int kMostOthers = 64;    // then it is one of them
    constexpr int kCallsBefore = 4;    // else what tells of links takes longer to find than calls do
    Choice& choice = *entry.choice;
    const Plan& plan = choice.plans[number];
    if (choice.calls <= kCallsBefore) ++choice.calls;
    const bool may_be_watched = may_adapt() && !keeps_its_plan(request) && !request.is_varied &&
                                request.counts.are_equal() && choice.calls > kCallsBefore &&
                                plan.predicted >= kLong && machine_.cluster_count() > 1 &&
                                machine_.cluster_count() <= kMostClusters;
    if (!may_be_watched) return nullptr;
    // There may be no communicator for the plan.
    const bool is_native = plan.is_native() || prepared(request, number, entry).is_native();
    bool is_watched = false;
    for (std::size_t i = 0; i < choice.plans.size(); ++i) {
        const bool tells = is_native ? choice.is_by_limits : i == number;
        is_watched = is_watched || (tells && shows_links(choice, i));
    }
    if (!is_watched) return nullptr;
    const bool is_other = choice.links != nullptr && choice.links->request() != request;
    choice.others = is_other ? choice.others + 1 : 0;
    if (choice.links == nullptr || choice.links->plan() != number || choice.others > kMostOthers) {
        choice.others = 0;
        const double calls = kReductions * (conditions_of_trials().agreement / plan.predicted);
        if (choice.links != nullptr) cost_of_watching_ += choice.links->cost();
        choice.links = nullptr;  // its reduction ends before the next one may begin
        choice.links = std::make_unique<LinkWatch>(request, number, machine_, rank_,
                                                   static_cast<int>(std::ceil(calls)) + 1,
                                                   links_now_.expected_spans(of_request(plan, request)));
    }
    return choice.links->request() == request ? choice.links.get() : nullptr;
}

/// Looks, when the watch says so. When it is true, all plans are made anew, and `links` and `choice` are
/// gone.
bool PlanCache::have_links_changed(LinkWatch& links, const Choice& choice) {
    const DriftWatch::Finding finding = links.before_call(comms_.inner());
    if (finding.is_nothing()) return false;
    const Plan plan = of_request(choice.plans[links.plan()], links.request());
    std::vector<CallTime> calls = tried_calls();
    const Seconds start = clock_time();
    const bool have_changed = links_now_.learn(plan, finding, links.usual());
    if (have_changed) make_plans_anew(std::move(calls));
    if (!have_changed) links.take_as_usual();
    cost_of_watching_ += clock_time() - start;
    return have_changed;
}

/// As links have changed. `tried`: what is known of calls before. Those that calls went by are the same on
/// all ranks; other choices are not, which each rank makes for its own report (expected_of_blocks).
void PlanCache::make_plans_anew(std::vector<CallTime> tried) {
    former_.clear();
    for (const auto& [request, entry] : entries_) {
        const Choice& choice = *entry.choice;
        former_[class_of(request)] =
            choice.plans[choice.trials ? choice.trials->plan_of_calls() : 0].algorithm;
    }
    forget_plans(std::move(tried));
    ++changes_of_links_;
    if (rank_ == 0 && process_.settings().debug >= 1)
        say(fmt::format("links have changed their rates: {}; plans are made anew",
                        describe(links_now_.limits())));
}

std::shared_ptr<const PreparedPlan> PlanCache::plan_to_start(const Request& request, Wait wait,
                                                             std::string_view& why_not) {
    const DefaultRounding guard;
    starts_calls_ = true;
    Entry& entry = entry_for(request);
    const std::optional<Trials>& trials = entry.choice->trials;
    const std::size_t usual = trials ? trials->plan_of_calls() : 0;
    const Plan& plan = entry.choice->plans[usual];
    why_not = plan.reason;
    if (plan.is_native()) return nullptr;
    why_not = "its algorithm has blocking calls of MPI's in clusters";
    if (plan.algorithm->is_native_in_clusters()) return nullptr;
    why_not = "no blocking collective that LaPle did came before it on its communicator";
    if (wait == Wait::no && !comms_.is_ready()) return nullptr;
    const PreparedPlan& made = prepared(request, usual, entry, wait);
    why_not = made.expected.reason;
    return made.is_native() ? nullptr : entry.plans[usual];
}

const PreparedPlan& PlanCache::prepared(const Request& request, std::size_t number, Entry& entry, Wait wait) {
    const PreparedPlan* const known = entry.plans[number].get();
    if (known == nullptr || (known->lacks_streams && wait == Wait::yes))
        prepare_and_keep(request, number, entry, wait);
    return *entry.plans[number];
}

PlanCache::Entry& PlanCache::entry_for(const Request& request) {
    if (last_ != nullptr && last_->first == request) return last_->second;
    auto found = entries_.find(request);
    if (found == entries_.end()) {
        // A simple bound: a program with that many kinds of calls plans them anew now and then.
        if (entries_.size() >= kMaxCachedPlans || cached_steps_ >= kMaxCachedSteps) forget_steps();
        if (choices_of_calls_ >= kMostChoices) forget_plans(tried_calls());
        Choice& choice = choice_for(request);
        if (!std::exchange(choice.is_of_calls, true)) ++choices_of_calls_;
        Entry entry{&choice, {}, ++entries_made_};
        entry.plans.resize(choice.plans.size());
        found = entries_.emplace(request, std::move(entry)).first;
    }
    last_ = &*found;
    return found->second;
}

/// What is expected of a call by `plan`, which was made for the least size of the call's class. Only a report
/// asks for more than that.
Expectation PlanCache::expected_at(const Plan& plan, const Request& request) const {
    Expectation expected = expected_of(plan);
    const bool is_priced =
        !costs_.is_empty() && !request.is_varied && !request.in_fixed_order && !plan.is_as_calls_took;
    const bool is_wanted = process_.report() != nullptr || is_traced_;
    if (!is_wanted || !is_priced || request == plan.request) return expected;
    const auto lengthen = [&](Seconds& time, const Algorithm& algorithm, const MachineCosts& costs) {
        Pricing of_call(request, machine_, costs);
        Pricing of_class(plan.request, machine_, costs);
        const auto whole = algorithm.price(of_call);
        const auto least = algorithm.price(of_class);
        if (whole && least && least->seconds > 0) time *= whole->seconds / least->seconds;
    };
    const MachineCosts& costs = costs_of(request);
    if (plan.streams > 0)
        lengthen(expected.predicted, *plan.algorithm, costs.with_streams());
    else
        lengthen(expected.predicted, *plan.algorithm, costs);
    lengthen(expected.native, *native(), costs);
    return expected;
}

Expectation PlanCache::expected_now(const PreparedPlan& plan) const {
    Expectation expected = plan.expected;
    if (last_ == nullptr || !last_->second.choice->trials) return expected;
    const Entry& entry = last_->second;
    const Trials& trials = *entry.choice->trials;
    const auto found = std::find_if(entry.plans.begin(), entry.plans.end(),
                                    [&](const auto& one) { return one.get() == &plan; });
    if (found == entry.plans.end()) return expected;  // it is left to MPI: is_worth_its_comms()
    expected.tried = trials.measured(static_cast<std::size_t>(found - entry.plans.begin()));
    if (expected.tried <= Seconds(0)) return expected;  // what is measured is not set against predictions
    const std::vector<Plan>& plans = entry.choice->plans;
    const auto by_mpi =
        std::find_if(plans.begin(), plans.end(), [](const Plan& one) { return one.is_native(); });
    if (by_mpi == plans.end()) return expected;
    const Seconds native = trials.measured(static_cast<std::size_t>(by_mpi - plans.begin()));
    if (native <= Seconds(0)) return expected;
    expected.native = native;
    expected.is_native_measured = true;
    expected.is_native_at_most = false;
    return expected;
}

/// The plans to come are made from what the job has begun with, as they were before: sums keep their bits.
void PlanCache::forget_plans(std::vector<CallTime> tried) {
    forgotten_calls_ = std::move(tried);
    end_watches();
    for (const auto& [calls, choice] : choices_) {
        if (choice.trials) forgotten_trials_.add(choice.plans, *choice.trials);
    }
    forget_steps();
    outlooks_.clear();
    choices_.clear();
    choices_of_calls_ = 0;
}

/// Not what was chosen and tried.
void PlanCache::forget_steps() {
    entries_.clear();
    native_calls_.clear();
    last_ = nullptr;
    cached_steps_ = 0;
}

void PlanCache::end_watches() {
    for (auto& [calls, choice] : choices_) {
        if (choice.links) cost_of_watching_ += choice.links->cost();
        choice.links = nullptr;
    }
}

PlanCache::Outlook PlanCache::outlook(const Request& request, Bytes bytes) {
    Outlook told = usual_outlook(request);
    if (request.is_varied)
        told.expected = expected_of_blocks(request.collective, bytes, told.expected.reason);
    return told;
}

/// Good until the next one. A choice that no call goes by is kept where there are few: not of sums of counts,
/// which have one each.
const PlanCache::Outlook& PlanCache::usual_outlook(const Request& request) {
    const auto found = outlooks_.find(request);
    if (found != outlooks_.end()) return found->second;
    if (outlooks_.size() >= kMaxCachedPlans) outlooks_.clear();
    const bool has_class = is_by_class(request) && (request.counts.are_equal() || !request.rounds);
    const Plan plan = has_class ? choice_for(request).plans.front() : choose(request).plans.front();
    return outlooks_.emplace(request, Outlook{plan.name(), expected_at(plan, request)}).first->second;
}

Expectation PlanCache::expected_of_blocks(Collective collective, Bytes bytes, const std::string& reason) {
    constexpr int kDigits = 5;  // of a number that hardly two calls have in common
    const int shift = std::max(static_cast<int>(std::bit_width(bytes)) - kDigits, 0);
    Expectation expected = usual_outlook(request_for(collective, bytes >> shift << shift)).expected;
    expected.reason = reason;
    return expected;
}

PreparedPlan PlanCache::make(const Request& request) {
    const DefaultRounding guard;
    Plan plan = choose_plan(request, machine_, rules_, costs_of_own_calls());
    return prepare(plan, Wait::yes);
}

void PlanCache::prepare_and_keep(const Request& request, std::size_t number, Entry& entry, Wait wait) {
    Plan plan = entry.choice->plans[number];
    const bool has_other_counts = plan.request.counts != request.counts;
    if (!request.in_fixed_order)
        plan.request = request;  // else it is that of the plan, with marks of its own
    if (has_other_counts) fit_windows(machine_, costs_of(request), plan);
    // What was chosen without prices, too.
    if (streams_ > 0 && !plan.is_native() && machine_.cluster_count() > 1) plan.streams = streams_;
    if (!plan.passed_over.empty() && rank_ == 0 && process_.may_warn_of(Warning::rules_passed_over))
        say(fmt::format("LAPLE_ALGORITHM: {} {} bytes: {}; {} is used", name_of(request.collective),
                        request.bytes(), plan.passed_over, plan.algorithm->name()));
    const bool was_native = plan.is_native();
    PreparedPlan prepared = prepare(plan, wait);
    const Expectation expected = expected_at(entry.choice->plans[number], request);
    prepared.expected.predicted = expected.predicted;
    prepared.expected.native = expected.native;
    if (prepared.is_native() && !was_native && entry.choice->trials)
        entry.choice->trials->stop();  // its times would be those of MPI's own
    // Not those of this rank alone: all ranks must forget their plans at the same call.
    constexpr std::size_t kSteps = 3;  // of a message
    if (!prepared.is_native())
        cached_steps_ +=
            kSteps * likely_messages(plan, plan.request, machine_.rank_count()) / at(machine_.rank_count());
    if (process_.settings().debug >= 2 && rank_ == 0) {
        const std::string predicted =
            plan.predicted > Seconds(0) ? ", " + format_seconds(plan.predicted) : std::string();
        const CollectiveRow& row = row_of(request.collective);
        say(fmt::format("{}{}{}: {} ({}{})", name_of(request.collective),
                        row.has_data ? fmt::format(" {} bytes", request.bytes()) : "",
                        row.is_rooted ? fmt::format(", root {}", request.root) : "", prepared.algorithm,
                        plan.reason, predicted));
    }
    entry.plans[number] = std::make_shared<const PreparedPlan>(std::move(prepared));
}

TrialSummary PlanCache::trial_summary() const {
    TrialSummary summary = forgotten_trials_;
    Seconds cost = cost_of_watching_;
    for (const auto& [calls, choice] : choices_) {
        if (choice.trials) summary.add(choice.plans, *choice.trials);
        if (choice.links) cost += choice.links->cost();
    }
    summary.add_changes_of_links(changes_of_links_, cost);
    return summary;
}

/// Nothing of links that have changed: what is kept is for the network as it was measured. Nor of a number of
/// streams that the user has given: jobs with another one would believe it.
std::vector<CallTime> PlanCache::tried_calls() const {
    if (streams_ > 0) return {};
    std::vector<CallTime> calls = forgotten_calls_;
    if (!links_now_.are_as_measured()) return calls;
    for (const auto& [kind, choice] : choices_) {
        const bool has_tried = choice.trials && choice.trials->cost() > Seconds(0);
        if (has_tried) gather_calls(calls_by_trial(choice.plans, *choice.trials), calls);
    }
    return calls;
}

void PlanCache::conclude(Trials& trials, std::span<const double> agreed) {
    const DefaultRounding guard;
    const std::size_t before = trials.best();
    trials.conclude(agreed);
    if (trials.best() == before || process_.settings().debug < 1 || rank_ != 0) return;
    for (const auto& [calls, choice] : choices_) {
        if (!choice.trials || &*choice.trials != &trials) continue;
        const auto tell = [&](std::size_t plan) {
            return fmt::format("{} ({}, predicted {})", choice.plans[plan].name(),
                               format_seconds(trials.measured(plan)), format_seconds(trials.predicted(plan)));
        };
        say(fmt::format("{} of about {} bytes: {} takes the place of {}", name_of(calls.request.collective),
                        calls.request.bytes(), tell(trials.best()), tell(before)));
    }
}

}  // namespace laple::mpi
