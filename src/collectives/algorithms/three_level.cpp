// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/three_level.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/three_level_price.hpp"
#include "collectives/trees/host_tree.hpp"

namespace laple {
namespace {

constexpr std::size_t kMostGroups = 8;

class ThreeLevelLayout final : public PhaseLayout {
  public:
    ThreeLevelLayout(const Machine& machine, const ClusterGroups& groups, const PhaseParameters& parameters)
        : machine_(machine),
          groups_(groups.empty() ? machine.groups() : groups),
          lanes_(parameters.lanes),
          on_host_(shape_on_host(parameters.segment_bytes > 0)),
          group_of_(at(machine.cluster_count())) {
        for (const auto& group : groups_) {
            auto& hosts = hosts_.emplace_back();
            for (const int cluster : group) {
                group_of_[at(cluster)] = hosts_.size() - 1;
                const auto here = machine_.hosts_in(cluster);
                hosts.insert(hosts.end(), here.begin(), here.end());
                inside_.try_emplace(here.size(), links_of(parameters.within, static_cast<int>(here.size())));
            }
        }
    }

    Leaders leaders(int lane) const override {
        Leaders leaders;
        for (std::size_t g = 0; g < hosts_.size(); ++g)
            leaders.push_back(leader(leading_host(g, lane), lane));
        return leaders;
    }

    std::size_t group_of(Rank rank) const override { return group_of_[at(machine_.cluster_of_rank(rank))]; }

    std::optional<RankLinks> links(int lane, Rank rank) override {
        const Host host = machine_.host_of(rank);
        const RankLinks on_host = links_on_host(machine_, rank, leader(host, lane), on_host_);
        if (rank != leader(host, lane)) return on_host;
        RankLinks links = links_between_hosts(lane, host);
        links.children.insert(links.children.end(), on_host.children.begin(), on_host.children.end());
        return links;
    }

  private:
    Rank leader(Host host, int lane) const {
        const auto hosts = static_cast<int>(hosts_[group_of_[at(machine_.cluster_of(host))]].size());
        return leader_on(machine_, host, rank_turn(lane, hosts));
    }

    Host leading_host(std::size_t group, int lane) const {
        const auto& hosts = hosts_[group];
        return hosts[at(leading_place(lane, lanes_, static_cast<int>(hosts.size())))];
    }

    Host sub_leading_host(int cluster, Host leading, int lane) const {
        if (cluster == machine_.cluster_of(leading)) return leading;
        const auto hosts = machine_.hosts_in(cluster);
        return hosts[at(lane) % hosts.size()];
    }

    RankLinks links_between_hosts(int lane, Host host) const {
        const int own = machine_.cluster_of(host);
        const auto hosts = machine_.hosts_in(own);
        const Host leading = leading_host(group_of_[at(own)], lane);
        const Host first = sub_leading_host(own, leading, lane);
        const auto position = [&](Host h) {
            return static_cast<std::size_t>(std::lower_bound(hosts.begin(), hosts.end(), h) - hosts.begin());
        };
        const std::size_t turn = position(first);
        const auto member = [&](int place) { return leader(hosts[(at(place) + turn) % hosts.size()], lane); };
        const ShapeLinks& inside = inside_.at(hosts.size());
        const std::size_t place = (position(host) + hosts.size() - turn) % hosts.size();
        RankLinks links;
        if (host == leading) {
            for (const int cluster : groups_[group_of_[at(own)]]) {
                if (cluster == own) continue;
                links.children.push_back(leader(sub_leading_host(cluster, leading, lane), lane));
            }
        } else {
            links.parent = host == first ? leader(leading, lane) : member(inside.parent[place]);
        }
        for (const int child : inside.children[place]) links.children.push_back(member(child));
        return links;
    }

    const Machine& machine_;
    ClusterGroups groups_;
    int lanes_;
    Shape on_host_;
    std::map<std::size_t, ShapeLinks> inside_;  // by number of hosts
    std::vector<std::size_t> group_of_;         // by cluster
    std::vector<std::vector<Host>> hosts_;      // of each group
};

/// With so many all hosts of a cluster do as much; 1 where that would take too many: of lanes that load some
/// hosts more than others the price knows nothing, and 88 hosts in clusters of 31, 29, 6, 1, 1 and 20 took
/// five times as long in SimGrid as it says.
Bytes lanes_in_groups(const Pricing& pricing) {
    std::vector<int> sizes = pricing.sizes();
    for (const auto& group : pricing.near()) {
        int hosts = 0;
        for (const int cluster : group) hosts += pricing.sizes()[at(cluster)];
        sizes.push_back(hosts);
    }
    const Bytes lanes = fair_lanes(sizes);
    const bool is_fair = std::all_of(sizes.begin(), sizes.end(),
                                     [&](int size) { return lanes % static_cast<Bytes>(size) == 0; });
    return is_fair ? lanes : 1;
}

/// What each cluster sends to others in one go: its group's partial results to other groups' leaders, and its
/// own to that of its group; then the results.
std::vector<ClusterBurst> bursts_of(const Pricing& pricing, const ClusterGroups& groups) {
    std::vector<ClusterBurst> bursts;
    for (const auto& group : groups) {
        double hosts = 0;
        for (const int c : group) hosts += pricing.sizes()[at(c)];
        for (const int c : group) {
            const double part = pricing.sizes()[at(c)] / hosts;
            const double there = 1 - part + part * (static_cast<double>(groups.size()) - 1);
            bursts.push_back({c, std::max(there, part * (pricing.clusters() - 1))});
        }
    }
    return bursts;
}

}  // namespace

std::string ThreeLevel::details() const {
    std::string text;
    for (const auto& group : groups_) text += fmt::format(" group {}", fmt::join(group, " "));
    return text;
}

bool ThreeLevel::can_do(const Request& request, const Machine& machine) const {
    return machine.cluster_count() > 1 && request.commutative;
}

std::unique_ptr<PhaseLayout> ThreeLevel::layout(const Machine& machine) const {
    return std::make_unique<ThreeLevelLayout>(machine, groups_, parameters());
}

std::unique_ptr<LeaderSteps> ThreeLevel::leader_steps(LeaderPlace place, ReceiveSlots& slots,
                                                      ScheduleBuilder& builder) const {
    return std::make_unique<DirectExchangeSteps>(std::move(place), slots, builder);
}

std::optional<Candidate> ThreeLevel::price(Pricing& pricing) const {
    if (parameters().within != kFlatShape || parameters().lanes == 1 || pricing.clusters() == 1)
        return std::nullopt;
    ClusterGroups groups = pricing.near();
    if (groups.empty()) groups = near_groups(pricing.machine(), pricing.costs());
    if (groups.empty()) groups = pricing.machine().groups();
    const PhaseTime time =
        three_level_time(parameters().lanes, pricing.segments(segment_bytes()), pricing.sizes(), groups,
                         pricing.times(segment_bytes(), SegmentTimes::Direction::reduction),
                         pricing.times(segment_bytes(), SegmentTimes::Direction::broadcast));
    const int crossings = std::max(static_cast<int>(copies_in_groups(pricing.sizes(), groups)), 1);
    const std::vector<ClusterBurst> bursts = bursts_of(pricing, groups);
    Candidate candidate =
        phase_candidate(pricing, std::make_shared<ThreeLevel>(parameters(), std::move(groups)),
                        parameters().within, time, bursts, crossings);
    add_time_on_hosts(pricing, segment_bytes(), candidate.time);
    candidate.seconds = candidate.time.last;
    return candidate;
}

AlgorithmPtr parse_three_level(const AlgorithmName& name, Collective) {
    const auto parameters = parse_phase(name, "three-level");
    if (!parameters) return nullptr;
    if (parameters->native_within || !parameters->between.empty())
        refuse_name(name, "three-level takes one LEVEL, inside the clusters, and not native");
    return std::make_shared<ThreeLevel>(*parameters, ClusterGroups());
}

void propose_three_level(Pricing& pricing, std::vector<Candidate>& found) {
    if (pricing.near().empty() || pricing.near().size() > kMostGroups) return;
    const Bytes lanes = lanes_in_groups(pricing);
    if (lanes == 1) return;
    for (const Bytes segment_bytes : pricing.segment_sizes()) {
        if (pricing.is_coarse(segment_bytes) || lanes * segment_bytes > pricing.request().bytes()) continue;
        const ThreeLevel algorithm({{}, kFlatShape, false, segment_bytes, static_cast<int>(lanes)}, {});
        if (auto candidate = algorithm.price(pricing)) found.push_back(std::move(*candidate));
    }
}

}  // namespace laple
