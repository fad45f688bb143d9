// SPDX-License-Identifier: BSD-3-Clause
#include "tools/run/pairing.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "tools/run/command.hpp"

namespace laple::run {
namespace {

namespace fs = std::filesystem;

bool is_elf(const fs::path& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return false;
    std::array<char, 4> magic{};
    std::ifstream(file, std::ios::binary).read(magic.data(), magic.size());
    return std::string(magic.data(), magic.size()) ==
           "\x7f"
           "ELF";
}

/// The program that a launcher would start for `word`; empty when that is none.
fs::path program_of(const std::string& word) {
    if (word.find('/') != std::string::npos) return is_elf(word) ? fs::path(word) : fs::path();
    const char* path = std::getenv("PATH");
    std::istringstream directories(path == nullptr ? "" : path);
    for (std::string directory; std::getline(directories, directory, ':');) {
        const fs::path file = fs::path(directory) / word;
        if (access(file.c_str(), X_OK) == 0 && is_elf(file)) return file;
    }
    return {};
}

/// The name of the MPI that the loader would give to `file`; "" when it needs none, or there is no ldd.
std::string mpi_of(const fs::path& file) {
    const std::string command = fmt::format("env -u LD_PRELOAD ldd {} 2>/dev/null", quoted(file));
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(popen(command.c_str(), "r"), &pclose);
    if (output == nullptr) return "";
    std::string text;
    std::array<char, 4096> part{};
    while (const std::size_t size = std::fread(part.data(), 1, part.size(), output.get()))
        text.append(part.data(), size);
    std::istringstream lines(text);
    std::string name;
    for (std::string line; lines >> name && std::getline(lines, line);) {
        for (const char* mpi : {"libmpi.so", "libmpich.so", "libmpi_abi.so"}) {
            if (name.starts_with(mpi)) return name;
        }
    }
    return "";
}

}  // namespace

void check_pairing(const std::vector<std::string>& words, const fs::path& library) {
    const std::string own = mpi_of(library);
    if (own.empty()) return;
    for (const std::string& word : words) {
        const fs::path program = program_of(word);
        const std::string other = program.empty() ? "" : mpi_of(program);
        if (other.empty() || other == own) continue;
        throw Error(fmt::format("{} is linked with {}, but this LaPle was built for {}", word, other, own),
                    "build LaPle with the program's MPI: cmake -DMPI_C_COMPILER=/path/to/its/mpicc");
    }
}

}  // namespace laple::run
