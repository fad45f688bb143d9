// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collective/collective.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace laple {
namespace {

std::vector<Piece> nothing() {
    return {};
}

std::vector<Piece> whole(Buffer buffer, const Request& request, Rank source) {
    return {{buffer, 0, request.units, source, 0}};
}

BufferSizes one_message(const Request& request, int, Rank) {
    return {request.unit_bytes, request.units, 0, 0};
}
BufferSizes one_combined(const Request& request, int, Rank) {
    return {request.unit_bytes, request.units, 0, request.units};
}

std::vector<Piece> message_at_root(const Request& request, int, Rank rank) {
    return rank == request.root ? whole(kResult, request, rank) : nothing();
}
std::vector<Piece> message_everywhere(const Request& request, int, Rank) {
    return whole(kResult, request, request.root);
}
std::vector<Piece> own_contribution(const Request& request, int, Rank rank) {
    return whole(kInput, request, rank);
}
std::vector<Piece> combined_everywhere(const Request& request, int size, Rank) {
    return {{kResult, 0, request.units, kCombined, 0, size}};
}
std::vector<Piece> combined_at_root(const Request& request, int size, Rank rank) {
    return rank == request.root ? combined_everywhere(request, size, rank) : nothing();
}

BufferSizes block_of_result(const Request& request, int size, Rank rank) {
    return {request.unit_bytes, request.block_units(rank), BufferSizes::kApart, request.block_begin(size)};
}
std::vector<Piece> contribution_to_all_blocks(const Request& request, int size, Rank rank) {
    return {{kInput, 0, request.block_begin(size), rank, 0}};
}
std::vector<Piece> own_block_combined(const Request& request, int size, Rank rank) {
    return {{kResult, 0, request.block_units(rank), kCombined, request.block_begin(rank), size}};
}

std::vector<Piece> combined_up_to_own(const Request& request, int, Rank rank) {
    return {{kResult, 0, request.units, kCombined, 0, rank + 1}};
}
std::vector<Piece> combined_before_own(const Request& request, int size, Rank rank) {
    return rank == 0 ? nothing() : combined_up_to_own(request, size, rank - 1);
}

BufferSizes block_of_each(const Request& request, int size, Rank rank) {
    return {request.unit_bytes, request.block_begin(size), request.block_begin(rank),
            request.block_units(rank)};
}
std::vector<Piece> own_block(const Request& request, int, Rank rank) {
    return {{kInput, 0, request.block_units(rank), rank, 0}};
}
std::vector<Piece> blocks_everywhere(const Request& request, int size, Rank) {
    std::vector<Piece> blocks;
    for (Rank source = 0; source < size; ++source)
        blocks.push_back({kResult, request.block_begin(source), request.block_units(source), source, 0});
    return blocks;
}

std::uint64_t all_blocks(const Request& request, int size) {
    return request.units * static_cast<std::uint64_t>(size);
}
/// One block for each rank, or from each.
std::vector<Piece> blocks_of_each(Buffer buffer, const Request& request, int size, Rank source) {
    std::vector<Piece> blocks;
    for (Rank other = 0; other < size; ++other) {
        const std::uint64_t begin = request.units * static_cast<std::uint64_t>(other);
        blocks.push_back(buffer == kInput ? Piece{kInput, begin, request.units, source, begin}
                                          : Piece{kResult, begin, request.units, other, 0});
    }
    return blocks;
}

BufferSizes blocks_at_root(const Request& request, int size, Rank rank) {
    if (rank != request.root) return {request.unit_bytes, 0, BufferSizes::kApart, request.units};
    return {request.unit_bytes, all_blocks(request, size),
            request.units * static_cast<std::uint64_t>(request.root), request.units};
}
std::vector<Piece> block_from_each_at_root(const Request& request, int size, Rank rank) {
    return rank == request.root ? blocks_of_each(kResult, request, size, rank) : nothing();
}

BufferSizes blocks_from_root(const Request& request, int size, Rank rank) {
    return {request.unit_bytes, request.units, BufferSizes::kApart,
            rank == request.root ? all_blocks(request, size) : 0};
}
std::vector<Piece> block_for_each_at_root(const Request& request, int size, Rank rank) {
    return rank == request.root ? blocks_of_each(kInput, request, size, rank) : nothing();
}
std::vector<Piece> own_block_of_root(const Request& request, int, Rank rank) {
    return {{kResult, 0, request.units, request.root, request.units * static_cast<std::uint64_t>(rank)}};
}

BufferSizes blocks_to_and_from_each(const Request& request, int size, Rank) {
    return {request.unit_bytes, all_blocks(request, size), BufferSizes::kApart, all_blocks(request, size)};
}
std::vector<Piece> block_for_each(const Request& request, int size, Rank rank) {
    return blocks_of_each(kInput, request, size, rank);
}
std::vector<Piece> own_block_of_each(const Request& request, int size, Rank rank) {
    std::vector<Piece> blocks = blocks_of_each(kResult, request, size, rank);
    for (Piece& block : blocks) block.source_offset = request.units * static_cast<std::uint64_t>(rank);
    return blocks;
}

constexpr CollectiveRow row(Collective collective, CollectiveRow traits,
                            decltype(CollectiveRow::buffers) buffers, decltype(CollectiveRow::before) before,
                            decltype(CollectiveRow::after) after) {
    traits.collective = collective;
    traits.buffers = buffers;
    traits.before = before;
    traits.after = after;
    return traits;
}

constexpr std::array kRows{
    row(Collective::bcast, {.name = "bcast", .is_rooted = true, .has_input = false}, one_message,
        message_at_root, message_everywhere),
    row(Collective::reduce, {.name = "reduce", .is_rooted = true, .combines = true, .runs_to_root = true},
        one_combined, own_contribution, combined_at_root),
    row(Collective::allreduce, {.name = "allreduce", .combines = true, .waits_for_all = true}, one_combined,
        own_contribution, combined_everywhere),
    row(Collective::barrier, {.name = "barrier", .combines = true, .has_data = false, .waits_for_all = true},
        one_combined, own_contribution, combined_everywhere),
    row(Collective::allgather, {.name = "allgather", .waits_for_all = true}, block_of_each, own_block,
        blocks_everywhere),
    row(Collective::gather,
        {.name = "gather", .is_rooted = true, .is_personalized = true, .runs_to_root = true}, blocks_at_root,
        own_contribution, block_from_each_at_root),
    row(Collective::scatter, {.name = "scatter", .is_rooted = true, .is_personalized = true},
        blocks_from_root, block_for_each_at_root, own_block_of_root),
    row(Collective::alltoall, {.name = "alltoall", .is_personalized = true, .waits_for_all = true},
        blocks_to_and_from_each, block_for_each, own_block_of_each),
    row(Collective::reduce_scatter,
        {.name = "reduce_scatter", .combines = true, .is_in_parts = true, .waits_for_all = true},
        block_of_result, contribution_to_all_blocks, own_block_combined),
    row(Collective::scan, {.name = "scan", .combines = true, .is_prefix = true}, one_combined,
        own_contribution, combined_up_to_own),
    row(Collective::exscan, {.name = "exscan", .combines = true, .is_prefix = true, .excludes_own = true},
        one_combined, own_contribution, combined_before_own),
};
static_assert(kRows.size() == kAllCollectives.size());

}  // namespace

const CollectiveRow& row_of(Collective collective) {
    return kRows[static_cast<std::size_t>(collective)];
}

std::optional<Collective> collective_named(std::string_view name) {
    for (const CollectiveRow& row : kRows) {
        if (row.name == name) return row.collective;
    }
    return std::nullopt;
}

namespace {

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return lower;
}

void cut_off_front(std::string& name, std::string_view begin) {
    if (name.starts_with(begin)) name.erase(0, begin.size());
}

void cut_off_end(std::string& name, std::string_view end) {
    if (name.ends_with(end)) name.resize(name.size() - end.size());
}

}  // namespace

std::string plain_name(std::string_view function) {
    constexpr std::array<std::string_view, 5> kWithCounts{"allgatherv", "gatherv", "scatterv", "alltoallv",
                                                          "alltoallw"};
    std::string name = lower_case(function);
    cut_off_end(name, "_c");
    cut_off_end(name, "_init");
    if (name.ends_with("reduce_scatter_block")) cut_off_end(name, "_block");
    cut_off_front(name, "mpi_");
    cut_off_front(name, "i");  // no collective's own name begins with it
    const bool has_counts = std::find(kWithCounts.begin(), kWithCounts.end(), name) != kWithCounts.end();
    return has_counts || collective_named(name) ? name : std::string(function);
}

bool is_started(std::string_view function) {
    std::string name = lower_case(function);
    cut_off_front(name, "mpi_");
    cut_off_end(name, "_c");
    return name.starts_with('i') || name.ends_with("_init");
}

std::string collective_names() {
    std::vector<std::string_view> names;
    for (const CollectiveRow& row : kRows) names.push_back(row.name);
    return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

Request request_for(Collective collective, Bytes bytes, Rank root) {
    const CollectiveRow& row = row_of(collective);
    Request request;
    request.collective = collective;
    request.root = row.is_rooted ? root : 0;
    if (!row.has_data) {
        request.units = 1;
        request.unit_bytes = 0;
        return request;
    }
    request.unit_bytes = row.combines ? 8 : 1;
    request.units = (bytes + request.unit_bytes - 1) / request.unit_bytes;
    return request;
}

Request varied_request(Collective collective, Rank root) {
    constexpr Bytes kUsualBlock = 512;
    Request request = request_for(collective, kUsualBlock, root);
    request.is_varied = true;
    return request;
}

}  // namespace laple
