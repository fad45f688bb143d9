// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

#include <mpi.h>

namespace laple::test {

/// Counts on one rank, by kind of call, how many calls LaPle did itself: to compare MPI's own call with
/// itself shows nothing.
class Paths {
  public:
    /// After a call, before which forget_path() was called. `what` as differs() describes the call: its
    /// function, and how it was called.
    void note(MPI_Comm comm, const std::string& what);
    /// A line on stdout for each kind, for run.py: "by LaPle: 3 of 4 MPI_Reduce, in place".
    void print() const;

  private:
    struct Count {
        int ours = 0;
        int all = 0;
    };
    std::map<std::string, Count> counts_;
};

}  // namespace laple::test
