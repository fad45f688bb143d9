// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/report.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

namespace laple::bench {
namespace {

Row example_row() {
    Row row;
    row.benchmark = {Collective::bcast, Form::one_count};
    row.bytes = 65536;
    row.stock_us = {4, 10, 30, 35, 40};
    row.laple_us = {4, 8, 12, 14, 16};
    row.algorithm = "two_level";
    row.correct = true;
    return row;
}

Context example_context() {
    Context context;
    context.ranks = 16;
    context.hosts = {"a", "b"};
    context.mpi_library = "MPICH Version: 4.0.2";
    context.laple_version = "0.1.0";
    context.environment["LAPLE_TOPOLOGY"] = "map";
    return context;
}

int words_in(const std::string& line) {
    int words = 0;
    bool in_word = false;
    for (const char c : line) {
        if (c != ' ' && !in_word) ++words;
        in_word = c != ' ';
    }
    return words;
}

TEST_CASE("a row of the table", "[bench]") {
    CHECK(format_row(example_row(), false) ==
          "bcast             65536        30.00        12.00      2.50  two_level                            "
          "    pass");
    CHECK(words_in(format_row(example_row(), false)) == 7);
    CHECK(words_in(format_row(example_row(), true)) == 14);
}

TEST_CASE("a bound gives an efficiency, and says what binds", "[bench]") {
    Row row = example_row();
    CHECK_FALSE(efficiency(row));
    row.bound = LowerBound{Seconds(6e-6), "node"};
    CHECK(efficiency(row) == Approx(0.5));
    CHECK(format_row(row, false).ends_with("pass   node"));
    CHECK(format_row(row, false).find("6.00       0.50") != std::string::npos);
    const Json json = to_json(example_context(), {row});
    CHECK(json["results"][0]["bound_us"] == 6.0);
    CHECK(json["results"][0]["efficiency"] == 0.5);
    CHECK(json["results"][0]["binds"] == "node");
}

TEST_CASE("a column that was not measured is left empty", "[bench]") {
    Row row = example_row();
    row.laple_us = {};
    row.bound = LowerBound{Seconds(6e-6), "node"};
    CHECK(format_row(row, false).find(" 30.00            -         - ") != std::string::npos);
    CHECK(efficiency(row) == Approx(0.2));
    const Json json = to_json(example_context(), {row})["results"][0];
    CHECK(json["laple_us"].is_null());
    CHECK(json["speedup"].is_null());
    CHECK(to_csv({row}).find("65536,30.000,,,10.000,,4,0,") != std::string::npos);
}

TEST_CASE("the check column tells unchecked from wrong", "[bench]") {
    Row row = example_row();
    row.correct = false;
    CHECK(format_row(row, false).ends_with("FAIL"));
    row.correct.reset();
    CHECK(format_row(row, false).ends_with(" -"));
}

TEST_CASE("the header is comments, the last line names the columns", "[bench]") {
    const std::string header = format_header(example_context(), false);
    CHECK(header.find("16 ranks on 2 hosts; LaPle 0.1.0") != std::string::npos);
    const std::string last = header.substr(header.rfind('\n', header.size() - 2) + 1);
    CHECK(last ==
          "# collective      bytes    stock[us]    laple[us]  speed-up  algorithm                            "
          "    check\n");
    Context absent = example_context();
    absent.laple_version.reset();
    const std::string without = format_header(absent, true);
    CHECK(without.find("LaPle not loaded") != std::string::npos);
    const std::string columns = without.substr(without.rfind('\n', without.size() - 2));
    CHECK(columns.find("stock[us]    again[us]     ratio") != std::string::npos);
    CHECK(columns.find("again min") != std::string::npos);
    CHECK(columns.find("laple") == std::string::npos);
}

TEST_CASE("the header says how ranks are put on hosts", "[bench]") {
    Context context = example_context();
    context.ranks = 4;
    const auto told = [&](std::vector<int> host_of_rank) {
        context.host_of_rank = std::move(host_of_rank);
        const std::string header = format_header(context, false);
        return header.substr(0, header.find(';'));
    };
    CHECK(told({0, 0, 1, 1}) == "# laple-bench: 4 ranks on 2 hosts, 2 a host in blocks");
    CHECK(told({0, 1, 0, 1}) == "# laple-bench: 4 ranks on 2 hosts, 2 a host dealt round");
    CHECK(told({0, 0, 1, 0}) == "# laple-bench: 4 ranks on 2 hosts, 1 to 3 a host");
    CHECK(to_json(context, {})["context"]["host_of_rank"] == Json({0, 0, 1, 0}));
    context.ranks = 2;
    CHECK(told({0, 1}) == "# laple-bench: 2 ranks on 2 hosts");
}

TEST_CASE("the JSON document", "[bench]") {
    Row unchecked = example_row();
    unchecked.correct.reset();
    Context context = example_context();
    const Json document = to_json(context, {example_row(), unchecked});
    CHECK(document["format"] == "laple-bench-1");
    CHECK(document["context"]["ranks"] == 16);
    CHECK(document["context"]["hosts"] == Json::array({"a", "b"}));
    CHECK(document["context"]["laple_version"] == "0.1.0");
    CHECK(document["context"]["iterations"].is_null());
    CHECK(document["context"]["environment"]["LAPLE_TOPOLOGY"] == "map");
    const Json& first = document["results"][0];
    CHECK(first["collective"] == "bcast");
    CHECK(first["bytes"] == 65536);
    CHECK(first["library_us"] == 30.0);
    CHECK(first["laple_us"] == 12.0);
    CHECK(first["speedup"] == 2.5);
    CHECK(first["bound_us"].is_null());
    CHECK(first["efficiency"].is_null());
    CHECK(first["algorithm"] == "two_level");
    CHECK(first["correct"] == true);
    CHECK(first["laple_min_us"] == 8.0);
    CHECK(first["laple_samples"] == 4);
    CHECK(document["results"][1]["correct"].is_null());
    context.laple_version.reset();
    CHECK(to_json(context, {})["context"]["laple_version"].is_null());
    CHECK(to_json(context, {})["results"].is_array());
    CHECK(to_json(context, {})["context"]["hosts"].is_array());
}

TEST_CASE("the JSON document of one host and one variable keeps its shape", "[bench]") {
    Context context = example_context();
    context.hosts = {"a"};
    const Json document = to_json(context, {example_row()});
    CHECK(document["context"]["hosts"] == Json::array({"a"}));
    CHECK(document["context"]["environment"].is_object());
    CHECK(document["results"].is_array());
    CHECK(document["results"][0].is_object());
}

TEST_CASE("CSV quotes what needs it", "[bench]") {
    Row row = example_row();
    row.algorithm = "a,\"b\"";
    const std::string csv = to_csv({row});
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 2);
    CHECK(csv.ends_with("bcast,65536,30.000,12.000,2.500,10.000,8.000,4,4,\"a,\"\"b\"\"\",true\n"));
}

TEST_CASE("no samples, no speed-up", "[bench]") {
    CHECK(speedup(Row{}) == 0);
}

}  // namespace
}  // namespace laple::bench
