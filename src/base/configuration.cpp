// SPDX-License-Identifier: BSD-3-Clause
#include "base/configuration.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace laple {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestConfiguration = 1U << 20;
constexpr std::size_t kMostProblems = 5;  // that are told of one file
constexpr const char* kEnvironment = "environment";
constexpr const char* kNamedFile = "LAPLE_CONFIG";
constexpr std::string_view kBlanks = " \t\r";

struct Assignment {
    std::string name;
    std::string value;
};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// A comment begins with a "#" at the beginning of a line, or after a blank.
std::string_view without_comment(std::string_view line) {
    for (auto hash = line.find('#'); hash != std::string_view::npos; hash = line.find('#', hash + 1)) {
        if (hash == 0 || kBlanks.find(line[hash - 1]) != std::string_view::npos) return line.substr(0, hash);
    }
    return line;
}

/// "NAME = value"; nothing where it is something else.
std::optional<Assignment> assignment_in(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || trimmed(text.substr(0, equals)).empty()) return std::nullopt;
    return Assignment{std::string(trimmed(text.substr(0, equals))),
                      std::string(trimmed(text.substr(equals + 1)))};
}

bool is_text(const std::string& content) {
    return std::none_of(content.begin(), content.end(), [](unsigned char c) {
        return (c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
    });
}

class Reader {
  public:
    void read_usual_file(const std::string& file) {
        std::error_code failure;
        const bool is_there = !file.empty() && fs::status(file, failure).type() != fs::file_type::not_found;
        if (!is_there || failure) return;  // nor where its folder is not this user's to look into
        read(file, read_trusted_file);
    }

    void read_named_file(const std::string& file) { read(file, read_file); }

    void read_environment(std::span<const std::string> environment) {
        for (const std::string& entry : environment) {
            const auto assignment = assignment_in(entry);
            if (!assignment || !entry.starts_with("LAPLE_")) continue;
            const std::string problem =
                take(assignment->name, entry.substr(entry.find('=') + 1), kEnvironment);
            if (!problem.empty()) result_.warnings.push_back(problem);
        }
    }

    Configuration result() && {
        Settings& settings = result_.settings;
        if (settings.is_profile && settings.report.empty()) settings.report.assign(1, '-');
        return std::move(result_);
    }

    void warn(std::string problem) { result_.warnings.push_back(std::move(problem)); }

  private:
    using ReadFile = std::string (*)(const std::string&, std::size_t);

    void read(const std::string& file, ReadFile content_of) {
        try {
            const std::string content = content_of(file, kLargestConfiguration);
            if (!is_text(content))
                throw Error({file, 0, 0}, "is no text", "write one (laple-info --config shows how)");
            read_lines(file, content);
        } catch (const Error& error) {
            warn(fmt::format("{}; it is ignored", error.what()));
        }
    }

    void read_lines(const std::string& file, const std::string& content) {
        result_.files.push_back(file);
        std::istringstream lines(content);
        std::size_t problems = 0;
        int number = 0;
        for (std::string line; std::getline(lines, line);) {
            const std::string source = to_string({file, ++number, 0});
            const std::string problem = take_line(std::string(trimmed(without_comment(line))), source);
            if (!problem.empty() && ++problems <= kMostProblems) warn(fmt::format("{}: {}", source, problem));
        }
        if (problems > kMostProblems) {
            warn(fmt::format("{}: {} more lines are wrong; see whether it is the file you mean", file,
                             problems - kMostProblems));
        }
    }

    std::string take_line(const std::string& text, const std::string& source) {
        constexpr std::size_t kLongest = 60;
        if (text.empty()) return "";
        const auto assignment = assignment_in(text);
        if (!assignment) {
            return fmt::format("\"{}\" is no setting; write NAME = value",
                               text.size() <= kLongest ? text : text.substr(0, kLongest) + "...");
        }
        if (assignment->name == kNamedFile)
            return fmt::format("{} is ignored in a file: set it in the environment", kNamedFile);
        return take(assignment->name, assignment->value, source);
    }

    /// What is wrong with it, or "".
    std::string take(const std::string& name, const std::string& value, const std::string& source) {
        std::string problem;
        if (apply_setting(name, value, result_.settings, problem)) {
            const auto rows = all_settings();
            const auto row = std::find_if(rows.begin(), rows.end(),
                                          [&](const SettingRow& each) { return each.name == name; });
            result_.given[name] = {value.empty() ? std::string(row->fallback) : value, source};
        }
        return problem;
    }

    Configuration result_;
};

/// Nothing where it is not set.
std::optional<std::string> named_file(std::span<const std::string> environment) {
    const std::string prefix = fmt::format("{}=", kNamedFile);
    for (const std::string& entry : environment) {
        if (entry.starts_with(prefix)) return entry.substr(prefix.size());
    }
    return std::nullopt;
}

std::string as_comment(const std::string& text) {
    constexpr std::size_t kWidth = 100;
    std::istringstream words(text);
    std::string result;
    std::string line = "#";
    for (std::string word; words >> word;) {
        if (line.size() + 1 + word.size() > kWidth) result += std::exchange(line, "#") + "\n";
        line += " " + word;
    }
    return result + line + "\n";
}

/// The lines that say what is in force, where that is not the default.
std::string in_force(const std::string& name, const GivenValue& given) {
    if (given.source == "default") return "";
    const std::string line = fmt::format("{} = {}", name, given.value);
    if (name == kNamedFile) return fmt::format("# in the environment: {}\n", line);
    const auto read_back = assignment_in(trimmed(without_comment(line)));
    if (!is_text(line) || line.find('\n') != std::string::npos || read_back->value != given.value)
        return fmt::format("# from {}: a value that no line can hold\n", given.source);
    return fmt::format("# from {}:\n{}\n", given.source, line);
}

}  // namespace

GivenValue Configuration::value_of(const SettingRow& row) const {
    const auto found = given.find(row.name);
    return found != given.end() ? found->second : GivenValue{std::string(row.fallback), "default"};
}

std::string Configuration::describe_given() const {
    std::vector<std::string> all;
    for (const auto& [name, each] : given)
        all.push_back(fmt::format("{}={} ({})", name, each.value, each.source));
    return fmt::format("{}", fmt::join(all, ", "));
}

std::string Configuration::named(std::string_view name) const {
    const auto found = given.find(name);
    const bool is_in_file = found != given.end() && found->second.source != kEnvironment;
    return is_in_file ? fmt::format("{}: {}", found->second.source, name) : std::string(name);
}

const Configuration& configuration() {
    static const Configuration of_process = [] {
        const bool is_setuid = getauxval(AT_SECURE) != 0;
        const std::string folder = is_setuid ? "" : user_directory("XDG_CONFIG_HOME", ".config");
        const std::string user = folder.empty() ? "" : folder + "/laple.conf";
        std::vector<std::string> entries;
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
            if (std::string_view(*entry).starts_with("LAPLE_")) entries.emplace_back(*entry);
        }
        return read_configuration(entries, {"/etc/laple.conf", user, !is_setuid});
    }();
    return of_process;
}

Configuration read_configuration(std::span<const std::string> environment, const UsualFiles& files) {
    Reader reader;
    const auto named = named_file(environment);
    if (!named || (!named->empty() && *named != "none")) {
        reader.read_usual_file(files.system);
        reader.read_usual_file(files.user);
        if (named && files.is_named_one_trusted) reader.read_named_file(*named);
        if (named && !files.is_named_one_trusted)
            reader.warn(fmt::format("{}={} is ignored in a setuid program", kNamedFile, *named));
    }
    reader.read_environment(environment);
    return std::move(reader).result();
}

std::string configuration_text(const Configuration& configuration) {
    std::string text = as_comment(
        "Settings of LaPle, for /etc/laple.conf, ~/.config/laple/laple.conf, or a file that LAPLE_CONFIG "
        "names. Each of these is stronger than those before, and the environment is stronger than all. "
        "Lines: NAME = value, without quotes; names of files are best absolute. What is in force here "
        "stands without a \"#\".");
    for (const SettingRow& row : all_settings()) {
        text += "\n" + as_comment(fmt::format("{} Values: {}", row.meaning, row.accepted));
        text += fmt::format("# {}\n", trimmed(fmt::format("{} = {}", row.name, row.fallback)));
        text += in_force(std::string(row.name), configuration.value_of(row));
    }
    return text;
}

}  // namespace laple
