// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace laple;

namespace {

std::string error_of(const std::string& text) {
    try {
        JsonDocument::parse(text, "f");
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("every value knows its line") {
    const auto document = JsonDocument::parse("{\n \"a\": 1,\n \"b\": [1,\n 2,\n {\"c~/d\":\n 3}]\n}", "f");
    CHECK(to_string(document.position("/a")) == "f:2");
    CHECK(to_string(document.position("/b")) == "f:3");
    CHECK(to_string(document.position("/b/0")) == "f:3");
    CHECK(to_string(document.position("/b/1")) == "f:4");
    CHECK(to_string(document.position("/b/2/c~0~1d")) == "f:5");
    CHECK(to_string(document.position("/b/2/missing")) == "f:5");
    CHECK(to_string(document.position("/missing")) == "f:1");
    CHECK(document.root()["b"][1] == 2);
}

TEST_CASE("broken JSON is reported with its line") {
    CHECK(error_of("{\"a\":\n\n oops}").starts_with("f:3: not valid JSON"));
    CHECK(error_of("").starts_with("f:1: not valid JSON"));
    CHECK(error_of("[1,\n2").starts_with("f:2: not valid JSON"));
    CHECK(error_of("{\n\"a\":1,\n\"a\":2}") == "f:3: \"a\" is given twice; remove one");
    CHECK(error_of(std::string(1000, '[')).find("nested too deeply") != std::string::npos);
    CHECK(error_of("{} x").find("not valid JSON") != std::string::npos);
}
