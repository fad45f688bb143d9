// SPDX-License-Identifier: BSD-3-Clause
#include "base/configuration.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_directory.hpp"

using namespace laple;
using Catch::Contains;
using Warnings = std::vector<std::string>;

namespace {

namespace fs = std::filesystem;

/// Files as /etc/laple.conf, the user's and the one of LAPLE_CONFIG would be.
class Files {
  public:
    std::string write(const std::string& name, const std::string& content) const {
        std::ofstream(path(name)) << content;
        fs::permissions(path(name), fs::perms::owner_read | fs::perms::owner_write);
        return path(name);
    }
    std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
    Configuration read(const std::vector<std::string>& environment = {},
                       bool is_named_one_trusted = true) const {
        return read_configuration(environment, {path("system"), path("user"), is_named_one_trusted});
    }

  private:
    test::TemporaryDirectory directory_;
};

GivenValue value_of(const std::string& name, const Configuration& configuration) {
    for (const SettingRow& row : all_settings()) {
        if (row.name == name) return configuration.value_of(row);
    }
    return {};
}

/// Of a file that says only this, what is wrong with it.
Warnings problems_of(const std::string& content) {
    const Files files;
    const std::string file = files.write("user", content);
    Warnings warnings = files.read().warnings;
    for (std::string& warning : warnings) {
        REQUIRE(warning.starts_with(file));
        warning.erase(0, file.size());
    }
    return warnings;
}

}  // namespace

TEST_CASE("each place is stronger than those before, and a setting knows its own") {
    const Files files;
    files.write("system", "LAPLE_DEBUG = 1\nLAPLE_STREAMS = 2\nLAPLE_MODEL=a\nLAPLE_ADAPT=off\n");
    files.write("user", "\n# comment\nLAPLE_STREAMS = 3\nLAPLE_MODEL=b\nLAPLE_VERIFY=1\n");
    const std::string named = files.write("named", "LAPLE_MODEL = c d\nLAPLE_VERIFY = 0\n");
    const Configuration r = files.read({"LAPLE_CONFIG=" + named, "LAPLE_VERIFY=1"});
    CHECK(r.warnings == Warnings{});
    CHECK(r.files == std::vector{files.path("system"), files.path("user"), named});
    CHECK(r.settings.debug == 1);
    CHECK(r.settings.streams == 3);
    CHECK(r.settings.model == "c d");
    CHECK(r.settings.verify);
    CHECK_FALSE(r.settings.adapts);
    CHECK(value_of("LAPLE_DEBUG", r).source == files.path("system:1"));
    CHECK(value_of("LAPLE_STREAMS", r).source == files.path("user:3"));
    CHECK(value_of("LAPLE_MODEL", r).source == named + ":1");
    CHECK(value_of("LAPLE_MODEL", r).value == "c d");
    CHECK(value_of("LAPLE_VERIFY", r).source == "environment");
    CHECK(value_of("LAPLE_REPORT", r).source == "default");
    CHECK(value_of("LAPLE_REPORT", r).value == "0");
    CHECK(r.named("LAPLE_MODEL") == named + ":1: LAPLE_MODEL");
    CHECK(r.named("LAPLE_VERIFY") == "LAPLE_VERIFY");
    CHECK_THAT(r.describe_given(), Contains("LAPLE_STREAMS=3 (" + files.path("user:3") + ")"));
}

TEST_CASE("an empty value brings the default back") {
    const Files files;
    files.write("user", "LAPLE_MODEL=m\nLAPLE_STREAM_PORTS=5-6\nLAPLE_DEBUG=2\nLAPLE_DEBUG=\n");
    const Configuration r = files.read({"LAPLE_MODEL=", "LAPLE_STREAM_PORTS="});
    CHECK(r.warnings == Warnings{});
    CHECK(r.settings == Settings{});
    CHECK(value_of("LAPLE_DEBUG", r).value == "0");
    CHECK(value_of("LAPLE_DEBUG", r).source == files.path("user:4"));
}

TEST_CASE("a bad value leaves a weaker one in force") {
    const Files files;
    files.write("system", "LAPLE_ADAPT=off\nLAPLE_PROGRESS=thread\nLAPLE_DEBUG=1\n");
    const Configuration r = files.read({"LAPLE_ADAPT=perhaps", "LAPLE_PROGRESS=x", "LAPLE_DEBUG=3"});
    CHECK(r.warnings.size() == 3);
    CHECK_FALSE(r.settings.adapts);
    CHECK(r.settings.has_progress_thread);
    CHECK(r.settings.debug == 1);
    CHECK(value_of("LAPLE_DEBUG", r).source == files.path("system:3"));
}

TEST_CASE("LAPLE_CONFIG=none, or nothing in it, reads no file") {
    const Files files;
    files.write("system", "LAPLE_DEBUG=1\n");
    files.write("user", "LAPLE_DEBUG=1\n");
    CHECK(files.read().settings.debug == 1);
    for (const char* none : {"LAPLE_CONFIG=none", "LAPLE_CONFIG="}) {
        const Configuration r = files.read({none});
        CHECK(r.settings.debug == 0);
        CHECK(r.files.empty());
        CHECK(r.warnings == Warnings{});
    }
}

TEST_CASE("files at usual places may be missing, the one that is named may not") {
    const Files files;
    CHECK(files.read().warnings == Warnings{});
    CHECK(read_configuration({}, {"/dev/null/laple.conf", ""}).warnings == Warnings{});
    const Configuration r = files.read({"LAPLE_CONFIG=/no/such/file"});
    REQUIRE(r.warnings.size() == 1);
    CHECK_THAT(r.warnings[0], Contains("/no/such/file: cannot be opened") && Contains("it is ignored"));
}

TEST_CASE("a setuid program reads no file that its user names") {
    const Files files;
    const std::string named = files.write("named", "LAPLE_DEBUG=2\n");
    const Configuration r = files.read({"LAPLE_CONFIG=" + named}, false);
    CHECK(r.settings.debug == 0);
    CHECK(r.warnings == Warnings{"LAPLE_CONFIG=" + named + " is ignored in a setuid program"});
}

TEST_CASE("lines: comments, blanks, ends of lines of other systems") {
    const Files files;
    files.write(
        "user",
        "\xEF\xBB\xBF  LAPLE_TOPOLOGY\t=  /a b#c  # comment\r\n\t# LAPLE_DEBUG = 2\r\n\r\nLAPLE_ALGORITHM="
        "bcast:0-64K:flat/binomial;^native\r\nLAPLE_MODEL = x=y");
    const Configuration r = files.read();
    CHECK(r.warnings == Warnings{});
    CHECK(r.settings.topology == "/a b#c");
    CHECK(r.settings.algorithm == "bcast:0-64K:flat/binomial;^native");
    CHECK(r.settings.model == "x=y");
    CHECK(r.settings.debug == 0);
    CHECK(value_of("LAPLE_MODEL", r).source == files.path("user:5"));
}

TEST_CASE("what is wrong in a file is told with its line") {
    CHECK(problems_of("LAPLE_DEBUG=1\nLAPLE_DEBUG = 7\n") ==
          Warnings{":2: LAPLE_DEBUG=7 is ignored: use 0, 1 or 2"});
    CHECK(problems_of("LAPLE_TOPOLGY=x") ==
          Warnings{":1: LAPLE_TOPOLGY is no setting of LaPle; did you mean LAPLE_TOPOLOGY?"});
    CHECK(problems_of("debug = 1") ==
          Warnings{":1: debug is no setting of LaPle; did you mean LAPLE_DEBUG?"});
    CHECK(problems_of("\nLAPLE_DEBUG 1") ==
          Warnings{":2: \"LAPLE_DEBUG 1\" is no setting; write NAME = value"});
    CHECK(problems_of("= 1") == Warnings{":1: \"= 1\" is no setting; write NAME = value"});
    CHECK(problems_of("LAPLE_DEBUG = \"1\"") == Warnings{":1: LAPLE_DEBUG=\"1\" is ignored: use 0, 1 or 2"});
    CHECK(problems_of("LAPLE_CONFIG = x") ==
          Warnings{":1: LAPLE_CONFIG is ignored in a file: set it in the environment"});
}

TEST_CASE("a file that is none of settings is told of in a few short lines") {
    std::string content;
    for (int line = 0; line < 1000; ++line) content += std::string(1000, 'x') + "\n";
    const Warnings problems = problems_of(content);
    REQUIRE(problems.size() == 6);
    for (const std::string& problem : problems) CHECK(problem.size() < 150);
    CHECK(problems[5] == ": 995 more lines are wrong; see whether it is the file you mean");
}

TEST_CASE("what is no file of settings is passed over, and told of in one line") {
    const Files files;
    files.write("system", "LAPLE_DEBUG=1\n");
    std::string what;
    SECTION("a directory") {
        fs::create_directory(files.path("user"));
        what = "is a directory";
    }
    SECTION("a named pipe, which nobody writes to") {
        REQUIRE(mkfifo(files.path("user").c_str(), 0600) == 0);
        what = "is no regular file";
    }
    SECTION("no text") {
        files.write("user", std::string("LAPLE_STREAMS=3\n\0", 17));
        what = "is no text";
    }
    SECTION("a large one") {
        files.write("user", "LAPLE_STREAMS=3\n");
        fs::resize_file(files.path("user"), (1U << 20) + 1);
        what = "is larger than 1 MiB";
    }
    SECTION("one that others can write") {
        files.write("user", "LAPLE_STREAMS=3\n");
        fs::permissions(files.path("user"), fs::perms::owner_all | fs::perms::others_write);
        what = "can be written by others";
    }
    SECTION("another user's") {
        if (geteuid() != 0) return;  // only root can give it away
        files.write("user", "LAPLE_STREAMS=3\n");
        REQUIRE(chown(files.path("user").c_str(), 12345, 12345) == 0);
        what = "belongs to another user";
    }
    SECTION("unreadable") {
        if (geteuid() == 0) return;  // root reads all
        files.write("user", "LAPLE_STREAMS=3\n");
        fs::permissions(files.path("user"), fs::perms::none);
        what = "cannot be opened";
    }
    const Configuration r = files.read();
    CHECK(r.settings.streams == Settings::kAutomatic);
    CHECK(r.settings.debug == 1);
    REQUIRE(r.warnings.size() == 1);
    CHECK_THAT(r.warnings[0], Contains(files.path("user") + ": " + what) && Contains("it is ignored"));
}

TEST_CASE("whoever names a file answers for it") {
    const Files files;
    const std::string named = files.write("named", "LAPLE_DEBUG=2\n");
    fs::permissions(named, fs::perms::owner_all | fs::perms::others_write);
    CHECK(files.read({"LAPLE_CONFIG=" + named}).settings.debug == 2);
}

TEST_CASE("the text of a configuration is one, and brings back what is in force") {
    const Files files;
    files.write("user", "LAPLE_STREAMS = 3\nLAPLE_REPORT = /a file\n");
    const Configuration first = files.read({"LAPLE_CONFIG=" + files.write("named", ""), "LAPLE_DEBUG=2"});
    const std::string text = configuration_text(first);
    CHECK_THAT(text, Contains("\n# from " + files.path("user:1") + ":\nLAPLE_STREAMS = 3\n"));
    CHECK_THAT(text, Contains("\n# from environment:\nLAPLE_DEBUG = 2\n"));
    for (const SettingRow& row : all_settings())
        CHECK_THAT(text, Contains("\n# " + std::string(row.name) + " ="));
    files.write("user", text);
    const Configuration second = files.read();
    CHECK(second.warnings == Warnings{});
    CHECK(second.settings == first.settings);
}

TEST_CASE("a value that no line of a file can hold is left out of its text") {
    for (const char* odd : {"a #b", "a\nLAPLE_DEBUG=2", " a", "a\x1b"}) {
        const Files files;
        const std::string text = configuration_text(files.read({std::string("LAPLE_REPORT=") + odd}));
        CHECK_THAT(text, Contains("# from environment: a value that no line can hold"));
        files.write("user", text);
        CHECK(files.read().settings == Settings{});
        CHECK(files.read().warnings == Warnings{});
    }
}
