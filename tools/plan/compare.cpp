// SPDX-License-Identifier: BSD-3-Clause
#include "compare.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "collectives/algorithms/native.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/planner.hpp"
#include "explain.hpp"

namespace laple::plan {
namespace {

struct Row {
    Request request;
    Plan plan;
    double native = 0;
    double two_level = 0;  // 0: has no price here
};

/// Groups of ranks that know nothing but who is near: a binomial tree in each, all at once between them.
std::string two_level(Collective collective) {
    if (is_personalized(collective)) return "cluster-aggregation";
    if (is_combined_in_parts(collective)) return "cluster-combining";
    if (is_prefix(collective)) return "prefix-exchange";
    return is_gathered(collective) ? "leader-exchange/binomial" : "flat/binomial";
}

Row compared(const Request& request, const Situation& situation) {
    Row row{request, choose_plan(request, situation.machine, {}, situation.costs), 0, 0};
    Pricing pricing(request, situation.machine, situation.costs);
    row.native = native()->price(pricing)->seconds;
    const bool is_empty = row_of(request.collective).has_data && request.bytes() == 0;
    if (is_empty) return row;  // nobody sends anything
    if (const auto plain = parse_algorithm(two_level(request.collective), request.collective)->price(pricing))
        row.two_level = plain->seconds;
    // What is left to MPI without a choice has no prediction of its own.
    if (row.plan.is_native()) row.plan.predicted = Seconds(row.native);
    return row;
}

std::string text_of(const std::vector<Row>& rows) {
    std::string text = fmt::format("{:<10} {:>6} {:>10} {:>10} {:>10}  {}\n", "", "bytes", "MPI's own",
                                   "two-level", "LaPle", "algorithm");
    for (const Row& row : rows) {
        text += fmt::format("{:<10} {:>6} {:>10} {:>10} {:>10}  {}\n", name_of(row.request.collective),
                            row_of(row.request.collective).has_data ? format_bytes(row.request.bytes()) : "",
                            format_seconds(Seconds(row.native)),
                            row.two_level > 0 ? format_seconds(Seconds(row.two_level)) : "-",
                            format_seconds(row.plan.predicted), row.plan.name());
    }
    return text;
}

std::string json_of(const std::vector<Row>& rows) {
    Json document{{"format", "laple-comparison-1"}};
    document["rows"] = Json::array();
    for (const Row& row : rows) {
        Json entry{{"collective", name_of(row.request.collective)},
                   {"bytes", row.request.bytes()},
                   {"native", row.native},
                   {"laple", row.plan.predicted.count()},
                   {"algorithm", row.plan.name()}};
        if (row.two_level > 0) entry["two_level"] = row.two_level;
        document["rows"].push_back(std::move(entry));
    }
    return json_text(document, 2) + "\n";
}

}  // namespace

std::string comparison(const Situation& situation, const std::vector<Bytes>& sizes, Rank root, bool json) {
    std::vector<Row> rows;
    for (const Collective collective : kAllCollectives) {
        for (const Bytes bytes : sizes) {
            const Request request =
                request_named(std::string(name_of(collective)), bytes, root, situation.machine.rank_count());
            rows.push_back(compared(request, situation));
            if (!row_of(collective).has_data) break;
        }
    }
    return json ? json_of(rows) : text_of(rows);
}

}  // namespace laple::plan
