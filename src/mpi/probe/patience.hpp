// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <limits>

#include "mpi/probe/waiting.hpp"

namespace laple::mpi {

/// When a measurement must come to its end: at a time of this process's clock, or when somebody says so, from
/// a signal handler for example.
struct Patience {
    Seconds until{std::numeric_limits<double>::infinity()};
    const std::atomic<bool>* is_interrupted = nullptr;

    bool is_over() const {
        return (is_interrupted != nullptr && is_interrupted->load(std::memory_order_relaxed)) ||
               now() > until;
    }
};

}  // namespace laple::mpi
