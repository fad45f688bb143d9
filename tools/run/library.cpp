// SPDX-License-Identifier: BSD-3-Clause
#include "tools/run/library.hpp"

#include <fmt/format.h>
#include <glob.h>

#include "base/error.hpp"

namespace laple::run {
namespace {

/// The first file that fits the pattern, or "". A link that leads nowhere is no file.
std::filesystem::path first_match(const std::string& pattern) {
    std::filesystem::path match;
    glob_t found{};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
        for (std::size_t i = 0; i < found.gl_pathc && match.empty(); ++i) {
            if (std::filesystem::exists(found.gl_pathv[i])) match = found.gl_pathv[i];
        }
    }
    globfree(&found);
    return match;
}

}  // namespace

std::filesystem::path find_library(const std::filesystem::path& program, const std::string& name) {
    const std::string prefix = program.parent_path().parent_path();
    // The name with a version is the one that a package without development files installs.
    for (const std::string& pattern : {name, name + ".*"}) {
        for (const char* directory : {"lib", "lib64", "lib/*-linux-*"}) {
            const auto library = first_match(fmt::format("{}/{}/{}", prefix, directory, pattern));
            if (!library.empty()) return library;
        }
    }
    throw Error(
        fmt::format("there is no {} in {}", name, (std::filesystem::path(prefix) / "lib").string()),
        "build it (cmake --workflow --preset release), or use the laple-run that is installed with it");
}

std::string preload_value(const std::string& existing, const std::filesystem::path& library) {
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
