// SPDX-License-Identifier: BSD-3-Clause
#include "base/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"

namespace laple {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDraft = ".draft-";
constexpr const char* kSixAtRandom = "XXXXXX";  // for mkstemp

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }
    /// False where what was written may not be there: some file systems say so only now.
    bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

  private:
    int number_;
};

class RegularFile {
  public:
    /// Throws Error where there is none. Does not wait for a writer of a named pipe.
    RegularFile(const std::string& file, int flags)
        : descriptor_(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)) {
        if (descriptor_.number() < 0 && errno == ELOOP && (flags & O_NOFOLLOW) != 0)
            throw Error({file, 0, 0}, "is a symbolic link", "see where it leads");
        if (descriptor_.number() < 0) {
            throw Error({file, 0, 0}, fmt::format("cannot be opened: {}", std::strerror(errno)),
                        "check the path and its permissions");
        }
        if (fstat(descriptor_.number(), &status_) != 0) status_.st_mode = 0;
        if (S_ISDIR(status_.st_mode)) throw Error({file, 0, 0}, "is a directory", "name a file in it");
        if (!S_ISREG(status_.st_mode))
            throw Error({file, 0, 0}, "is no regular file", "copy what it gives into one");
    }
    int descriptor() const { return descriptor_.number(); }
    const struct stat& status() const { return status_; }

  private:
    Descriptor descriptor_;
    struct stat status_ {};
};

/// Throws Error where somebody else than `owners` may have written it.
void check_writers(const std::string& file, const struct stat& status, std::initializer_list<uid_t> owners) {
    if (std::find(owners.begin(), owners.end(), status.st_uid) == owners.end())
        throw Error({file, 0, 0}, "belongs to another user", "see whose it is");
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        throw Error({file, 0, 0}, "can be written by others", "see who has written it, and chmod go-w it");
}

std::string read_all(const std::string& file, int descriptor, std::size_t most) {
    std::string content;
    std::array<char, 1 << 16> part;
    ssize_t count = 0;
    while (content.size() <= most && (count = read(descriptor, part.data(), part.size())) != 0) {
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            throw Error({file, 0, 0}, fmt::format("cannot be read: {}", std::strerror(errno)),
                        "check the disk it is on");
        }
        content.append(part.data(), static_cast<std::size_t>(count));
    }
    if (content.size() > most) {
        throw Error({file, 0, 0}, fmt::format("is larger than {} MiB", most >> 20),
                    "see whether it is the file you mean");
    }
    // Some editors begin every text with UTF-8's byte order mark.
    if (content.starts_with("\xEF\xBB\xBF")) content.erase(0, 3);
    return content;
}

std::string write_all(int descriptor, const std::string& content) {
    for (std::size_t done = 0; done < content.size();) {
        const ssize_t count = write(descriptor, content.data() + done, content.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return std::strerror(errno);
        done += static_cast<std::size_t>(count);
    }
    return "";
}

void remove_old_drafts(const std::string& file) {
    const fs::path path(file);
    const std::string prefix = path.filename().string() + kDraft;
    const auto oldest = fs::file_time_type::clock::now() - std::chrono::hours(1);
    std::error_code failure;
    for (fs::directory_iterator entry(path.parent_path(), failure), end; !failure && entry != end;
         entry.increment(failure)) {
        std::error_code ignored;
        if (!entry->path().filename().string().starts_with(prefix)) continue;
        const auto written = entry->last_write_time(ignored);
        if (!ignored && written < oldest) fs::remove(entry->path(), ignored);
    }
}

}  // namespace

std::string read_file(const std::string& file, std::size_t most) {
    return read_all(file, RegularFile(file, 0).descriptor(), most);
}

std::string read_trusted_file(const std::string& file, std::size_t most) {
    const RegularFile opened(file, 0);
    check_writers(file, opened.status(), {geteuid(), 0});
    return read_all(file, opened.descriptor(), most);
}

std::string read_own_file(const std::string& file) {
    const RegularFile opened(file, O_NOFOLLOW);
    check_writers(file, opened.status(), {geteuid()});
    return read_all(file, opened.descriptor(), kLargestFile);
}

std::string replace_file(const std::string& file, const std::string& content) {
    std::string draft = file + kDraft + kSixAtRandom;
    // Made anew, or not at all: never what has that name already, nor what a link there points to.
    Descriptor descriptor(mkostemp(draft.data(), O_CLOEXEC));
    if (descriptor.number() < 0) return std::strerror(errno);
    std::string failure = write_all(descriptor.number(), content);
    if (!descriptor.close() && failure.empty()) failure = std::strerror(errno);
    if (failure.empty() && std::rename(draft.c_str(), file.c_str()) != 0) failure = std::strerror(errno);
    if (!failure.empty()) unlink(draft.c_str());
    remove_old_drafts(file);
    return failure;
}

std::string user_directory(const char* variable, const std::string& folder) {
    const auto absolute_or_empty = [](const char* directory) {
        return std::string(directory != nullptr && directory[0] == '/' ? directory : "");
    };
    const std::string own = absolute_or_empty(std::getenv(variable));
    if (!own.empty()) return own + "/laple";
    const std::string home = absolute_or_empty(std::getenv("HOME"));
    return home.empty() ? "" : fmt::format("{}/{}/laple", home, folder);
}

}  // namespace laple
