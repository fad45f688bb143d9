// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <mpi.h>

#include "mpi/exec/operands.hpp"

namespace laple::mpi {

struct StartableCall;

/// The requests of LaPle's calls: of those under way, and of all persistent ones. For all threads.
class Requests {
  public:
    struct Persistent {
        std::shared_ptr<const StartableCall> call;
        Ways ways;
    };

    static Requests& get();

    bool is_empty() const { return is_empty_.load(std::memory_order_relaxed); }
    /// One that is not persistent: its call is under way.
    void add(MPI_Request request) { insert(request, {std::nullopt, true, false}); }
    void add(MPI_Request request, Persistent persistent) {
        insert(request, {std::move(persistent), false, false});
    }

    /// What to run now that MPI has begun the request; nothing where it is no persistent one of LaPle's.
    std::optional<Persistent> start(MPI_Request request);
    /// To be called before the program can see that the call is complete. Returns whether it has given the
    /// request up meanwhile.
    bool complete(MPI_Request request);
    bool is_under_way(MPI_Request request) const;

    /// Who frees a request that the program frees; never: it is erroneous.
    enum class Free { by_mpi, when_complete, never };
    Free free(MPI_Request request);

  private:
    struct Entry {
        std::optional<Persistent> persistent;
        bool is_under_way;
        bool is_given_up;  // by MPI_Request_free
    };
    using Entries = std::unordered_map<MPI_Request, Entry>;

    void insert(MPI_Request request, Entry entry);
    Entry remove(Entries::iterator found);

    mutable std::mutex mutex_;
    Entries entries_;
    std::atomic<bool> is_empty_{true};
};

}  // namespace laple::mpi
