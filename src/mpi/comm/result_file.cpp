// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/result_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>

namespace laple::mpi {

std::string write_result(const std::string& file, const std::string& text) {
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0666);
    if (descriptor < 0) return std::strerror(errno);
    // A pipe without a reader is not waited for, but one that reads slowly is.
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    std::FILE* const stream = fdopen(descriptor, "w");
    if (stream == nullptr) return std::strerror(errno);
    const bool is_written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
    return std::fclose(stream) != 0 || !is_written ? std::strerror(errno) : "";
}

}  // namespace laple::mpi
