// SPDX-License-Identifier: BSD-3-Clause
#include "topology/magpie_file.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace laple {
namespace {

constexpr const char* kExample = "write lines like: cluster 0 process 0 1 2 3";

struct Token {
    std::string_view text;
    FilePosition at;
    bool is_number = false;
};

/// Splits the text into numbers and words; knows where each stands.
class Tokenizer {
  public:
    Tokenizer(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

    std::optional<Token> next() {
        skip_blanks_and_comments();
        if (offset_ == text_.size()) return std::nullopt;
        const FilePosition at = position();
        const std::size_t begin = offset_;
        const bool is_number = is_digit(text_[begin]);
        while (offset_ < text_.size() && is_digit(text_[offset_]) == is_number &&
               !ends_token(text_[offset_])) {
            ++offset_;
        }
        return Token{text_.substr(begin, offset_ - begin), at, is_number};
    }

    FilePosition position() const { return {file_, line_, static_cast<int>(offset_ - line_start_) + 1}; }

  private:
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    /// Of ASCII only: what is blank must not depend on the application's locale.
    static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
    static bool ends_token(char c) { return is_blank(c) || c == '#'; }

    void skip_blanks_and_comments() {
        bool in_comment = false;
        for (; offset_ < text_.size(); ++offset_) {
            const char c = text_[offset_];
            if (c == '\n') {
                in_comment = false;
                ++line_;
                line_start_ = offset_ + 1;
            } else if (c == '#') {
                in_comment = true;
            } else if (!in_comment && !is_blank(c)) {
                return;
            }
        }
    }

    std::string_view text_;
    std::string file_;
    std::size_t offset_ = 0;
    int line_ = 1;
    std::size_t line_start_ = 0;
};

int to_number(const Token& token) {
    int value = 0;
    const auto [end, status] =
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (status != std::errc{} || value >= kMostRanks) {
        throw Error(token.at, fmt::format("{} is out of range", token.text),
                    fmt::format("use numbers below {}", kMostRanks));
    }
    return value;
}

class Parser {
  public:
    Parser(const std::string& text, const std::string& file) : tokens_(text, file), file_(file) {}

    std::vector<std::vector<Rank>> run() {
        advance();
        while (token_) parse_cluster();
        if (clusters_.empty()) {
            throw Error({file_, 0, 0}, "describes no cluster", kExample);
        }
        check_none_missing();
        return std::move(clusters_);
    }

    int rank_count() const { return static_cast<int>(place_of_rank_.size()); }

  private:
    void advance() { token_ = tokens_.next(); }

    FilePosition here() const { return token_ ? token_->at : tokens_.position(); }

    [[noreturn]] void expected(const std::string& what, const char* advice) const {
        throw Error(
            here(),
            fmt::format("expected {}{}", what,
                        token_ ? fmt::format(", found \"{}\"", token_->text) : ", the file ends here"),
            advice);
    }

    void expect_word(std::string_view word) {
        if (!token_ || token_->text != word) {
            const bool is_range = token_ && token_->text.starts_with('-');
            expected(fmt::format("\"{}\"", word),
                     is_range ? "there are no ranges: name every rank, as in cluster 0 process 0 1 2 3"
                              : kExample);
        }
        advance();
    }

    int expect_number(const char* what) {
        if (!token_ || !token_->is_number) expected(what, kExample);
        const int value = to_number(*token_);
        advance();
        return value;
    }

    void parse_cluster() {
        const FilePosition cluster_at = token_->at;
        expect_word("cluster");
        const FilePosition number_at = here();
        const int number = expect_number("the cluster's number");
        const auto [first, is_new] = place_of_cluster_.try_emplace(number, cluster_at);
        if (!is_new) {
            throw Error(number_at,
                        fmt::format("cluster {} stands at {} already", number, to_string(first->second)),
                        "give each cluster its own number");
        }
        expect_word("process");
        std::vector<Rank>& ranks = clusters_.emplace_back();
        while (token_ && token_->is_number) {
            const FilePosition at = token_->at;
            const Rank rank = expect_number("a rank");
            const auto [place, is_new_rank] = place_of_rank_.try_emplace(rank, at);
            if (!is_new_rank) {
                throw Error(at, fmt::format("rank {} stands at {} already", rank, to_string(place->second)),
                            "remove one");
            }
            ranks.push_back(rank);
        }
        if (ranks.empty() && token_ && token_->text != "cluster") expect_number("a rank");
        if (ranks.empty()) {
            throw Error(cluster_at, fmt::format("cluster {} has no process", number),
                        "name its ranks or remove it");
        }
    }

    void check_none_missing() const {
        Rank next = 0;
        for (const auto& [rank, at] : place_of_rank_) {
            if (rank != next) {
                throw Error(at, fmt::format("rank {} is here, but rank {} is in no cluster", rank, next),
                            "name every rank of MPI_COMM_WORLD exactly once");
            }
            ++next;
        }
    }

    Tokenizer tokens_;
    std::string file_;
    std::optional<Token> token_;
    std::vector<std::vector<Rank>> clusters_;
    std::map<int, FilePosition> place_of_cluster_;
    std::map<Rank, FilePosition> place_of_rank_;
};

constexpr std::string_view kHostComment = "# host ";

/// A host and its ranks; nothing where that is another comment.
std::optional<Node> parse_host_comment(const std::string& line) {
    const auto colon = line.rfind(": ");
    if (!line.starts_with(kHostComment) || colon == std::string::npos || colon <= kHostComment.size())
        return std::nullopt;
    Node node{line.substr(kHostComment.size(), colon - kHostComment.size()), {}};
    const char* const end = line.data() + line.size();
    for (const char* next = line.data() + colon + 1; next != end;) {
        if (*next == ' ' || *next == '\r') {
            ++next;
            continue;
        }
        Rank rank = 0;
        const auto [stop, error] = std::from_chars(next, end, rank);
        if (error != std::errc() || rank < 0) return std::nullopt;
        node.ranks.push_back(rank);
        next = stop;
    }
    std::sort(node.ranks.begin(), node.ranks.end());
    return node;
}

}  // namespace

Topology parse_magpie(const std::string& text, const std::string& file) {
    Parser parser(text, file);
    const std::vector<std::vector<Rank>> clusters = parser.run();
    return Topology::from_clusters(parser.rank_count(), clusters);
}

std::string format_magpie(const Topology& topology) {
    std::vector<std::vector<Rank>> clusters(static_cast<std::size_t>(topology.cluster_count()));
    for (Rank rank = 0; rank < topology.size(); ++rank)
        clusters[static_cast<std::size_t>(topology.cluster_of(rank))].push_back(rank);
    std::string text;
    for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster)
        text += fmt::format("cluster {} process {}\n", cluster, fmt::join(clusters[cluster], " "));
    return text;
}

std::string format_magpie_hosts(const std::vector<Node>& nodes) {
    std::string text;
    for (const Node& node : nodes)
        text += fmt::format("{}{}: {}\n", kHostComment, node.host, fmt::join(node.ranks, " "));
    return text;
}

std::vector<Node> parse_magpie_hosts(const std::string& text, int ranks) {
    std::vector<Node> nodes;
    std::set<std::string> names;
    std::set<Rank> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        auto node = parse_host_comment(line);
        if (!node) continue;
        const bool is_label = node->host.ends_with(")");  // "node (2)": of hosts with one name (label_hosts)
        if (is_label || !names.insert(node->host).second || node->ranks.empty()) return {};
        for (const Rank rank : node->ranks) {
            if (rank >= ranks || !found.insert(rank).second) return {};
        }
        nodes.push_back(std::move(*node));
    }
    if (found.size() != static_cast<std::size_t>(ranks)) return {};
    std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.ranks < b.ranks; });
    return nodes;
}

}  // namespace laple
