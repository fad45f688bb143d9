// SPDX-License-Identifier: BSD-3-Clause
#include "explain_blocks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/json.hpp"
#include "collectives/planner/planner.hpp"

namespace laple::plan {
namespace {

/// What each port and uplink has to carry, in seconds.
class Loads {
  public:
    Loads(const Machine& machine, const MachineCosts& costs)
        : machine_(machine),
          costs_(costs),
          out_(at(machine_.host_count()), 0),
          in_(out_),
          uplink_out_(at(machine_.cluster_count()), 0),
          uplink_in_(uplink_out_) {}

    void add(Rank from, Rank to, Bytes bytes) {
        const Host source = machine_.host_of(from);
        const Host dest = machine_.host_of(to);
        if (source == dest) return;
        const int a = machine_.cluster_of(source);
        const int b = machine_.cluster_of(dest);
        constexpr Bytes kLong = 1 << 20;
        const double port = costs_.link(a, b).stream.at(kLong).count() / kLong * static_cast<double>(bytes);
        out_[at(source)] += port;
        in_[at(dest)] += port;
        if (a == b) return;
        latency_ = std::max(latency_, costs_.link(a, b).latency);
        add_uplink(uplink_out_[at(a)], costs_.likely_uplink_out(a, hosts_in(a)), bytes);
        add_uplink(uplink_in_[at(b)], costs_.likely_uplink_in(b, hosts_in(b)), bytes);
    }

    /// The longest of all, and the longest latency; what it is goes to `name`.
    double busiest(std::string& name) const {
        double most = 0;
        const auto look = [&](const std::vector<double>& loads, const char* text) {
            const auto found = std::max_element(loads.begin(), loads.end());
            if (*found <= most) return;
            most = *found;
            name = fmt::format(fmt::runtime(text), found - loads.begin());
        };
        look(out_, "what host {} sends");
        look(in_, "what host {} gets");
        look(uplink_out_, "what leaves cluster {}");
        look(uplink_in_, "what comes into cluster {}");
        return most + latency_;
    }

  private:
    int hosts_in(int cluster) const { return static_cast<int>(machine_.hosts_in(cluster).size()); }
    static void add_uplink(double& load, double rate, Bytes bytes) {
        if (rate > 0) load += static_cast<double>(bytes) / rate;
    }

    const Machine& machine_;
    const MachineCosts& costs_;
    std::vector<double> out_;  // by host
    std::vector<double> in_;
    std::vector<double> uplink_out_;  // by cluster
    std::vector<double> uplink_in_;
    double latency_ = 0;
};

/// Calls `use(from, to, bytes)` for each block.
template <typename Use>
void for_each_block(Collective collective, const BlockTable& table, Rank root, Use use) {
    const CollectiveRow& row = row_of(collective);
    for (Rank rank = 0; rank < table.ranks; ++rank) {
        if (row.is_rooted) {
            use(row.runs_to_root ? rank : root, row.runs_to_root ? root : rank, table.bytes[at(rank)]);
            continue;
        }
        for (Rank to = 0; to < table.ranks; ++to) use(rank, to, table.from_to(rank, to));
    }
}

std::string share_text(const BlockExplanation::Share& share) {
    return fmt::format("{} block{}, {} bytes", share.blocks, share.blocks == 1 ? "" : "s", share.bytes);
}

Json json_of(const BlockExplanation::Share& share) {
    return {{"blocks", share.blocks}, {"bytes", share.bytes}};
}

}  // namespace

BlockExplanation explain_blocks(const std::string& function, Collective collective, const BlockTable& table,
                                Rank root, const Situation& situation, const Rules& rules) {
    const Machine& machine = situation.machine;
    const Plan plan = choose_plan(varied_request(collective, root), machine, rules, situation.costs);
    BlockExplanation found;
    found.function = function;
    found.algorithm = plan.name();
    found.is_native = plan.is_native();
    found.reason = plan.reason;
    found.longest_together = plan.algorithm->longest_together(plan.request, machine);
    const MachineCosts costs = plan.streams > 0 ? situation.costs.with_streams() : situation.costs;
    Loads loads(machine, costs);
    for_each_block(collective, table, root, [&](Rank from, Rank to, Bytes bytes) {
        if (from == to) {
            ++found.kept;
            return;
        }
        if (bytes == 0) ++found.empty;
        BlockExplanation::Share& share = bytes <= found.longest_together ? found.together : found.straight;
        if (bytes > 0) ++share.blocks;
        share.bytes += bytes;
        if (machine.cluster_of_rank(from) != machine.cluster_of_rank(to)) found.far += bytes;
        loads.add(from, to, bytes);
    });
    found.least = loads.busiest(found.busiest);
    return found;
}

std::string text_of(const BlockExplanation& explanation, const Situation& situation) {
    const BlockExplanation& e = explanation;
    const auto all = e.together.blocks + e.straight.blocks + e.empty + e.kept;
    std::string text = fmt::format("{} of {} blocks, {}\n\n{}: {}\n", e.function, all,
                                   laple::describe(situation.machine), e.algorithm, e.reason);
    if (!e.is_native) {
        text += "  planned for blocks of any size: no rank knows the counts of all others\n";
        if (e.longest_together > 0)
            text += fmt::format("  up to {} bytes they go together: {}\n", format_bytes(e.longest_together),
                                share_text(e.together));
        text += fmt::format("  {} straight to their ranks: {}\n",
                            e.longest_together > 0 ? "longer ones go" : "all go", share_text(e.straight));
    }
    text += fmt::format("  {} are empty, {} stay where they are\n", e.empty, e.kept);
    text += fmt::format("  {} bytes go from cluster to cluster\n", e.far);
    if (!e.busiest.empty())
        text += fmt::format("  at these rates it takes {} at least: {}\n", format_seconds(Seconds(e.least)),
                            e.busiest);
    return text;
}

std::string json_of(const BlockExplanation& explanation, const Situation& situation) {
    const BlockExplanation& e = explanation;
    const Json document{{"format", "laple-plan-blocks-1"},
                        {"collective", e.function},
                        {"ranks", situation.machine.rank_count()},
                        {"hosts", situation.machine.host_count()},
                        {"clusters", situation.machine.cluster_count()},
                        {"algorithm", e.algorithm},
                        {"reason", e.reason},
                        {"longest_together", e.longest_together},
                        {"together", json_of(e.together)},
                        {"straight", json_of(e.straight)},
                        {"empty", e.empty},
                        {"kept", e.kept},
                        {"bytes_between_clusters", e.far},
                        {"at_least", e.least},
                        {"busiest", e.busiest}};
    return json_text(document, 2) + "\n";
}

}  // namespace laple::plan
