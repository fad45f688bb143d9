// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/native_call.hpp"

#include <array>
#include <cstddef>

namespace laple::mpi {
namespace {

using Function = int (*)(const NativeArguments& a);

/// In the order of kAllCollectives.
constexpr std::array<Function, kAllCollectives.size()> kCalls{
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, native_arguments, ...) \
    [](const NativeArguments& a) { return PMPI_##name native_arguments; },
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS(...)
#include "mpi/exec/collectives.def"
};

}  // namespace

int call_native(Collective collective, const NativeArguments& arguments) {
    return kCalls[static_cast<std::size_t>(collective)](arguments);
}

}  // namespace laple::mpi
