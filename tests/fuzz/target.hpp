// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"

/// What a fuzzer, or replay.cpp, calls with each input. A target defines it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace laple::fuzz {

/// The name that targets give to their input.
inline constexpr const char* kFile = "input";

/// Ends the program, with `text` on stderr, unless `holds`: a finding.
inline void expect(bool holds, std::string_view text) {
    if (holds) return;
    std::fprintf(stderr, "finding: %.*s\n", static_cast<int>(text.size()), text.data());
    std::abort();
}

/// "input:LINE: problem; advice".
inline bool is_useful(std::string_view message) {
    const auto advice = message.find("; ");
    return message.starts_with(std::string(kFile) + ":") && advice != std::string_view::npos &&
           advice + 2 < message.size();
}

/// Runs `read` on the input as a text. An Error is as good an answer as a value, if its reader can act on it;
/// any other exception is a finding.
template <typename Read>
int run(const std::uint8_t* data, std::size_t size, const Read& read) {
    const std::string text(data, data + size);
    try {
        read(text);
    } catch (const Error& error) {
        expect(is_useful(error.what()), error.what());
    }
    return 0;
}

/// What `read` makes of a text that our own writer wrote: no Error is an answer here.
template <typename Read>
auto read_back(const std::string& text, const Read& read) {
    try {
        return read(text);
    } catch (const Error& error) {
        expect(false, "what was written is not read: " + std::string(error.what()) + "\n" + text);
        throw;
    }
}

}  // namespace laple::fuzz
