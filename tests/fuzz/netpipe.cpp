// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/netpipe.hpp"

#include "target.hpp"

using namespace laple;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::run(data, size, [](const std::string& text) {
        const NetpipeTimes times = parse_netpipe(text, fuzz::kFile);
        fuzz::expect(!times.empty(), "a file without sizes was taken");
        for (const auto& [bytes, time] : times) fuzz::expect(time > Seconds(0), "a message took no time");
    });
}
