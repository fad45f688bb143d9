// SPDX-License-Identifier: BSD-3-Clause
#include "topology/latency_matrix.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"

using laple::LatencyMatrix;
using laple::Seconds;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

}  // namespace

TEST_CASE("a latency matrix is symmetric", "[latency_matrix]") {
    LatencyMatrix matrix(3);
    matrix.set(0, 2, Seconds(1e-3));
    matrix.set(2, 1, Seconds(2e-3));
    CHECK(matrix.at(0, 2) == Seconds(1e-3));
    CHECK(matrix.at(2, 0) == Seconds(1e-3));
    CHECK(matrix.at(1, 2) == Seconds(2e-3));
    CHECK(matrix.at(0, 1) == Seconds(0));
    CHECK(matrix.at(1, 1) == Seconds(0));
}

TEST_CASE("a latency matrix refuses what is no latency", "[latency_matrix]") {
    LatencyMatrix matrix(2);
    const LatencyMatrix before = matrix;
    CHECK_THROWS_AS(matrix.set(0, 0, Seconds(1)), laple::Error);
    CHECK_THROWS_AS(matrix.set(0, 2, Seconds(1)), laple::Error);
    CHECK_THROWS_AS(matrix.set(-1, 0, Seconds(1)), laple::Error);
    CHECK_THROWS_AS(matrix.set(0, 1, Seconds(-1)), laple::Error);
    CHECK_THROWS_AS(matrix.set(0, 1, Seconds(std::numeric_limits<double>::quiet_NaN())), laple::Error);
    CHECK_THROWS_AS(matrix.set(0, 1, Seconds(std::numeric_limits<double>::infinity())), laple::Error);
    CHECK(matrix == before);
    CHECK_THROWS_AS(LatencyMatrix(-1), laple::Error);
}

TEST_CASE("a latency table is aligned and has its units", "[latency_matrix]") {
    LatencyMatrix matrix(3);
    matrix.set(0, 1, Seconds(98.4e-6));
    matrix.set(0, 2, Seconds(10.2e-3));
    matrix.set(1, 2, Seconds(9.94e-3));
    CHECK(format_table(matrix, {"n1", "n2", "node3"}) ==
          "one-way latency\n"
          "               0     1     2\n"
          "   0 n1        -  98us  10ms\n"
          "   1 n2     98us     - 9.9ms\n"
          "   2 node3  10ms 9.9ms     -\n");
}

TEST_CASE("a latency table changes units where a figure would need a digit more", "[latency_matrix]") {
    const auto [latency, text] = GENERATE(table<double, std::string>({{0.26e-6, " 0.3us\n"},
                                                                      {9.96e-6, "  10us\n"},
                                                                      {999.4e-6, " 999us\n"},
                                                                      {999.6e-6, " 1.0ms\n"},
                                                                      {999.4e-3, " 999ms\n"},
                                                                      {999.6e-3, "  1.0s\n"},
                                                                      {12, "   12s\n"}}));
    LatencyMatrix matrix(2);
    matrix.set(0, 1, Seconds(latency));
    CHECK_THAT(format_table(matrix), Catch::Contains(text));
}

TEST_CASE("a latency table of 20 nodes keeps its columns", "[latency_matrix]") {
    LatencyMatrix matrix(20);
    for (int a = 0; a < 20; ++a) {
        for (int b = 0; b < a; ++b) matrix.set(a, b, Seconds(1e-6 * (1 + a * a * b * 17 % 50000)));
    }
    const auto lines = lines_of(format_table(matrix, std::vector<std::string>(20, "grenoble-17")));
    REQUIRE(lines.size() == 22);
    for (std::size_t i = 1; i < lines.size(); ++i) CHECK(lines[i].size() == lines[1].size());
    CHECK(lines[1].size() <= 140);
}

TEST_CASE("tables of no and of one node", "[latency_matrix]") {
    CHECK(format_table(LatencyMatrix(0)) == "one-way latency\n\n");
    CHECK(format_table(LatencyMatrix(1)) == "one-way latency\n         0\n   0     -\n");
}
