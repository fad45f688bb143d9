// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "bench/laple-bench/calls.hpp"
#include "bench/laple-bench/scrambled.hpp"

namespace laple::bench {
namespace {

constexpr std::size_t kGuardBytes = 64;
constexpr unsigned char kGuard = 0xA5;

/// A buffer with guard bytes before and after, so that writes outside of it are seen.
class GuardedBuffer {
  public:
    explicit GuardedBuffer(Bytes bytes) : storage_(bytes + 2 * kGuardBytes, kGuard) {}

    unsigned char* data() { return storage_.data() + kGuardBytes; }
    Bytes size() const { return storage_.size() - 2 * kGuardBytes; }

    /// Where and how `other`, of the same size, differs first, in the first `bytes` or around the buffer; ""
    /// when it does not.
    std::string difference(const GuardedBuffer& other, Bytes bytes) const {
        const auto end = storage_.begin() + static_cast<std::ptrdiff_t>(kGuardBytes + bytes);
        auto [mine, theirs] = std::mismatch(storage_.begin(), end, other.storage_.begin());
        if (mine == end)
            std::tie(mine, theirs) = std::mismatch(storage_.end() - kGuardBytes, storage_.end(),
                                                   other.storage_.end() - kGuardBytes);
        if (mine == storage_.end()) return "";
        return fmt::format("byte {} is {:#04x} instead of {:#04x}",
                           mine - storage_.begin() - static_cast<std::ptrdiff_t>(kGuardBytes), *theirs,
                           *mine);
    }

  private:
    std::vector<unsigned char> storage_;
};

/// Fills the buffer with doubles that are small integers, whose sums are exact in any order, or with bytes.
void fill(GuardedBuffer& buffer, int rank, int seed) {
    const std::uint64_t stream = (static_cast<std::uint64_t>(seed) << 12U) + static_cast<std::uint64_t>(rank);
    const auto value = [&](Bytes i) { return scrambled(i, stream) % 65521; };
    if (!adds_doubles(buffer.size())) {
        for (Bytes i = 0; i < buffer.size(); ++i) buffer.data()[i] = static_cast<unsigned char>(value(i));
        return;
    }
    for (Bytes i = 0; i < buffer.size() / sizeof(double); ++i) {
        const auto number = static_cast<double>(value(i));
        std::memcpy(buffer.data() + i * sizeof(double), &number, sizeof number);
    }
}

/// The buffers of one call, before or after it.
struct Buffers {
    GuardedBuffer send;
    GuardedBuffer receive;

    Buffers(Bytes sent, Bytes received, int rank, int root, bool in_place)
        : send(sent), receive(in_place ? std::max(sent, received) : received) {
        fill(send, rank, root);
        // Other data where a result is to come: a call that does nothing must not pass.
        fill(receive, rank, in_place ? root : root + 2048);
    }
};

/// MPICH 4.0 and 4.1 crash in an MPI_Reduce of more than 2 KiB in place at another root than 0.
/// And in an all-to-all in place what a rank sends to another is as long as what comes from there.
bool can_be_in_place(Benchmark benchmark, Spread spread, Rank root) {
    const CollectiveRow& row = row_of(benchmark.collective);
    if (benchmark.collective == Collective::alltoall && spread != Spread::equal) return false;
    return row.has_input && (!row.is_rooted || (row.runs_to_root && root == 0));
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

}  // namespace

std::string Checker::first_error(Benchmark benchmark, Spread spread, Bytes bytes, Rank root) const {
    const int size = size_of(world_);
    std::set<Rank> roots{root};
    // A collective without a root does not depend on it, but a barrier on who comes late.
    if (has_root(benchmark) || !has_data(benchmark)) roots.insert({0, size / 2, size - 1});
    for (const Rank r : roots) {
        if (!has_data(benchmark)) {
            std::string error = check_barrier(r);
            if (!error.empty()) return error;
            continue;
        }
        for (const bool in_place : {false, true}) {
            if (in_place && !can_be_in_place(benchmark, spread, r)) continue;
            std::string error = lowest_ranks(compare(benchmark, spread, bytes, r, in_place));
            if (!error.empty()) return error;
        }
    }
    return "";
}

std::string Checker::compare(Benchmark benchmark, Spread spread, Bytes bytes, Rank root,
                             bool in_place) const {
    const int rank = rank_in(world_);
    const int size = size_of(world_);
    const CallShape shape(benchmark, spread, bytes, root, rank, size);
    const Buffers before(shape.input_bytes(), shape.result_bytes(), rank, root, in_place);
    Buffers stock = before;
    Buffers laple = before;
    const bool mine_in_place = in_place && (!has_root(benchmark) || rank == root);
    for (const Library library : {Library::stock, Library::laple}) {
        Buffers& buffers = library == Library::stock ? stock : laple;
        const void* send = mine_in_place ? MPI_IN_PLACE : static_cast<const void*>(buffers.send.data());
        run(library, shape.call(send, buffers.receive.data()), world_);
    }
    const std::string what =
        fmt::format("rank {}: {}{} of {} bytes{}: ", rank, to_string(benchmark), in_place ? " in place" : "",
                    bytes, has_root(benchmark) ? fmt::format(" with root {}", root) : "");
    // What is left in place of an input that is longer than the result is nobody's business.
    const std::string wrong_result = stock.receive.difference(laple.receive, shape.result_bytes());
    if (!wrong_result.empty()) return what + "the result's " + wrong_result;
    const std::string wrong_send = before.send.difference(laple.send, before.send.size());
    if (!wrong_send.empty()) return what + "the send buffer was changed: " + wrong_send;
    return "";
}

std::string Checker::check_barrier(Rank late_rank) const {
    constexpr std::int64_t kDelayNs = 2'000'000;
    PMPI_Barrier(control_);
    if (rank_in(world_) == late_rank) clock_.wait_until(clock_.now_ns() + kDelayNs);
    const std::int64_t came_ns = clock_.now_ns();
    run(Library::laple, {.benchmark = {Collective::barrier, Form::one_count}}, world_);
    const std::int64_t went_ns = clock_.now_ns();
    std::int64_t last_came_ns = 0;
    std::int64_t first_went_ns = 0;
    PMPI_Allreduce(&came_ns, &last_came_ns, 1, MPI_INT64_T, MPI_MAX, control_);
    PMPI_Allreduce(&went_ns, &first_went_ns, 1, MPI_INT64_T, MPI_MIN, control_);
    // Each of the two readings can be wrong by the clocks' error.
    const std::int64_t too_early_ns = last_came_ns - first_went_ns - 2 * clock_.error_ns();
    if (too_early_ns <= 0) return "";
    return fmt::format("barrier, rank {} being late: a rank left {:.1f} us before the last one came",
                       late_rank, static_cast<double>(too_early_ns) / 1000);
}

/// Collective: on all ranks the error of the lowest rank that has one.
std::string Checker::lowest_ranks(const std::string& error) const {
    const int rank = rank_in(control_);
    const int nobody = size_of(control_);
    int failing = error.empty() ? nobody : rank;
    PMPI_Allreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MIN, control_);
    if (failing == nobody) return "";
    std::string text = error;
    text.resize(256, ' ');
    PMPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, failing, control_);
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace laple::bench
