// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/agreement.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/version.hpp"
#include "collectives/cost/rank_delay.hpp"
#include "model/cache.hpp"
#include "model/model_file.hpp"
#include "model/mpi_name.hpp"
#include "mpi/comm/consensus.hpp"
#include "mpi/comm/discovery.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/payload.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/probe/hosts.hpp"
#include "mpi/probe/provenance.hpp"
#include "mpi/probe/waiting.hpp"
#include "plogp/link_sweep.hpp"

namespace laple::mpi {
namespace {

const Payload kUnknown{Content::unknown, std::nullopt};

/// What `model` says of the network under `in_world`, whose rank i is rank i of the model, or under all of
/// MPI_COMM_WORLD, whose ranks are those of the model.
void add_costs(const Model& model, const std::vector<Rank>* in_world, Agreement& agreement) {
    agreement.costs = costs_of(model.links, cluster_latencies(model));
    if (agreement.costs.is_empty()) return;
    // Measured on all ranks in their order; and another MPI has other algorithms, by whatever transport.
    const int world = size_of(MPI_COMM_WORLD);
    if ((in_world != nullptr && *in_world != all_below(at(world))) ||
        !is_of_version(model.mpi, mpi_version()))
        agreement.costs.job = {};
    const Machine machine = agreement.host_of.empty() ? Machine(agreement.topology)
                                                      : Machine(agreement.topology, agreement.host_of);
    // On one host messages were measured while all ranks were at work.
    if (machine.host_count() > 1) {
        add_rank_delay(machine, agreement.costs);
        add_message_time(machine, agreement.costs);
    }
    agreement.cluster_of.assign(at(world), -1);
    for (Rank rank = 0; rank < model.topology.size(); ++rank) {
        const Rank there = in_world != nullptr ? (*in_world)[at(rank)] : rank;
        agreement.cluster_of[at(there)] = model.topology.cluster_of(rank);
    }
}

/// The hosts of the ranks of MPI_COMM_WORLD; rank i of `nodes` is `in_world[i]` there.
void add_hosts(std::vector<Node> nodes, const std::vector<Rank>& in_world, Agreement& agreement) {
    for (Node& node : nodes) {
        for (Rank& rank : node.ranks) rank = in_world[at(rank)];
    }
    agreement.host_of = host_of_ranks(agreement.topology, nodes);
}

/// What a topology of these ranks alone says about MPI_COMM_WORLD: of all others nothing is known.
Agreement in_terms_of_world(const Topology& topology, const std::vector<Rank>& in_world,
                            std::string algorithm) {
    const int world = size_of(MPI_COMM_WORLD);
    std::vector<std::vector<int>> levels;
    for (int level = 0; level < topology.level_count(); ++level) {
        auto& labels = levels.emplace_back();
        for (Rank rank = 0; rank < world; ++rank) labels.push_back(topology.size() + rank);
        for (std::size_t i = 0; i < in_world.size(); ++i)
            labels[at(in_world[i])] = topology.group_of(level, static_cast<Rank>(i));
    }
    Agreement agreement{Topology::from_labels(world, levels), std::move(algorithm), {}, {}};
    if (static_cast<int>(in_world.size()) < world) agreement.ranks = in_world;
    std::sort(agreement.ranks.begin(), agreement.ranks.end());
    return agreement;
}

class Agreeing {
  public:
    Agreeing(Process& process, MPI_Comm comm, int rank, const std::vector<Rank>& in_world,
             const std::function<void()>& meanwhile)
        : process_(process),
          comm_(comm),
          rank_(rank),
          size_(static_cast<int>(in_world.size())),
          in_world_(in_world),
          meanwhile_(meanwhile) {}

    std::shared_ptr<const Terms> run() {
        if (process_.settled()) return process_.settled();
        bool is_for_all = false;
        auto terms = std::make_shared<const Terms>(find_terms(is_for_all));
        if (is_for_all) process_.settle(terms);
        return terms;
    }

  private:
    Terms find_terms(bool& is_for_all) {
        const Settings& settings = process_.settings();
        const Agreement* agreed = process_.adopted(in_world_);
        const auto consensus = find_consensus(process_, comm_, rank_, size_,
                                              agreed != nullptr              ? Proposal::agreed
                                              : settings.is_topology_off()   ? Proposal::off
                                              : settings.has_topology_file() ? Proposal::file
                                                                             : Proposal::measure);
        if (!consensus) return {};
        if (!consensus->is_one_build) return none_with_other_builds();
        if (consensus->may_have_gpu_buffers) {
            is_for_all = may_settle(*consensus);
            return none_with_gpus(*consensus);
        }
        Terms terms{std::nullopt,
                    consensus->is_strict,
                    consensus->is_verified,
                    consensus->heeds_pcontrol,
                    consensus->has_progress,
                    consensus->may_race,
                    consensus->adapting,
                    consensus->block_memory,
                    consensus->streams,
                    consensus->is_profiled,
                    consensus->is_traced};
        std::optional<Agreement>& agreement = terms.agreement;
        bool is_for_good = false;
        switch (consensus->best) {
            case Proposal::agreed:
                agreement =
                    broadcast(comm_, consensus->source,
                              {Content::agreement, agreed != nullptr ? std::optional(*agreed) : std::nullopt})
                        .agreement;
                break;
            case Proposal::file:
                agreement = agree_on_file(consensus->source);
                terms.why_none = "neither LAPLE_TOPOLOGY nor LAPLE_MODEL names a file that fits its ranks";
                break;
            case Proposal::measure:
                agreement = agree_by_measuring(*consensus);
                break;
            case Proposal::off:
                terms.why_none = "LAPLE_TOPOLOGY=off";
                is_for_good = true;
                break;
        }
        if (agreement && !process_.adopted(in_world_)) process_.adopt(*agreement);
        is_for_all = (agreement || is_for_good) && may_settle(*consensus);
        return terms;
    }

    Terms none_with_other_builds() {
        if (rank_ == 0 && process_.may_warn_of(Warning::builds))
            say(fmt::format(
                "some ranks of a communicator of {} have another build of LaPle than rank 0, which "
                "has {}; MPI's own collectives are used there: install the same build on all hosts",
                size_, version_text()));
        Terms terms;
        terms.why_none = "its ranks have different builds of LaPle";
        return terms;
    }

    /// Profiles and timelines need no buffers.
    static Terms none_with_gpus(const Consensus& consensus) {
        Terms terms;
        terms.may_race = consensus.may_race;
        terms.is_profiled = consensus.is_profiled;
        terms.is_traced = consensus.is_traced;
        terms.why_none =
            "MPI takes buffers in a GPU's memory, which LaPle does not; if there are none, set "
            "MPIR_CVAR_ENABLE_GPU=0";
        return terms;
    }

    /// All ranks of the job take part, and none can be in another communicator's collective before it is
    /// through with this one: calls on two communicators in opposite orders are an error in MPI, unless
    /// threads make them. Each process may have asked for threads of its own, so all are asked.
    bool may_settle(const Consensus& consensus) const {
        return size_ == size_of(MPI_COMM_WORLD) && !consensus.may_race;
    }

    std::optional<Agreement> agree_on_file(int source) {
        constexpr int kTrials = 2;
        for (int trial = 1;; ++trial) {
            const auto hosts = gather_hosts(comm_, source);
            Payload payload;
            if (hosts) {
                tell(describe_labels(*hosts));
                payload.agreement = agreement_of_file(*hosts);
            }
            if (payload.agreement) payload.content = Content::agreement;
            payload = broadcast(comm_, source, payload);
            if (payload.agreement) return payload.agreement;
            if (trial == kTrials) break;
            // That file does not fit. Now all ranks read theirs.
            const auto consensus = find_consensus(process_, comm_, rank_, size_,
                                                  process_.model() ? Proposal::file : Proposal::off);
            if (!consensus || !consensus->is_one_build || consensus->best != Proposal::file) break;
            source = consensus->source;
        }
        warn_of_file();
        return std::nullopt;
    }

    std::optional<Agreement> agreement_of_file(const std::vector<Node>& hosts) {
        const Settings& settings = process_.settings();
        const std::optional<Model>& of_file = process_.model();
        if (!of_file) return std::nullopt;
        try {
            Model model = fitted(*of_file, hosts, settings.topology_file());
            if (settings.has_rates_file()) model = with_rates_of_file(model, hosts);
            warn_of_rates(model);
            if (is_in_own_terms()) return agreement_on(model);
            Agreement agreement{model.topology, settings.algorithm, {}, {}};
            if (!model.nodes.empty()) agreement.ranks = sorted_ranks();  // others may be on other hosts
            add_hosts(hosts, in_world_, agreement);
            add_costs(model, nullptr, agreement);
            return agreement;
        } catch (const Error& error) {
            problem_ = error.what();
            // The file may not cover a part of the job, and match the whole all the same.
            if (size_ == size_of(MPI_COMM_WORLD)) process_.refuse_model(problem_);
            return std::nullopt;
        }
    }

    /// Of a part of the job, where files name hosts: then they need not hold for the others.
    bool is_in_own_terms() const {
        const auto is_good = [](const std::optional<Model>& model) { return !model || is_by_host(*model); };
        return size_ < size_of(MPI_COMM_WORLD) && is_good(process_.model()) && is_good(process_.rates());
    }

    /// In terms of this communicator, or else of MPI_COMM_WORLD. Throws Error.
    Model fitted(const Model& model, const std::vector<Node>& hosts, const std::string& file) const {
        return is_in_own_terms() ? adapted_to(model, hosts, file)
                                 : model_for(model, hosts, in_world_, size_of(MPI_COMM_WORLD), file);
    }

    /// In MPI_COMM_WORLD.
    std::vector<Rank> sorted_ranks() const {
        std::vector<Rank> ranks = in_world_;
        std::sort(ranks.begin(), ranks.end());
        return ranks;
    }

    /// `map` itself where the file is wrong or does not fit this job: then rates_problem_ says why.
    Model with_rates_of_file(const Model& map, const std::vector<Node>& hosts) {
        rates_problem_ = process_.rates_problem();
        if (!process_.rates()) return map;
        try {
            return with_rates(map, fitted(*process_.rates(), hosts, process_.settings().model));
        } catch (const Error& error) {
            rates_problem_ = error.what();
            return map;
        }
    }

    void warn_of_rates(const Model& model) const {
        const std::string& file = process_.settings().model;
        if (file.empty() || !model.links.clusters.empty() || !process_.may_warn_of(Warning::rates)) return;
        say(rates_problem_.empty()
                ? fmt::format(
                      "{} knows no rates, which plans are made by: have laple-discover --model measure "
                      "them",
                      file)
                : fmt::format("{}; plans are made without its rates", rates_problem_));
    }

    void warn_of_file() const {
        if (rank_ != 0 || !process_.may_warn_of(Warning::topology)) return;
        const std::string problem = problem_.empty() ? process_.topology_problem() : problem_;
        say(fmt::format("{}; MPI's own collectives are used",
                        problem.empty()
                            ? "LAPLE_TOPOLOGY or LAPLE_MODEL is set on some ranks only, and the file not "
                              "readable there; set it on all of them"
                            : problem));
    }

    /// Rank 0 decides: from its cache, or else all measure, the network or MPI's own collectives on it.
    std::optional<Agreement> agree_by_measuring(const Consensus& consensus) {
        const bool may_measure = is_world() || !consensus.have_parts_measured;  // unless the hosts are known
        const bool is_like_world = in_world_ == all_below(at(size_of(MPI_COMM_WORLD)));
        std::optional<std::vector<Node>> hosts;
        const Payload payload = is_like_world && consensus.places && !consensus.is_profiled
                                    ? like_an_earlier_job(text_of(*consensus.places), may_measure, hosts)
                                    : from_gathered_hosts(may_measure, hosts);
        if (hosts && is_like_world) process_.learn_for(*hosts);
        Payload found{Content::agreement, std::nullopt};
        if (payload.content == Content::measure) {
            const Seconds start = now();
            Discovery discovery =
                discover(comm_, process_.settings(), ModelCache(ModelCache::default_directory()));
            if (!is_world()) process_.note_parts_measured(now() - start);
            if (rank_ == 0) found.agreement = of_discovery(std::move(discovery));
        } else if (payload.content == Content::measure_rates) {
            if (rank_ == 0) {
                found.agreement = with_rates_of(*hosts);
            } else {
                discover_rates(comm_, process_.settings(), {});
            }
        } else if (payload.content == Content::measure_natives) {
            if (rank_ == 0) {
                found.agreement = with_natives(*hosts);
            } else {
                discover_natives(comm_, process_.settings(), {});
            }
        } else {
            return payload.agreement;
        }
        return broadcast(comm_, 0, found).agreement;
    }

    /// `hosts` is filled on rank 0, in the next function, too. Most jobs have had one like them before: its
    /// hosts need not be gathered.
    Payload like_an_earlier_job(const std::string& places, bool may_measure,
                                std::optional<std::vector<Node>>& hosts) {
        const ModelCache cache(ModelCache::default_directory());
        if (rank_ == 0) hosts = cache.find_hosts(places, size_);
        if (hosts) tell("all ranks are where those of an earlier job were");
        Payload payload = broadcast(comm_, 0, hosts ? from_cache(*hosts) : kUnknown, meanwhile_);
        if (payload.content != Content::unknown) return payload;
        payload = from_gathered_hosts(may_measure, hosts);
        if (hosts && process_.settings().probe_budget > 0) cache.keep_hosts(places, *hosts);
        return payload;
    }

    /// Ranks that share memory under several names are found out about only where their hosts are not known
    /// as they name them.
    Payload from_gathered_hosts(bool may_measure, std::optional<std::vector<Node>>& hosts) {
        hosts = gather_hosts_by_name(comm_, 0);
        Payload payload = broadcast(comm_, 0, hosts ? from_cache(*hosts) : kUnknown);
        if (payload.content != Content::unknown) return payload;
        hosts = gather_hosts(comm_, 0);
        return broadcast(comm_, 0, hosts ? from_cache_or_anew(*hosts, may_measure) : Payload());
    }

    /// Content::unknown where the cache does not know these hosts.
    Payload from_cache(const std::vector<Node>& hosts) const {
        std::string note;
        const ModelCache cache(ModelCache::default_directory());
        const auto found = cache.find(hosts, mpi_in_use(), note);
        warn_of_cache(note);
        if (!found) return {Content::unknown, std::nullopt};
        const Model& model = found->model;
        tell(describe_labels(hosts));
        tell(fmt::format("topology from {}", found->file));
        process_.note_source(fmt::format("measured by an earlier job ({})", found->file), found->file);
        if (is_world() && can_measure_rates(model, Seconds(process_.settings().probe_budget)))
            return {Content::measure_rates, std::nullopt};
        if (is_world() && !model.links.clusters.empty() &&
            can_measure_natives(model, Seconds(process_.settings().probe_budget)))
            return {Content::measure_natives, std::nullopt};
        return {Content::agreement, agreement_on(model)};
    }

    Payload from_cache_or_anew(const std::vector<Node>& hosts, bool may_measure) const {
        Payload known = from_cache(hosts);
        if (known.content != Content::unknown) return known;
        tell(describe_labels(hosts));
        // Where measuring is off, it is not asked for again either.
        if (process_.settings().probe_budget <= 0 || !may_measure)
            return {Content::agreement, agreement_on(Topology::flat(size_))};
        return {Content::measure, std::nullopt};
    }

    /// What the cache has for these hosts, with rates that the jobs before had no time for.
    Agreement with_rates_of(const std::vector<Node>& hosts) const {
        std::string note;
        const ModelCache cache(ModelCache::default_directory());
        auto found = cache.find(hosts, mpi_in_use(), note);
        Model model = found ? std::move(found->model) : Model();  // it may have been removed meanwhile
        const JobTimes before = model.links.job;
        model.links = discover_rates(comm_, process_.settings(), model);
        if (!found) return agreement_on(Topology::flat(size_));
        add_what_others_kept(cache, hosts, before, model.links.job);
        cache.keep(model, note);
        if (model.links.job.ranks > 0) cache.keep_job(model, note);
        tell("measured more of the rates between these hosts");
        warn_of_cache(note);
        return agreement_on(model);
    }

    /// What the cache has for these hosts, with the times of MPI's own collectives in this job.
    Agreement with_natives(const std::vector<Node>& hosts) const {
        std::string note;
        const ModelCache cache(ModelCache::default_directory());
        auto found = cache.find(hosts, mpi_in_use(), note);
        Model model = found ? std::move(found->model) : Model();  // it may have been removed meanwhile
        const JobTimes before = model.links.job;
        model.links.job = discover_natives(comm_, process_.settings(), model);
        if (!found) return agreement_on(Topology::flat(size_));
        add_what_others_kept(cache, hosts, before, model.links.job);
        cache.keep_job(model, note);
        tell("measured MPI's own collectives with these ranks");
        warn_of_cache(note);
        return agreement_on(model);
    }

    /// Other jobs may have ended while this one was measuring.
    static void add_what_others_kept(const ModelCache& cache, const std::vector<Node>& hosts,
                                     const JobTimes& before, JobTimes& job) {
        std::string ignored;
        const auto found = cache.find(hosts, mpi_in_use(), ignored);
        if (found) job.add_what_others_kept(before, found->model.links.job);
    }

    bool is_world() const { return size_ == size_of(MPI_COMM_WORLD); }

    Agreement of_discovery(Discovery discovery) {
        std::optional<Model>& model = discovery.model;
        tell(discovery.note);
        if (!model) {
            if (process_.may_warn_of(Warning::topology)) {
                say(fmt::format(
                    "the hosts of {} ranks could not be measured within {} s; MPI's own collectives are "
                    "used. Run laple-discover, or raise LAPLE_PROBE_BUDGET{}",
                    size_, process_.settings().probe_budget,
                    discovery.is_kept ? "; else the next job goes on where this one stopped" : ""));
            }
            return agreement_on(Topology::flat(size_));
        }
        tell(fmt::format("measured {} hosts", model->nodes.size()));
        if (!is_world() && !model->links.clusters.empty()) mark_as_of_part(model->links);
        const ModelCache cache(ModelCache::default_directory());
        std::string note;
        auto other = cache.find(model->nodes, model->mpi, note);
        note.clear();  // what is wrong with a file that is replaced was said
        if (other && knows_as_much(other->model.links, model->links))
            return of_other_job(std::move(*other), std::move(model->links.job), cache);
        cache.keep(*model, note);
        process_.note_source("measured by this job",
                             note.empty() ? cache.file_for(model->nodes, model->mpi) : "");
        warn_of_cache(note);
        return agreement_on(*model);
    }

    static bool knows_as_much(const LinkModel& one, const LinkModel& other) {
        return !is_of_part(one) && (!is_unfinished(one) || is_unfinished(other));
    }

    /// Which has measured at the same time and kept its model before. Later jobs go on from one of them.
    /// `job`: what was measured of MPI's own collectives here.
    Agreement of_other_job(CachedModel other, JobTimes job, const ModelCache& cache) const {
        std::string note;
        if (other.model.links.job.times.empty() && !job.times.empty()) {
            other.model.links.job = std::move(job);
            cache.keep_job(other.model, note);
        }
        tell(fmt::format("another job has kept {} meanwhile, which is used", other.file));
        process_.note_source(fmt::format("measured by another job ({})", other.file), other.file);
        warn_of_cache(note);
        return agreement_on(other.model);
    }

    /// Each job takes its time to measure again what cannot be kept.
    void warn_of_cache(const std::string& note) const {
        if (!note.empty() && process_.may_warn_of(Warning::cache)) say(note);
    }

    Agreement agreement_on(const Topology& topology) const {
        return in_terms_of_world(topology, in_world_, process_.settings().algorithm);
    }

    Agreement agreement_on(const Model& model) const {
        if (is_unfinished(model.links) && is_world() && process_.settings().probe_budget > 0)
            process_.note_rates_missing();
        Agreement agreement = agreement_on(model.topology);
        add_hosts(model.nodes, in_world_, agreement);
        add_costs(model, &in_world_, agreement);
        return agreement;
    }

    void tell(const std::string& note) const {
        if (!note.empty() && process_.settings().debug >= 1) say(note);
    }

    Process& process_;
    MPI_Comm comm_;
    int rank_;
    int size_;
    const std::vector<Rank>& in_world_;
    const std::function<void()>& meanwhile_;
    std::string problem_;        // why this communicator cannot use this rank's file
    std::string rates_problem_;  // the same of the file with rates beside a map
};

}  // namespace

std::shared_ptr<const Terms> agree(Process& process, MPI_Comm comm, int rank,
                                   const std::vector<Rank>& in_world,
                                   const std::function<void()>& meanwhile) {
    return Agreeing(process, comm, rank, in_world, meanwhile).run();
}

}  // namespace laple::mpi
