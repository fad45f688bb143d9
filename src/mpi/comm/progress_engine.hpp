// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace laple::mpi {

/// A collective that was started, and goes on while the program does other things.
class StartedCall {
  public:
    virtual ~StartedCall() = default;
    /// Does what can be done without waiting; returns whether the call is complete, and its request with it.
    /// Called by one thread at a time.
    virtual bool progress() noexcept = 0;
};

/// What drives the calls that were started: each of MPI's looks at the network, so that they go on in every
/// MPI call that waits or tests, of whatever kind; or a thread.
///
///     MPI_Wait, MPI_Recv, ... ──► MPI's progress ──► ucp_worker_progress ──┐
///                                                                          ├──► all started calls
///     the thread, while something is under way ────────────────────────────┘
///
/// MPI's own rule: whoever waits in an MPI call lets all its operations go on. By calls alone it can be kept
/// where MPI's looks are seen (ucx.hpp), and where MPI has no lock then that this thread would want, too: not
/// under MPI_THREAD_MULTIPLE. There a thread does it; LAPLE_PROGRESS=thread asks MPI for that level.
class ProgressEngine {
  public:
    static ProgressEngine& get();

    /// Whether calls can be started that go on by themselves. MPI must be running. Local.
    static bool is_there();

    /// Begins it. For all threads.
    void add(std::unique_ptr<StartedCall> call);
    /// How many calls a look lets go on: a program may start thousands, and each of MPI's looks comes here.
    static constexpr std::size_t kCallsPerLook = 32;
    /// Lets some calls go on, in turn, those that have just been started first; does nothing while that is
    /// done already, by another thread or below this very call.
    void progress();
    std::size_t count() const { return count_.load(std::memory_order_relaxed); }

    /// MPI ends: whatever is still under way stays as it is, with its memory. Returns how much that is.
    std::size_t end();

  private:
    bool has_thread();
    void run_thread();
    bool take_added();
    void progress_first();

    std::mutex mutex_;  // of what is added, and the thread; never held during an MPI call
    std::list<std::unique_ptr<StartedCall>> added_;
    std::condition_variable has_work_;
    std::optional<std::thread> thread_;
    bool is_over_ = false;
    std::atomic<std::size_t> count_{0};
    std::atomic_flag is_progressing_;
    std::list<std::unique_ptr<StartedCall>> calls_;  // the next one that goes on first
};

/// MPI_Finalize begins: the engine ends, and what is still under way is said. Does nothing the second time.
void end_started_calls();

}  // namespace laple::mpi
