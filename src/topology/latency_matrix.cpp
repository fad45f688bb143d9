// SPDX-License-Identifier: BSD-3-Clause
#include "topology/latency_matrix.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"

namespace laple {
namespace {

/// At most five characters for anything below 10000 s: "9.9us", "118us", "10ms".
std::string format_cell(Seconds latency) {
    const char* unit = "us";
    double value = latency.count() * 1e6;
    // The bounds are where the rounded figure would need a digit more.
    if (value >= 999.5) {
        unit = "ms";
        value /= 1e3;
    }
    if (value >= 999.5) {
        unit = "s";
        value /= 1e3;
    }
    return fmt::format("{:.{}f}{}", value, value < 9.95 ? 1 : 0, unit);
}

std::size_t nodes_or_throw(int nodes) {
    if (nodes < 0)
        throw Error(fmt::format("a matrix of {} nodes", nodes), "give a number of nodes from 0 up");
    return static_cast<std::size_t>(nodes);
}

}  // namespace

LatencyMatrix::LatencyMatrix(int nodes)
    : nodes_(nodes), latencies_(nodes_or_throw(nodes) * nodes_or_throw(nodes), Seconds(0)) {}

void LatencyMatrix::set(int a, int b, Seconds latency) {
    if (a < 0 || a >= nodes_ || b < 0 || b >= nodes_ || a == b) {
        throw Error(fmt::format("nodes {} and {} are no pair of {} nodes", a, b, nodes_),
                    "name two different nodes");
    }
    if (!std::isfinite(latency.count()) || latency.count() < 0) {
        throw Error(fmt::format("the latency between nodes {} and {} is {} s", a, b, latency.count()),
                    "measure it again");
    }
    latencies_[index(a, b)] = latency;
    latencies_[index(b, a)] = latency;
}

std::string format_table(const LatencyMatrix& matrix, const std::vector<std::string>& names) {
    constexpr int kCell = 6;
    const int nodes = matrix.nodes();
    const auto label = [&](int node) {
        const auto i = static_cast<std::size_t>(node);
        return i < names.size() ? fmt::format("{:>4} {}", node, names[i]) : fmt::format("{:>4}", node);
    };
    std::size_t label_width = 0;
    for (int node = 0; node < nodes; ++node) label_width = std::max(label_width, label(node).size());

    std::string text = fmt::format("one-way latency\n{:{}}", "", label_width);
    for (int node = 0; node < nodes; ++node) text += fmt::format("{:>{}}", node, kCell);
    text += '\n';
    for (int row = 0; row < nodes; ++row) {
        text += fmt::format("{:<{}}", label(row), label_width);
        for (int column = 0; column < nodes; ++column) {
            text += fmt::format("{:>{}}", row == column ? "-" : format_cell(matrix.at(row, column)), kCell);
        }
        text += '\n';
    }
    return text;
}

}  // namespace laple
