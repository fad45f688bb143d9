// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/netpipe.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace laple;

namespace {

std::string error_of(const std::string& text) {
    try {
        parse_netpipe(text, "f");
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("what NetPIPE 3.7 wrote is read") {
    // NPmpich2 -p 0 -n 3 on an emulated grid
    const NetpipeTimes times = parse_netpipe(
        "       1 0.790123   0.00000966\n"
        "    1024 901.871560   0.00000866\n"
        " 8388608 94.776296   0.67527433\n",
        "f");
    CHECK(times ==
          NetpipeTimes{{1, Seconds(9.66e-6)}, {1024, Seconds(8.66e-6)}, {8388608, Seconds(0.67527433)}});
}

TEST_CASE("blank lines, ends of lines and their absence do not matter") {
    const NetpipeTimes expected{{1024, Seconds(8.66e-6)}};
    CHECK(parse_netpipe("1024 901.871560 0.00000866", "f") == expected);
    CHECK(parse_netpipe("\n\t1024\t901.871560\t0.00000866 \r\n \r\n", "f") == expected);
}

TEST_CASE("times below the last decimal are no contradiction") {
    CHECK(parse_netpipe("2 113.627763 0.00000013", "f").at(2) == Seconds(1.3e-7));
}

TEST_CASE("each mistake in np.out is reported at its place") {
    CHECK(error_of("1 0.790123 0.00000966\n2 1.5\n").starts_with("f:2: 2 words instead of three; give "));
    CHECK(error_of("1 2 3 4").starts_with("f:1: 4 words instead of three"));
    CHECK(error_of("  x 0.79 0.00000966").starts_with("f:1:3: \"x\" is no whole number of bytes"));
    CHECK(error_of("1.5 0.79 0.00000966").starts_with("f:1:1: \"1.5\" is no whole number"));
    CHECK(error_of("-1 0.79 0.00000966").starts_with("f:1:1: \"-1\" is no whole number"));
    CHECK(error_of("0 0.79 0.00000966").starts_with("f:1:1: 0 bytes is no size that NetPIPE measures"));
    CHECK(error_of("99999999999999999999 1 1").starts_with("f:1:1: \"99999999999999999999\" is no"));
    CHECK(error_of("1 0,79 0.00000966").starts_with("f:1:3: \"0,79\" is no throughput"));
    CHECK(error_of("1 0.79 9.66us").starts_with("f:1:8: \"9.66us\" is no time"));
    CHECK(error_of("1 inf 0.0").starts_with("f:1:3: \"inf\" is no throughput that can be measured"));
    CHECK(error_of("1 0.79 nan").starts_with("f:1:8: \"nan\" is no time that can be measured"));
    CHECK(error_of("1 2518446744073709551 0").starts_with("f:1:23: \"0\" is no time that can be measured"));
    CHECK(error_of("1 0 0.00000966").starts_with("f:1:3: \"0\" is no throughput that can be measured"));
    CHECK(error_of("1 0.79 -0.00000966").starts_with("f:1:8: \"-0.00000966\" is no time that can be"));
    CHECK(error_of("1 0.790123 0.00000966\n\n1 0.790123 0.00000966")
              .starts_with("f:3:1: 1 bytes stand in line 1 already; give the output of one run"));
    CHECK(error_of("") == "f: holds no measurement; run NetPIPE to its end");
    CHECK(error_of(" \n").starts_with("f: holds no measurement"));
    CHECK(error_of(std::string((1 << 20) + 1, '\n')).starts_with("f: is larger than 1M"));
}

TEST_CASE("columns that contradict each other are not what they are taken for") {
    CHECK(error_of("8388608 94.776296 0.33763716")
              .starts_with("f:1:9: 8388608 bytes at 94.776296 Mbps would take 675 ms, not 338 ms; give"));
    CHECK(error_of("0").starts_with("f:1: 1 words"));
}

TEST_CASE("a file that is not there or never ends is an error") {
    CHECK_THROWS_AS(load_netpipe("/nowhere/np.out"), Error);
    CHECK_THROWS_WITH(load_netpipe("/dev/zero"), Catch::Matchers::Contains("is not a file"));
}
