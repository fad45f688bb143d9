// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace laple {
namespace {

/// As much of a problem as people read: it may quote a file that is one long line.
constexpr std::size_t kLongest = 1000;

std::string shortened(const std::string& text) {
    return text.size() <= kLongest ? text : text.substr(0, kLongest) + " ...";
}

/// Without control characters, which files may hold: a NUL would end the text, others drive terminals. Lines
/// of our own stay.
std::string printable(const std::string& text) {
    std::string result;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        const bool is_control = (code < ' ' && c != '\n' && c != '\t') || code == 0x7f;
        result += is_control ? fmt::format("\\x{:02x}", code) : std::string(1, c);
    }
    return result;
}

}  // namespace

std::string to_string(const FilePosition& position) {
    std::string text = position.file;
    if (position.line > 0) text += fmt::format(":{}", position.line);
    if (position.line > 0 && position.column > 0) text += fmt::format(":{}", position.column);
    return text;
}

Error::Error(const std::string& problem, const std::string& advice)
    : std::runtime_error(printable(shortened(problem) + "; " + advice)) {}

Error::Error(const FilePosition& where, const std::string& problem, const std::string& advice)
    : std::runtime_error(printable(to_string(where) + ": " + shortened(problem) + "; " + advice)) {}

std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substitute});
        }
    }
    return row.back();
}

}  // namespace laple
