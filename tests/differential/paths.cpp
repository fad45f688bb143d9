// SPDX-License-Identifier: BSD-3-Clause
#include "differential/paths.hpp"

#include <cstdio>
#include <vector>

#include "support/path.hpp"

namespace laple::test {
namespace {

/// The function alone, and with each way to call it that LaPle could leave to MPI. Reduce-scatters by an
/// operation that does not commute are always left to it (docs/limits.md).
std::vector<std::string> kinds_of(const std::string& what) {
    const std::string function = what.substr(0, what.find(' '));
    std::vector<std::string> kinds{function};
    if (function.starts_with("MPI_Reduce_scatter") && what.find("composed") != std::string::npos)
        return kinds;
    for (const char* const way : {"in place", "composed", "added", "holes", "back to front",
                                  "around their address", "before its address", "vector", "units of"}) {
        if (what.find(way) != std::string::npos) kinds.push_back(function + ", " + way);
    }
    return kinds;
}

}  // namespace

void Paths::note(MPI_Comm comm, const std::string& what) {
    const bool was_ours = is_ours(comm);
    for (const std::string& kind : kinds_of(what)) {
        Count& count = counts_[kind];
        count.ours += was_ours ? 1 : 0;
        ++count.all;
    }
}

void Paths::print() const {
    for (const auto& [kind, count] : counts_)
        std::printf("by LaPle: %d of %d %s\n", count.ours, count.all, kind.c_str());
}

}  // namespace laple::test
