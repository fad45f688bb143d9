// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/calls.hpp"

#include <algorithm>
#include <array>

#include "mpi/exec/native_call.hpp"

namespace laple::bench {
namespace {

using mpi::NativeArguments;
using Function = int (*)(const NativeArguments& a);

/// In the order of kAllCollectives.
constexpr std::array<Function, kAllCollectives.size()> kLaple{
#define LAPLE_COLLECTIVE(id, name, parameters, arguments, native_arguments, ...) \
    [](const NativeArguments& a) { return MPI_##name native_arguments; },
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(...)
#include "mpi/exec/collectives.def"
};

BufferSizes buffers_of_root(Collective collective, Bytes bytes, int size) {
    const Request request{.collective = collective, .units = bytes};
    return row_of(collective).buffers(request, size, 0);
}

}  // namespace

Bytes result_bytes(Collective collective, Bytes bytes, int size) {
    return buffers_of_root(collective, bytes, size).result_units;
}

Bytes input_bytes(Collective collective, Bytes bytes, int size) {
    return std::max(buffers_of_root(collective, bytes, size).input_units, bytes);
}

void run(Library library, const Call& call, MPI_Comm comm) {
    const bool combines = row_of(call.collective).combines;
    const bool doubles = combines && adds_doubles(call.bytes);
    const NativeArguments arguments{
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
    if (library == Library::stock) {
        mpi::call_native(call.collective, arguments);
    } else {
        kLaple[static_cast<std::size_t>(call.collective)](arguments);
    }
}

}  // namespace laple::bench
