// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/payload.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/exec/communicator.hpp"

namespace laple::mpi {
namespace {

/// Numbers that go at once; the rest needs a second broadcast. Short enough to go without a handshake.
constexpr std::size_t kFirstPart = 1536;

/// Doubles as twice as many numbers that MPI may convert between unlike machines, bit for bit the same on
/// both.
std::vector<int> bits_of(const std::vector<double>& values) {
    std::vector<int> numbers;
    for (const double value : values) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        numbers.push_back(static_cast<int>(static_cast<std::uint32_t>(bits >> 32)));
        numbers.push_back(static_cast<int>(static_cast<std::uint32_t>(bits)));
    }
    return numbers;
}

std::vector<double> from_bits(const std::vector<int>& numbers) {
    std::vector<double> values;
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
        const auto high = static_cast<std::uint32_t>(numbers[i]);
        const auto low = static_cast<std::uint32_t>(numbers[i + 1]);
        values.push_back(std::bit_cast<double>(std::uint64_t{high} << 32 | low));
    }
    return values;
}

template <typename List>
void add(const List& list, std::vector<int>& numbers) {
    numbers.push_back(static_cast<int>(list.size()));
    numbers.insert(numbers.end(), list.begin(), list.end());
}

/// As plain numbers: how many they are, what it is, the number of levels, the groups of all ranks level after
/// level, ranks, letters, clusters of the costs, hosts, costs; before each list its length.
std::vector<int> encode(const Payload& payload) {
    std::vector<int> numbers{0, static_cast<int>(payload.content)};
    if (payload.agreement) {
        const auto& [topology, algorithm, ranks, costs, cluster_of, host_of] = *payload.agreement;
        numbers.push_back(topology.size());
        numbers.push_back(topology.level_count());
        for (int level = 0; level < topology.level_count(); ++level) {
            for (Rank rank = 0; rank < topology.size(); ++rank)
                numbers.push_back(topology.group_of(level, rank));
        }
        add(ranks, numbers);
        add(algorithm, numbers);
        add(cluster_of, numbers);
        add(host_of, numbers);
        add(bits_of(costs.is_empty() ? std::vector<double>() : costs.numbers()), numbers);
    }
    numbers[0] = static_cast<int>(numbers.size());
    return numbers;
}

Payload decode(const std::vector<int>& numbers) {
    Payload payload{static_cast<Content>(numbers[1]), std::nullopt};
    if (payload.content != Content::agreement) return payload;
    auto next = numbers.begin() + 2;
    const auto take = [&](int count) {
        next += count;
        return std::vector<int>(next - count, next);
    };
    const auto take_list = [&] { return take(*next++); };
    const int size = *next++;
    std::vector<std::vector<int>> levels(static_cast<std::size_t>(*next++));
    for (auto& labels : levels) labels = take(size);
    Agreement agreement{Topology::from_labels(size, levels), {}, {}, {}};
    agreement.ranks = take_list();
    for (const int letter : take_list()) agreement.algorithm.push_back(static_cast<char>(letter));
    agreement.cluster_of = take_list();
    agreement.host_of = take_list();
    const std::vector<double> prices = from_bits(take_list());
    if (!prices.empty()) agreement.costs = MachineCosts::from_numbers(prices);
    payload.agreement = std::move(agreement);
    return payload;
}

}  // namespace

Payload broadcast(MPI_Comm comm, int source, const Payload& payload) {
    std::vector<int> numbers;
    if (rank_in(comm) == source) numbers = encode(payload);
    numbers.resize(std::max(numbers.size(), kFirstPart));
    if (PMPI_Bcast(numbers.data(), static_cast<int>(kFirstPart), MPI_INT, source, comm) != MPI_SUCCESS)
        return {};
    const auto whole = static_cast<std::size_t>(numbers[0]);
    if (whole > kFirstPart) {
        numbers.resize(whole);
        if (PMPI_Bcast(numbers.data() + kFirstPart, static_cast<int>(whole - kFirstPart), MPI_INT, source,
                       comm) != MPI_SUCCESS)
            return {};
    }
    return decode(numbers);
}

}  // namespace laple::mpi
