// SPDX-License-Identifier: BSD-3-Clause
#include "tools/run/pairing.hpp"

#include <algorithm>
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

/// The program that a launcher would start for `word`; empty if `word` is not a program.
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

/// A library that the loader would give to a program or library.
struct Needed {
    std::string name;  // "" when it needs none, or there is no ldd
    fs::path file;     // without links; empty when there is no such file
};

/// The first one whose name begins with one of `names`.
Needed needed_by(const fs::path& file, const std::vector<std::string>& names) {
    const std::string command = fmt::format("env -u LD_PRELOAD ldd {} 2>/dev/null", quoted(file));
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(popen(command.c_str(), "r"), &pclose);
    if (output == nullptr) return {};
    std::string text;
    std::array<char, 4096> part{};
    while (const std::size_t size = std::fread(part.data(), 1, part.size(), output.get()))
        text.append(part.data(), size);
    std::istringstream lines(text);
    // libmpich.so.12 => /lib/x86_64-linux-gnu/libmpich.so.12 (0x00007f0000000000)
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        std::string arrow;
        std::string path;
        words >> name >> arrow >> path;
        for (const std::string& wanted : names) {
            std::error_code ignored;
            if (name.starts_with(wanted)) return {name, fs::canonical(path, ignored)};
        }
    }
    return {};
}

Needed mpi_of(const fs::path& file) {
    return needed_by(file, {"libmpi.so", "libmpich.so", "libmpi_abi.so"});
}

/// One name may be that of several MPIs with one ABI, and one file may have several names.
bool are_the_same(const Needed& one, const Needed& other) {
    return one.name == other.name || (!one.file.empty() && one.file == other.file);
}

/// Who starts the ranks of a library's programs; "" for libmpi_abi, whose programs any MPI may start.
std::string maker_of_library(const std::string& name) {
    if (name.starts_with("libmpich.so") || name == "libmpi.so.12") return "MPICH";
    return name.starts_with("libmpi.so") ? "Open MPI" : "";
}

/// "" when it is not known.
std::string maker_of_launcher(const fs::path& launcher) {
    std::error_code ignored;
    const std::string name = fs::canonical(launcher, ignored).filename();
    if (name.find("hydra") != std::string::npos) return "MPICH";
    return needed_by(launcher, {"libopen-rte.so", "libopen-pal.so", "libprrte.so"}).name.empty() ? ""
                                                                                                 : "Open MPI";
}

}  // namespace

fs::path paired_library(const std::vector<std::string>& words, const fs::path& library) {
    const Needed own = mpi_of(library);
    if (own.name.empty()) return library;
    for (const std::string& word : words) {
        const fs::path program = program_of(word);
        const Needed other = program.empty() ? Needed() : mpi_of(program);
        if (other.name.empty() || are_the_same(own, other)) continue;
        const fs::path abi = library.parent_path() / "laple" / "abi" / library.filename();
        if (other.name.starts_with("libmpi_abi.so") && fs::exists(abi)) return abi;
        throw Error(
            fmt::format("{} is linked with {}, but this LaPle was built for {}", word, other.name, own.name),
            "build LaPle with the program's MPI: cmake --fresh --preset release "
            "-DMPI_C_COMPILER=/path/to/its/mpicc");
    }
    return library;
}

std::string launcher_warning(const std::vector<std::string>& words, const fs::path& library) {
    const auto word = std::find_if(words.begin(), words.end(), is_mpiexec);
    const fs::path launcher = word == words.end() ? fs::path() : program_of(*word);
    if (launcher.empty()) return "";
    const std::string own = mpi_of(library).name;
    const std::string expected = maker_of_library(own);
    const std::string found = maker_of_launcher(launcher);
    if (expected.empty() || found.empty() || expected == found) return "";
    return fmt::format(
        "{} is {}'s, but this LaPle was built for {} ({}): each rank of such a program becomes a job of its "
        "own, in which LaPle has nothing to do; use {}",
        launcher.string(), found, expected, own,
        expected == "MPICH" ? "MPICH's: mpiexec.mpich or mpiexec.hydra" : "Open MPI's: mpiexec.openmpi");
}

}  // namespace laple::run
