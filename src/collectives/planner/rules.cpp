// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/rules.hpp"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "base/error.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// Cuts off and returns what stands before the next `separator`.
std::string_view take_until(std::string_view& text, char separator) {
    const auto end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    return trimmed(part);
}

void parse_range(std::string_view range, Rule& rule) {
    const auto dash = range.find('-');
    if (dash == std::string_view::npos) {
        throw Error(fmt::format("\"{}\" is not a range of sizes", range), "write MIN-MAX: 0-64K or 64K-inf");
    }
    rule.min_bytes = parse_bytes(trimmed(range.substr(0, dash)));
    const std::string_view max = trimmed(range.substr(dash + 1));
    if (max != "inf") rule.max_bytes = parse_bytes(max);
    if (rule.max_bytes < rule.min_bytes) {
        throw Error(fmt::format("the range \"{}\" is empty", range), "write the smaller size first");
    }
}

/// A name as it is called today; noted where that is another one.
std::string current_name(std::string_view written, Rules& rules) {
    std::string current = with_current_names(written);
    if (current != written) {
        const std::string note = fmt::format("{} is called {} now", written, current);
        if (std::find(rules.renamed.begin(), rules.renamed.end(), note) == rules.renamed.end())
            rules.renamed.push_back(note);
    }
    return current;
}

void add_rule(std::string_view text, Rules& rules) {
    Rule rule;
    std::optional<Collective> collective;
    std::string_view rest = text;
    if (text.find(':') != std::string_view::npos) {
        const std::string_view name = take_until(rest, ':');
        collective = collective_named(plain_name(trimmed(name)));
        if (!collective) {
            throw Error(fmt::format("\"{}\" is no collective", name),
                        fmt::format("use {}", collective_names()));
        }
        if (rest.find(':') != std::string_view::npos) parse_range(take_until(rest, ':'), rule);
    }
    rest = trimmed(rest);
    if (rest.starts_with('^')) {
        rule.is_forbidden = true;
        rest.remove_prefix(1);
    }
    const std::string name = current_name(rest, rules);
    // A rule for all collectives may name an algorithm that only some of them have.
    std::exception_ptr last_error;
    bool fits_one = false;
    for (const Collective candidate : kAllCollectives) {
        if (collective && candidate != *collective) continue;
        try {
            rule.algorithm = parse_algorithm(name, candidate);
        } catch (const Error&) {
            last_error = std::current_exception();
            continue;
        }
        fits_one = true;
        rule.collective = candidate;
        rules.rules.push_back(rule);
    }
    if (!fits_one) std::rethrow_exception(last_error);
}

}  // namespace

std::vector<AlgorithmPtr> Rules::wanted(Collective collective, Bytes bytes) const {
    std::vector<AlgorithmPtr> algorithms;
    for (const Rule& rule : rules) {
        if (!rule.is_forbidden && rule.applies_to(collective, bytes)) algorithms.push_back(rule.algorithm);
    }
    return algorithms;
}

bool Rules::forbids(const Algorithm& algorithm, Collective collective, Bytes bytes) const {
    return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
        return rule.is_forbidden && rule.applies_to(collective, bytes) &&
               rule.algorithm->name() == algorithm.name();
    });
}

Rules parse_rules(std::string_view text) {
    Rules rules;
    while (!text.empty()) {
        const std::string_view rule = take_until(text, ';');
        if (!rule.empty()) add_rule(rule, rules);
    }
    return rules;
}

}  // namespace laple
