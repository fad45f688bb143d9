// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace laple {
namespace {

/// Walks over the text and counts lines, so that the parser's callbacks know where they are.
/// The parser reads one character past a number; that character is not counted yet (`line` is
/// the line of the character before the last one read).
struct CountingIterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* at = nullptr;
    int* line = nullptr;

    reference operator*() const { return *at; }
    CountingIterator& operator++() {
        if (at[-1] == '\n') ++*line;
        ++at;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at == other.at; }
    bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

std::string escape_pointer(const std::string& key) {
    std::string escaped;
    for (const char c : key) {
        if (c == '~') {
            escaped += "~0";
        } else if (c == '/') {
            escaped += "~1";
        } else {
            escaped += c;
        }
    }
    return escaped;
}

/// Records the line of every value and refuses a key given twice. It builds no document: nlohmann's own
/// parser does that afterwards, from a text that is known to be well formed.
class LineRecorder : public nlohmann::json_sax<Json> {
  public:
    LineRecorder(const std::string& file, const int& line, std::map<std::string, int>& lines)
        : file_(file), line_(line), lines_(lines) {}

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t) override { return value(); }
    bool number_unsigned(number_unsigned_t) override { return value(); }
    bool number_float(number_float_t, const string_t&) override { return value(); }
    bool string(string_t&) override { return value(); }
    bool binary(binary_t&) override { return value(); }
    bool start_object(std::size_t) override { return enter(false); }
    bool start_array(std::size_t) override { return enter(true); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }

    bool key(string_t& name) override {
        Level& level = levels_.back();
        level.child = level.path + "/" + escape_pointer(name);
        if (lines_.count(level.child) != 0) {
            throw Error({file_, line_, 0}, fmt::format("\"{}\" is given twice", name), "remove one");
        }
        lines_[level.child] = line_;
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
        std::string reason = e.what();
        const auto detail = reason.find("syntax error");
        if (detail != std::string::npos) reason = reason.substr(detail);
        throw Error({file_, line_, 0}, fmt::format("not valid JSON: {}", reason), "mend the syntax");
    }

  private:
    struct Level {
        std::string path;
        bool is_array;
        std::size_t next_index;
        std::string child;
    };
    static constexpr std::size_t kMaxDepth = 64;  // far beyond any format of ours; a bound for hostile files

    std::string here() {
        if (levels_.empty()) return "";
        Level& level = levels_.back();
        return level.is_array ? fmt::format("{}/{}", level.path, level.next_index++) : level.child;
    }
    bool value() {
        lines_.emplace(here(), line_);
        return true;
    }
    bool enter(bool is_array) {
        if (levels_.size() >= kMaxDepth) {
            throw Error({file_, line_, 0}, "nested too deeply",
                        fmt::format("use at most {} levels", kMaxDepth));
        }
        std::string path = here();
        lines_.emplace(path, line_);
        levels_.push_back({std::move(path), is_array, 0, {}});
        return true;
    }
    bool leave() {
        levels_.pop_back();
        return true;
    }

    const std::string& file_;
    const int& line_;
    std::map<std::string, int>& lines_;
    std::vector<Level> levels_;
};

}  // namespace

JsonDocument JsonDocument::parse(const std::string& text, const std::string& file) {
    JsonDocument document;
    document.file_ = file;
    // A leading blank lets the iterator look at the character before the current one.
    const std::string padded = " " + text;
    int line = 1;
    LineRecorder recorder(file, line, document.lines_);
    const CountingIterator begin{padded.data() + 1, &line};
    const CountingIterator end{padded.data() + padded.size(), &line};
    Json::sax_parse(begin, end, &recorder);
    document.root_ = Json::parse(text);
    return document;
}

JsonDocument JsonDocument::load(const std::string& file) {
    return parse(read_file(file), file);
}

FilePosition JsonDocument::position(const std::string& pointer) const {
    std::string path = pointer;
    while (lines_.count(path) == 0 && !path.empty()) path.resize(path.rfind('/'));
    const auto found = lines_.find(path);
    return {file_, found == lines_.end() ? 1 : found->second, 0};
}

Error JsonDocument::error(const std::string& pointer, const std::string& problem,
                          const std::string& advice) const {
    return {position(pointer), problem, advice};
}

std::string read_file(const std::string& file) {
    if (std::filesystem::is_directory(file)) {
        throw Error({file, 0, 0}, "is a directory", "name a file in it");
    }
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        throw Error({file, 0, 0}, fmt::format("cannot be opened: {}", std::strerror(errno)),
                    "check the path and its permissions");
    }
    std::ostringstream content;
    content << stream.rdbuf();
    if (stream.bad()) throw Error({file, 0, 0}, "cannot be read", "check that it is a regular file");
    return content.str();
}

}  // namespace laple
