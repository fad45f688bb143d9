// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <mpi.h>

namespace laple::mpi {

/// Memory for temporary buffers and for the executor's lists, kept from call to call: a plan that has run
/// before runs without an allocation, but for very large temporary buffers, native reductions in place,
/// messages by streams, and those inside a host that come before their receive is there.
class Scratch {
  public:
    /// Where a run stands. Of no use between runs but for its memory.
    struct Lists {
        std::vector<std::uint32_t> waits;     ///< by step: for how many others it still has to wait
        std::vector<std::uint32_t> ready;     ///< steps in the order in which they became so
        std::vector<std::uint32_t> paced;     ///< those of them that had to wait for their time
        std::vector<MPI_Request> under_way;   ///< by step: of messages that are not watched yet
        std::vector<std::uint8_t> is_oldest;  ///< by step: all before it in its channel are complete
        std::vector<MPI_Request> watched;     ///< of the oldest message under way of each channel
        std::vector<std::uint32_t> step_of_watched;
        std::vector<std::byte*> buffers;  ///< by number: address of unit 0, as MPI wants it
    };

    /// The same of messages inside the host (MemoryChannel).
    struct MemoryLists {
        struct Sending {
            std::uint32_t step = 0;
            int to = 0;
            const std::byte* data = nullptr;
            std::uint64_t bytes = 0;
            std::uint64_t sent = 0;
            bool has_begun = false;         ///< the first cell has gone
            std::vector<std::byte> packed;  ///< `data`, where the user's have gaps
        };
        struct Receiving {
            std::uint32_t step = 0;
            int from = 0;
            std::byte* data = nullptr;
            std::uint64_t bytes = 0;  ///< as many are expected
            int count = 0;
            MPI_Datatype type = MPI_DATATYPE_NULL;
            bool is_matched = false;        ///< its message has begun to come
            std::vector<std::byte> packed;  ///< what has come, where the user's data have gaps
        };
        struct Completed {
            std::uint32_t step = 0;
            int code = MPI_SUCCESS;
        };
        /// Messages with the same data, of which some have not been sent.
        struct Repeats {
            std::uint32_t first_step = 0;
            std::uint32_t block = 0;  ///< that they have in common, once it is there
            std::uint64_t bytes = 0;
            std::uint32_t unsent = 0;
            bool is_shared = false;  ///< else each has a block of its own
        };
        std::vector<Sending> sends;  ///< that wait for room, in their order
        std::vector<Receiving> receives;
        std::vector<Completed> completed;
        std::vector<Repeats> repeats;
    };

    /// At least `bytes` bytes, aligned for any type; valid until the next call.
    std::byte* get(std::size_t bytes);
    Lists& lists() { return lists_; }
    MemoryLists& memory_lists() { return memory_lists_; }
    /// The bytes of memory that get() gives without a new allocation.
    std::size_t capacity() const { return capacity_; }
    /// Frees memory of more than `most` bytes, and very long lists.
    void trim(std::size_t most);

  private:
    Lists lists_;
    MemoryLists memory_lists_;
    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_ = 0;
};

/// One for each use at a time, whatever the communicator: what is kept grows with the threads that call
/// collectives at the same time, not with the communicators. For all threads.
class ScratchPool {
  public:
    /// What one use has of it.
    class Lease {
      public:
        explicit Lease(ScratchPool& pool) : pool_(pool), scratch_(pool.take()) {}
        ~Lease() { pool_.give_back(std::move(scratch_)); }
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        Scratch& operator*() const { return *scratch_; }

      private:
        ScratchPool& pool_;
        std::unique_ptr<Scratch> scratch_;
    };

    /// For running plans.
    static ScratchPool& of_runs();
    /// For packing messages. Another one, so that each finds the memory that it used before.
    static ScratchPool& of_packing();

  private:
    std::unique_ptr<Scratch> take();
    void give_back(std::unique_ptr<Scratch> scratch) noexcept;

    std::mutex mutex_;
    std::size_t kept_ = 0;   // bytes of memory that unused ones have
    std::size_t count_ = 0;  // with those that are in use
    std::vector<std::unique_ptr<Scratch>> unused_;
};

}  // namespace laple::mpi
