// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/netpipe.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"

namespace laple {
namespace {

constexpr std::size_t kMaxText = 1 << 20;     // some thirty thousand sizes; NetPIPE knows some hundred
constexpr Bytes kMaxBytes = Bytes{1} << 53;   // what a curve in a model may hold
constexpr double kMegabit = 1024.0 * 1024.0;  // as NetPIPE counts
constexpr double kLastDecimal = 1e-8;         // of the times that it prints
constexpr double kContradiction = 0.01;
constexpr const char* kWhatToWrite = "give NetPIPE's output as it is: lines of bytes, Mbps and seconds";

struct Word {
    std::string_view text;
    FilePosition at;
};

std::vector<Word> words_of(std::string_view line, const std::string& file, int number) {
    constexpr std::string_view kBlank = " \t\r";
    std::vector<Word> words;
    for (std::size_t begin = line.find_first_not_of(kBlank); begin != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
        words.push_back({line.substr(begin, end - begin), {file, number, static_cast<int>(begin) + 1}});
        begin = line.find_first_not_of(kBlank, end);
    }
    return words;
}

template <typename Number>
Number number_of(const Word& word, const char* what) {
    Number value{};
    const char* const last = word.text.data() + word.text.size();
    const auto [end, status] = std::from_chars(word.text.data(), last, value);
    if (status != std::errc{} || end != last)
        throw Error(word.at, fmt::format("\"{}\" is no {}", word.text, what), kWhatToWrite);
    return value;
}

Bytes read_bytes(const Word& word) {
    const auto bytes = number_of<Bytes>(word, "whole number of bytes");
    if (bytes == 0 || bytes > kMaxBytes)
        throw Error(word.at, fmt::format("{} bytes is no size that NetPIPE measures", bytes), kWhatToWrite);
    return bytes;
}

double read_measured(const Word& word, const char* what) {
    const auto value = number_of<double>(word, what);
    if (!std::isfinite(value) || value <= 0)
        throw Error(word.at, fmt::format("\"{}\" is no {} that can be measured", word.text, what),
                    "run NetPIPE again");
    return value;
}

/// Both columns say the same: if they do not, they are not what we take them for.
void expect_agreement(Bytes bytes, double megabits, double seconds, const FilePosition& at) {
    const double megabits_in_all = static_cast<double>(bytes) * 8 / kMegabit;
    const double expected = megabits_in_all / megabits;
    if (std::abs(expected - seconds) <= kContradiction * expected + kLastDecimal) return;
    throw Error(at,
                fmt::format("{} bytes at {} Mbps would take {}, not {}", bytes, megabits,
                            format_seconds(Seconds(expected)), format_seconds(Seconds(seconds))),
                "give what NetPIPE wrote without -s and -2: one message at a time, half of a round trip");
}

}  // namespace

NetpipeTimes parse_netpipe(const std::string& text, const std::string& file) {
    if (text.size() > kMaxText)
        throw Error({file, 0, 0}, fmt::format("is larger than {}", format_bytes(kMaxText)), kWhatToWrite);
    NetpipeTimes times;
    std::map<Bytes, int> lines;
    std::string_view rest = text;
    for (int number = 1; !rest.empty(); ++number) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::vector<Word> words = words_of(rest.substr(0, end), file, number);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (words.empty()) continue;
        if (words.size() != 3)
            throw Error({file, number, 0}, fmt::format("{} words instead of three", words.size()),
                        kWhatToWrite);
        const Bytes bytes = read_bytes(words[0]);
        const double megabits = read_measured(words[1], "throughput");
        const double seconds = read_measured(words[2], "time");
        expect_agreement(bytes, megabits, seconds, words[1].at);
        const auto [first, is_new] = lines.try_emplace(bytes, number);
        if (!is_new)
            throw Error(words[0].at, fmt::format("{} bytes stand in line {} already", bytes, first->second),
                        "give the output of one run");
        times[bytes] = Seconds(seconds);
    }
    if (times.empty()) throw Error({file, 0, 0}, "holds no measurement", "run NetPIPE to its end");
    return times;
}

NetpipeTimes load_netpipe(const std::string& file) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);  // fails for devices, which might never end
    if (!error && size > kMaxText)
        throw Error({file, 0, 0}, fmt::format("is larger than {}", format_bytes(kMaxText)), kWhatToWrite);
    if (error && std::filesystem::exists(file))
        throw Error({file, 0, 0}, "is not a file", "name the np.out that NetPIPE wrote");
    return parse_netpipe(read_file(file), file);
}

}  // namespace laple
