// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/result_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace laple::mpi {
namespace {

/// A descriptor, or -1 with errno. Opened anew, a stream that the user has sent to a file would be emptied,
/// or the program's next output would go over what is written here.
int open_result(const std::string& file) {
    if (file == "/dev/stdout") return dup(STDOUT_FILENO);
    if (file == "/dev/stderr") return dup(STDERR_FILENO);
    const int how = is_stream(file) ? O_APPEND : O_TRUNC;
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | how, 0666);
    // A pipe without a reader is not waited for, but one that reads slowly is.
    if (descriptor >= 0) fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return descriptor;
}

}  // namespace

bool is_stream(const std::string& file) {
    const bool is_in_memory = file.starts_with("/dev/shm/");  // a folder for files like any other
    return !is_in_memory && (file.starts_with("/dev/") || file.starts_with("/proc/"));
}

std::string write_result(const std::string& file, const std::string& text) {
    const int descriptor = open_result(file);
    if (descriptor < 0) return std::strerror(errno);
    std::FILE* const stream = fdopen(descriptor, "w");
    if (stream == nullptr) return std::strerror(errno);
    const bool is_written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
    return std::fclose(stream) != 0 || !is_written ? std::strerror(errno) : "";
}

}  // namespace laple::mpi
