// SPDX-License-Identifier: BSD-3-Clause
#include "archive.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"

namespace laple::info {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone in the end.
class Workplace {
  public:
    Workplace() : path_((fs::temp_directory_path() / "laple-XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr)
            throw Error(fmt::format("{} cannot be made: {}", path_, std::strerror(errno)), "set TMPDIR");
    }
    ~Workplace() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

void write_files(const fs::path& folder, const std::vector<ArchivedFile>& files) {
    fs::create_directory(folder);
    for (const ArchivedFile& file : files) {
        std::ofstream stream(folder / file.name, std::ios::binary);
        if (!(stream << file.content) || !stream.flush())
            throw Error({folder / file.name, 0, 0}, "cannot be written", "make room, or set TMPDIR");
    }
}

/// Made anew; -1, and errno, where there is something.
int new_file(const std::string& file) {
    return open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

/// What tar ends with, its output going to `descriptor`; 127 where it cannot be started.
int run_tar(const std::string& directory, const std::string& folder, int descriptor) {
    constexpr int kNotStarted = 127;
    std::array<const char*, 7> words{"tar", "-C", directory.c_str(), "-czf", "-", folder.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO);
    pid_t child = 0;
    const int failure =
        posix_spawnp(&child, words[0], &actions, nullptr, const_cast<char**>(words.data()), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (failure != 0) return kNotStarted;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return kNotStarted;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : kNotStarted;
}

}  // namespace

void write_archive(const std::string& archive, const std::string& folder,
                   const std::vector<ArchivedFile>& files, bool replaces) {
    const Workplace workplace;
    write_files(fs::path(workplace.path()) / folder, files);
    const std::string draft = replaces ? fmt::format("{}.draft-{}", archive, getpid()) : archive;
    const int descriptor = new_file(draft);
    if (descriptor < 0 && errno == EEXIST && !replaces)
        throw Error({archive, 0, 0}, "is there already", "name another file, or add --force");
    if (descriptor < 0)
        throw Error({archive, 0, 0}, fmt::format("cannot be written: {}", std::strerror(errno)),
                    "name a file in a folder of yours");
    const int exit_code = run_tar(workplace.path(), folder, descriptor);
    const bool is_written = close(descriptor) == 0 && exit_code == 0;
    if (is_written && (!replaces || std::rename(draft.c_str(), archive.c_str()) == 0)) return;
    const int why = errno;
    unlink(draft.c_str());
    if (is_written)
        throw Error({archive, 0, 0}, fmt::format("cannot be replaced: {}", std::strerror(why)),
                    "name another file");
    throw Error({archive, 0, 0}, fmt::format("cannot be written by tar -czf (exit code {})", exit_code),
                "see that tar and gzip are there, and room for it");
}

}  // namespace laple::info
