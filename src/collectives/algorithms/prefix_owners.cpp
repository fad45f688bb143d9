// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/prefix_owners.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/index.hpp"
#include "collectives/algorithms/hop_load.hpp"
#include "collectives/algorithms/pace.hpp"
#include "collectives/algorithms/prefix_steps.hpp"
#include "collectives/trees/host_tree.hpp"

namespace laple {
namespace {

/// Ranks `first` ... `end` - 1, all on one host.
struct Run {
    Rank first;
    Rank end;
    std::size_t stretch;
    Rank last() const { return end - 1; }
};

/// Runs that follow each other in one cluster: `first` ... `end` - 1 of all runs.
struct Stretch {
    int cluster;
    std::size_t first;
    std::size_t end;
};

/// Those of a machine, in the order of the ranks, and what clusters have to know of each other.
struct Runs {
    std::vector<Run> runs;
    std::vector<Stretch> stretches;

    explicit Runs(const Machine& machine) : clusters_(at(machine.cluster_count())) {
        for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
            const int cluster = machine.cluster_of_rank(rank);
            if (stretches.empty() || stretches.back().cluster != cluster)
                stretches.push_back({cluster, runs.size(), runs.size()});
            if (runs.empty() || runs.back().stretch + 1 != stretches.size() ||
                machine.host_of(runs.back().first) != machine.host_of(rank)) {
                runs.push_back({rank, rank, stretches.size() - 1});
                stretches.back().end = runs.size();
            }
            runs.back().end = rank + 1;
        }
        count_stretches();
    }

    const Run& of(Rank rank) const {
        return *(std::upper_bound(runs.begin(), runs.end(), rank,
                                  [](Rank one, const Run& run) { return one < run.first; }) -
                 1);
    }
    /// The last stretch of that cluster; it has one.
    std::size_t last_in(int cluster) const {
        std::size_t last = stretches.size() - 1;
        while (stretches[last].cluster != cluster) --last;
        return last;
    }
    /// How many stretches of `from` come before the last one of `to`, which has to know of them.
    std::size_t known_to(int to, int from) const { return known_[at(to) * clusters_ + at(from)]; }

  private:
    void count_stretches() {
        known_.resize(clusters_ * clusters_);
        std::vector<std::size_t> before(clusters_, 0);
        for (const Stretch& stretch : stretches) {
            // That of the last one stays.
            std::copy(before.begin(), before.end(),
                      known_.begin() + static_cast<std::ptrdiff_t>(at(stretch.cluster) * clusters_));
            ++before[at(stretch.cluster)];
        }
    }

    std::size_t clusters_;
    std::vector<std::size_t> known_;  // by cluster and cluster
};

/// The steps of one rank.
class OwnerSteps {
  public:
    OwnerSteps(const Part& part, ScheduleBuilder& builder, const Segments& segments)
        : machine_(part.machine),
          rank_(part.rank),
          cluster_(machine_.cluster_of_rank(rank_)),
          builder_(builder),
          segments_(segments),
          prefix_(part, builder, segments),
          runs_(machine_),
          own_(runs_.of(rank_)) {}

    void write(std::uint32_t number) {
        number_ = number;
        segment_ = segments_.at(number);
        prefix_.begin(segment_);
        if (rank_ != own_.first) prefix_.add_from(rank_ - 1, kInRun);
        const Rank owner = owner_in(cluster_);
        if (rank_ != own_.last()) {
            prefix_.send(rank_ + 1, kInRun);
        } else if (rank_ != owner) {
            prefix_.send(owner, kToOwner);
        }
        if (rank_ == owner) own_segment();
        if (own_.first > 0) take_offset(owner);
    }

  private:
    static constexpr Channel kInRun = contributions(0);
    static constexpr Channel kToOwner = contributions(1);
    static constexpr Channel kBetween = contributions(2);
    static constexpr Channel kToRuns = results(0);
    static constexpr Channel kInRunBack = results(1);

    /// The ranks of a host take turns.
    Rank owner_in(int cluster) const {
        const auto hosts = machine_.hosts_in(cluster);
        return leader_on(machine_, hosts[number_ % hosts.size()], static_cast<int>(number_ / hosts.size()));
    }

    /// What all ranks before the run have: its last rank gets it, and passes it on.
    void take_offset(Rank owner) {
        if (rank_ != own_.last()) return prefix_.add_last(prefix_.receive(own_.last(), kInRunBack));
        // Owners take turns: one ring of slots is for all of them.
        const Region offset = rank_ == owner ? offset_of(static_cast<std::size_t>(&own_ - runs_.runs.data()))
                                             : prefix_.receive(owner, kToRuns, rank_);
        prefix_.add_last(offset);
        for (Rank rank = own_.first; rank < own_.last(); ++rank) builder_.send(rank, offset, kInRunBack);
    }

    /// One after the other: contributions of the cluster's runs, what goes to other clusters and comes from
    /// there, offsets.
    void own_segment() {
        sums_.assign(runs_.runs.size(), {});
        befores_.assign(runs_.stretches.size(), {});
        gather_runs();
        if (machine_.cluster_count() > 1) exchange();
        add_earlier_stretches();
        for (std::size_t i = 1; i < runs_.runs.size(); ++i) {
            const Run& run = runs_.runs[i];
            if (runs_.stretches[run.stretch].cluster != cluster_) continue;
            if (run.last() != rank_) builder_.send(run.last(), offset_of(i), kToRuns);
        }
    }

    /// Of a run of this cluster, but for the first of all.
    Region offset_of(std::size_t run) const {
        const std::size_t stretch = runs_.runs[run].stretch;
        return run == runs_.stretches[stretch].first ? befores_[stretch - 1] : sums_[run - 1];
    }

    /// The sum of each run and of those before it in its stretch.
    void gather_runs() {
        for (std::size_t i = 0; i < runs_.runs.size(); ++i) {
            const Run& run = runs_.runs[i];
            if (runs_.stretches[run.stretch].cluster != cluster_) continue;
            sums_[i] = temporary(1);
            if (run.last() == rank_) {
                prefix_.copy_to(sums_[i].place());
            } else {
                builder_.recv(run.last(), sums_[i], kToOwner);
            }
            if (i > runs_.stretches[run.stretch].first) builder_.reduce(sums_[i - 1], sums_[i].place());
        }
        for (std::size_t s = 0; s < runs_.stretches.size(); ++s) {
            if (runs_.stretches[s].cluster == cluster_) befores_[s] = sums_[runs_.stretches[s].end - 1];
        }
    }

    /// Each starts with the next cluster. What goes out is copied: sums are added to while it is under way.
    void exchange() {
        const int count = machine_.cluster_count();
        std::size_t most = 0;
        for (int to = 0; to < count; ++to)
            if (to != cluster_) most = std::max(most, runs_.known_to(to, cluster_));
        if (most > 0) {
            const Region all = temporary(most);
            std::size_t place = 0;
            for (std::size_t s = 0; place < most; ++s) {
                if (runs_.stretches[s].cluster != cluster_) continue;
                builder_.copy(befores_[s], {all.buffer, place++ * segment_.units});
            }
            for (int i = 1; i < count; ++i) {
                const int to = (cluster_ + i) % count;
                if (const std::size_t known = runs_.known_to(to, cluster_); known > 0)
                    builder_.send(owner_in(to), {all.buffer, 0, known * segment_.units}, kBetween);
            }
        }
        for (int i = 1; i < count; ++i) receive_from((cluster_ + count - i) % count);
    }

    void receive_from(int cluster) {
        const std::size_t known = runs_.known_to(cluster_, cluster);
        if (known == 0) return;
        const Region all = temporary(known);
        builder_.recv(owner_in(cluster), all, kBetween);
        std::size_t place = 0;
        for (std::size_t s = 0; place < known; ++s) {
            if (runs_.stretches[s].cluster != cluster) continue;
            befores_[s] = {all.buffer, place++ * segment_.units, segment_.units};
        }
    }

    /// Then `befores_` of a stretch is the sum of all up to its end, and `sums_` of a run the same up to
    /// that.
    void add_earlier_stretches() {
        const std::size_t last = runs_.last_in(cluster_);
        for (std::size_t s = 1; s <= last; ++s) {
            const Stretch& stretch = runs_.stretches[s];
            if (stretch.cluster != cluster_) {
                builder_.reduce(befores_[s - 1], befores_[s].place());
                continue;
            }
            for (std::size_t i = stretch.first; i < stretch.end; ++i) {
                const bool is_needed = i + 1 < stretch.end || s < last;
                if (is_needed) builder_.reduce(befores_[s - 1], sums_[i].place());
            }
        }
    }

    Region temporary(std::size_t count) {
        return {builder_.add_temporary(count * segment_.units), 0, count * segment_.units};
    }

    const Machine& machine_;
    Rank rank_;
    int cluster_;
    ScheduleBuilder& builder_;
    Segments segments_;
    Prefix prefix_;
    Runs runs_;
    const Run& own_;
    std::uint32_t number_ = 0;
    Segment segment_;
    std::vector<Region> sums_;     // by run; of this cluster
    std::vector<Region> befores_;  // by stretch
};

/// How many runs each host has, and each cluster.
struct RunCounts {
    std::vector<double> on_host;
    std::vector<double> in_cluster;
};

RunCounts count_runs(const Runs& runs, const Machine& machine) {
    RunCounts counts{std::vector<double>(at(machine.host_count()), 0),
                     std::vector<double>(at(machine.cluster_count()), 0)};
    for (const Run& run : runs.runs) {
        counts.on_host[at(machine.host_of(run.first))] += 1;
        counts.in_cluster[at(machine.cluster_of_rank(run.first))] += 1;
    }
    return counts;
}

class PrefixOwners final : public Algorithm {
  public:
    explicit PrefixOwners(Bytes segment_bytes) : segment_bytes_(segment_bytes) {}

    std::string name() const override { return std::string(kPrefixOwners) + name_suffix(segment_bytes_, 1); }
    std::string in_words() const override {
        return "owners in each cluster add up the runs of its ranks, and exchange what they have";
    }
    std::string needs() const override {
        return "needs what runs of ranks have to fit into LAPLE_BLOCK_MEMORY of a rank";
    }
    Bytes segment_bytes() const override { return segment_bytes_; }

    /// Of each of its segments an owner keeps what each run of its cluster has, and twice what each stretch
    /// has. Calls by the same plan have up to a quarter more (block_memory.hpp).
    bool can_do(const Request& request, const Machine& machine) const override {
        const Runs runs(machine);
        const RunCounts counts = count_runs(runs, machine);
        const Segments parts = segments(request);
        for (int c = 0; c < machine.cluster_count(); ++c) {
            const double owned =
                std::ceil(1.25 * parts.count() / static_cast<double>(machine.hosts_in(c).size()));
            const double copies = counts.in_cluster[at(c)] + 2 * static_cast<double>(runs.stretches.size());
            const double bytes = std::min(static_cast<double>(parts.segment_bytes()) * owned,
                                          1.25 * static_cast<double>(request.bytes()));
            if (copies * bytes > static_cast<double>(machine.block_memory())) return false;
        }
        return true;
    }

    std::optional<Candidate> price(Pricing& pricing) const override;

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        pace_sends(part, builder);
        const Segments parts = segments(part.request);
        OwnerSteps steps(part, builder, parts);
        for (std::uint32_t i = 0; i < parts.count(); ++i) steps.write(i);
    }

  private:
    Bytes segment_bytes_;
};

/// The three hops of a scan of so many segments: to owners, between them, and back.
class OwnerLoads {
  public:
    OwnerLoads(Pricing& pricing, const Runs& runs, Bytes segment, double segments)
        : machine_(pricing.machine()),
          costs_(pricing.costs()),
          runs_(runs),
          counts_(count_runs(runs, machine_)),
          segment_(static_cast<double>(segment)),
          segments_(segments) {}

    void add_up(HopLoad& load) const {
        for (int c = 0; c < costs_.count(); ++c) add_inside(load, c, true);
    }
    void add_down(HopLoad& load) const {
        for (int c = 0; c < costs_.count(); ++c) add_inside(load, c, false);
    }
    void add_between(HopLoad& load) const {
        for (int a = 0; a < costs_.count(); ++a) {
            for (int b = 0; b < costs_.count(); ++b) {
                if (a == b) continue;
                const auto known = static_cast<double>(runs_.known_to(b, a));
                if (known > 0) load.add(a, b, known * segment_, owned(a), owned(b), segments_);
            }
        }
    }
    /// Of all hops together.
    double busiest() const {
        HopLoad load(machine_, costs_, 0, HopLoad::Ports::rested);
        add_up(load);
        add_between(load);
        add_down(load);
        return load.busiest();
    }
    /// Seconds of the busiest owner's processor for its segments.
    double combining() const {
        double most = 0;
        for (int c = 0; c < costs_.count(); ++c)
            most = std::max(
                most, owned(c) * costs_.cluster(c).reduction * (2 * counts_.in_cluster[at(c)] + stretches()));
        return most * segment_;
    }
    /// Bytes that the busiest rank of a cluster sends to other clusters: on a host all take turns.
    double sent_far(int c) const {
        double known = 0;
        for (int to = 0; to < costs_.count(); ++to)
            known += to == c ? 0 : static_cast<double>(runs_.known_to(to, c));
        std::size_t ranks = machine_.ranks_on(machine_.hosts_in(c).front()).size();
        for (const Host host : machine_.hosts_in(c)) ranks = std::min(ranks, machine_.ranks_on(host).size());
        return known * segment_ * std::ceil(owned(c) / static_cast<double>(ranks));
    }
    /// Messages between clusters for each segment.
    int crossings() const {
        int count = 0;
        for (int a = 0; a < costs_.count(); ++a) {
            for (int b = 0; b < costs_.count(); ++b) count += a != b && runs_.known_to(b, a) > 0 ? 1 : 0;
        }
        return count;
    }

  private:
    /// Segments of the busiest host of a cluster.
    double owned(int c) const { return std::ceil(segments_ / hosts(c)); }
    double hosts(int c) const { return static_cast<double>(machine_.hosts_in(c).size()); }
    double stretches() const { return static_cast<double>(runs_.stretches.size()); }

    void add_inside(HopLoad& load, int c, bool is_up) const {
        if (hosts(c) < 2) return;
        double most = 0;  // runs of a host
        for (const Host host : machine_.hosts_in(c)) most = std::max(most, counts_.on_host[at(host)]);
        const double of_others = segments_ - std::floor(segments_ / hosts(c));
        const double by_runs = most * of_others;
        const double by_owner = owned(c) * (counts_.in_cluster[at(c)] - most);
        load.add(c, c, segment_, is_up ? by_runs : by_owner, is_up ? by_owner : by_runs,
                 segments_ * counts_.in_cluster[at(c)]);
    }

    const Machine& machine_;
    const MachineCosts& costs_;
    const Runs& runs_;
    RunCounts counts_;
    double segment_;
    double segments_;
};

/// Along the runs of a host, and back.
double time_on_hosts(const Machine& machine, const MachineCosts& costs, Bytes segment) {
    double longest = 0;
    for (int c = 0; c < costs.count(); ++c) {
        const double ranks = machine.most_ranks_on_a_host(c);
        if (ranks < 2) continue;
        const MachineCosts::Link& memory = costs.cluster(c).memory;
        const double each = memory.gap.at(segment).count() + memory.latency +
                            costs.cluster(c).reduction * static_cast<double>(segment);
        longest = std::max(longest, (ranks - 1) * 2 * each);
    }
    return longest;
}

/// The first segment, and the others as the busiest port, link or processor lets them.
std::optional<Candidate> PrefixOwners::price(Pricing& pricing) const {
    const Machine& machine = pricing.machine();
    const MachineCosts& costs = pricing.costs();
    const auto count = static_cast<double>(pricing.segments(segment_bytes_));
    const Bytes segment = this->segments(pricing.request()).segment_bytes();
    const Runs runs(machine);
    const OwnerLoads one(pricing, runs, segment, 1);
    const OwnerLoads all(pricing, runs, segment, count);
    HopLoad up(machine, costs);
    HopLoad between(machine, costs);
    HopLoad down(machine, costs);
    one.add_up(up);
    one.add_between(between);
    one.add_down(down);
    const double alone = std::max(one.busiest(), one.combining());
    Candidate candidate;
    candidate.algorithm = std::make_shared<PrefixOwners>(segment_bytes_);
    // What runs of the first stretches have goes out to the next ones as it comes in.
    const double network = costs.count() == 1
                               ? up.latency() + down.latency() + std::max(up.busiest(), down.busiest())
                               : up.seconds() + between.seconds() + down.seconds();
    candidate.time.first = network + time_on_hosts(machine, costs, segment) + one.combining();
    candidate.time.sustained = std::max(all.busiest(), all.combining());
    candidate.time.last = candidate.time.first + std::max(candidate.time.sustained - alone, 0.0);
    candidate.seconds = candidate.time.last;
    // As those that it is chosen beside: prefix-exchange, and elsewhere prefix-gather.
    candidate.crossings = machine.has_consecutive_ranks() ? one.crossings() : costs.count() - 1;
    candidate.hops = 2;
    if (count > 1 && costs.count() > 1) {
        HopLoad far(machine, costs);
        all.add_between(far);
        for (int c = 0; c < costs.count(); ++c) {
            const double sent = all.sent_far(c);
            candidate.pace.push_back(sent > 0 ? far.busiest() / sent : 0);
        }
    }
    return candidate;
}

}  // namespace

AlgorithmPtr parse_prefix_owners(const AlgorithmName& name) {
    if (name.levels.size() > 1) refuse_name(name, "it takes no levels");
    return std::make_shared<PrefixOwners>(name.segment_bytes);
}

void propose_prefix_owners(Pricing& pricing, std::vector<Candidate>& found) {
    constexpr Bytes kMostSegments = 64;
    const Bytes bytes = pricing.request().bytes();
    // Between many clusters each sends to all later ones: prefix-exchange goes in rounds there.
    if (pricing.machine().host_count() < 2 || pricing.clusters() > kManyClusters) return;
    const auto add = [&](Bytes segment) {
        const PrefixOwners algorithm(segment);
        if (algorithm.can_do(pricing.request(), pricing.machine()))
            found.push_back(*algorithm.price(pricing));
    };
    add(0);
    for (const Bytes segment : pricing.segment_sizes()) {
        if (bytes / segment <= kMostSegments) add(segment);
    }
}

}  // namespace laple
