// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/memory_probe.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
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
constexpr int kRuns = 3;                 // between two barriers
constexpr int kLooks = 6;                // of which the fastest counts: what disturbs a look makes it longer
constexpr Bytes kMostRounds = 32;        // of a barrier, of a byte each
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

/// The ranks of a host; this one and its peer send to each other, while all other pairs do so. A run of one
/// pair says nothing where ranks share cores: others may be waiting for theirs. What counts is how long all
/// pairs take for some runs each.
class HostProbe {
  public:
    /// `host` has two ranks at least. `peer`: -1 if there is none.
    HostProbe(MPI_Comm host, Rank peer, std::size_t memory)
        : peer_(peer),
          is_first_(rank_in(host) < peer),
          barrier_(barrier_of(rank_in(host), size_of(host))),
          data_(2 * kData, std::byte{1}) {
        std::vector<Rank> all(at(size_of(host)));
        std::iota(all.begin(), all.end(), 0);
        ways_.comm = host;
        memory_ = join_host(host, all, memory / all.size());
        ways_.host = memory_.get();
        ways_.place_on_host.assign(all.begin(), all.end());
    }

    /// One round of a barrier of all ranks: where they share cores, each message waits for one.
    double round() {
        const int size = size_of(ways_.comm);
        barrier_time_ = time_of(barrier_, kMostRounds);
        return barrier_time_ / std::bit_width(static_cast<unsigned>(size - 1));
    }

    /// After round().
    Times measure(Bytes bytes) {
        const std::uint64_t messages = messages_of(bytes);
        const double alone =
            time_of(back_and_forth(bytes), std::max<Bytes>(bytes, 1)) - barrier_time_ / kRuns;
        const double in_row = time_of(both_ways(bytes), bytes * messages) - barrier_time_ / kRuns;
        return {std::max(alone, 0.0) / 2, std::max(in_row, 0.0) / static_cast<double>(messages)};
    }

  private:
    static PreparedSchedule barrier_of(Rank rank, int size) {
        ScheduleBuilder builder = builder_for(0);
        std::uint64_t round = 0;
        for (int distance = 1; distance < size; distance *= 2, ++round) {
            // What came in one round is sent in the next one.
            builder.send((rank + distance) % size, {kResult, round, 1});
            builder.recv((rank + size - distance) % size, {kResult, round + 1, 1});
        }
        return PreparedSchedule(std::move(builder).finish());
    }

    static ScheduleBuilder builder_for(Bytes bytes) {
        return {BufferSizes{1, kData + std::max<Bytes>(messages_of(bytes) * bytes, kMostRounds), 0},
                Windows{}};
    }

    /// What a run costs is part of it. The peer sends back what it got, at least a byte: an empty message
    /// would not have to wait for the other.
    PreparedSchedule back_and_forth(Bytes message) const {
        const Bytes bytes = std::max<Bytes>(message, 1);
        ScheduleBuilder builder = builder_for(bytes);
        if (peer_ < 0) return PreparedSchedule(std::move(builder).finish());
        if (is_first_) builder.send(peer_, {kResult, 0, bytes});
        builder.recv(peer_, {kResult, kData, bytes});
        if (!is_first_) builder.send(peer_, {kResult, kData, bytes});
        return PreparedSchedule(std::move(builder).finish());
    }

    PreparedSchedule both_ways(Bytes bytes) const {
        ScheduleBuilder builder = builder_for(bytes);
        for (std::uint64_t i = 0; peer_ >= 0 && i < messages_of(bytes); ++i) {
            builder.recv(peer_, {kResult, kData + i * bytes, bytes});
            builder.send(peer_, {kResult, i * bytes, bytes});
        }
        return PreparedSchedule(std::move(builder).finish());
    }

    /// How long a run takes while all ranks do the same, with a part of a barrier; the first run makes
    /// connections. Each goes through other data than the one before, `bytes` each way: those of a large
    /// message are not in a cache.
    double time_of(const PreparedSchedule& prepared, Bytes bytes) {
        run(prepared, bytes);
        double best = std::numeric_limits<double>::infinity();
        for (int look = 0; look < kLooks; ++look) {
            run(barrier_, kMostRounds);
            const Seconds start = now();
            for (int i = 0; i < kRuns; ++i) run(prepared, bytes);
            run(barrier_, kMostRounds);
            best = std::min(best, (now() - start).count() / kRuns);
        }
        return best;
    }

    void run(const PreparedSchedule& prepared, Bytes bytes) {
        if (next_ + bytes > kData) next_ = 0;
        Operands operands;
        operands.result = data_.data() + next_;
        next_ += bytes;
        ++ways_.call;
        Operation(prepared, operands, ways_, nullptr, scratch_).to_end();
    }

    Rank peer_;
    bool is_first_;
    PreparedSchedule barrier_;
    double barrier_time_ = 0;
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
/// many in a row; the gap of a message alone is what its time is longer, and not below that of many. The last
/// two sizes tell the rate of all that is larger: where one of them was disturbed, it is not to seem without
/// limit.
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
    std::vector<Times> mine(kSizes.size() + 1);
    if (size_of(host) > 1) {
        HostProbe probe(host, peer_in(host), memory);
        mine.front().alone = probe.round();
        std::transform(kSizes.begin(), kSizes.end(), mine.begin() + 1,
                       [&](Bytes bytes) { return probe.measure(bytes); });
    }
    const bool is_root = rank_in(comm) == 0;
    std::vector<Times> all(is_root ? at(size_of(comm)) * mine.size() : 0);
    const int bytes = static_cast<int>(mine.size() * sizeof(Times));
    PMPI_Gather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, comm);
    if (!is_root) return {};
    std::vector<Times> times;
    for (std::size_t size = 0; size < mine.size(); ++size) {
        std::vector<double> alone;
        std::vector<double> in_row;
        for (std::size_t i = 0; i < all.size(); i += mine.size()) {
            if (all[i].alone <= 0) continue;  // alone on its host
            alone.push_back(all[i + size].alone);
            in_row.push_back(all[i + size].in_row);
        }
        if (alone.empty()) return {};
        times.push_back({median(alone), median(in_row)});
    }
    const double round = times.front().alone;
    times.erase(times.begin());
    return model_of(times, round);
}

}  // namespace laple::mpi
