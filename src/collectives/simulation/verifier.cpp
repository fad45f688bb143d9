// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/verifier.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/simulation/simulator.hpp"

namespace laple {
namespace {

using Expression = std::uint64_t;
constexpr Expression kUnwritten = ~Expression{0};

/// Expressions over contributions, each stored once: equal numbers mean equal expressions.
class Expressions {
  public:
    Expression contribution(Rank rank, std::uint64_t unit) {
        return intern({-1 - rank, static_cast<std::int64_t>(unit)});
    }

    Expression combine(Expression left, Expression right) {
        if (unit_of(left) != unit_of(right)) throw std::runtime_error("two different units are combined");
        return intern({static_cast<std::int64_t>(left), static_cast<std::int64_t>(right)});
    }

    std::uint64_t unit_of(Expression e) const {
        while (nodes_[e].first >= 0) e = static_cast<Expression>(nodes_[e].first);
        return static_cast<std::uint64_t>(nodes_[e].second);
    }

    /// The ranks whose contributions `e` combines, from left to right.
    std::vector<Rank> operands(Expression e) const {
        std::vector<Rank> ranks;
        std::vector<Expression> open{e};
        while (!open.empty()) {
            const auto [left, right] = nodes_[open.back()];
            open.pop_back();
            if (left < 0) {
                ranks.push_back(static_cast<Rank>(-1 - left));
            } else {
                open.push_back(static_cast<Expression>(right));
                open.push_back(static_cast<Expression>(left));
            }
        }
        return ranks;
    }

  private:
    using Node =
        std::pair<std::int64_t, std::int64_t>;  // (left, right), or (-1 - rank, unit) of a contribution

    Expression intern(Node node) {
        const auto [entry, is_new] = numbers_.try_emplace(node, nodes_.size());
        if (is_new) nodes_.push_back(node);
        return entry->second;
    }

    std::vector<Node> nodes_;
    std::map<Node, Expression> numbers_;
};

class SymbolicMemory final : public SimulatedMemory {
  public:
    SymbolicMemory(std::span<const Schedule> schedules, const Request& request, bool in_place) {
        const CollectiveRow& row = row_of(request.collective);
        const int size = static_cast<int>(schedules.size());
        for (Rank rank = 0; rank < size; ++rank) {
            const Schedule& schedule = schedules[at(rank)];
            const BufferSizes sizes = row.buffers(request, size, rank);
            auto& buffers = memory_.emplace_back();
            buffers.emplace_back(sizes.input_units, kUnwritten);
            buffers.emplace_back(sizes.result_units, kUnwritten);
            for (const std::uint64_t units : schedule.temporary_units)
                buffers.emplace_back(units, kUnwritten);
            input_in_result_.push_back(in_place && sizes.input_in_result != BufferSizes::kApart
                                           ? static_cast<std::int64_t>(sizes.input_in_result)
                                           : -1);
            for (const Piece& piece : row.before(request, size, rank)) {
                for (std::uint64_t i = 0; i < piece.units; ++i)
                    cell(rank, piece.buffer, piece.offset + i) =
                        expressions_.contribution(piece.source, piece.source_offset + i);
            }
        }
    }

    Values load(Rank rank, Region region) override {
        Values values;
        for (std::uint64_t i = 0; i < region.units; ++i) {
            values.push_back(cell(rank, region.buffer, region.offset + i));
            if (values.back() == kUnwritten) {
                throw std::runtime_error(
                    fmt::format("rank {} reads unit {} of buffer {} before it is written", rank,
                                region.offset + i, region.buffer));
            }
        }
        return values;
    }

    void store(Rank rank, Region region, const Values& values) override {
        if (region.buffer == kInput)
            throw std::runtime_error(fmt::format("rank {} writes to its input", rank));
        for (std::uint64_t i = 0; i < region.units; ++i)
            cell(rank, region.buffer, region.offset + i) = values[i];
    }

    Values combine(const Values& left, const Values& right) override {
        Values values;
        for (std::size_t i = 0; i < left.size(); ++i)
            values.push_back(expressions_.combine(left[i], right[i]));
        return values;
    }

    const Expressions& expressions() const { return expressions_; }

    Expression& cell(Rank rank, Buffer buffer, std::uint64_t unit) {
        const std::int64_t shift = input_in_result_[at(rank)];
        auto& buffers = memory_[at(rank)];
        if (buffer == kInput && shift >= 0)
            return buffers[kResult].at(unit + static_cast<std::uint64_t>(shift));
        return buffers.at(buffer).at(unit);
    }

  private:
    Expressions expressions_;
    std::vector<std::vector<std::vector<Expression>>> memory_;  // by rank, buffer and unit
    std::vector<std::int64_t> input_in_result_;                 // by rank; below 0: two memories
};

std::string check_moved(const Expressions& expressions, Expression value, const Piece& piece,
                        std::uint64_t i) {
    if (expressions.operands(value) == std::vector<Rank>{piece.source} &&
        expressions.unit_of(value) == piece.source_offset + i)
        return {};
    return fmt::format("does not hold unit {} of rank {}", piece.source_offset + i, piece.source);
}

std::string check_combined(const Expressions& expressions, Expression value, const Piece& piece,
                           std::uint64_t i, bool commutative, bool may_repeat) {
    std::vector<Rank> operands = expressions.operands(value);
    if (may_repeat) {
        std::sort(operands.begin(), operands.end());
        operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    }
    if (commutative) std::sort(operands.begin(), operands.end());
    bool is_right =
        operands.size() == at(piece.combined) && expressions.unit_of(value) == piece.source_offset + i;
    for (std::size_t r = 0; is_right && r < operands.size(); ++r)
        is_right = operands[r] == static_cast<Rank>(r);
    return is_right ? std::string() : fmt::format("combines ranks {}", fmt::join(operands, " "));
}

}  // namespace

std::string verify(std::span<const Schedule> schedules, const Request& request, const Machine& machine,
                   std::uint64_t seed, bool in_place) {
    SymbolicMemory memory(schedules, request, in_place);
    SimulationOptions options;
    options.seed = seed;
    options.eager = seed % 2 == 0;
    const SimulationResult run = simulate(schedules, machine, &memory, options);
    if (!run.ok()) return run.failure;
    const CollectiveRow& row = row_of(request.collective);
    const int size = static_cast<int>(schedules.size());
    std::map<std::uint64_t, Expression> combined;  // by unit, on the ranks before
    for (Rank rank = 0; rank < size; ++rank) {
        for (const Piece& piece : row.after(request, size, rank)) {
            for (std::uint64_t i = 0; i < piece.units; ++i) {
                const Expression value = memory.cell(rank, piece.buffer, piece.offset + i);
                std::string wrong = value == kUnwritten ? "is not written"
                                    : piece.source == kCombined
                                        ? check_combined(memory.expressions(), value, piece, i,
                                                         request.commutative, !row.has_data)
                                        : check_moved(memory.expressions(), value, piece, i);
                if (wrong.empty() && piece.source == kCombined && piece.combined == size && row.has_data &&
                    combined.try_emplace(piece.source_offset + i, value).first->second != value)
                    wrong = "is combined in another order than on a rank before";
                if (!wrong.empty())
                    return fmt::format("rank {}: unit {} of buffer {} {}", rank, piece.offset + i,
                                       piece.buffer, wrong);
            }
        }
    }
    return {};
}

}  // namespace laple
