// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/file.hpp"

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

/// Refuses a key given twice and nesting without end, and finds the line of one value, or of the nearest of
/// its parents that exists. It builds no document: nlohmann's own parser does that.
class Walker : public nlohmann::json_sax<Json> {
  public:
    /// `wanted` is the JSON pointer of the value to find; without one, lines are not looked for.
    Walker(const std::string& file, const int& line, const std::string* wanted = nullptr)
        : file_(file), line_(line), wanted_(wanted) {}

    int line_of_wanted() const { return line_of_wanted_; }

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
        if (!level.keys.insert(name).second) {
            throw Error({file_, line_, 0}, fmt::format("\"{}\" is given twice", name), "remove one");
        }
        if (wanted_ == nullptr) return true;
        // A member stands where its key stands.
        level.child = level.path + (Json::json_pointer() / name).to_string();
        find(level.child);
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
        std::set<std::string> keys;
    };
    static constexpr std::size_t kMaxDepth = 64;  // far beyond any format of ours; a bound for hostile files

    /// The pointer of the value that begins now.
    std::string here() {
        if (wanted_ == nullptr || levels_.empty()) return "";
        Level& level = levels_.back();
        if (!level.is_array) return level.child;
        std::string path = fmt::format("{}/{}", level.path, level.next_index++);
        find(path);
        return path;
    }
    void find(const std::string& path) {
        const bool is_on_the_way =
            wanted_->starts_with(path) && (wanted_->size() == path.size() || (*wanted_)[path.size()] == '/');
        if (is_on_the_way) line_of_wanted_ = line_;  // parents come before their members
    }
    bool value() {
        here();
        return true;
    }
    bool enter(bool is_array) {
        if (levels_.size() >= kMaxDepth) {
            throw Error({file_, line_, 0}, "nested too deeply",
                        fmt::format("use at most {} levels", kMaxDepth));
        }
        levels_.push_back({here(), is_array, 0, {}, {}});
        return true;
    }
    bool leave() {
        levels_.pop_back();
        return true;
    }

    const std::string& file_;
    const int& line_;
    const std::string* wanted_;
    int line_of_wanted_ = 1;
    std::vector<Level> levels_;
};

/// Walks over `text`, which begins with a blank more than the file: the iterator looks at the character
/// before the current one. Returns the line of `wanted`.
int walk(const std::string& text, const std::string& file, const std::string* wanted) {
    int line = 1;
    Walker walker(file, line, wanted);
    Json::sax_parse(CountingIterator{text.data() + 1, &line},
                    CountingIterator{text.data() + text.size(), &line}, &walker);
    return walker.line_of_wanted();
}

}  // namespace

JsonDocument JsonDocument::parse(const std::string& text, const std::string& file) {
    JsonDocument document;
    document.file_ = file;
    document.text_.reserve(text.size() + 1);
    document.text_ += ' ';
    document.text_ += text;
    walk(document.text_, file, nullptr);
    document.root_ = Json::parse(text);
    return document;
}

JsonDocument JsonDocument::load(const std::string& file) {
    return parse(read_file(file), file);
}

FilePosition JsonDocument::position(const std::string& pointer) const {
    return {file_, walk(text_, file_, &pointer), 0};
}

Error JsonDocument::error(const std::string& pointer, const std::string& problem,
                          const std::string& advice) const {
    return {position(pointer), problem, advice};
}

JsonReader::JsonReader(const JsonDocument& document, const std::string& format) : document_(document) {
    if (!document.root().is_object())
        throw document.error("", "this is no object",
                             fmt::format("write {{ \"format\": \"{}\", ... }}", format));
    if (text("/format") != format) throw wrong("/format", "is unknown", fmt::format("write \"{}\"", format));
}

bool JsonReader::has(const std::string& pointer) const {
    return document_.root().contains(Json::json_pointer(pointer));
}

const Json& JsonReader::at(const std::string& pointer) const {
    if (!has(pointer)) throw document_.error(pointer, fmt::format("there is no {}", pointer), "add it");
    return document_.root().at(Json::json_pointer(pointer));
}

const Json& JsonReader::array(const std::string& pointer) const {
    const Json& value = at(pointer);
    if (!value.is_array()) throw wrong(pointer, "is not a list", "write [ ... ]");
    return value;
}

std::vector<std::string> JsonReader::items(const std::string& pointer) const {
    std::vector<std::string> pointers;
    for (std::size_t i = 0; i < array(pointer).size(); ++i) pointers.push_back(item_pointer(pointer, i));
    return pointers;
}

std::map<std::string, std::string> JsonReader::members(const std::string& pointer) const {
    const Json& value = at(pointer);
    if (!value.is_object()) throw wrong(pointer, "is no object", "write { ... }");
    std::map<std::string, std::string> members;
    for (const auto& [name, unused] : value.items())
        members[name] = (Json::json_pointer(pointer) / name).to_string();
    return members;
}

std::string JsonReader::text(const std::string& pointer) const {
    const Json& value = at(pointer);
    if (!value.is_string()) throw wrong(pointer, "is not a string", "write it in quotes");
    return value.get<std::string>();
}

double JsonReader::positive(const std::string& pointer, const std::string& unit) const {
    const Json& value = at(pointer);
    if (!value.is_number() || !(value.get<double>() > 0))
        throw wrong(pointer, "is not a positive number", fmt::format("give {}", unit));
    return not_too_large(pointer, unit);
}

double JsonReader::at_least_0(const std::string& pointer, const std::string& unit) const {
    const Json& value = at(pointer);
    if (!value.is_number() || !(value.get<double>() >= 0))
        throw wrong(pointer, "is not a number of 0 or more", fmt::format("give {}", unit));
    return not_too_large(pointer, unit);
}

double JsonReader::not_too_large(const std::string& pointer, const std::string& unit) const {
    const double value = at(pointer).get<double>();
    if (value > kMost)
        throw wrong(pointer, fmt::format("is more than {}", kMost), fmt::format("give {}", unit));
    return value;
}

bool JsonReader::truth(const std::string& pointer) const {
    const Json& value = at(pointer);
    if (!value.is_boolean()) throw wrong(pointer, "is neither true nor false", "correct it");
    return value.get<bool>();
}

int JsonReader::whole(const std::string& pointer, int min, int max) const {
    const Json& value = at(pointer);
    // Read as a floating-point number: an integer of any size then compares as it should.
    if (!value.is_number_integer() || value.get<double>() < min || value.get<double>() > max) {
        throw wrong(pointer, fmt::format("is not a whole number from {} to {}", min, max), "correct it");
    }
    return value.get<int>();
}

int JsonReader::named(const std::string& pointer, const std::vector<std::string>& names) const {
    const std::string name = text(pointer);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    const std::string nearest = nearest_name(name, names);
    throw wrong(pointer, fmt::format("names no {}", name),
                nearest.empty() ? "use a name of this file" : fmt::format("did you mean {}?", nearest));
}

Error JsonReader::wrong(const std::string& pointer, const std::string& problem,
                        const std::string& advice) const {
    return document_.error(pointer, fmt::format("{} {}", pointer, problem), advice);
}

std::string item_pointer(const std::string& list, std::size_t index, const std::string& member) {
    return fmt::format("{}/{}{}", list, index, member);
}

}  // namespace laple
