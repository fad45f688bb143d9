// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target on the files of the directories that are named: what is found stays mended, and targets
// keep compiling, where there is no fuzzer.
#include <cstdio>
#include <filesystem>

#include "base/file.hpp"
#include "target.hpp"

int main(int argc, char** argv) {
    int files = 0;
    for (int i = 1; i < argc; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            const std::string text = laple::read_file(entry.path().string());
            std::printf("%s\n", entry.path().c_str());
            std::fflush(stdout);  // the last one named is the one that aborts
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
            ++files;
        }
    }
    return files > 0 ? 0 : 1;
}
