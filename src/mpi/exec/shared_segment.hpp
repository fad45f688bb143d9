// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace laple::mpi {

/// Memory that several processes of one host map. It has no name in any file system: nothing is left of it
/// when the last of them ends, however that happens. A child of fork() does not have it.
class SharedSegment {
  public:
    /// By which another process of the host finds it while its creator keeps it open.
    struct Handle {
        std::int64_t process = 0;
        std::int64_t descriptor = -1;
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::uint64_t bytes = 0;
    };

    /// A new one, of zeros. nullptr where the system has none to give.
    static std::unique_ptr<SharedSegment> create(std::size_t bytes);
    /// That of another process. nullptr where it cannot be reached: in other namespaces, without /proc.
    static std::unique_ptr<SharedSegment> open(const Handle& handle);

    ~SharedSegment();
    SharedSegment(const SharedSegment&) = delete;
    SharedSegment& operator=(const SharedSegment&) = delete;

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    const Handle& handle() const { return handle_; }
    /// All others have opened it.
    void close_descriptor();

  private:
    SharedSegment() = default;
    bool map(int descriptor, std::size_t bytes);

    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    Handle handle_;
};

}  // namespace laple::mpi
