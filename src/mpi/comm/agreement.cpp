// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/agreement.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/cache.hpp"
#include "model/model_file.hpp"
#include "mpi/comm/discovery.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/probe/hosts.hpp"
#include "mpi/probe/provenance.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

int world_size() {
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

constexpr Seconds kPatience(60);

constexpr int kHead = 8;                 // numbers that a payload begins with
constexpr std::size_t kFirstPart = 256;  // of its numbers go at once; the rest needs a second broadcast

/// What a rank could contribute, in ascending order of how much that weighs.
enum Proposal : int { kAuto, kOff, kFile, kAgreed };

/// How the ranks of a communicator have voted.
struct Vote {
    Proposal best = kOff;
    int source = 0;  ///< the lowest rank of those with that proposal; 0 for kAuto
    bool is_one_host = true;
    bool may_race = false;   ///< some rank allows threads to call MPI at the same time
    bool is_strict = false;  ///< all ranks want it, as the next
    bool is_verified = false;
    bool heeds_pcontrol = false;
};

/// What a source hands over.
enum class Content : int { nothing, agreement, measure };

struct Payload {
    Content content = Content::nothing;
    std::optional<Agreement> agreement;
};

/// A double as two numbers that MPI may convert between unlike machines, bit for bit the same on both.
void add_bits(double value, std::vector<int>& numbers) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    numbers.push_back(static_cast<int>(static_cast<std::uint32_t>(bits >> 32)));
    numbers.push_back(static_cast<int>(static_cast<std::uint32_t>(bits)));
}

double from_bits(int high, int low) {
    return std::bit_cast<double>(std::uint64_t{static_cast<std::uint32_t>(high)} << 32 |
                                 static_cast<std::uint32_t>(low));
}

/// As plain numbers: what it is, sizes, the groups of all ranks level after level, ranks, letters, clusters
/// of the costs, costs.
std::vector<int> encode(const Payload& payload) {
    std::vector<int> numbers(kHead, 0);
    numbers[0] = static_cast<int>(payload.content);
    if (!payload.agreement) return numbers;
    const auto& [topology, algorithm, ranks, costs, cluster_of, host_of] = *payload.agreement;
    const std::vector<double> prices = costs.is_empty() ? std::vector<double>() : costs.numbers();
    numbers[1] = topology.size();
    numbers[2] = topology.level_count();
    numbers[3] = static_cast<int>(ranks.size());
    numbers[4] = static_cast<int>(algorithm.size());
    numbers[5] = static_cast<int>(cluster_of.size());
    numbers[6] = static_cast<int>(prices.size());
    numbers[7] = static_cast<int>(host_of.size());
    for (int level = 0; level < topology.level_count(); ++level) {
        for (Rank rank = 0; rank < topology.size(); ++rank) numbers.push_back(topology.group_of(level, rank));
    }
    numbers.insert(numbers.end(), ranks.begin(), ranks.end());
    numbers.insert(numbers.end(), algorithm.begin(), algorithm.end());
    numbers.insert(numbers.end(), cluster_of.begin(), cluster_of.end());
    numbers.insert(numbers.end(), host_of.begin(), host_of.end());
    for (const double price : prices) add_bits(price, numbers);
    return numbers;
}

std::size_t encoded_size(const std::vector<int>& head) {
    return static_cast<std::size_t>(kHead + head[1] * head[2] + head[3] + head[4] + head[5] + head[7]) +
           2 * static_cast<std::size_t>(head[6]);
}

Payload decode(const std::vector<int>& numbers) {
    Payload payload{static_cast<Content>(numbers[0]), std::nullopt};
    if (payload.content != Content::agreement) return payload;
    const int size = numbers[1];
    auto next = numbers.begin() + kHead;
    const auto take = [&](int count) {
        next += count;
        return std::vector<int>(next - count, next);
    };
    std::vector<std::vector<int>> levels;
    for (int level = 0; level < numbers[2]; ++level) levels.push_back(take(size));
    const std::vector<Rank> ranks = take(numbers[3]);
    std::string algorithm;
    for (const int letter : take(numbers[4])) algorithm.push_back(static_cast<char>(letter));
    const std::vector<int> cluster_of = take(numbers[5]);
    const std::vector<int> host_of = take(numbers[7]);
    std::vector<double> prices;
    for (int i = 0; i < numbers[6]; ++i, next += 2) prices.push_back(from_bits(next[0], next[1]));
    payload.agreement = Agreement{Topology::from_labels(size, levels),
                                  algorithm,
                                  ranks,
                                  prices.empty() ? MachineCosts() : MachineCosts::from_numbers(prices),
                                  cluster_of,
                                  host_of};
    return payload;
}

/// What `model` says of the network under `in_world`, whose rank i is rank i of the model, or under all of
/// MPI_COMM_WORLD, whose ranks are those of the model.
void add_costs(const Model& model, const std::vector<Rank>* in_world, Agreement& agreement) {
    if (model.topology.is_flat()) return;
    agreement.costs = costs_of(model.links, cluster_latencies(model));
    if (agreement.costs.is_empty()) return;
    // Measured on all ranks in their order; and another MPI has other algorithms.
    if (in_world != nullptr || model.mpi != mpi_version()) agreement.costs.native = {};
    agreement.cluster_of.assign(static_cast<std::size_t>(world_size()), -1);
    const int level = model.topology.level_count() - 1;
    for (Rank rank = 0; rank < model.topology.size(); ++rank) {
        const Rank world = in_world != nullptr ? (*in_world)[static_cast<std::size_t>(rank)] : rank;
        agreement.cluster_of[static_cast<std::size_t>(world)] = model.topology.group_of(level, rank);
    }
}

/// The hosts of the ranks of MPI_COMM_WORLD; rank i of `nodes` is `in_world[i]` there. A host that the map
/// divides between clusters is one that somebody has invented, to try LaPle on one machine: then each of its
/// ranks counts as a host. So does each rank of which nothing is known.
void add_hosts(const std::vector<Node>& nodes, const std::vector<Rank>& in_world, Agreement& agreement) {
    const Topology& topology = agreement.topology;
    const int level = topology.level_count() - 1;
    agreement.host_of.resize(static_cast<std::size_t>(topology.size()));
    for (Rank rank = 0; rank < topology.size(); ++rank)
        agreement.host_of[static_cast<std::size_t>(rank)] = topology.size() + rank;
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        std::vector<Rank> ranks;
        for (const Rank rank : nodes[node].ranks) ranks.push_back(in_world[static_cast<std::size_t>(rank)]);
        const bool is_divided =
            level >= 0 && std::any_of(ranks.begin(), ranks.end(), [&](Rank rank) {
                return topology.group_of(level, rank) != topology.group_of(level, ranks.front());
            });
        if (is_divided) continue;
        for (const Rank rank : ranks)
            agreement.host_of[static_cast<std::size_t>(rank)] = static_cast<int>(node);
    }
}

/// What a topology of these ranks alone says about MPI_COMM_WORLD: of all others nothing is known.
Agreement in_terms_of_world(const Topology& topology, const std::vector<Rank>& in_world,
                            std::string algorithm) {
    const int world = world_size();
    std::vector<std::vector<int>> levels;
    for (int level = 0; level < topology.level_count(); ++level) {
        auto& labels = levels.emplace_back();
        for (Rank rank = 0; rank < world; ++rank) labels.push_back(topology.size() + rank);
        for (std::size_t i = 0; i < in_world.size(); ++i)
            labels[static_cast<std::size_t>(in_world[i])] = topology.group_of(level, static_cast<Rank>(i));
    }
    Agreement agreement{Topology::from_labels(world, levels), std::move(algorithm), {}, {}};
    if (static_cast<int>(in_world.size()) < world) agreement.ranks = in_world;
    std::sort(agreement.ranks.begin(), agreement.ranks.end());
    return agreement;
}

class Agreeing {
  public:
    Agreeing(Process& process, MPI_Comm comm, int rank, const std::vector<Rank>& in_world)
        : process_(process),
          comm_(comm),
          rank_(rank),
          size_(static_cast<int>(in_world.size())),
          in_world_(in_world) {}

    Terms run() {
        if (process_.settled()) return *process_.settled();
        const Settings& settings = process_.settings();
        const Agreement* agreed = process_.adopted(in_world_);
        const auto vote = take_vote(agreed != nullptr              ? kAgreed
                                    : settings.is_topology_off()   ? kOff
                                    : settings.has_topology_file() ? kFile
                                                                   : kAuto);
        if (!vote) return {};
        Terms terms{std::nullopt, vote->is_strict, vote->is_verified, vote->heeds_pcontrol};
        std::optional<Agreement>& agreement = terms.agreement;
        bool is_for_good = false;
        switch (vote->best) {
            case kAgreed:
                agreement = hand_over(vote->source, {Content::agreement, copy_of(agreed)}).agreement;
                break;
            case kFile:
                agreement = agree_on_file(vote->source);
                break;
            case kAuto:
                is_for_good = vote->is_one_host;
                if (!vote->is_one_host) agreement = agree_by_measuring();
                break;
            case kOff:
                is_for_good = true;
                break;
        }
        if (agreement && !process_.adopted(in_world_)) process_.adopt(*agreement);
        if ((agreement || is_for_good) && may_settle(*vote)) process_.settle(terms);
        return terms;
    }

  private:
    static std::optional<Agreement> copy_of(const Agreement* agreement) {
        return agreement != nullptr ? std::optional(*agreement) : std::nullopt;
    }

    /// All ranks of the job take part, and none can be in another communicator's collective before it is
    /// through with this one: calls on two communicators in opposite orders are an error in MPI, unless
    /// threads make them. Each process may have asked for threads of its own, so that is voted on.
    bool may_settle(const Vote& vote) const { return size_ == world_size() && !vote.may_race; }

    static bool allows_racing_threads() {
        int level = MPI_THREAD_MULTIPLE;
        PMPI_Query_thread(&level);
        return level >= MPI_THREAD_MULTIPLE;
    }

    /// The first message that LaPle sends on a communicator, and the only one that a rank without LaPle does
    /// not answer. Not MPI_Allreduce: such a rank's own collective could be taken for an answer, and nothing
    /// could be reported while waiting. A rank that never arrives cannot be told from one that computes for
    /// long.
    int find_maxima(const std::array<std::int64_t, 7>& mine, std::array<std::int64_t, 7>& most) const {
        MPI_Request request = MPI_REQUEST_NULL;
        const int code = PMPI_Iallreduce(mine.data(), most.data(), static_cast<int>(most.size()), MPI_INT64_T,
                                         MPI_MAX, comm_, &request);
        if (code != MPI_SUCCESS) return code;
        return wait_patiently(request, kPatience, [this] {
            // Usually all ranks of a host lack LaPle: the first host has it, or the last one has.
            if ((rank_ != 0 && rank_ != size_ - 1) || !process_.may_warn_of(Warning::absent_rank)) return;
            say(fmt::format(
                "has waited for {:.0f} s in the first collective of a communicator of {} ranks, which LaPle "
                "begins when all ranks are there. If one never comes, it may be without LaPle: see that "
                "liblaple.so is on every host, and preloaded or linked on every rank",
                kPatience.count(), size_));
        });
    }

    /// One call finds the best proposal, its lowest rank, whether all are on one host, and whether threads
    /// may race. Nothing after an MPI error.
    std::optional<Vote> take_vote(Proposal proposal) const {
        const std::int64_t host = host_number();
        const Settings& settings = process_.settings();
        const std::array<std::int64_t, 7> mine{std::int64_t{proposal} * size_ + size_ - 1 - rank_,
                                               host,
                                               -host,
                                               allows_racing_threads() ? 1 : 0,
                                               settings.reproducible == Reproducible::strict ? 0 : 1,
                                               settings.verify ? 0 : 1,
                                               settings.heeds_pcontrol ? 0 : 1};
        std::array<std::int64_t, 7> most{};
        if (find_maxima(mine, most) != MPI_SUCCESS) return std::nullopt;
        Vote vote;
        vote.best = static_cast<Proposal>(most[0] / size_);
        vote.source = static_cast<int>(size_ - 1 - most[0] % size_);
        vote.is_one_host = most[1] == -most[2];
        vote.may_race = most[3] != 0;
        vote.is_strict = most[4] == 0;
        vote.is_verified = most[5] == 0;
        // It says nothing of which calls of other threads come before it.
        vote.heeds_pcontrol = most[6] == 0 && !vote.may_race;
        return vote;
    }

    /// What `payload` is on the source, on all ranks: one broadcast, or two when it is large. Nothing after
    /// an MPI error.
    Payload hand_over(int source, const Payload& payload) const {
        std::vector<int> numbers;
        if (rank_ == source) numbers = encode(payload);
        const std::size_t size = numbers.size();
        numbers.resize(std::max(size, kFirstPart));
        if (PMPI_Bcast(numbers.data(), static_cast<int>(kFirstPart), MPI_INT, source, comm_) != MPI_SUCCESS)
            return {};
        const std::size_t whole = encoded_size(numbers);
        if (whole > kFirstPart) {
            numbers.resize(whole);
            if (PMPI_Bcast(numbers.data() + kFirstPart, static_cast<int>(whole - kFirstPart), MPI_INT, source,
                           comm_) != MPI_SUCCESS)
                return {};
        }
        return decode(numbers);
    }

    std::optional<Agreement> agree_on_file(int source) {
        constexpr int kTrials = 2;
        for (int trial = 1;; ++trial) {
            const auto hosts = gather_hosts(comm_, source, rank_, size_);
            Payload payload;
            if (hosts) payload.agreement = agreement_of_file(*hosts);
            if (payload.agreement) payload.content = Content::agreement;
            payload = hand_over(source, payload);
            if (payload.agreement) return payload.agreement;
            if (trial == kTrials) break;
            // That file does not fit. Now all ranks read theirs.
            const auto vote = take_vote(process_.model() ? kFile : kOff);
            if (!vote || vote->best != kFile) break;
            source = vote->source;
        }
        warn_of_file();
        return std::nullopt;
    }

    std::optional<Agreement> agreement_of_file(const std::vector<Node>& hosts) {
        const Settings& settings = process_.settings();
        if (!process_.model()) return std::nullopt;
        try {
            const Model model =
                model_for(*process_.model(), hosts, in_world_, world_size(), settings.topology_file());
            Agreement agreement{model.topology, settings.algorithm, {}, {}};
            add_hosts(hosts, in_world_, agreement);
            add_costs(model, nullptr, agreement);
            return agreement;
        } catch (const Error& error) {
            problem_ = error.what();
            // The file may not cover a part of the job, and match the whole all the same.
            if (size_ == world_size()) process_.refuse_model(problem_);
            return std::nullopt;
        }
    }

    void warn_of_file() const {
        if (rank_ != 0 || !process_.may_warn_of(Warning::topology)) return;
        const std::string& problem = problem_.empty() ? process_.topology_problem() : problem_;
        say(fmt::format("{}; MPI's own collectives are used",
                        problem.empty()
                            ? "LAPLE_TOPOLOGY is set on some ranks only, and not readable there; set it "
                              "on all of them"
                            : problem));
    }

    /// Rank 0 decides: from its cache, or else all measure.
    std::optional<Agreement> agree_by_measuring() {
        const auto hosts = gather_hosts(comm_, 0, rank_, size_);
        const Payload payload = hand_over(0, hosts ? from_cache(*hosts) : Payload());
        if (payload.content != Content::measure) return payload.agreement;
        const Seconds budget(process_.settings().probe_budget);
        const auto model = discover(comm_, budget);
        Payload found{Content::agreement, std::nullopt};
        if (rank_ == 0) found.agreement = of_discovery(model);
        return hand_over(0, found).agreement;
    }

    Payload from_cache(const std::vector<Node>& hosts) const {
        std::string note;
        const ModelCache cache(ModelCache::default_directory());
        const auto model = cache.find(hosts, mpi_version(), note);
        tell(note);
        if (model) {
            tell(fmt::format("topology from {}", cache.file_for(hosts, mpi_version())));
            return {Content::agreement, agreement_on(*model)};
        }
        // Where measuring is off, it is not asked for again either.
        if (process_.settings().probe_budget <= 0)
            return {Content::agreement, agreement_on(Topology::flat(size_))};
        return {Content::measure, std::nullopt};
    }

    Agreement of_discovery(const std::optional<Model>& model) {
        if (!model) {
            if (process_.may_warn_of(Warning::topology)) {
                say(fmt::format(
                    "the hosts of {} ranks could not be measured within {} s; MPI's own collectives are "
                    "used. Run laple-discover, or raise LAPLE_PROBE_BUDGET",
                    size_, process_.settings().probe_budget));
            }
            return agreement_on(Topology::flat(size_));
        }
        tell(fmt::format("measured {} hosts", model->nodes.size()));
        std::string note;
        ModelCache(ModelCache::default_directory()).keep(*model, note);
        tell(note);
        return agreement_on(*model);
    }

    Agreement agreement_on(const Topology& topology) const {
        return in_terms_of_world(topology, in_world_, process_.settings().algorithm);
    }

    Agreement agreement_on(const Model& model) const {
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
    std::string problem_;  // why this communicator cannot use this rank's file
};

}  // namespace

Terms agree(Process& process, MPI_Comm comm, int rank, const std::vector<Rank>& in_world) {
    return Agreeing(process, comm, rank, in_world).run();
}

}  // namespace laple::mpi
