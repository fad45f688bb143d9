// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/native_probe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/median.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/native_call.hpp"
#include "mpi/probe/clock.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

/// What rank 0 announces: a collective, or that there are no more.
constexpr std::int64_t kOver = -1;
/// Or an empty message from each rank to each other one.
constexpr std::int64_t kExchange = -2;
constexpr int kMostOfExchange = 64;  // ranks: others have too many connections to make

/// Those that tell most about all sizes first.
constexpr std::array<Bytes, 8> kSizes{8, 65536, 1048576, 4096, 16384, 262144, 1024, 32768};
constexpr std::size_t kFewSizes = 4;
constexpr Bytes kLeast = 8;
constexpr Bytes kLargest = 1048576;
// Of calls that take longer two will do, of which the shorter one counts: the first may have made
// connections, or lost a packet, which TCP sends again after 200 ms. Of those that take longer yet, one.
constexpr Seconds kLong = std::chrono::milliseconds(100);
constexpr Seconds kVeryLong = std::chrono::milliseconds(600);
constexpr Bytes kOnePacket = 1024;
// Larger ones than those that take longer go on as smaller ones did.
constexpr Seconds kTooLong{1.2};
constexpr Seconds kTooLongForJobs = std::chrono::milliseconds(150);
constexpr std::size_t kTrials = 3;
constexpr double kAlike = 0.15;                           // two values that differ by less need no third one
constexpr Seconds kShort = std::chrono::milliseconds(1);  // of calls that are shorter, processors are a part
constexpr std::size_t kTrialsOfShort = 9;
constexpr Seconds kMargin =
    std::chrono::milliseconds(1);  // before a start, so that every rank can sleep first
constexpr Seconds kMostLead{1};
constexpr double kLateShare = 0.05;
constexpr Seconds kLate = std::chrono::microseconds(250);
constexpr double kLeastPart = 0.1;  // of a call, that all ranks took part in

std::int64_t in_ns(Seconds time) {
    return static_cast<std::int64_t>(time.count() * 1e9);
}
Seconds from_ns(std::int64_t ns) {
    return Seconds(static_cast<double>(ns) * 1e-9);
}

class NativeProbe {
  public:
    NativeProbe(MPI_Comm comm, NativeSizes sizes, JobTimes known)
        : comm_(comm), clock_(comm, ClockChoice::automatic), sizes_(sizes), times_(std::move(known)) {
        if (times_.ranks != size_of(comm)) {
            times_.times.clear();
            times_.exchange = Seconds(0);
        }
        times_.ranks = size_of(comm);
        times_.is_unfinished = false;
    }

    JobTimes lead(Seconds most, const Patience& patience, bool wants_exchange) {
        const Seconds end = now() + most;
        end_of_values_ = end + most;
        const auto is_over = [&] { return patience.is_over() || now() > end; };
        if (wants_exchange && times_.exchange <= Seconds(0) && size_of(comm_) <= kMostOfExchange &&
            !is_over())
            times_.exchange = usual_time(kExchange, 0);
        for (const Collective collective : kAllCollectives) {
            if (!row_of(collective).has_data && times_.of(name_of(collective)).is_empty() && !is_over())
                measure(collective, 0);
        }
        // Time may be short for those that programs call more rarely.
        for (const bool late : {false, true}) {
            for (const Bytes bytes :
                 std::span(kSizes).first(sizes_ == NativeSizes::few ? kFewSizes : kSizes.size())) {
                for (const Collective collective : kAllCollectives) {
                    if (!row_of(collective).has_data || is_late(collective) != late ||
                        !is_wanted(collective, bytes))
                        continue;
                    if (is_over()) {
                        times_.is_unfinished = true;
                    } else {
                        measure(collective, bytes);
                    }
                }
            }
        }
        announce(kOver, 0, 0);
        for (auto& [collective, curve] : times_.times) smooth(curve);
        return std::move(times_);
    }

    void follow() {
        while (true) {
            std::array<std::int64_t, 3> order{};
            PMPI_Bcast(order.data(), 3, MPI_INT64_T, 0, comm_);
            if (order[0] == kOver) return;
            run(order[0], static_cast<Bytes>(order[1]), order[2]);
        }
    }

  private:
    /// Those of which a rank has a block for, or from, each other one; and prefixes.
    static bool is_late(Collective collective) {
        return is_personalized(collective) || is_combined_in_parts(collective) || is_prefix(collective);
    }

    /// It is not known yet, and takes neither too much memory nor, as smaller ones show, too long.
    bool is_wanted(Collective collective, Bytes bytes) const {
        if (most_bytes(collective, bytes) > kLargest) return false;
        const Curve& known = times_.of(name_of(collective));
        return known.find(bytes) == nullptr &&
               known.at(bytes) < (sizes_ == NativeSizes::few ? kTooLongForJobs : kTooLong);
    }

    /// What a rank gives or gets where each message has so many bytes. The root has most.
    Bytes most_bytes(Collective collective, Bytes bytes) const {
        const Request request{.collective = collective, .units = bytes};
        const BufferSizes sizes = row_of(collective).buffers(request, size_of(comm_), 0);
        return std::max(sizes.input_units, sizes.result_units);
    }

    /// A short call takes no longer than one of more bytes: then ranks have waited for processors.
    static void smooth(Curve& curve) {
        Seconds larger = Seconds::max();
        const auto known = curve.known();
        for (auto point = known.rbegin(); point != known.rend(); ++point) {
            const auto& [bytes, time] = *point;
            if (time < kShort && larger < time) curve.set(bytes, larger);
            larger = std::min(larger, time);
        }
    }

    /// Whether the three least ones are alike: others were disturbed.
    static bool has_settled(std::vector<double> values) {
        if (values.size() < kTrials) return false;
        std::sort(values.begin(), values.end());
        return values[kTrials - 1] < (1 + kAlike) * values.front();
    }

    /// Adds it to what is known; where a rank was late for all calls, it stays unknown.
    void measure(Collective collective, Bytes bytes) {
        const Seconds time = usual_time(static_cast<std::int64_t>(collective), bytes);
        if (time > Seconds(0)) {
            times_.times[std::string(name_of(collective))].set(bytes, time);
        } else {
            times_.is_unfinished = true;
        }
    }

    /// Short calls that take so much longer than the shortest one before: a packet was lost, most likely,
    /// which TCP sends again after 200 ms.
    bool has_lost(Bytes bytes, double first) const {
        return bytes <= kOnePacket &&
               first > kLong.count() + (shortest_ < Seconds::max() ? shortest_.count() : 0);
    }

    /// The median of some values; of fewer, but one, where these take too long: on busy hosts each may take
    /// some tenths of a second. Of long calls the lesser of two. After a loss the first one without, or the
    /// least of three. 0 where none is known.
    Seconds usual_time(std::int64_t call, Bytes bytes) {
        // Connections are made at the first call; the next ones tell how early to announce a start.
        if (connected_.insert(call).second) measure_once(call, std::min(bytes, kLeast));
        std::vector<double> values;
        std::size_t trials = kTrials;
        std::size_t unknown = 0;
        bool is_doubtful = false;
        while (values.size() < trials) {
            if (now() > end_of_values_ && !(values.empty() && unknown == 0) && !is_doubtful) break;
            const double value = measure_once(call, bytes).count();
            if (value <= 0 && ++unknown == kTrials) break;
            if (value <= 0) continue;
            values.push_back(value);
            if (values.size() == 1) is_doubtful = has_lost(bytes, values.front());
            shortest_ = std::min(shortest_, Seconds(values.back()));
            if (is_doubtful && values.back() > values.front() / 2) continue;
            if (is_doubtful || values.front() > kVeryLong.count()) break;
            if (values.front() > kLong.count() && values.size() == 2) break;
            if (values.front() < kShort.count()) {
                trials = has_settled(values) ? values.size() : kTrialsOfShort;
                continue;
            }
            if (values.size() == 2 && std::abs(values[1] / values[0] - 1) < kAlike) break;
        }
        if (values.empty()) return Seconds(0);
        const bool may_be_disturbed = is_doubtful || values.front() > kLong.count();
        return Seconds(may_be_disturbed ? *std::min_element(values.begin(), values.end()) : median(values));
    }

    /// The start is announced so early that every rank is ready; if one was not, once more with more time. 0
    /// where one began when most of the time had passed: what it took from there tells nothing. (A broadcast
    /// of 4 KiB took 15 us then, where 8 bytes took 1.4 ms.)
    Seconds measure_once(std::int64_t call, Bytes bytes) {
        constexpr int kMostLooks = 3;
        for (int look = 1;; ++look) {
            const std::int64_t begin = clock_.now_ns();
            const std::int64_t start = begin + in_ns(lead_);
            announce(call, bytes, start);
            const Worst worst = run(call, bytes, start);
            const Seconds needed = lead_ + worst.command;
            lead_ = std::min(std::max(1.5 * needed + kMargin, lead_ / 2), kMostLead);
            const bool is_good = worst.start <= std::max(kLate, kLateShare * worst.finish);
            if (!is_good && look < kMostLooks && now() <= end_of_values_) continue;
            const Seconds from_last_start = worst.finish - std::max(worst.start, Seconds(0));
            return from_last_start > kLeastPart * worst.finish ? from_last_start : Seconds(0);
        }
    }

    void announce(std::int64_t call, Bytes bytes, std::int64_t start) {
        std::array<std::int64_t, 3> order{call, static_cast<std::int64_t>(bytes), start};
        PMPI_Bcast(order.data(), 3, MPI_INT64_T, 0, comm_);
    }

    /// The latest of all ranks, after the agreed start; on rank 0.
    struct Worst {
        Seconds finish;
        Seconds start;
        Seconds command;  ///< when the announcement was there: mostly before the start, and negative
    };

    Worst run(std::int64_t call, Bytes bytes, std::int64_t start) {
        if (call != kExchange) make_room(static_cast<Collective>(call), bytes);
        const std::int64_t command = clock_.now_ns();
        clock_.wait_until(start);
        const std::int64_t begin = clock_.now_ns();
        if (call == kExchange) {
            exchange();
        } else {
            call_once(static_cast<Collective>(call), bytes);
        }
        const std::array<std::int64_t, 3> mine{clock_.now_ns() - start, begin - start, command - start};
        std::array<std::int64_t, 3> worst{};
        PMPI_Reduce(mine.data(), worst.data(), 3, MPI_INT64_T, MPI_MAX, 0, comm_);
        return {from_ns(worst[0]), from_ns(worst[1]), from_ns(worst[2])};
    }

    void make_room(Collective call, Bytes bytes) {
        const auto doubles = static_cast<std::size_t>(most_bytes(call, bytes) / sizeof(double));
        input_.resize(std::max(input_.size(), doubles), 1.0);
        output_.resize(std::max(output_.size(), doubles));
    }

    void call_once(Collective call, Bytes bytes) {
        const int count = static_cast<int>(bytes / sizeof(double));
        const bool has_elements = row_of(call).combines;
        call_native(call,
                    {input_.data(), output_.data(), has_elements ? count : static_cast<int>(bytes),
                     has_elements ? MPI_DOUBLE : MPI_BYTE, has_elements ? MPI_SUM : MPI_OP_NULL, 0, comm_});
    }

    void exchange() {
        constexpr int kTag = 0;
        std::vector<MPI_Request> requests;
        for (Rank other = 0; other < size_of(comm_); ++other) {
            if (other == rank_in(comm_)) continue;
            PMPI_Irecv(nullptr, 0, MPI_BYTE, other, kTag, comm_, &requests.emplace_back());
            PMPI_Isend(nullptr, 0, MPI_BYTE, other, kTag, comm_, &requests.emplace_back());
        }
        PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }

    MPI_Comm comm_;
    Clock clock_;
    NativeSizes sizes_;
    JobTimes times_;
    Seconds lead_ = std::chrono::milliseconds(20);
    Seconds end_of_values_{0};
    Seconds shortest_ = Seconds::max();  // of all calls
    std::set<std::int64_t> connected_;   // what was called
    std::vector<double> input_;
    std::vector<double> output_;
};

}  // namespace

JobTimes measure_natives(MPI_Comm comm, NativeSizes sizes, Seconds most, const Patience& patience,
                         JobTimes known, bool wants_exchange) {
    // The program may wait for messages on `comm`, and must not be given those of the clock, for example.
    MPI_Comm own = own_copy_of(comm);
    if (own == MPI_COMM_NULL) return known;
    JobTimes times;
    {
        NativeProbe probe(own, sizes, std::move(known));
        if (rank_in(own) == 0) {
            times = probe.lead(most, patience, wants_exchange);
        } else {
            probe.follow();
        }
    }
    PMPI_Comm_free(&own);
    return times;
}

double measure_reduction() {
    constexpr int kCount = 8 * 1024;  // 64 KiB
    constexpr int kTrials = 20;
    const std::vector<double> input(kCount, 1.0);
    std::vector<double> result(kCount, 0.0);
    Seconds best = Seconds::max();
    for (int i = 0; i < kTrials; ++i) {
        const Seconds start = now();
        PMPI_Reduce_local(input.data(), result.data(), kCount, MPI_DOUBLE, MPI_SUM);
        best = std::min(best, now() - start);
    }
    return best.count() / (kCount * sizeof(double));
}

}  // namespace laple::mpi
