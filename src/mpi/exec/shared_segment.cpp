// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/shared_segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace laple::mpi {

std::unique_ptr<SharedSegment> SharedSegment::create(std::size_t bytes) {
    const int descriptor = memfd_create("laple", MFD_CLOEXEC);
    if (descriptor < 0) return nullptr;
    std::unique_ptr<SharedSegment> segment(new SharedSegment);
    segment->handle_.descriptor = descriptor;
    struct stat status {};
    if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0 || fstat(descriptor, &status) != 0 ||
        !segment->map(descriptor, bytes)) {
        return nullptr;
    }
    segment->handle_ = {getpid(), descriptor, status.st_dev, status.st_ino, bytes};
    return segment;
}

/// A number of a process may be that of another one where processes are counted anew (containers): only what
/// is known to be the segment is opened.
std::unique_ptr<SharedSegment> SharedSegment::open(const Handle& handle) {
    const std::string path = fmt::format("/proc/{}/fd/{}", handle.process, handle.descriptor);
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || status.st_dev != handle.device || status.st_ino != handle.inode ||
        static_cast<std::uint64_t>(status.st_size) != handle.bytes) {
        return nullptr;
    }
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return nullptr;
    std::unique_ptr<SharedSegment> segment(new SharedSegment);
    const bool is_mapped = segment->map(descriptor, static_cast<std::size_t>(handle.bytes));
    ::close(descriptor);
    return is_mapped ? std::move(segment) : nullptr;
}

bool SharedSegment::map(int descriptor, std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return false;
    madvise(memory, bytes, MADV_DONTFORK);
    data_ = static_cast<std::byte*>(memory);
    bytes_ = bytes;
    return true;
}

void SharedSegment::close_descriptor() {
    if (handle_.descriptor >= 0) close(static_cast<int>(handle_.descriptor));
    handle_.descriptor = -1;
}

SharedSegment::~SharedSegment() {
    close_descriptor();
    if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace laple::mpi
