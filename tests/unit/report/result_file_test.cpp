// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/result_file.hpp"

#include <cstdio>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.hpp"
#include "support/temporary_directory.hpp"

namespace laple::mpi {
namespace {

using test::TemporaryDirectory;

void write_to(int descriptor, const std::string& text) {
    REQUIRE(write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

/// Sends one of this process's own streams to a file, as a shell does by ">", until it is gone.
class Redirected {
  public:
    Redirected(int stream, const std::string& file) : stream_(stream), before_(dup(stream)) {
        std::fflush(nullptr);
        const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(descriptor, stream_);
        close(descriptor);
    }
    ~Redirected() {
        std::fflush(nullptr);
        dup2(before_, stream_);
        close(before_);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;

  private:
    int stream_;
    int before_;
};

}  // namespace

TEST_CASE("a result takes the place of an older one") {
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/report";
    std::ofstream(file) << "what was reported of another job";
    CHECK(write_result(file, "report\n").empty());
    CHECK(read_file(file) == "report\n");
    CHECK_FALSE(is_stream("/dev/shm/report"));
}

TEST_CASE("a result comes between what the program writes to its log") {
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/log";
    const auto [stream, name] =
        GENERATE(table<int, std::string>({{STDOUT_FILENO, "/dev/stdout"}, {STDERR_FILENO, "/dev/stderr"}}));
    {
        const Redirected redirected(stream, file);
        write_to(stream, "before\n");
        CHECK(write_result(name, "report\n").empty());
        write_to(stream, "after\n");
    }
    CHECK(read_file(file) == "before\nreport\nafter\n");
}

TEST_CASE("a result is added to a file by another name of the stream") {
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/log";
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
    write_to(descriptor, "before\n");
    for (const char* folder : {"/dev/fd/", "/proc/self/fd/"})
        CHECK(write_result(folder + std::to_string(descriptor), "report\n").empty());
    close(descriptor);
    CHECK(read_file(file) == "before\nreport\nreport\n");
}

TEST_CASE("a result that cannot be written is told, and waits for nobody") {
    const TemporaryDirectory directory;
    CHECK(write_result(directory.path() + "/nowhere/report", "report\n") == "No such file or directory");
    const std::string pipe = directory.path() + "/pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(write_result(pipe, "report\n") == "No such device or address");
    CHECK(write_result("/dev/full", "report\n") == "No space left on device");
}

}  // namespace laple::mpi
