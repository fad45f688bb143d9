// SPDX-License-Identifier: BSD-3-Clause
#include "tools/run/library.hpp"

#include <set>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace laple::run {
namespace {

namespace fs = std::filesystem;

/// Sorted; nothing where there is no such directory.
std::set<fs::path> entries(const fs::path& directory) {
    std::set<fs::path> found;
    std::error_code failure;
    for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        found.insert(entry->path());
    }
    return found;
}

/// A link that leads nowhere is no file.
bool is_there(const fs::path& file) {
    std::error_code ignored;
    return fs::exists(file, ignored);
}

}  // namespace

fs::path find_library(const fs::path& program, const std::string& name) {
    const fs::path prefix = program.parent_path().parent_path();
    std::vector<fs::path> directories = {prefix / "lib", prefix / "lib64"};
    for (const fs::path& entry : entries(prefix / "lib")) {
        if (entry.filename().string().find("-linux-") != std::string::npos) directories.push_back(entry);
    }
    for (const fs::path& directory : directories) {
        if (is_there(directory / name)) return directory / name;
    }
    // The name with a version is the one that a package without development files installs.
    for (const fs::path& directory : directories) {
        for (const fs::path& file : entries(directory)) {
            if (file.filename().string().starts_with(name + ".") && is_there(file)) return file;
        }
    }
    throw Error(
        fmt::format("there is no {} in {}", name, (prefix / "lib").string()),
        "build it (cmake --workflow --preset release), or use the laple-run that is installed with it");
}

std::string preload_value(const std::string& existing, const fs::path& library) {
    const std::string path = library;
    if (path.find_first_of(": ") != std::string::npos) {
        throw Error(fmt::format("LD_PRELOAD cannot hold the path \"{}\"", path),
                    "install LaPle where the path has no blank and no colon");
    }
    if (existing.empty()) return path;
    if ((":" + existing + ":").find(":" + path + ":") != std::string::npos) return existing;
    return existing + ":" + path;
}

}  // namespace laple::run
