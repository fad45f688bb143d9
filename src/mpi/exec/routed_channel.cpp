// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/routed_channel.hpp"

#include <sched.h>

namespace laple::mpi {
namespace {

constexpr int kLooksWithoutMpi = 64;
constexpr int kLooksWithoutYield = 8;  // which takes as long as they do

}  // namespace

RoutedChannel::RoutedChannel(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
                             const StreamRoutes* routes, Scratch& scratch)
    : ways_(ways), routes_(routes), mpi_(prepared, ways.comm, scratch.lists()) {
    if (ways.host != nullptr) memory_.emplace(prepared, operands, ways, scratch.memory_lists());
    if (routes != nullptr) streams_.emplace(prepared, operands, ways, *routes);
}

Channel& RoutedChannel::to(Rank peer) {
    if (ways_.is_on_host(peer)) return *memory_;
    if (streams_ && routes_->to(peer).link != nullptr) return *streams_;
    return mpi_;
}

std::optional<Channel::Completion> RoutedChannel::look() {
    if (memory_) {
        if (const auto completion = memory_->look()) return completion;
    }
    if (streams_ && !streams_->is_idle()) {
        if (const auto completion = streams_->look()) return completion;
    }
    if (mpi_.is_idle()) return std::nullopt;
    return mpi_.look();
}

/// Where MPI is not waited for, it is looked at now and then all the same: the program's own messages go on.
Channel::Completion RoutedChannel::wait() {
    if (!memory_ && !streams_) return mpi_.wait();
    for (int looks = 1;; ++looks) {
        if (const auto completion = look()) return *completion;
        if (looks % kLooksWithoutMpi == 0 && mpi_.is_idle()) {
            int is_there = 0;
            PMPI_Iprobe(MPI_ANY_SOURCE, ways_.first_tag, ways_.comm, &is_there, MPI_STATUS_IGNORE);
        }
        if (looks % kLooksWithoutYield == 0) sched_yield();
    }
}

void RoutedChannel::abandon() {
    if (memory_) memory_->abandon();
    if (streams_) streams_->abandon();
    mpi_.abandon();
}

}  // namespace laple::mpi
