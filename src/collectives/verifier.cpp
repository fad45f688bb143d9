// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/verifier.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "collectives/simulator.hpp"

namespace laple {
namespace {

using Expression = int;
constexpr Expression kUnwritten = -1;

/// Expressions over contributions, each stored once: equal numbers mean equal expressions.
class Expressions {
  public:
    Expression contribution(Rank rank, std::uint32_t block) {
        return intern({-1 - rank, static_cast<int>(block)});
    }

    Expression combine(Expression left, Expression right) {
        if (block_of(left) != block_of(right)) throw std::runtime_error("two different blocks are combined");
        return intern({left, right});
    }

    std::uint32_t block_of(Expression e) const {
        while (nodes_[index(e)].first >= 0) e = nodes_[index(e)].first;
        return static_cast<std::uint32_t>(nodes_[index(e)].second);
    }

    /// The ranks whose contributions `e` combines, from left to right.
    std::vector<Rank> operands(Expression e) const {
        std::vector<Rank> ranks;
        std::vector<Expression> open{e};
        while (!open.empty()) {
            const auto [left, right] = nodes_[index(open.back())];
            open.pop_back();
            if (left < 0) {
                ranks.push_back(-1 - left);
            } else {
                open.push_back(right);
                open.push_back(left);
            }
        }
        return ranks;
    }

  private:
    using Node = std::pair<int, int>;  // (left, right), or (-1 - rank, block) of a contribution

    static std::size_t index(Expression e) { return static_cast<std::size_t>(e); }
    Expression intern(Node node) {
        const auto [entry, is_new] = numbers_.try_emplace(node, static_cast<int>(nodes_.size()));
        if (is_new) nodes_.push_back(node);
        return entry->second;
    }

    std::vector<Node> nodes_;
    std::map<Node, Expression> numbers_;
};

class SymbolicMemory {
  public:
    using Value = Expression;

    SymbolicMemory(std::span<const Schedule> schedules, const Plan& plan, bool in_place)
        : in_place_(in_place) {
        const std::uint32_t blocks = plan.blocks().count();
        const bool is_bcast = plan.request.collective == Collective::bcast;
        for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
            std::vector<std::vector<Expression>> buffers(2, std::vector<Expression>(blocks, kUnwritten));
            for (const auto slots : schedules[rank].temporary_slots) buffers.emplace_back(slots, kUnwritten);
            const bool has_value = !is_bcast || static_cast<Rank>(rank) == plan.request.root;
            if (has_value) {
                auto& own = buffers[is_bcast || in_place ? kResult : kInput];
                for (std::uint32_t b = 0; b < blocks; ++b) {
                    own[b] = expressions_.contribution(static_cast<Rank>(rank), b);
                }
            }
            memory_.push_back(std::move(buffers));
        }
    }

    Value load(Rank rank, Place place, std::uint32_t block) {
        const Expression value = cell(rank, place);
        if (value == kUnwritten) {
            throw std::runtime_error(fmt::format("rank {} reads buffer {} slot {} before it is written", rank,
                                                 place.buffer, place.slot));
        }
        if (expressions_.block_of(value) != block) {
            throw std::runtime_error(fmt::format("rank {} reads block {} where it wants block {}", rank,
                                                 expressions_.block_of(value), block));
        }
        return value;
    }

    void store(Rank rank, Place place, std::uint32_t block, Value value) {
        if (place.buffer == kInput)
            throw std::runtime_error(fmt::format("rank {} writes to its input", rank));
        if (expressions_.block_of(value) != block) {
            throw std::runtime_error(fmt::format("rank {} gets block {} where it wants block {}", rank,
                                                 expressions_.block_of(value), block));
        }
        cell(rank, place) = value;
    }

    Value combine(const Value& left, const Value& right) { return expressions_.combine(left, right); }

    const Expressions& expressions() const { return expressions_; }
    Expression contribution(Rank rank, std::uint32_t block) { return expressions_.contribution(rank, block); }
    Expression result(Rank rank, std::uint32_t block) { return cell(rank, {kResult, block}); }

  private:
    Expression& cell(Rank rank, Place place) {
        const std::size_t buffer = in_place_ && place.buffer == kInput ? kResult : place.buffer;
        return memory_[static_cast<std::size_t>(rank)].at(buffer).at(place.slot);
    }

    bool in_place_;
    Expressions expressions_;
    std::vector<std::vector<std::vector<Expression>>> memory_;  // by rank, buffer, slot
};

std::string check_bcast(SymbolicMemory& memory, const Plan& plan, Rank rank, std::uint32_t block) {
    if (memory.result(rank, block) == memory.contribution(plan.request.root, block)) return {};
    return fmt::format("rank {} does not end with the root's block {}", rank, block);
}

std::string check_reduction(SymbolicMemory& memory, const Plan& plan, Rank rank, std::uint32_t block,
                            int size) {
    const Expression value = memory.result(rank, block);
    if (value == kUnwritten) return fmt::format("rank {} ends without block {}", rank, block);
    std::vector<Rank> operands = memory.expressions().operands(value);
    if (plan.request.commutative) std::sort(operands.begin(), operands.end());
    bool is_right = operands.size() == static_cast<std::size_t>(size);
    for (std::size_t i = 0; is_right && i < operands.size(); ++i)
        is_right = operands[i] == static_cast<Rank>(i);
    if (is_right) return {};
    return fmt::format("block {} on rank {} combines ranks {}", block, rank, fmt::join(operands, " "));
}

}  // namespace

std::string verify(std::span<const Schedule> schedules, const Plan& plan, const Topology& topology,
                   std::uint64_t seed, bool in_place) {
    SymbolicMemory memory(schedules, plan, in_place);
    SimulationOptions options;
    options.seed = seed;
    options.eager = seed % 2 == 0;
    const SimulationResult run = Simulator<SymbolicMemory>(schedules, topology, memory, options).run();
    if (!run.ok()) return run.failure;
    const int size = static_cast<int>(schedules.size());
    const std::uint32_t blocks = plan.blocks().count();
    for (std::uint32_t block = 0; block < blocks; ++block) {
        for (Rank rank = 0; rank < size; ++rank) {
            if (plan.request.collective == Collective::reduce && rank != plan.request.root) continue;
            const std::string wrong = plan.request.collective == Collective::bcast
                                          ? check_bcast(memory, plan, rank, block)
                                          : check_reduction(memory, plan, rank, block, size);
            if (!wrong.empty()) return wrong;
            if (!is_rooted(plan.request.collective) &&
                memory.result(rank, block) != memory.result(0, block)) {
                return fmt::format("block {} is combined in another order on rank {} than on rank 0", block,
                                   rank);
            }
        }
    }
    return {};
}

std::vector<Schedule> expand_all(const Plan& plan, const Topology& topology) {
    std::vector<Schedule> schedules;
    schedules.reserve(static_cast<std::size_t>(topology.size()));
    for (Rank rank = 0; rank < topology.size(); ++rank) schedules.push_back(expand(plan, topology, rank));
    return schedules;
}

}  // namespace laple
