// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/overlap.hpp"

#include <catch2/catch.hpp>

using namespace laple::bench;

namespace {

/// Medians of some samples.
Overlap of(double pure, double overlapped) {
    Overlap overlap;
    overlap.pure.count = overlap.overlapped.count = 5;
    overlap.pure.median = pure;
    overlap.overlapped.median = overlapped;
    return overlap;
}

}  // namespace

TEST_CASE("what is hidden behind work that takes as long as the call") {
    CHECK(share_hidden(of(100, 100)) == Approx(1));
    CHECK(share_hidden(of(100, 150)) == Approx(0.5));
    CHECK(share_hidden(of(100, 200)) == Approx(0));
    // Noise takes it no further than all or nothing.
    CHECK(share_hidden(of(100, 230)) == 0);
    CHECK(share_hidden(of(100, 90)) == 1);
    CHECK(share_hidden(Overlap()) == 0);
}

TEST_CASE("a row of overlap: both libraries, or one") {
    OverlapRow row;
    row.benchmark = parse_benchmark("allreduce");
    row.bytes = 8;
    row.laple = of(10000, 11000);
    row.laple.blocking.median = 9500;
    row.algorithm = "direct-exchange/flat";
    const std::string line = format_overlap_row(row);
    CHECK(line.find("allreduce             8            -            -            -        -") == 0);
    CHECK(line.find("9500.00     10000.00     11000.00     90 %  direct-exchange/flat") != std::string::npos);
    const auto document = overlap_to_json(Context(), {row});
    CHECK(document["format"] == "laple-bench-overlap-1");
    CHECK(document["results"][0]["library"].is_null());
    CHECK(document["results"][0]["laple"]["hidden"].get<double>() == Approx(0.9));
}

TEST_CASE("without LaPle no column of overlap is called by its name") {
    Context context;
    context.laple_version = "0.1.0";
    CHECK(format_overlap_header(context).find(" laple[us]") != std::string::npos);
    context.laple_version.reset();
    const std::string header = format_overlap_header(context);
    CHECK(header.find(" again[us]") != std::string::npos);
    CHECK(header.find(" laple[us]") == std::string::npos);
}
