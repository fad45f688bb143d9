// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/link_probe.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/median.hpp"
#include "mpi/probe/waiting.hpp"
#include "plogp/sampler.hpp"
#include "plogp/size_search.hpp"

namespace laple::mpi {
namespace {

enum Tag { kCommand = 1, kData, kEmpty };

/// What the measuring side wants of the answering one, as often as `count` says.
enum Order : std::uint64_t { kOver, kAnswer, kSendOnRequest, kSink };
struct Command {
    std::uint64_t order = kOver;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
};

constexpr Bytes kMaxBytes = 8 * 1024 * 1024;
constexpr Bytes kColdBytes = 1024 * 1024;

// A flood's messages on their way at a time: as the executor's window on long links.
constexpr Bytes kFloodWindow = 512 * 1024;
constexpr std::uint64_t kMostInFlight = 64;
constexpr std::uint64_t kLeastInFlight = 4;
// A flood is longer than the token-bucket burst of a shaper.
constexpr Bytes kFloodBytes = 192 * 1024;
constexpr std::uint64_t kLongestFlood = 256;
constexpr Bytes kMostFlooded = 64 * 1024;
constexpr Bytes kLongMessage = 1024;  // floods of such are not disturbed by much: one will do
constexpr int kFloods = 2;

constexpr Seconds kTimePerSize = std::chrono::milliseconds(20);  // round trips of one size, two at least
constexpr double kDisturbed = 1.5;  // times what is expected: an empty trip is measured again
constexpr int kMoreLooks = 5;
constexpr double kOdd = 1.05;  // times that of a larger message: a trip is doubted
constexpr Bytes kLeastRested = 16 * 1024;
constexpr Bytes kMostRested = 16 * 1024 * 1024;
constexpr int kRestedTrips = 3;
constexpr Seconds kShortestRest = std::chrono::milliseconds(20);
constexpr Bytes kLeastFar = 256;            // of what is not just a round trip
constexpr Bytes kMostReceived = 16 * 1024;  // far: larger ones wait for a handshake in any case

std::uint64_t in_flight(Bytes bytes) {
    return std::clamp<std::uint64_t>(kFloodWindow / std::max<Bytes>(bytes, 1), kLeastInFlight, kMostInFlight);
}

/// Memory that is sent and received; what it holds is of no interest, but it is mapped.
class Buffer {
  public:
    std::byte* get(Bytes bytes) {
        if (memory_.size() < bytes) memory_.resize(bytes);
        return memory_.data();
    }

  private:
    std::vector<std::byte> memory_ = std::vector<std::byte>(64 * 1024);
};

void send(const void* data, Bytes bytes, int to, int tag, MPI_Comm comm) {
    PMPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm);
}

void receive(void* data, Bytes bytes, int from, int tag, MPI_Comm comm) {
    PMPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
}

/// Sends or receives `count` messages with a window of them under way.
template <typename Start>
void stream(std::uint64_t count, Bytes bytes, Start start) {
    std::vector<MPI_Request> window(std::min(count, in_flight(bytes)), MPI_REQUEST_NULL);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t slot = i % window.size();
        PMPI_Wait(&window[slot], MPI_STATUS_IGNORE);
        start(slot, window[slot]);
    }
    PMPI_Waitall(static_cast<int>(window.size()), window.data(), MPI_STATUSES_IGNORE);
}

struct Trip {
    Seconds whole;
    Seconds send;  // inside the send call
};

/// Receives and floods are measured for 0 and powers of 4; far not for the small ones, which take all the
/// same time, and a round trip each.
bool has_overheads(Bytes bytes, bool is_far) {
    const bool is_power_of_4 = (bytes & (bytes - 1)) == 0 && (bytes & 0x5555555555555555u) == bytes;
    return is_power_of_4 && (bytes == 0 || !is_far || bytes >= kLeastFar);
}

Sampler::Options sampling_of(Bytes bytes, bool is_long) {
    if (is_long) return {.precision = 0.03, .least = 2, .most = 6};
    return {.precision = 0.03, .least = 5, .most = bytes <= 1024 ? 72u : bytes <= 65536 ? 36u : 18u};
}

class LinkMeasurement {
  public:
    LinkMeasurement(MPI_Comm probes, int peer, const LinkProbeOptions& options, const Patience& patience)
        : probes_(probes), peer_(peer), options_(options), patience_(patience) {}

    PlogpSamples measure() {
        warm_up();
        if (options_.is_far) measure_cold();
        measure_sizes();
        measure_floods();
        if (!options_.is_far) measure_rested();
        order({kOver, 0, 0});
        return std::move(samples_);
    }

  private:
    void order(const Command& command) { send(&command, sizeof command, peer_, kCommand, probes_); }

    /// The peer may still be busy with others, and connections may have to be made.
    void warm_up() {
        order({kAnswer, 0, 2});
        trip(0);
        trip(0);
    }

    Trip trip(Bytes bytes) {
        std::byte* data = buffer_.get(bytes);
        const Seconds start = now();
        send(data, bytes, peer_, kData, probes_);
        const Seconds sent = now();
        receive(nullptr, 0, peer_, kEmpty, probes_);
        return {now() - start, sent - start};
    }

    /// Nothing large has passed here yet, so TCP's window is as small as it is after any pause.
    void measure_cold() {
        if (patience_.is_over()) return;
        order({kAnswer, kColdBytes, 1});
        samples_.cold[kColdBytes] = trip(kColdBytes).whole;
    }

    /// Round trips, and after these, what they say is expected of a receive.
    void measure_sizes() {
        SizeSearch search({.max_bytes = kMaxBytes,
                           .first = options_.is_far ? kLeastFar / 4 : 1,
                           .step = options_.is_far ? 4u : 2u,
                           .max_between = options_.is_far ? 7u : 10u});
        while (const auto bytes = search.next()) {
            const bool is_needed = *bytes == 0;
            if (!is_needed && patience_.is_over()) return;
            measure_trips(*bytes);
            if (*bytes == 0) measure_again_if_disturbed();
            const Seconds whole = samples_.round_trip[*bytes];
            if (has_overheads(*bytes, options_.is_far) && (!options_.is_far || *bytes <= kMostReceived))
                measure_receive(*bytes, whole);
            search.add(*bytes, {whole});
            if (whole > options_.longest_trip) break;
        }
        repair();
    }

    /// Everything depends on the empty message. How long it takes is known, about, from a longer look at many
    /// pairs.
    void measure_again_if_disturbed() {
        const Seconds& best = samples_.round_trip[0];
        for (int i = 0; i < kMoreLooks && best > kDisturbed * options_.round_trip; ++i)
            measure_trips_again(0);
    }

    /// A message that takes longer than a larger one was disturbed, most likely.
    void repair() {
        Seconds shortest = Seconds::max();
        std::vector<Bytes> odd;
        for (auto trip = samples_.round_trip.rbegin(); trip != samples_.round_trip.rend(); ++trip) {
            if (trip->second > kOdd * shortest) odd.push_back(trip->first);
            shortest = std::min(shortest, trip->second);
        }
        for (const Bytes bytes : odd) {
            if (patience_.is_over()) return;
            measure_trips_again(bytes);
        }
    }

    /// The shorter one holds.
    void measure_trips_again(Bytes bytes) {
        const Seconds before = samples_.round_trip[bytes];
        measure_trips(bytes);
        samples_.round_trip[bytes] = std::min(before, samples_.round_trip[bytes]);
    }

    void measure_trips(Bytes bytes) {
        // Few values of a long trip will do: what disturbs it is short in proportion.
        const bool is_long = options_.is_far || last_trip_ > kTimePerSize / 4;
        Sampler whole(sampling_of(bytes, is_long));
        Sampler inside({});
        std::vector<double> trips;
        const Seconds start = now();
        while (!whole.is_settled() && (whole.count() < 2 || now() - start < kTimePerSize)) {
            const std::uint64_t batch = !is_long ? 6 : whole.count() == 0 ? 2 : 1;
            order({kAnswer, bytes, batch});
            for (std::uint64_t i = 0; i < batch; ++i) {
                const Trip one = trip(bytes);
                // The first trip of a batch waits for its command to be understood.
                if (i == 0 && !is_long) continue;
                whole.add(one.whole);
                trips.push_back(one.whole.count());
                inside.add(one.send);
            }
        }
        last_trip_ = whole.smallest();
        // Disturbances make a trip longer, but an idle shaper lets some pass faster than its rate: the median
        // of many is the typical one.
        samples_.round_trip[bytes] = is_long ? whole.smallest() : Seconds(median(trips));
        samples_.confidence[bytes] = whole.confidence();
        samples_.send[bytes] = inside.smallest();
    }

    /// The time in the receive call, once the message has certainly arrived.
    void measure_receive(Bytes bytes, Seconds whole) {
        std::byte* data = buffer_.get(bytes);
        const std::uint64_t count = options_.is_far || whole > kTimePerSize / 6 ? 1 : 6;
        order({kSendOnRequest, bytes, count});
        Seconds best = Seconds::max();
        for (std::uint64_t i = 0; i < count; ++i) {
            send(nullptr, 0, peer_, kEmpty, probes_);
            rest(1.2 * whole);
            const Seconds start = now();
            receive(data, bytes, peer_, kData, probes_);
            best = std::min(best, now() - start);
        }
        samples_.receive[bytes] = best;
    }

    Seconds flood(Bytes bytes, std::uint64_t count) {
        const std::byte* data = buffer_.get(bytes);
        order({kSink, bytes, count});
        const Seconds start = now();
        stream(count, bytes, [&](std::size_t, MPI_Request& request) {
            PMPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer_, kData, probes_, &request);
        });
        receive(nullptr, 0, peer_, kEmpty, probes_);
        return now() - start;
    }

    /// The difference of a flood and one three times as long: what both begin and end with cancels out, such
    /// as latency and token-bucket bursts.
    void measure_floods() {
        for (const auto& [bytes, trip] : samples_.round_trip) {
            if (!has_overheads(bytes, options_.is_far) || bytes > kMostFlooded ||
                (bytes > 0 && patience_.is_over()))
                continue;
            const std::uint64_t count =
                std::clamp<std::uint64_t>(kFloodBytes / std::max<Bytes>(bytes, 1), 2, kLongestFlood);
            Seconds brief = Seconds::max();
            Seconds lasting = Seconds::max();
            for (int i = 0; i < (options_.is_far || bytes >= kLongMessage ? 1 : kFloods); ++i) {
                brief = std::min(brief, flood(bytes, count));
                lasting = std::min(lasting, flood(bytes, 3 * count));
            }
            samples_.flood[bytes] = std::max(Seconds(0), (lasting - brief) / static_cast<double>(2 * count));
        }
    }

    /// Larger and larger messages, each after a rest, while half of them and more pass at once. A rest is as
    /// long as it takes to fill up again what the last one has used up.
    void measure_rested() {
        const double rate = flood_rate(samples_);
        if (!(rate > 0)) return;
        for (Bytes bytes = kLeastRested; bytes <= kMostRested && !patience_.is_over(); bytes *= 2) {
            const Seconds usual(static_cast<double>(bytes) / rate);
            Seconds best = Seconds::max();
            for (int i = 0; i < kRestedTrips && (i == 0 || !patience_.is_over()); ++i) {
                order({kAnswer, bytes, 1});
                rest(std::max(kShortestRest, 2 * usual));
                best = std::min(best, trip(bytes).whole);
            }
            samples_.rested[bytes] = best;
            if (best - samples_.round_trip[0] > usual / 2) return;
        }
    }

    MPI_Comm probes_;
    int peer_;
    LinkProbeOptions options_;
    Patience patience_;
    Buffer buffer_;
    PlogpSamples samples_;
    Seconds last_trip_{0};  // of the size before
};

}  // namespace

PlogpSamples measure_link(MPI_Comm probes, int peer, const LinkProbeOptions& options,
                          const Patience& patience) {
    return LinkMeasurement(probes, peer, options, patience).measure();
}

void answer_link(MPI_Comm probes, int peer) {
    Buffer buffer;
    while (true) {
        Command command;
        receive(&command, sizeof command, peer, kCommand, probes);
        if (command.order == kOver) return;
        const bool is_stream = command.order == kSink;
        std::byte* data = buffer.get((is_stream ? in_flight(command.bytes) : 1) * command.bytes);
        if (command.order == kSink) {
            stream(command.count, command.bytes, [&](std::size_t slot, MPI_Request& request) {
                PMPI_Irecv(data + slot * command.bytes, static_cast<int>(command.bytes), MPI_BYTE, peer,
                           kData, probes, &request);
            });
            send(nullptr, 0, peer, kEmpty, probes);
            continue;
        }
        for (std::uint64_t i = 0; i < command.count; ++i) {
            if (command.order == kAnswer) {
                receive(data, command.bytes, peer, kData, probes);
                send(nullptr, 0, peer, kEmpty, probes);
            } else {
                receive(nullptr, 0, peer, kEmpty, probes);
                send(data, command.bytes, peer, kData, probes);
            }
        }
    }
}

}  // namespace laple::mpi
