// SPDX-License-Identifier: BSD-3-Clause
#include "placements.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <sched.h>

#include "base/error.hpp"
#include "mpi/probe/waiting.hpp"
#include "topology/hwloc/hwloc_host.hpp"

namespace laple::discover {
namespace {

enum Tag { kCount = 201, kProcessors, kPlacements };

static_assert(sizeof(Placement) == 3 * sizeof(int), "is sent as three numbers");
constexpr int kInts = 3;

struct FreeSet {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

/// The processors that this process may use; none when the system does not tell.
std::vector<int> affinity() {
    constexpr std::size_t kMost = 1 << 20;  // above any system's number of processors
    for (std::size_t count = 1024; count <= kMost; count *= 2) {
        const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(count));
        const std::size_t bytes = CPU_ALLOC_SIZE(count);
        if (set == nullptr) return {};
        if (sched_getaffinity(0, bytes, set.get()) != 0) {
            if (errno == EINVAL) continue;  // the kernel's set is larger
            return {};
        }
        std::vector<int> processors;
        for (std::size_t processor = 0; processor < count; ++processor) {
            if (CPU_ISSET_S(processor, bytes, set.get())) processors.push_back(static_cast<int>(processor));
        }
        return processors;
    }
    return {};
}

void send_affinity(MPI_Comm node) {
    const std::vector<int> processors = affinity();
    const int count = static_cast<int>(processors.size());
    mpi::send_quietly(&count, 1, MPI_INT, 0, kCount, node);
    mpi::send_quietly(processors.data(), count, MPI_INT, 0, kProcessors, node);
}

/// The processors of all ranks of a node, on its first rank.
std::vector<std::vector<int>> gather_affinities(MPI_Comm node) {
    int size = 0;
    PMPI_Comm_size(node, &size);
    std::vector<std::vector<int>> affinities{affinity()};
    for (int peer = 1; peer < size; ++peer) {
        int count = 0;
        mpi::receive_quietly(&count, 1, MPI_INT, peer, kCount, node);
        auto& processors = affinities.emplace_back(static_cast<std::size_t>(count));
        mpi::receive_quietly(processors.data(), count, MPI_INT, peer, kProcessors, node);
    }
    return affinities;
}

void say_unreadable(const Error& error) {
    std::array<char, MPI_MAX_PROCESSOR_NAME + 1> host{};
    int length = 0;
    PMPI_Get_processor_name(host.data(), &length);
    const std::string note =
        fmt::format("laple-discover: levels inside {} are left out: {}\n", host.data(), error.what());
    std::fputs(note.c_str(), stderr);
}

std::vector<Placement> placements_of(const std::vector<std::vector<int>>& affinities) {
    std::vector<Placement> placements;
    try {
        const HwlocHost host = HwlocHost::live();
        for (const auto& processors : affinities) placements.push_back(host.placement_of(processors));
    } catch (const Error& error) {
        say_unreadable(error);
        placements.clear();
    }
    placements.resize(affinities.size());
    return placements;
}

/// `mine` are those of rank 0's own node.
std::vector<Placement> gather_from_nodes(const std::vector<Placement>& mine, const mpi::NodeLayout& layout) {
    std::vector<Placement> by_rank(static_cast<std::size_t>(rank_count(layout.nodes())));
    for (std::size_t n = 0; n < layout.nodes().size(); ++n) {
        const std::vector<Rank>& ranks = layout.nodes()[n].ranks;
        std::vector<Placement> placements = mine;
        if (n > 0) {
            placements.resize(ranks.size());
            mpi::receive_quietly(placements.data(), kInts * static_cast<int>(ranks.size()), MPI_INT,
                                 static_cast<int>(n), kPlacements, layout.probes());
        }
        for (std::size_t i = 0; i < ranks.size(); ++i)
            by_rank[static_cast<std::size_t>(ranks[i])] = placements[i];
    }
    return by_rank;
}

}  // namespace

std::vector<Placement> gather_placements(const mpi::NodeLayout& layout) {
    if (layout.probes() == MPI_COMM_NULL) {
        send_affinity(layout.node());
        return {};
    }
    const std::vector<Placement> mine = placements_of(gather_affinities(layout.node()));
    if (!layout.nodes().empty()) return gather_from_nodes(mine, layout);
    mpi::send_quietly(mine.data(), kInts * static_cast<int>(mine.size()), MPI_INT, 0, kPlacements,
                      layout.probes());
    return {};
}

}  // namespace laple::discover
