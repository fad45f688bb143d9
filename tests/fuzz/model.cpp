// SPDX-License-Identifier: BSD-3-Clause
#include "model/model.hpp"

#include "target.hpp"

using namespace laple;

namespace {

Model read(const std::string& text) {
    return parse_model(JsonDocument::parse(text, fuzz::kFile));
}

void expect_survives(const Model& model) {
    fuzz::expect(fuzz::read_back(model_text(model), read) == model, "another model is read back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::run(data, size, [](const std::string& text) {
        const Model model = read(text);
        expect_survives(model);
        expect_survives(adapted_to(model, {{"b", {0}}, {"a", {1, 3}}, {"c", {2}}}, fuzz::kFile));
    });
}
