// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include <mpi.h>

namespace laple::bench {

/// The LaPle in this process, looked for at run time: preloaded, linked, or absent.
class LoadedLaple {
  public:
    LoadedLaple();

    bool present() const { return algorithm_used_ != nullptr; }
    std::optional<std::string> version() const;

    /// The algorithm of the last call on `comm`, or "not loaded".
    std::string algorithm_used(MPI_Comm comm) const;

  private:
    const char* (*version_)() = nullptr;
    int (*algorithm_used_)(MPI_Comm, char*) = nullptr;
};

}  // namespace laple::bench
