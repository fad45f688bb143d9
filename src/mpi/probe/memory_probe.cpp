// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/memory_probe.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "base/index.hpp"
#include "base/median.hpp"
#include "collectives/schedule/builder.hpp"
#include "collectives/schedule/step_graph.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/join_host.hpp"
#include "mpi/exec/operation.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr std::array<Bytes, 6> kSizes{0, 1024, 4096, 16384, 65536, 131072};
constexpr Bytes kInRow = 1024 * 1024;  // in a row, each way, in as many messages
constexpr std::uint64_t kFewest = 4;
constexpr std::uint64_t kMost = 128;
constexpr int kTrials = 15;
constexpr std::size_t kData = 2u << 20;  // each way: more than what is in a cache of one rank's own
constexpr double kNearly = 0.8;

/// Of one size: both in seconds a message.
struct Times {
    double alone = 0;   ///< half a round trip
    double in_row = 0;  ///< while as many come the other way
};

std::uint64_t messages_of(Bytes bytes) {
    return std::clamp<std::uint64_t>(bytes > 0 ? kInRow / bytes : kMost, kFewest, kMost);
}

/// The ranks of a host; this one and its peer send to each other.
class HostProbe {
  public:
    HostProbe(MPI_Comm host, Rank peer, std::size_t memory) : peer_(peer), is_first_(rank_in(host) < peer) {
        if (peer < 0 && size_of(host) == 1) return;
        std::vector<Rank> all(at(size_of(host)));
        std::iota(all.begin(), all.end(), 0);
        ways_.comm = host;
        memory_ = join_host(host, all, memory / all.size());
        ways_.host = memory_.get();
        ways_.place_on_host.assign(all.begin(), all.end());
    }

    /// One round of a barrier of all ranks: where they share cores, each message waits for one. 0: one rank.
    double round() {
        if (memory_ == nullptr && ways_.place_on_host.empty()) return 0;
        const int size = size_of(ways_.comm);
        const Rank rank = rank_in(ways_.comm);
        ScheduleBuilder builder = builder_for(0);
        int rounds = 0;
        for (int distance = 1; distance < size; distance *= 2, ++rounds) {
            builder.send((rank + distance) % size, {kResult, 0, 1});
            builder.recv((rank + size - distance) % size, {kResult, 0, 1});
        }
        data_.resize(2 * kData, std::byte{1});
        return time_of(PreparedSchedule(std::move(builder).finish()), 0) / rounds;
    }

    Times measure(Bytes bytes) {
        if (peer_ < 0) return {};
        data_.resize(2 * kData, std::byte{1});
        const std::uint64_t messages = messages_of(bytes);
        return {time_of(back_and_forth(bytes), bytes) / 2,
                time_of(both_ways(bytes), bytes * messages) / static_cast<double>(messages)};
    }

  private:
    static ScheduleBuilder builder_for(Bytes bytes) {
        return {BufferSizes{1, kData + messages_of(bytes) * bytes, 0}, Windows{}};
    }

    /// What a run costs is part of it.
    PreparedSchedule back_and_forth(Bytes bytes) const {
        ScheduleBuilder builder = builder_for(bytes);
        if (is_first_) builder.send(peer_, {kResult, 0, bytes});
        builder.recv(peer_, {kResult, kData, bytes});
        if (!is_first_) builder.send(peer_, {kResult, 0, bytes});
        return PreparedSchedule(std::move(builder).finish());
    }

    PreparedSchedule both_ways(Bytes bytes) const {
        ScheduleBuilder builder = builder_for(bytes);
        for (std::uint64_t i = 0; i < messages_of(bytes); ++i) {
            builder.recv(peer_, {kResult, kData + i * bytes, bytes});
            builder.send(peer_, {kResult, i * bytes, bytes});
        }
        return PreparedSchedule(std::move(builder).finish());
    }

    /// The median of some runs; the first one makes connections. Each goes through other data than the one
    /// before, `bytes` each way: those of a large message are not in a cache.
    double time_of(const PreparedSchedule& prepared, Bytes bytes) {
        Operands operands;
        std::vector<double> times;
        for (int trial = 0; trial <= kTrials; ++trial) {
            operands.result = data_.data() + next_;
            next_ = next_ + 2 * bytes <= kData ? next_ + bytes : 0;
            const Seconds start = now();
            ++ways_.call;
            Operation(prepared, operands, ways_, scratch_).to_end();
            if (trial > 0) times.push_back((now() - start).count());
        }
        return median(times);
    }

    Rank peer_;
    bool is_first_;
    Ways ways_;
    std::unique_ptr<HostMemory> memory_;
    Scratch scratch_;
    std::vector<std::byte> data_;
    std::size_t next_ = 0;
};

/// Whose number differs in the last bit; -1 where there is none.
Rank peer_in(MPI_Comm host) {
    const Rank peer = rank_in(host) ^ 1;
    return peer < size_of(host) ? peer : -1;
}

/// L = T(0) - g(0), where T is half a round trip, or a round of all ranks if that takes longer, and g that of
/// many in a row; the gap of a message alone is
/// what its time is longer, and not below that of many. The last two sizes tell the rate of all that is
/// larger: where one of them was disturbed, it is not to seem without limit.
Plogp model_of(const std::vector<Times>& times, double round) {
    Plogp memory;
    const double on_way = std::max(times.front().alone - times.front().in_row, 0.0);
    const double latency = std::max(on_way, round - times.front().in_row);
    memory.latency = Seconds(latency);
    double in_row = 0;
    double alone = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        const bool is_last = i + 1 == times.size();
        const double at_least =
            is_last ? kNearly * static_cast<double>(kSizes[i]) / static_cast<double>(kSizes[i - 1]) : 1;
        in_row = std::max(times[i].in_row, at_least * in_row);
        alone = std::max({alone, times[i].alone - on_way, in_row});
        memory.flood_gap.set(kSizes[i], Seconds(in_row));
        memory.gap.set(kSizes[i], Seconds(alone));
    }
    return memory;
}

}  // namespace

Plogp measure_memory(MPI_Comm comm, MPI_Comm host, std::size_t memory) {
    const Rank peer = peer_in(host);
    HostProbe probe(host, peer, memory);
    std::vector<Times> mine{{0, probe.round()}};
    for (const Bytes bytes : kSizes) mine.push_back(probe.measure(bytes));
    const bool is_root = rank_in(comm) == 0;
    std::vector<Times> all(is_root ? at(size_of(comm)) * mine.size() : 0);
    const int bytes = static_cast<int>(mine.size() * sizeof(Times));
    PMPI_Gather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, comm);
    if (!is_root) return {};
    std::vector<Times> times;
    for (std::size_t size = 1; size < mine.size(); ++size) {
        std::vector<double> alone;
        std::vector<double> in_row;
        for (std::size_t i = size; i < all.size(); i += mine.size()) {
            if (all[i].alone <= 0) continue;  // has no peer
            alone.push_back(all[i].alone);
            in_row.push_back(all[i].in_row);
        }
        if (alone.empty()) return {};
        times.push_back({median(alone), median(in_row)});
    }
    std::vector<double> rounds;
    for (std::size_t i = 0; i < all.size(); i += mine.size()) {
        if (all[i].in_row > 0) rounds.push_back(all[i].in_row);
    }
    return model_of(times, median(rounds));
}

}  // namespace laple::mpi
