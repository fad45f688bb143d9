// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collective/collective.hpp"

#include <algorithm>

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
    return {request.unit_bytes, request.units, 0};
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
std::vector<Piece> combined_at_root(const Request& request, int, Rank rank) {
    return rank == request.root ? whole(kResult, request, kAllRanks) : nothing();
}
std::vector<Piece> combined_everywhere(const Request& request, int, Rank) {
    return whole(kResult, request, kAllRanks);
}

BufferSizes block_of_each(const Request& request, int size, Rank rank) {
    return {request.unit_bytes, request.block_begin(size), request.block_begin(rank)};
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

constexpr std::array kRows{
    CollectiveRow{
        .collective = Collective::bcast,
        .name = "bcast",
        .is_rooted = true,
        .combines = false,
        .has_data = true,
        .has_input = false,
        .waits_for_all = false,
        .runs_to_root = false,
        .buffers = one_message,
        .before = message_at_root,
        .after = message_everywhere,
    },
    CollectiveRow{
        .collective = Collective::reduce,
        .name = "reduce",
        .is_rooted = true,
        .combines = true,
        .has_data = true,
        .has_input = true,
        .waits_for_all = false,
        .runs_to_root = true,
        .buffers = one_message,
        .before = own_contribution,
        .after = combined_at_root,
    },
    CollectiveRow{
        .collective = Collective::allreduce,
        .name = "allreduce",
        .is_rooted = false,
        .combines = true,
        .has_data = true,
        .has_input = true,
        .waits_for_all = true,
        .runs_to_root = false,
        .buffers = one_message,
        .before = own_contribution,
        .after = combined_everywhere,
    },
    CollectiveRow{
        .collective = Collective::barrier,
        .name = "barrier",
        .is_rooted = false,
        .combines = true,
        .has_data = false,
        .has_input = true,
        .waits_for_all = true,
        .runs_to_root = false,
        .buffers = one_message,
        .before = own_contribution,
        .after = combined_everywhere,
    },
    CollectiveRow{
        .collective = Collective::allgather,
        .name = "allgather",
        .is_rooted = false,
        .combines = false,
        .has_data = true,
        .has_input = true,
        .waits_for_all = true,
        .runs_to_root = false,
        .buffers = block_of_each,
        .before = own_block,
        .after = blocks_everywhere,
    },
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

}  // namespace laple
