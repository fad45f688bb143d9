// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/native_call.hpp"

#include <array>
#include <cstddef>

namespace laple::mpi {
namespace {

using Function = int (*)(const NativeArguments& a);

/// In the order of kAllCollectives.
constexpr std::array<Function, kAllCollectives.size()> kCalls{
    [](const NativeArguments& a) { return PMPI_Bcast(a.result, a.count, a.type, a.root, a.comm); },
    [](const NativeArguments& a) {
        return PMPI_Reduce(a.input, a.result, a.count, a.type, a.op, a.root, a.comm);
    },
    [](const NativeArguments& a) { return PMPI_Allreduce(a.input, a.result, a.count, a.type, a.op, a.comm); },
    [](const NativeArguments& a) { return PMPI_Barrier(a.comm); },
};

}  // namespace

int call_native(Collective collective, const NativeArguments& arguments) {
    return kCalls[static_cast<std::size_t>(collective)](arguments);
}

}  // namespace laple::mpi
