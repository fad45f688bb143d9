// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/plan_cache.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "collectives/algorithms/native.hpp"
#include "collectives/planner/planner.hpp"
#include "collectives/planner/slowness_watch.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/process.hpp"

namespace laple::mpi {
namespace {

constexpr std::size_t kMaxCachedPlans = 256;
constexpr std::size_t kMaxCachedSteps = 1u << 20;

/// The prediction for the slowness watch; 0 where it does not watch.
Seconds watched_prediction(const Plan& plan) {
    const bool is_watched =
        row_of(plan.request.collective).waits_for_all && plan.predicted >= SlownessWatch::kLeastPredicted;
    return is_watched ? plan.predicted : Seconds(0);
}

}  // namespace

PlanCache::PlanCache(Process& process, const Machine& machine, MachineCosts costs, const std::string& rules,
                     OwnComms& comms, int rank)
    : process_(process),
      machine_(machine),
      costs_(std::move(costs)),
      agreed_rules_(rules),
      rules_(parse_rules(rules)),
      comms_(comms),
      rank_(rank) {}

std::size_t PlanCache::RequestHash::operator()(const Request& request) const {
    std::uint64_t hash = request.units * 0x9E3779B97F4A7C15u;
    const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0xD6E8FEB86659FD93u; };
    mix(static_cast<std::uint64_t>(request.collective));
    mix(request.unit_bytes);
    mix(static_cast<std::uint64_t>(request.root));
    mix((request.commutative ? 1U : 0U) + (request.in_fixed_order ? 2U : 0U));
    for (const std::uint64_t begin : request.counts.begins()) mix(begin);
    return static_cast<std::size_t>(hash ^ (hash >> 32));
}

bool PlanCache::set_rules(const std::string& rules) {
    try {
        rules_ = parse_rules(rules == "default" ? agreed_rules_ : rules);
    } catch (const Error& error) {
        if (rank_ == 0 && process_.may_warn_of(Warning::info_key))
            say(fmt::format("the info key laple_algorithm is ignored: {}", error.what()));
        return false;
    }
    forget_plans();
    choices_.clear();
    return true;
}

/// Rules may switch algorithms at any size.
Plan PlanCache::choose(const Request& request) {
    if (request.in_fixed_order) return plan_in_fixed_order(request);
    if (!rules_.rules.empty()) return choose_plan(request, machine_, rules_, costs_);
    const Request representative = size_class_of(request);
    if (choices_.size() >= kMaxCachedPlans) choices_.clear();
    const auto [entry, is_new] = choices_.try_emplace(representative);
    if (is_new) entry->second = choose_plan(representative, machine_, rules_, costs_);
    Plan plan = entry->second;
    plan.request = request;
    return plan;
}

/// `plan`, with this rank's steps. It becomes native where it, or its clusters, cannot have a communicator.
/// Only a plan that needs one waits for the other ranks.
PreparedPlan PlanCache::prepare(Plan& plan) {
    if (!plan.is_native() && !comms_.create()) {
        plan.algorithm = native();
        plan.reason = "no communicator left";
        if (rank_ == 0 && process_.may_warn_of(Warning::communicators))
            say("MPI has no communicator left for LaPle, which takes one for each that it works on; on the "
                "others MPI's own collectives are used");
    }
    if (plan.algorithm->is_native_in_clusters() && !comms_.join_cluster(machine_, rank_)) {
        plan.algorithm = native();
        plan.reason = "no communicator left for the clusters";
    }
    PreparedPlan prepared{plan.algorithm->name(), nullptr, Seconds(0)};
    if (plan.is_native()) return prepared;
    comms_.join_host();
    prepared.watched_prediction = watched_prediction(plan);
    const bool is_fixed = plan.request.in_fixed_order;
    prepared.schedule = std::make_unique<PreparedSchedule>(
        is_fixed ? expand(plan, Machine(Topology::flat(machine_.rank_count())), rank_)
                 : expand(plan, machine_, rank_));
    return prepared;
}

const PreparedPlan* PlanCache::find(const Request& request) {
    if (last_ != nullptr && last_->first == request) return &last_->second;
    const auto found = plans_.find(request);
    if (found == plans_.end()) return nullptr;
    last_ = &*found;
    return &found->second;
}

void PlanCache::forget_plans() {
    plans_.clear();
    last_ = nullptr;
    cached_steps_ = 0;
}

PreparedPlan PlanCache::make(const Request& request) {
    Plan plan = choose(request);
    return prepare(plan);
}

const PreparedPlan& PlanCache::make_and_keep(const Request& request) {
    // A simple bound: a program with that many kinds of calls plans them anew now and then.
    if (plans_.size() >= kMaxCachedPlans || cached_steps_ >= kMaxCachedSteps) forget_plans();
    Plan plan = choose(request);
    if (!plan.passed_over.empty() && rank_ == 0 && process_.may_warn_of(Warning::rules_passed_over))
        say(fmt::format("LAPLE_ALGORITHM: {} {} bytes: {}; {} is used", name_of(request.collective),
                        request.bytes(), plan.passed_over, plan.algorithm->name()));
    PreparedPlan prepared = prepare(plan);
    if (!prepared.is_native()) cached_steps_ += prepared.schedule->schedule.steps.size();
    if (process_.settings().debug >= 2 && rank_ == 0) {
        const std::string predicted =
            plan.predicted > Seconds(0) ? ", " + format_seconds(plan.predicted) : std::string();
        say(fmt::format("{} {} bytes, root {}: {} ({}{})", name_of(request.collective), request.bytes(),
                        request.root, prepared.algorithm, plan.reason, predicted));
    }
    return plans_.emplace(request, std::move(prepared)).first->second;
}

}  // namespace laple::mpi
