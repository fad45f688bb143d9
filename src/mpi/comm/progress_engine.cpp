// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/progress_engine.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include "mpi/comm/log.hpp"
#include "mpi/comm/own_request.hpp"
#include "mpi/comm/ucx.hpp"
#include "mpi/exec/communicator.hpp"

namespace laple::mpi {
namespace {

void progress_all() {
    ProgressEngine::get().progress();
}

constexpr int kWithoutPause = 16;
constexpr int kLastLooks = 100;  // in MPI_Finalize, at calls that are under way

/// Between looks of the thread, since it has had something to do. Ranks share cores with it: what it waits
/// for takes milliseconds where it is worth having.
void pause(int looks) {
    constexpr std::chrono::microseconds kPause(10);
    if (looks < kWithoutPause) {
        sched_yield();
    } else {
        std::this_thread::sleep_for(kPause);
    }
}

}  // namespace

// Never destroyed: a program may call MPI from destructors of its own, after main.
ProgressEngine& ProgressEngine::get() {
    static auto& engine = *new ProgressEngine;
    return engine;
}

bool ProgressEngine::is_there() {
    return may_threads_race() ? get().has_thread() : sees_progress();
}

/// Made before the ranks agree on who starts calls: later there is no way back.
bool ProgressEngine::has_thread() try {
    const std::lock_guard lock(mutex_);
    if (!thread_ && !is_over_) thread_.emplace([this] { run_thread(); });
    return thread_.has_value();
} catch (const std::system_error&) {
    say("cannot start a thread: the limit of processes and threads is reached (ulimit -u, or that of the "
        "container); non-blocking collectives are MPI's own");
    return false;
}

void ProgressEngine::add(std::unique_ptr<StartedCall> call) {
    const bool may_race = may_threads_race();
    {
        const std::lock_guard lock(mutex_);
        added_.push_back(std::move(call));
        ++count_;
    }
    if (!may_race) at_progress(progress_all);
    has_work_.notify_one();
    progress();
}

/// The program's signals are not for this thread.
void ProgressEngine::run_thread() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    tag_to_self() = kTagOfOwnThread;
    std::unique_lock lock(mutex_);
    int looks = 0;
    while (!is_over_) {
        if (count() == 0) {
            has_work_.wait(lock);
            looks = 0;
            continue;
        }
        lock.unlock();
        for (std::size_t calls = 0; calls <= count(); calls += kCallsPerLook) progress();
        pause(looks);
        looks = std::min(looks + 1, kWithoutPause);
        lock.lock();
    }
}

std::size_t ProgressEngine::end() {
    at_progress(nullptr);
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    has_work_.notify_one();
    if (thread_) std::exchange(thread_, std::nullopt)->join();
    take_added();
    // Of a call whose request was freed nobody waits for the end: its last messages may just have come.
    is_progressing_.test_and_set(std::memory_order_acquire);
    for (int look = 0; look < kLastLooks && !calls_.empty(); ++look)
        count_ -= std::erase_if(calls_, [](std::unique_ptr<StartedCall>& call) { return call->progress(); });
    for (std::unique_ptr<StartedCall>& call : calls_) static_cast<void>(call.release());
    calls_.clear();
    is_progressing_.clear(std::memory_order_release);
    return count_.exchange(0);
}

bool ProgressEngine::take_added() {
    const std::lock_guard lock(mutex_);
    calls_.splice(calls_.begin(), added_);
    return !calls_.empty();
}

/// The first call; the others come before it now.
void ProgressEngine::progress_first() {
    if (calls_.front()->progress()) {
        calls_.pop_front();
        --count_;
    } else {
        calls_.splice(calls_.end(), calls_, calls_.begin());
    }
}

void ProgressEngine::progress() {
    if (count() == 0 || is_progressing_.test_and_set(std::memory_order_acquire)) return;
    if (take_added()) {
        for (std::size_t left = std::min(calls_.size(), kCallsPerLook); left > 0; --left) progress_first();
        if (count() == 0) at_progress(nullptr);
    }
    is_progressing_.clear(std::memory_order_release);
}

void end_started_calls() {
    const std::size_t unfinished = ProgressEngine::get().end();
    if (unfinished > 0)
        say(
            fmt::format("MPI_Finalize: of the collectives that this rank has started, {} not complete; a "
                        "program must complete each, by MPI_Wait or MPI_Test",
                        unfinished == 1 ? "one is" : fmt::format("{} are", unfinished)));
    OwnRequest::end();
}

}  // namespace laple::mpi
