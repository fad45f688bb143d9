// SPDX-License-Identifier: BSD-3-Clause
#include "grid/scenario.hpp"

#include "target.hpp"

using namespace laple;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::run(data, size, [](const std::string& text) {
        const auto scenario = grid::parse_scenario(JsonDocument::parse(text, fuzz::kFile));
        fuzz::expect(scenario.host_count() > 0, "a grid without hosts");
    });
}
