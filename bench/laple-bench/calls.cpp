// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/calls.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"

namespace laple::bench {
namespace {

using mpi::NativeArguments;
using Function = int (*)(const NativeArguments& a);

/// In the order of kAllCollectives.
constexpr std::array<Function, kAllCollectives.size()> kLaple{
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, native_arguments, ...) \
    [](const NativeArguments& a) { return MPI_##name native_arguments; },
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(...)
#include "mpi/exec/collectives.def"
};

BufferSizes buffers_of_root(Collective collective, Bytes bytes, int size) {
    const Request request{.collective = collective, .units = bytes};
    return row_of(collective).buffers(request, size, 0);
}

bool is_many(Bytes bytes) {
    return bytes > static_cast<Bytes>(std::numeric_limits<int>::max());
}

/// `size_of(other)` bytes for each of `others`, one after the other.
template <typename SizeOf>
Blocks blocks_of(int others, SizeOf size_of) {
    Blocks blocks;
    for (Rank other = 0; other < others; ++other) {
        const Bytes bytes = size_of(other);
        if (is_many(bytes) || is_many(blocks.bytes + bytes))
            throw Error("the blocks of a rank have 2 GiB together", "choose smaller ones");
        blocks.counts.push_back(static_cast<int>(bytes));
        blocks.displacements.push_back(static_cast<int>(blocks.bytes));
        blocks.bytes += bytes;
    }
    return blocks;
}

/// What a rank has for others, where each block may have a size of its own.
Blocks blocks_sent(Collective collective, Spread spread, Bytes bytes, Rank root, Rank rank, int ranks) {
    const auto block_of = [&](Rank from, Rank to) { return block_bytes(spread, from, to, bytes, ranks); };
    switch (collective) {
        case Collective::scatter:
            return blocks_of(rank == root ? ranks : 0, [&](Rank to) { return block_of(to, 0); });
        case Collective::alltoall:
            return blocks_of(ranks, [&](Rank to) { return block_of(rank, to); });
        default:
            return blocks_of(1, [&](Rank) { return block_of(rank, 0); });
    }
}

/// What it gets from them.
Blocks blocks_received(Collective collective, Spread spread, Bytes bytes, Rank root, Rank rank, int ranks) {
    const auto block_of = [&](Rank from, Rank to) { return block_bytes(spread, from, to, bytes, ranks); };
    switch (collective) {
        case Collective::gather:
            return blocks_of(rank == root ? ranks : 0, [&](Rank from) { return block_of(from, 0); });
        case Collective::scatter:
            return blocks_of(1, [&](Rank) { return block_of(rank, 0); });
        case Collective::alltoall:
            return blocks_of(ranks, [&](Rank from) { return block_of(from, rank); });
        default:
            return blocks_of(ranks, [&](Rank from) { return block_of(from, 0); });
    }
}

/// MPI's own function, and the one that LaPle may stand behind.
template <typename Function>
struct Pair {
    Function stock;
    Function laple;
    Function operator[](Library library) const { return library == Library::stock ? stock : laple; }
};

void run_with_counts(Library library, const Call& call, MPI_Comm comm) {
    const Blocks& sent = *call.sent;
    const Blocks& received = *call.received;
    const auto own = [](const Blocks& blocks) { return blocks.counts.empty() ? 0 : blocks.counts.front(); };
    constexpr Pair allgatherv{PMPI_Allgatherv, MPI_Allgatherv};
    constexpr Pair gatherv{PMPI_Gatherv, MPI_Gatherv};
    constexpr Pair scatterv{PMPI_Scatterv, MPI_Scatterv};
    constexpr Pair alltoallv{PMPI_Alltoallv, MPI_Alltoallv};
    switch (call.benchmark.collective) {
        case Collective::allgather:
            allgatherv[library](call.send, own(sent), MPI_BYTE, call.receive, received.counts.data(),
                                received.displacements.data(), MPI_BYTE, comm);
            return;
        case Collective::gather:
            gatherv[library](call.send, own(sent), MPI_BYTE, call.receive, received.counts.data(),
                             received.displacements.data(), MPI_BYTE, call.root, comm);
            return;
        case Collective::scatter:
            scatterv[library](call.send, sent.counts.data(), sent.displacements.data(), MPI_BYTE,
                              call.receive, own(received), MPI_BYTE, call.root, comm);
            return;
        default:
            alltoallv[library](call.send, sent.counts.data(), sent.displacements.data(), MPI_BYTE,
                               call.receive, received.counts.data(), received.displacements.data(), MPI_BYTE,
                               comm);
            return;
    }
}

void run_with_types(Library library, const Call& call, MPI_Comm comm) {
    const std::vector<MPI_Datatype> types(call.sent->counts.size(), MPI_BYTE);
    constexpr Pair alltoallw{PMPI_Alltoallw, MPI_Alltoallw};
    alltoallw[library](call.send, call.sent->counts.data(), call.sent->displacements.data(), types.data(),
                       call.receive, call.received->counts.data(), call.received->displacements.data(),
                       types.data(), comm);
}

}  // namespace

CallShape::CallShape(Benchmark benchmark, Spread spread, Bytes bytes, Rank root, Rank rank, int ranks)
    : benchmark_(benchmark), bytes_(bytes), root_(root) {
    if (benchmark.form == Form::one_count) {
        const BufferSizes sizes = buffers_of_root(benchmark.collective, bytes, ranks);
        input_bytes_ = std::max<Bytes>(sizes.input_units, bytes);
        result_bytes_ = sizes.result_units;
        return;
    }
    sent_ = blocks_sent(benchmark.collective, spread, bytes, root, rank, ranks);
    received_ = blocks_received(benchmark.collective, spread, bytes, root, rank, ranks);
    input_bytes_ = sent_.bytes;
    result_bytes_ = received_.bytes;
}

Call CallShape::call(const void* send, void* receive) const {
    return {benchmark_, bytes_, root_, send, receive, &sent_, &received_};
}

mpi::NativeArguments arguments_of(const Call& call, MPI_Comm comm) {
    const bool combines = row_of(call.benchmark.collective).combines;
    const bool doubles = combines && adds_doubles(call.bytes);
    return {
        .input = call.send,
        .result = call.receive,
        .count = static_cast<int>(doubles ? call.bytes / sizeof(double) : call.bytes),
        .type = doubles ? MPI_DOUBLE : MPI_BYTE,
        .op = !combines ? MPI_OP_NULL
              : doubles ? MPI_SUM
                        : MPI_BXOR,
        .root = call.root,
        .comm = comm,
    };
}

void run(Library library, const Call& call, MPI_Comm comm) {
    if (call.benchmark.form == Form::counts) return run_with_counts(library, call, comm);
    if (call.benchmark.form == Form::counts_and_types) return run_with_types(library, call, comm);
    const Collective collective = call.benchmark.collective;
    const NativeArguments arguments = arguments_of(call, comm);
    if (library == Library::stock) {
        mpi::call_native(collective, arguments);
    } else {
        kLaple[static_cast<std::size_t>(collective)](arguments);
    }
}

}  // namespace laple::bench
