// SPDX-License-Identifier: BSD-3-Clause
#include "model/unfinished.hpp"

#include "target.hpp"

using namespace laple;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<Node> nodes{
        {"b", {0}}, {"a", {1, 3}}, {"c", {2}}, {"twice", {4}}, {"twice", {5}}};
    static const std::vector<Node> unique(nodes.begin(), nodes.begin() + 3);
    return fuzz::run(data, size, [](const std::string& text) {
        const auto known = parse_unfinished(JsonDocument::parse(text, fuzz::kFile), nodes);
        const auto read = [](const std::string& written) {
            return parse_unfinished(JsonDocument::parse(written, fuzz::kFile), unique);
        };
        fuzz::expect(fuzz::read_back(unfinished_text(unique, known), read) == known,
                     "other latencies are read back");
    });
}
