// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/comm_state.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/native.hpp"
#include "collectives/planner/planner.hpp"
#include "model/cache.hpp"
#include "mpi/comm/agreement.hpp"
#include "mpi/comm/bypass.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/process.hpp"
#include "mpi/comm/slowness.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {

const std::string kNativeCall = "native";

namespace {

// Below are the tags of messages that a rank sends to itself.
constexpr int kFirstTag = 16;
constexpr int kChannels = results(AlgorithmName::kMostLanes - 1) + 1;
constexpr std::size_t kMaxCachedPlans = 256;
constexpr std::size_t kMaxCachedSteps = 1u << 20;

/// MPI_KEYVAL_INVALID until the first collective call of the process.
std::atomic<int> comm_keyval{MPI_KEYVAL_INVALID};

/// While this lives, errors on `comm` are returned: a failed set-up is not the user's error.
class ReturnErrors {
  public:
    explicit ReturnErrors(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_get_errhandler(comm_, &handler_);
        PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    ~ReturnErrors() {
        PMPI_Comm_set_errhandler(comm_, handler_);
        PMPI_Errhandler_free(&handler_);
    }
    ReturnErrors(const ReturnErrors&) = delete;
    ReturnErrors& operator=(const ReturnErrors&) = delete;

  private:
    MPI_Comm comm_;
    MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// The rank in MPI_COMM_WORLD of each rank of `comm`; nothing when one of them is from another world
/// (spawned).
std::optional<std::vector<Rank>> world_ranks(MPI_Comm comm, int size) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<int> in_world(ranks.size());
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, in_world.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    if (std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) != in_world.end()) return std::nullopt;
    return in_world;
}

/// The costs of the innermost clusters of `topology`, whose rank i is `in_world[i]` of MPI_COMM_WORLD; none
/// where some of them were not measured.
MachineCosts costs_for(const Agreement& agreement, const Topology& topology,
                       const std::vector<Rank>& in_world) {
    if (agreement.costs.is_empty() || topology.is_flat()) return {};
    std::vector<int> clusters;
    const int level = topology.level_count() - 1;
    for (int group = 0; group < topology.group_count(level); ++group) {
        const auto first = static_cast<std::size_t>(topology.members(level, group).front());
        const int cluster = agreement.cluster_of[static_cast<std::size_t>(in_world[first])];
        if (cluster < 0) return {};
        clusters.push_back(cluster);
    }
    MachineCosts costs = agreement.costs.restricted_to(clusters);
    // Measured on all ranks, in their order.
    std::vector<Rank> all(in_world.size());
    std::iota(all.begin(), all.end(), 0);
    if (in_world == all) costs.native = agreement.costs.native;
    // Where the communicator has few ranks of each, several measured clusters are one of its own.
    for (int group = 0; group < topology.group_count(level); ++group) {
        for (const Rank member : topology.members(level, group)) {
            const int other =
                agreement.cluster_of[static_cast<std::size_t>(in_world[static_cast<std::size_t>(member)])];
            const int first = clusters[static_cast<std::size_t>(group)];
            if (other < 0) return {};
            if (other == first) continue;
            costs.link(group, group) = agreement.costs.link(first, other);
            break;
        }
    }
    return costs;
}

/// The machine of a communicator whose rank i is `in_world[i]` of MPI_COMM_WORLD. `host_of`: as in Agreement.
Machine machine_of(const Topology& topology, const std::vector<int>& host_of,
                   const std::vector<Rank>& in_world) {
    if (host_of.empty()) return Machine(topology);
    std::vector<int> hosts;
    for (const Rank rank : in_world) hosts.push_back(host_of[static_cast<std::size_t>(rank)]);
    return {topology, hosts};
}

/// MPI_TAG_UB of the standard's least: 32767.
int tag_sets(MPI_Comm comm) {
    void* value = nullptr;
    int is_there = 0;
    PMPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &is_there);
    const int most = is_there != 0 ? *static_cast<int*>(value) : 32767;
    return (most - kFirstTag) / kChannels;
}

/// The prediction for the slowness watch; 0 where it does not watch.
Seconds watched_prediction(const Plan& plan) {
    const bool is_watched =
        row_of(plan.request.collective).waits_for_all && plan.predicted >= SlownessWatch::kLeastPredicted;
    return is_watched ? plan.predicted : Seconds(0);
}

}  // namespace

CommState* CommState::find(MPI_Comm comm) {
    const int keyval = comm_keyval.load(std::memory_order_relaxed);
    if (keyval == MPI_KEYVAL_INVALID) return nullptr;
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, keyval, &value, &found);
    return found != 0 ? static_cast<CommState*>(value) : nullptr;
}

CommState* CommState::of(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return nullptr;
    if (CommState* state = find(comm)) return state;

    Process* process = Process::get();
    if (process == nullptr) return nullptr;
    int is_inter = 0;
    if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter != 0) return nullptr;
    {
        static std::mutex mutex;
        const std::lock_guard lock(mutex);
        if (comm_keyval == MPI_KEYVAL_INVALID) {
            int keyval = MPI_KEYVAL_INVALID;
            PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &CommState::on_delete, &keyval, nullptr);
            comm_keyval = keyval;
        }
    }
    std::unique_ptr<CommState> state(new CommState(*process, comm));
    if (PMPI_Comm_set_attr(comm, comm_keyval, state.get()) != MPI_SUCCESS) return nullptr;
    process->add(state.get());
    return state.release();
}

CommState::CommState(Process& process, MPI_Comm comm) : process_(&process) {
    PMPI_Comm_rank(comm, &rank_);
    PMPI_Comm_size(comm, &size_);
    machine_ = Machine(Topology::flat(size_));
    if (size_ == 1) return;
    const ReturnErrors guard(comm);
    set_up(comm);
}

Report* CommState::report() const {
    return process_ != nullptr ? process_->report() : nullptr;
}

CommState::~CommState() {
    free_communicators();
    if (process_ != nullptr) process_->remove(this);
}

void CommState::set_up(MPI_Comm comm) {
    const auto in_world = world_ranks(comm, size_);
    if (!in_world) return;
    const Terms terms = agree(*process_, comm, rank_, *in_world);
    is_strict_ = terms.is_strict;
    is_verified_ = terms.is_verified;
    heeds_pcontrol_ = terms.heeds_pcontrol;
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    is_watched_ = size_ == world_size;
    if (process_->settings().debug >= 1 && rank_ == 0) {
        if (!terms.agreement)
            say(fmt::format("new communicator: {} ranks on one host, or of no known topology", size_));
        if (is_strict_) say("reductions that round are done in one order: LAPLE_REPRODUCIBLE=strict");
        if (is_verified_) say("what LaPle does is compared with MPI's own: LAPLE_VERIFY=1");
    }
    if (!terms.agreement && !is_strict_) return;
    if (terms.agreement) {
        const Topology topology = terms.agreement->topology.restricted_to(*in_world);
        agreed_rules_ = terms.agreement->algorithm;
        rules_ = parse_rules(agreed_rules_);
        say_former_names();
        costs_ = costs_for(*terms.agreement, topology, *in_world);
        machine_ = machine_of(topology, terms.agreement->host_of, *in_world);
    }
    if (process_->settings().debug >= 1 && rank_ == 0)
        say(fmt::format("new communicator: {}", describe(machine_)));
    if (machine_.cluster_count() == 1 && !is_strict_) return;
    // Not MPI_Comm_dup: it would run the copy callbacks of the user's attributes. Not MPI_Comm_split: it
    // takes a collective more.
    MPI_Comm inner = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    const int code = PMPI_Comm_create(comm, group, &inner);
    PMPI_Group_free(&group);
    if (code != MPI_SUCCESS) {
        if (rank_ == 0 && process_->may_warn_of(Warning::communicators)) {
            say("MPI has no communicator left for LaPle, which takes one for each that it works on; on the "
                "others MPI's own collectives are used");
        }
        return;
    }
    PMPI_Comm_set_errhandler(inner, MPI_ERRORS_RETURN);
    inner_ = inner;
    ways_.comm = inner;
    tag_sets_ = tag_sets(MPI_COMM_WORLD);
}

void CommState::say_former_names() const {
    if (rules_.renamed.empty() || rank_ != 0 || !process_->may_warn_of(Warning::former_names)) return;
    for (const std::string& note : rules_.renamed) say(fmt::format("LAPLE_ALGORITHM: {}", note));
}

std::size_t CommState::RequestHash::operator()(const Request& request) const {
    std::uint64_t hash = request.units * 0x9E3779B97F4A7C15u;
    const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0xD6E8FEB86659FD93u; };
    mix(static_cast<std::uint64_t>(request.collective));
    mix(request.unit_bytes);
    mix(static_cast<std::uint64_t>(request.root));
    mix((request.commutative ? 1U : 0U) + (request.in_fixed_order ? 2U : 0U));
    return static_cast<std::size_t>(hash ^ (hash >> 32));
}

void CommState::set_rules(const std::string& rules) {
    try {
        rules_ = parse_rules(rules == "default" ? agreed_rules_ : rules);
    } catch (const Error& error) {
        if (rank_ == 0) say(fmt::format("the info key laple_algorithm is ignored: {}", error.what()));
        return;
    }
    last_algorithm_ = nullptr;
    plans_.clear();
    choices_.clear();
    cached_steps_ = 0;
    barrier_.reset();
}

/// Rules may switch algorithms at any size.
Plan CommState::choose(const Request& request) {
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

/// `plan`, with this rank's steps. It becomes native where its clusters cannot have a communicator.
PreparedPlan CommState::prepare(Plan& plan) {
    if (plan.algorithm->is_native_in_clusters() && !join_cluster()) {
        plan.algorithm = native();
        plan.reason = "no communicator left for the clusters";
    }
    PreparedPlan prepared{plan.algorithm->name(), nullptr, Seconds(0)};
    if (plan.is_native()) return prepared;
    prepared.watched_prediction = watched_prediction(plan);
    const bool is_fixed = plan.request.in_fixed_order;
    prepared.schedule = std::make_unique<PreparedSchedule>(
        is_fixed ? expand(plan, Machine(Topology::flat(size_)), rank_) : expand(plan, machine_, rank_));
    return prepared;
}

const PreparedPlan& CommState::plan_for(const Request& request) {
    const auto found = plans_.find(request);
    if (found != plans_.end()) return found->second;

    // A simple bound: a program with that many kinds of calls plans them anew now and then.
    if (plans_.size() >= kMaxCachedPlans || cached_steps_ >= kMaxCachedSteps) {
        last_algorithm_ = nullptr;
        plans_.clear();
        cached_steps_ = 0;
    }
    Plan plan = choose(request);
    if (!plan.passed_over.empty() && rank_ == 0 && process_->may_warn_of(Warning::rules_passed_over))
        say(fmt::format("LAPLE_ALGORITHM: {} {} bytes: {}; {} is used", name_of(request.collective),
                        request.bytes(), plan.passed_over, plan.algorithm->name()));
    PreparedPlan prepared = prepare(plan);
    if (!prepared.is_native()) cached_steps_ += prepared.schedule->schedule().steps.size();
    if (process_->settings().debug >= 2 && rank_ == 0) {
        const std::string predicted =
            plan.predicted > Seconds(0) ? ", " + format_seconds(plan.predicted) : std::string();
        say(fmt::format("{} {} bytes, root {}: {} ({}{})", name_of(request.collective), request.bytes(),
                        request.root, prepared.algorithm, plan.reason, predicted));
    }
    return plans_.emplace(request, std::move(prepared)).first->second;
}

void CommState::count_call() {
    if (++tag_set_ >= tag_sets_) tag_set_ = 0;
    ways_.first_tag = kFirstTag + tag_set_ * kChannels;
}

int CommState::run(const PreparedPlan& plan, const Operands& operands) {
    if (!is_watched_ || plan.watched_prediction == Seconds(0)) return run_unwatched(plan, operands);
    const Seconds start = now();
    const int code = run_unwatched(plan, operands);
    is_look_due_ = slowness_.add(plan.watched_prediction, now() - start);
    return code;
}

int CommState::run_unwatched(const PreparedPlan& plan, const Operands& operands) {
    const ScratchPool::Lease scratch(ScratchPool::of_runs());
    const int code = Operation(*plan.schedule, operands, ways_, *scratch).to_end();
    if (code != MPI_SUCCESS) explain(code);
    return code;
}

void CommState::explain(int code) const {
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(code, &error_class);
    if (error_class != MPI_ERR_TRUNCATE || process_ == nullptr || !process_->may_warn_of(Warning::lengths))
        return;
    say("a collective ends with MPI_ERR_TRUNCATE: its ranks gave messages of different lengths, or one of "
        "them has met another error");
}

void CommState::look_at_network() noexcept try {
    if (!std::exchange(is_look_due_, false)) return;
    // Of its own: a reference into the cache may be in use.
    if (!barrier_) {
        Plan plan = choose(request_for(Collective::barrier, 0));
        barrier_ = prepare(plan);
    }
    std::optional<TimedBarrier> barrier;
    if (barrier_->watched_prediction > Seconds(0))
        barrier =
            TimedBarrier{barrier_->watched_prediction, [this] { run_unwatched(*barrier_, Operands()); }};
    const double slowness = find_slowness(slowness_.ratios(), barrier, inner_);
    if (slowness < SlownessWatch::kSlow || process_ == nullptr) return;
    if (!process_->may_warn_of(Warning::slow_network)) return;
    say(fmt::format(
        "collectives between clusters take {:.1f} times as long as predicted: the network is slower than "
        "when it was measured, or others use it. LaPle plans by what it was; measure it anew "
        "(laple-discover --model, for LAPLE_MODEL), or remove what is kept in {}",
        slowness, ModelCache::default_directory()));
} catch (const std::exception&) {
    // The call itself is done, and its result right.
}

/// Collective: all ranks make the same plans in the same order, and whether a context id is left is agreed by
/// MPI.
bool CommState::join_cluster() {
    if (has_tried_to_join_) return ways_.cluster != MPI_COMM_NULL;
    has_tried_to_join_ = true;
    ways_.cluster_ranks = machine_.ranks_in(machine_.cluster_of_rank(rank_));
    MPI_Comm cluster = MPI_COMM_NULL;
    if (PMPI_Comm_split(inner_, ways_.cluster_ranks.front(), rank_, &cluster) != MPI_SUCCESS) return false;
    PMPI_Comm_set_errhandler(cluster, MPI_ERRORS_RETURN);
    ways_.cluster = cluster;
    return true;
}

/// What a collective has left unreceived because a rank called it wrongly is an error to MPICH 5, raised by
/// MPI_COMM_SELF's handler: the program's own communicator would be freed without one.
void CommState::free_communicators() {
    if (inner_ == MPI_COMM_NULL) return;
    const ReturnErrors guard(MPI_COMM_SELF);
    if (ways_.cluster != MPI_COMM_NULL) PMPI_Comm_free(&ways_.cluster);
    PMPI_Comm_free(&inner_);
    inner_ = MPI_COMM_NULL;
    ways_ = {};
}

void CommState::detach_from_process() {
    free_communicators();
    process_ = nullptr;
}

int CommState::on_delete(MPI_Comm comm, int, void* value, void*) {
    forget_bypass(comm);
    delete static_cast<CommState*>(value);
    return MPI_SUCCESS;
}

}  // namespace laple::mpi
