// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/native_probe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/median.hpp"
#include "mpi/probe/clock.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

enum Call : std::int64_t { kOver, kBcast, kReduce, kAllreduce, kBarrier };

constexpr std::array<Bytes, 8> kSizes{8, 1024, 4096, 16384, 32768, 65536, 262144, 1048576};
constexpr Seconds kLong = std::chrono::milliseconds(300);  // of calls that take longer one will do
constexpr Seconds kTooLong = 4 * kLong;                    // larger ones go on as the last two did
constexpr int kTrials = 3;
constexpr double kAlike = 0.15;  // two values that differ by less need no third one
constexpr Seconds kMargin =
    std::chrono::milliseconds(1);  // before a start, so that every rank can sleep first
constexpr Seconds kMostLead{1};
constexpr double kLateShare = 0.05;
constexpr Seconds kLate = std::chrono::microseconds(250);

std::int64_t in_ns(Seconds time) {
    return static_cast<std::int64_t>(time.count() * 1e9);
}
Seconds from_ns(std::int64_t ns) {
    return Seconds(static_cast<double>(ns) * 1e-9);
}

class NativeProbe {
  public:
    explicit NativeProbe(MPI_Comm comm) : comm_(comm), clock_(comm, ClockChoice::automatic) {
        PMPI_Comm_size(comm, &times_.ranks);
    }

    NativeTimes lead(Seconds most, const Patience& patience) {
        const Seconds end = now() + most;
        const auto is_over = [&] { return patience.is_over() || now() > end; };
        if (!is_over()) {
            // Connections are made at the first call; the next ones tell how early to announce a start.
            for (const Call call : {kBarrier, kBcast, kReduce, kAllreduce})
                measure_once(call, kSizes.front());
            measure(kBarrier, 0, times_.barrier);
        }
        for (const Bytes bytes : kSizes) {
            Seconds longest(0);
            for (const auto& [call, curve] :
                 {std::pair{kBcast, &times_.bcast}, std::pair{kReduce, &times_.reduce},
                  std::pair{kAllreduce, &times_.allreduce}}) {
                if (!is_over()) longest = std::max(longest, measure(call, bytes, *curve));
            }
            if (longest > kTooLong) break;
        }
        announce(kOver, 0, 0);
        return times_;
    }

    void follow() {
        while (true) {
            std::array<std::int64_t, 3> order{};
            PMPI_Bcast(order.data(), 3, MPI_INT64_T, 0, comm_);
            if (order[0] == kOver) return;
            run(static_cast<Call>(order[0]), static_cast<Bytes>(order[1]), order[2]);
        }
    }

  private:
    /// Adds the median of some values to `curve`.
    Seconds measure(Call call, Bytes bytes, Curve& curve) {
        std::vector<double> values;
        while (values.size() < kTrials) {
            values.push_back(measure_once(call, bytes).count());
            if (values.front() > kLong.count()) break;
            if (values.size() == 2 && std::abs(values[1] / values[0] - 1) < kAlike) break;
        }
        curve.set(bytes, Seconds(median(values)));
        return Seconds(median(values));
    }

    /// The start is announced so early that every rank is ready; if one was not, once more with more time.
    Seconds measure_once(Call call, Bytes bytes) {
        constexpr int kMostLooks = 3;
        for (int look = 1;; ++look) {
            const std::int64_t begin = clock_.now_ns();
            const std::int64_t start = begin + in_ns(lead_);
            announce(call, bytes, start);
            const Worst worst = run(call, bytes, start);
            const Seconds needed = lead_ + worst.command;
            lead_ = std::min(std::max(1.5 * needed + kMargin, lead_ / 2), kMostLead);
            if (worst.start <= std::max(kLate, kLateShare * worst.finish) || look == kMostLooks)
                return worst.finish - std::max(worst.start, Seconds(0));
        }
    }

    void announce(Call call, Bytes bytes, std::int64_t start) {
        std::array<std::int64_t, 3> order{call, static_cast<std::int64_t>(bytes), start};
        PMPI_Bcast(order.data(), 3, MPI_INT64_T, 0, comm_);
    }

    /// The latest of all ranks, after the agreed start; on rank 0.
    struct Worst {
        Seconds finish;
        Seconds start;
        Seconds command;  ///< when the announcement was there: mostly before the start, and negative
    };

    Worst run(Call call, Bytes bytes, std::int64_t start) {
        input_.resize(std::max(input_.size(), static_cast<std::size_t>(bytes / sizeof(double))), 1.0);
        output_.resize(input_.size());
        const int count = static_cast<int>(bytes / sizeof(double));
        const std::int64_t command = clock_.now_ns();
        clock_.wait_until(start);
        const std::int64_t begin = clock_.now_ns();
        switch (call) {
            case kBcast:
                PMPI_Bcast(input_.data(), static_cast<int>(bytes), MPI_BYTE, 0, comm_);
                break;
            case kReduce:
                PMPI_Reduce(input_.data(), output_.data(), count, MPI_DOUBLE, MPI_SUM, 0, comm_);
                break;
            case kAllreduce:
                PMPI_Allreduce(input_.data(), output_.data(), count, MPI_DOUBLE, MPI_SUM, comm_);
                break;
            case kBarrier:
                PMPI_Barrier(comm_);
                break;
            case kOver:
                break;
        }
        const std::array<std::int64_t, 3> mine{clock_.now_ns() - start, begin - start, command - start};
        std::array<std::int64_t, 3> worst{};
        PMPI_Reduce(mine.data(), worst.data(), 3, MPI_INT64_T, MPI_MAX, 0, comm_);
        return {from_ns(worst[0]), from_ns(worst[1]), from_ns(worst[2])};
    }

    MPI_Comm comm_;
    Clock clock_;
    NativeTimes times_;
    Seconds lead_ = std::chrono::milliseconds(20);
    std::vector<double> input_;
    std::vector<double> output_;
};

}  // namespace

NativeTimes measure_natives(MPI_Comm comm, Seconds most, const Patience& patience) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    NativeProbe probe(comm);
    if (rank == 0) return probe.lead(most, patience);
    probe.follow();
    return {};
}

}  // namespace laple::mpi
