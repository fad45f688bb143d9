// SPDX-License-Identifier: BSD-3-Clause
#include "streams/descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <memory>

#include <dirent.h>
#include <sys/resource.h>

namespace laple::streams {

std::vector<int> open_descriptors() {
    std::vector<int> numbers;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), closedir);
    if (!directory) return numbers;
    while (const dirent* entry = readdir(directory.get())) {
        if (entry->d_name[0] != '.') numbers.push_back(std::atoi(entry->d_name));
    }
    std::erase(numbers, dirfd(directory.get()));
    return numbers;
}

int free_descriptors() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    errno = 0;
    const rlim_t open = open_descriptors().size();
    if (errno == EMFILE) return 0;  // to look for them takes one itself
    const rlim_t most = std::numeric_limits<int>::max();
    return limit.rlim_cur < open ? 0 : static_cast<int>(std::min(limit.rlim_cur - open, most));
}

}  // namespace laple::streams
