// SPDX-License-Identifier: BSD-3-Clause
#include "base/file.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "base/error.hpp"
#include "support/temporary_directory.hpp"

using namespace laple;

namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

std::size_t entries_in(const TemporaryDirectory& directory) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(directory.path())) ++count;
    return count;
}

}  // namespace

TEST_CASE("a byte order mark is no part of a file's text") {
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/text";
    std::ofstream(file) << "\xEF\xBB\xBFtext";
    CHECK(read_file(file) == "text");
}

TEST_CASE("a file that cannot be read is an error with a cure") {
    CHECK_THROWS_WITH(read_file("/nonexistent"), Catch::Contains("/nonexistent: cannot be opened"));
    CHECK_THROWS_WITH(read_file("/"), Catch::Contains("is a directory"));
    CHECK_THROWS_WITH(read_file("/dev/null"), Catch::Contains("is no regular file"));
    CHECK_THROWS_AS(read_file(std::string(5000, 'x')), Error);
    CHECK_THROWS_AS(read_file("/proc/self/mem"), Error);
}

TEST_CASE("a file that is much too large is refused") {
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/large";
    std::ofstream(file) << "";
    fs::resize_file(file, kLargestFile);
    CHECK(read_file(file).size() == kLargestFile);
    fs::resize_file(file, kLargestFile + 1);
    CHECK_THROWS_WITH(read_file(file), Catch::Contains("larger than 64 MiB"));
}

TEST_CASE("a file is the user's own when no one else can have written it") {
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/file";
    CHECK(replace_file(file, "mine").empty());
    CHECK(read_own_file(file) == "mine");
    fs::create_symlink(file, directory.path() + "/link");
    CHECK_THROWS_WITH(read_own_file(directory.path() + "/link"), Catch::Contains("symbolic link"));
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
        fs::permissions(file, fs::perms::owner_read | others);
        CHECK_THROWS_WITH(read_own_file(file), Catch::Contains("written by others"));
    }
    fs::permissions(file, fs::perms::owner_read | fs::perms::others_read);
    CHECK(read_own_file(file) == "mine");
    // Only root can give it away.
    if (geteuid() != 0) return;
    REQUIRE(chown(file.c_str(), 12345, 12345) == 0);
    CHECK_THROWS_WITH(read_own_file(file), Catch::Contains("another user"));
}

TEST_CASE("a file is to be trusted when only the user or root can have written it") {
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/file";
    CHECK(replace_file(file, "mine").empty());
    fs::create_symlink(file, directory.path() + "/link");
    CHECK(read_trusted_file(directory.path() + "/link") == "mine");
    CHECK(read_trusted_file("/etc/passwd").size() > 0);  // root's
    CHECK_THROWS_WITH(read_trusted_file(file, 3), Catch::Contains("is larger than"));
    fs::permissions(file, fs::perms::owner_read | fs::perms::others_write);
    CHECK_THROWS_WITH(read_trusted_file(file), Catch::Contains("written by others"));
    fs::permissions(file, fs::perms::owner_read | fs::perms::others_read);
    if (geteuid() != 0) return;
    REQUIRE(chown(file.c_str(), 12345, 12345) == 0);
    CHECK_THROWS_WITH(read_trusted_file(file), Catch::Contains("another user"));
}

TEST_CASE("replacing a file writes to no other one") {
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/file";
    const std::string precious = directory.path() + "/precious";
    std::ofstream(precious) << "precious";
    fs::create_symlink(precious, file);
    CHECK(replace_file(file, "new").empty());
    CHECK(read_file(precious) == "precious");
    CHECK(read_own_file(file) == "new");
    CHECK(entries_in(directory) == 2);
    CHECK_FALSE(replace_file(directory.path() + "/missing/file", "new").empty());
}

TEST_CASE("what killed writers have left is removed in time") {
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/file";
    const auto hours_old = fs::file_time_type::clock::now() - std::chrono::hours(2);
    for (const char* name : {"/file.draft-OLDOLD", "/file.draft-NEWNEW", "/other.draft-OLDOLD"})
        std::ofstream(directory.path() + name) << "";
    fs::last_write_time(directory.path() + "/file.draft-OLDOLD", hours_old);
    fs::last_write_time(directory.path() + "/other.draft-OLDOLD", hours_old);
    CHECK(replace_file(file, "new").empty());
    CHECK_FALSE(fs::exists(directory.path() + "/file.draft-OLDOLD"));
    CHECK(fs::exists(directory.path() + "/file.draft-NEWNEW"));
    CHECK(fs::exists(directory.path() + "/other.draft-OLDOLD"));
}
