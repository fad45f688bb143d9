// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/comm_state.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/default_rounding.hpp"
#include "base/index.hpp"
#include "collectives/cost/one_host.hpp"
#include "collectives/planner/planner.hpp"
#include "model/cache.hpp"
#include "mpi/comm/agreement.hpp"
#include "mpi/comm/bypass.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/process.hpp"
#include "mpi/comm/slowness.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/native_call.hpp"
#include "mpi/exec/scratch.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {

namespace {

/// MPI_KEYVAL_INVALID until the first collective call of the process.
std::atomic<int> comm_keyval{MPI_KEYVAL_INVALID};

/// A round of trials has a time of each plan, and one of the calls before it.
constexpr std::size_t kMostToAgree = kMostToTry + 2;

/// The rank in MPI_COMM_WORLD of each rank of `comm`; nothing when one of them is from another world
/// (spawned).
std::optional<std::vector<Rank>> world_ranks(MPI_Comm comm, int size) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    const std::vector<int> ranks = all_below(at(size));
    std::vector<int> in_world(ranks.size());
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, in_world.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    if (std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) != in_world.end()) return std::nullopt;
    return in_world;
}

/// The costs of the clusters of `machine`, whose rank i is `in_world[i]` of MPI_COMM_WORLD; none where some
/// of them were not measured.
MachineCosts costs_for(const Agreement& agreement, const Machine& machine,
                       const std::vector<Rank>& in_world) {
    if (agreement.costs.is_empty()) return {};
    const auto measured_cluster_of = [&](Rank rank) { return agreement.cluster_of[at(in_world[at(rank)])]; };
    std::vector<int> clusters;
    for (int cluster = 0; cluster < machine.cluster_count(); ++cluster) {
        clusters.push_back(measured_cluster_of(machine.ranks_in(cluster).front()));
        if (clusters.back() < 0) return {};
    }
    MachineCosts costs = agreement.costs.restricted_to(clusters);
    // Measured on all ranks, in their order.
    if (in_world == all_below(at(size_of(MPI_COMM_WORLD)))) costs.job = agreement.costs.job;
    // Where the communicator has few ranks of each, several measured clusters are one of its own.
    for (int cluster = 0; cluster < machine.cluster_count(); ++cluster) {
        for (const Rank member : machine.ranks_in(cluster)) {
            const int other = measured_cluster_of(member);
            if (other < 0) return {};
            if (other == clusters[at(cluster)]) continue;
            costs.link(cluster, cluster) = agreement.costs.link(clusters[at(cluster)], other);
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
    for (const Rank rank : in_world) hosts.push_back(host_of[at(rank)]);
    return {topology, hosts};
}

/// Where there is but one cluster, and no rates in it. `host_of`: as in Agreement.
const char* why_nothing_is_known(const std::vector<int>& host_of, const std::vector<Rank>& in_world) {
    if (host_of.empty()) return "nothing is known of the network between its ranks";
    const int first = host_of[at(in_world.front())];
    const bool is_one_host =
        std::all_of(in_world.begin(), in_world.end(), [&](Rank rank) { return host_of[at(rank)] == first; });
    return is_one_host ? "all its ranks are on one host, and no rates are known there"
                       : "all its ranks are in one cluster, and no rates are known there";
}

int on_delete(MPI_Comm comm, int, void* value, void*) {
    forget_bypass(comm);
    static_cast<CommState*>(value)->leave();
    return MPI_SUCCESS;
}

/// Unless it is there.
void make_keyval() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (comm_keyval != MPI_KEYVAL_INVALID) return;
    int keyval = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_delete, &keyval, nullptr);
    comm_keyval = keyval;
}

OwnCalls own_calls() {
    return {request_for(Collective::barrier, 0),
            request_for(Collective::allreduce, kMostToAgree * sizeof(double))};
}

void say_former_names(const Rules& rules, Process& process) {
    if (rules.renamed.empty() || !process.may_warn_of(Warning::former_names)) return;
    for (const std::string& note : rules.renamed) say(fmt::format("LAPLE_ALGORITHM: {}", note));
}

}  // namespace

/// Not where MPI is deleting attributes, or has begun anew with other keyvals.
CommState* CommState::find(MPI_Comm comm) {
    if (DyingComm::is_dying(comm) || Process::has_ended()) return nullptr;
    const int keyval = comm_keyval.load(std::memory_order_relaxed);
    if (keyval == MPI_KEYVAL_INVALID) return nullptr;
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, keyval, &value, &found);
    return found != 0 ? static_cast<CommState*>(value) : nullptr;
}

/// Those that MPI does not free are left: a call that it refuses changes nothing.
void CommState::end(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) return;
    if (find(comm) != nullptr) PMPI_Comm_delete_attr(comm, comm_keyval);
}

CommState* CommState::of(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL || DyingComm::is_dying(comm)) return nullptr;
    if (CommState* state = find(comm)) return state;

    Process* process = Process::get();
    if (process == nullptr) return nullptr;
    int is_inter = 0;
    if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter != 0) return nullptr;
    make_keyval();
    std::shared_ptr<CommState> state(new CommState(*process, comm));
    if (PMPI_Comm_set_attr(comm, comm_keyval, state.get()) != MPI_SUCCESS) return nullptr;
    process->add(state.get());
    state->self_ = state;
    return state.get();
}

/// A call that is under way may keep this, and end where nothing may wait for other ranks.
void CommState::leave() {
    users_ = MPI_COMM_NULL;
    if (plans_) plans_->end_watches();
    const std::shared_ptr<CommState> last = std::move(self_);
}

CommState::CommState(Process& process, MPI_Comm comm) : users_(comm), process_(&process), comms_(comm) {
    rank_ = rank_in(comm);
    size_ = size_of(comm);
    machine_ = Machine(Topology::flat(size_));
    if (size_ == 1) {
        is_machine_known_ = true;
        why_idle_ = "its communicator has one rank";
        return;
    }
    const ReturnErrors guard(comm);
    const Seconds start = now();
    set_up(comm);
    process_->note_set_up(now() - start);
}

Report* CommState::report() const {
    return process_ != nullptr ? process_->report() : nullptr;
}

CommState::~CommState() {
    if (process_ != nullptr) process_->remove(this);
}

void CommState::set_up(MPI_Comm comm) {
    const DefaultRounding guard;
    const auto in_world = world_ranks(comm, size_);
    if (!in_world) {
        why_idle_ = "some of its ranks were spawned by others";
        return;
    }
    // Most agreements lead to calls that need LaPle's communicator: MPI makes it in about the same time.
    const std::shared_ptr<const Terms> agreed =
        agree(*process_, comm, rank_, *in_world, [this] { comms_.create(); });
    const Terms& terms = *agreed;
    is_strict_ = terms.is_strict;
    is_verified_ = terms.is_verified;
    is_profiled_ = terms.is_profiled;
    heeds_pcontrol_ = terms.heeds_pcontrol;
    has_progress_ = terms.has_progress;
    may_race_ = terms.may_race;
    is_like_world_ = *in_world == all_below(at(size_of(MPI_COMM_WORLD)));
    has_all_ranks_ = size_ == size_of(MPI_COMM_WORLD);
    if (process_->settings().debug >= 1 && rank_ == 0) {
        if (!terms.agreement) say(fmt::format("new communicator: {} ranks; {}", size_, terms.why_none));
        if (is_strict_) say("reductions that round are done in one order: LAPLE_REPRODUCIBLE=strict");
        if (is_verified_) say("what LaPle does is compared with MPI's own: LAPLE_VERIFY=1");
    }
    if (is_profiled_ && is_like_world_) process_->profile_all(std::nullopt);
    if (terms.is_traced) trace_.emplace(*process_->trace(), comm, *in_world, is_like_world_);
    if (!terms.agreement && !is_strict_) {
        why_idle_ = terms.why_none;
        if (trace_) trace_->begin(comm, machine_);
        return;
    }
    MachineCosts costs;
    std::string rules;
    std::vector<int> host_of;
    if (terms.agreement) {
        host_of = terms.agreement->host_of;
        const Topology topology = terms.agreement->topology.restricted_to(*in_world);
        rules = terms.agreement->algorithm;
        if (rank_ == 0) say_former_names(parse_rules(rules), *process_);
        machine_ = machine_of(topology, terms.agreement->host_of, *in_world);
        is_machine_known_ = true;
        if (is_profiled_ && is_like_world_) process_->profile_all(machine_);
        costs = costs_for(*terms.agreement, machine_, *in_world);
    }
    if (process_->settings().debug >= 1 && rank_ == 0)
        say(fmt::format("new communicator: {}", describe(machine_)));
    if (trace_) trace_->begin(comm, machine_);
    take_ranks_for_hosts(machine_, costs);
    machine_.set_block_memory(terms.block_memory);
    const bool is_known = machine_.cluster_count() > 1 || !costs.is_empty() || !rules.empty();
    if (!is_known && !is_strict_) {
        why_idle_ = why_nothing_is_known(host_of, *in_world);
        return;
    }
    if (!host_of.empty()) share_memory(host_of, *in_world);
    plans_.emplace(*process_, machine_, std::move(costs), rules, terms.adapting, terms.streams, own_calls(),
                   comms_, native_calls_, rank_, terms.is_traced);
}

/// `host_of`: as in Agreement.
void CommState::share_memory(const std::vector<int>& host_of, const std::vector<Rank>& in_world) {
    const int here = host_of[at(in_world[at(rank_)])];
    std::vector<Rank> on_host;
    for (Rank rank = 0; rank < size_; ++rank) {
        if (host_of[at(in_world[at(rank)])] == here) on_host.push_back(rank);
    }
    const auto of_world = static_cast<std::size_t>(std::count(host_of.begin(), host_of.end(), here));
    comms_.set_host(on_host, process_->host_allowance(of_world));
}

void CommState::set_rules(const std::string& rules) {
    if (!plans_->set_rules(rules)) return;
    last_algorithm_ = nullptr;
    barrier_.reset();
    agreement_.reset();
}

/// Of its own: a reference into the cache may be in use.
const PreparedPlan& CommState::barrier() {
    if (!barrier_) barrier_ = plans_->make(own_calls().start);
    return *barrier_;
}

/// Messages are told apart by calls: this is one between the user's.
void CommState::come_together() {
    if (barrier().is_native()) {
        if (comms_.create()) PMPI_Barrier(inner());
    } else {
        run_unwatched(barrier(), Operands());
    }
    count_call();
}

/// Agreeing on whether all ranks can do it, by messages of LaPle's own, is their common start. A result takes
/// the place of the user's, who must not look at it yet, unless that holds the input.
void CommState::time_beside(const PreparedPlan& plan, const Request& request, Operands operands,
                            Trials& trials) {
    const ScratchPool::Lease scratch(ScratchPool::of_packing());
    std::vector<double> failures{0};
    // Where there is no root, MPI checks the result buffer of every rank, even of an exscan's first rank,
    // which gets no result. If it refused the call there, the other ranks would wait for ever.
    const bool needs_result =
        operands.has_result ? operands.input == operands.result : !row_of(request.collective).is_rooted;
    if (needs_result) {
        try {
            operands.result =
                (*scratch).get(static_cast<std::size_t>(operands.layout.extent) * request.units);
        } catch (const std::bad_alloc&) {
            failures[0] = 1;
        }
    }
    if (!find_longest(failures) || failures[0] > 0) return trials.stop();
    count_call();
    const Seconds start = now();
    if (plan.is_native()) {
        call_native(request.collective, {operands.input, operands.result, static_cast<int>(request.units),
                                         operands.type, operands.op, request.root, inner()});
    } else {
        run_unwatched(plan, operands);
    }
    trials.add(now() - start);
    conclude(trials);
    count_call();
}

void CommState::conclude(Trials& trials) noexcept try {
    if (!trials.is_round_over()) return;
    std::vector<double> times = trials.times();
    if (find_longest(times)) plans_->conclude(trials, times);
} catch (const std::bad_alloc&) {
    end_without_memory("what calls took cannot be agreed on");
}

/// Of all ranks. Collective.
bool CommState::find_longest(std::vector<double>& times) {
    const std::size_t count = times.size();
    times.resize(kMostToAgree);
    if (!agreement_) agreement_ = plans_->make(own_calls().agreement);
    count_call();
    int code = MPI_ERR_COMM;
    if (!agreement_->is_native()) {
        Operands operands;
        operands.result = reinterpret_cast<std::byte*>(times.data());
        operands.input = operands.result;
        operands.type = MPI_DOUBLE;
        operands.layout = layout_of(MPI_DOUBLE);
        operands.op = MPI_MAX;
        code = run_unwatched(*agreement_, operands);
    } else if (comms_.create()) {
        code = PMPI_Allreduce(MPI_IN_PLACE, times.data(), kMostToAgree, MPI_DOUBLE, MPI_MAX, inner());
    }
    times.resize(count);
    return code == MPI_SUCCESS;
}

void CommState::explain(int code) {
    comms_.note_failure();
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(code, &error_class);
    const std::string broken =
        error_class == MPI_ERR_OTHER && process_ != nullptr ? process_->streams().broken() : "";
    if (!broken.empty() && process_->may_warn_of(Warning::broken_streams)) {
        return say(fmt::format(
            "a collective ends with MPI_ERR_OTHER: {} are all broken. Check that the processes at their "
            "other ends, and those hosts, are alive; LAPLE_STREAMS=off sends all messages by MPI",
            broken));
    }
    if (error_class != MPI_ERR_TRUNCATE || process_ == nullptr || !process_->may_warn_of(Warning::lengths))
        return;
    say(fmt::format(
        "a collective on a communicator of {} ranks ends with MPI_ERR_TRUNCATE: its ranks gave messages "
        "of different lengths, or one of them has met another error; LAPLE_DISABLE=1 shows what MPI "
        "itself says of it",
        size_));
}

int CommState::run_unwatched(const PreparedPlan& plan, const Operands& operands) {
    const ScratchPool::Lease scratch(ScratchPool::of_runs());
    const int code = Operation(*plan.schedule, operands, comms_.ways(), plan.routes.get(), *scratch).to_end();
    if (code != MPI_SUCCESS) explain(code);
    return code;
}

void CommState::check_network() noexcept try {
    if (!std::exchange(is_check_due_, false)) return;
    std::optional<TimedBarrier> timed;
    if (barrier().watched_prediction > Seconds(0))
        timed = TimedBarrier{barrier().watched_prediction, [this] {
                                 count_call();  // messages are told apart by calls
                                 run_unwatched(barrier(), Operands());
                             }};
    const double slowness = find_slowness(slowness_.ratios(), timed, inner());
    if (slowness < SlownessWatch::kSlow || process_ == nullptr) return;
    if (!process_->may_warn_of(Warning::slow_network)) return;
    say(fmt::format(
        "collectives between clusters take {:.1f} times as long as predicted: the network is slower than "
        "when it was measured, or others use it. LaPle plans by what it was; measure it anew "
        "(laple-discover --model, for LAPLE_MODEL), or remove what is kept in {}",
        slowness, ModelCache::default_directory()));
} catch (const std::bad_alloc&) {
    end_without_memory("what calls took cannot be agreed on");
}

void CommState::detach_from_process() {
    plans_.reset();
    trace_.reset();
    native_calls_.clear();
    last_algorithm_ = nullptr;
    comms_.free();
    process_ = nullptr;
}

}  // namespace laple::mpi
