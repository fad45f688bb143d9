// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/overlap.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace laple::bench {
namespace {

/// Times, and the part that is hidden; "-" where nothing was measured.
std::string format_overlap(const Overlap& overlap) {
    if (overlap.pure.count == 0) return fmt::format(" {:>12} {:>12} {:>12} {:>8}", "-", "-", "-", "-");
    return fmt::format(" {:>12.2f} {:>12.2f} {:>12.2f} {:>6.0f} %", overlap.blocking.median,
                       overlap.pure.median, overlap.overlapped.median, 100 * share_hidden(overlap));
}

Json overlap_json(const Overlap& overlap) {
    if (overlap.pure.count == 0) return nullptr;
    return {{"blocking_us", overlap.blocking.median},
            {"pure_us", overlap.pure.median},
            {"overlapped_us", overlap.overlapped.median},
            {"hidden", share_hidden(overlap)},
            {"samples", overlap.overlapped.count}};
}

}  // namespace

double share_hidden(const Overlap& overlap) {
    const double pure = overlap.pure.median;
    if (pure <= 0) return 0;
    return std::clamp((2 * pure - overlap.overlapped.median) / pure, 0.0, 1.0);
}

std::string format_overlap_header(const Context& context) {
    std::string text = format_run(context);
    text += "# pure: started and waited for; overlapped: with work in between that takes as long as pure\n";
    text += fmt::format("#{:<11} {:>10}", " collective", "bytes");
    for (const char* library : {"stock", second_library(context)}) {
        text += fmt::format(" {:>12} {:>12} {:>12} {:>8}", fmt::format("{}[us]", library), "pure",
                            "overlapped", "hidden");
    }
    return text + "  algorithm\n";
}

std::string format_overlap_row(const OverlapRow& row) {
    return fmt::format("{:<12} {:>10}{}{}  {}", to_string(row.benchmark), row.bytes,
                       format_overlap(row.stock), format_overlap(row.laple), row.algorithm);
}

Json overlap_to_json(const Context& context, const std::vector<OverlapRow>& rows) {
    Json document{{"format", "laple-bench-overlap-1"}, {"context", context_json(context)}};
    Json results = Json::array();
    for (const OverlapRow& row : rows) {
        results.push_back({{"collective", to_string(row.benchmark)},
                           {"bytes", row.bytes},
                           {"library", overlap_json(row.stock)},
                           {"laple", overlap_json(row.laple)},
                           {"algorithm", row.algorithm}});
    }
    document["results"] = results;
    return document;
}

}  // namespace laple::bench
