// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <mpi.h>

#include "support/random.hpp"

namespace laple::test {

/// Communicators of many kinds, made from one and replaced now and then: they must neither run out nor be
/// mixed up. All of its functions are collective on the one that it was made from, with equal random numbers.
class Communicators {
  public:
    struct One {
        MPI_Comm comm = MPI_COMM_NULL;  ///< on ranks that are not in it
        std::string kind;
        bool is_inter = false;
        bool is_first = false;  ///< of an intercommunicator, whether this rank is in its first group
#if MPI_VERSION >= 4
        MPI_Session session = MPI_SESSION_NULL;
#endif
    };

    Communicators(MPI_Comm base, Random& random);
    ~Communicators();
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;

    const One& draw(Random& random) const;
    /// Frees one and makes another in its place.
    void replace_one(Random& random);

  private:
    One make(Random& random) const;
    One between_halves() const;
    One of_some(Random& random) const;
    One of_session() const;
    static void drop(One& one);

    MPI_Comm base_;
    int rank_ = 0;
    int size_ = 0;
    std::vector<One> ones_;
};

}  // namespace laple::test
