// SPDX-License-Identifier: BSD-3-Clause
#include "compare.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "collectives/candidates.hpp"
#include "collectives/planner.hpp"
#include "explain.hpp"

namespace laple::plan {
namespace {

struct Row {
    Request request;
    Plan plan;
    double native = 0;
    double two_level = 0;  // 0: has no price here
};

Row row_of(const Request& request, const Situation& situation) {
    Row row{request, choose_plan(request, situation.topology, {}, situation.costs), 0, 0};
    Pricing pricing(request, situation.topology, situation.costs);
    row.native = pricing.price(Algorithm::native())->seconds;
    if (const auto plain = pricing.price(parse_algorithm("flat/binomial", request.collective)))
        row.two_level = plain->seconds;
    // What is left to MPI without a choice has no prediction of its own.
    if (row.plan.algorithm.is_native) row.plan.predicted = Seconds(row.native);
    return row;
}

std::string text_of(const std::vector<Row>& rows) {
    std::string text = fmt::format("{:<10} {:>6} {:>10} {:>10} {:>10}  {}\n", "", "bytes", "MPI's own",
                                   "two-level", "LaPle", "algorithm");
    for (const Row& row : rows) {
        text += fmt::format(
            "{:<10} {:>6} {:>10} {:>10} {:>10}  {}\n", name_of(row.request.collective),
            row.request.collective == Collective::barrier ? "" : format_bytes(row.request.bytes()),
            format_seconds(Seconds(row.native)),
            row.two_level > 0 ? format_seconds(Seconds(row.two_level)) : "-",
            format_seconds(row.plan.predicted), name_of(row.plan.algorithm));
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
                   {"algorithm", name_of(row.plan.algorithm)}};
        if (row.two_level > 0) entry["two_level"] = row.two_level;
        document["rows"].push_back(std::move(entry));
    }
    return document.dump(2) + "\n";
}

}  // namespace

std::string comparison(const Situation& situation, const std::vector<Bytes>& sizes, Rank root, bool json) {
    std::vector<Row> rows;
    for (const Collective collective : kAllCollectives) {
        for (const Bytes bytes : sizes) {
            const Request request =
                request_named(std::string(name_of(collective)), bytes, root, situation.topology.size());
            rows.push_back(row_of(request, situation));
            if (collective == Collective::barrier) break;
        }
    }
    return json ? json_of(rows) : text_of(rows);
}

}  // namespace laple::plan
