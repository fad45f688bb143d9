// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/payload.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/packed_numbers.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

/// Bytes that go at once; the rest needs a second broadcast. MPICH sends up to 12 KiB down a tree and without
/// a handshake; longer messages are scattered and gathered in many steps.
constexpr std::size_t kFirstPart = 12 * 1024 - 64;
/// At the front of these: the number of all bytes.
constexpr std::size_t kLength = 4;

template <typename List>
void add(const List& list, std::vector<double>& numbers) {
    numbers.push_back(static_cast<double>(list.size()));
    numbers.insert(numbers.end(), list.begin(), list.end());
}

/// As plain numbers: what it is, the number of levels, the groups of all ranks level after level, ranks,
/// letters, clusters of the costs, hosts, costs; before each list its length.
std::vector<double> encode(const Payload& payload) {
    std::vector<double> numbers{static_cast<double>(payload.content)};
    if (!payload.agreement) return numbers;
    const auto& [topology, algorithm, ranks, costs, cluster_of, host_of] = *payload.agreement;
    numbers.push_back(topology.size());
    numbers.push_back(topology.level_count());
    for (int level = 0; level < topology.level_count(); ++level) {
        for (Rank rank = 0; rank < topology.size(); ++rank) numbers.push_back(topology.group_of(level, rank));
    }
    add(ranks, numbers);
    add(algorithm, numbers);
    add(cluster_of, numbers);
    add(host_of, numbers);
    add(costs.is_empty() ? std::vector<double>() : costs.numbers(), numbers);
    return numbers;
}

Payload decode(const std::vector<double>& numbers) {
    auto next = numbers.begin();
    const auto take_int = [&] { return static_cast<int>(*next++); };
    const auto take = [&](int count) {
        next += count;
        return std::vector<int>(next - count, next);
    };
    const auto take_list = [&] { return take(take_int()); };
    Payload payload{static_cast<Content>(take_int()), std::nullopt};
    if (payload.content != Content::agreement) return payload;
    const int size = take_int();
    std::vector<std::vector<int>> levels(static_cast<std::size_t>(take_int()));
    for (auto& labels : levels) labels = take(size);
    Agreement agreement{Topology::from_labels(size, levels), {}, {}, {}};
    agreement.ranks = take_list();
    for (const int letter : take_list()) agreement.algorithm.push_back(static_cast<char>(letter));
    agreement.cluster_of = take_list();
    agreement.host_of = take_list();
    const int prices = take_int();
    if (prices > 0) agreement.costs = MachineCosts::from_numbers(std::vector<double>(next, next + prices));
    payload.agreement = std::move(agreement);
    return payload;
}

/// How many bytes there are, at their front.
void note_length(std::vector<std::uint8_t>& bytes) {
    for (std::size_t i = 0; i < kLength; ++i) bytes[i] = static_cast<std::uint8_t>(bytes.size() >> 8 * i);
}
std::size_t noted_length(const std::vector<std::uint8_t>& bytes) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < kLength; ++i) length |= std::size_t{bytes[i]} << 8 * i;
    return length;
}

using Bytes = std::vector<std::uint8_t>;

/// On the source, as it is sent: as long as what goes at once, at least.
Bytes packed(const Payload& payload) {
    Bytes bytes(kLength);
    const Bytes numbers = pack_numbers(encode(payload));
    bytes.insert(bytes.end(), numbers.begin(), numbers.end());
    note_length(bytes);
    bytes.resize(std::max(bytes.size(), kFirstPart));
    return bytes;
}

bool broadcast_first_part(Bytes& bytes, MPI_Comm comm, int source, const std::function<void()>& meanwhile) {
    constexpr int kCount{kFirstPart};
    if (!meanwhile) return PMPI_Bcast(bytes.data(), kCount, MPI_BYTE, source, comm) == MPI_SUCCESS;
    MPI_Request request = MPI_REQUEST_NULL;
    if (PMPI_Ibcast(bytes.data(), kCount, MPI_BYTE, source, comm, &request) != MPI_SUCCESS) return false;
    meanwhile();
    return wait_quietly(request) == MPI_SUCCESS;
}

}  // namespace

Payload broadcast(MPI_Comm comm, int source, const Payload& payload, const std::function<void()>& meanwhile) {
    Bytes bytes = rank_in(comm) == source ? packed(payload) : Bytes(kFirstPart);
    if (!broadcast_first_part(bytes, comm, source, meanwhile)) return {};
    const std::size_t length = noted_length(bytes);
    if (length > kFirstPart) {
        bytes.resize(length);
        if (PMPI_Bcast(bytes.data() + kFirstPart, static_cast<int>(length - kFirstPart), MPI_BYTE, source,
                       comm) != MPI_SUCCESS)
            return {};
    }
    return decode(unpack_numbers(std::span(bytes).subspan(kLength, length - kLength)));
}

}  // namespace laple::mpi
