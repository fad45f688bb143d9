// SPDX-License-Identifier: BSD-3-Clause
#include "grid/placement.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

using namespace laple::grid;
using Catch::Matchers::Contains;
using Runs = std::vector<RankRun>;

namespace {

const std::vector<std::string> kHosts{"a-1", "a-2", "b-1", "b-2"};

/// A file that is gone with this.
class PlacementFile {
  public:
    explicit PlacementFile(const std::string& text) { std::ofstream(name()) << text; }
    ~PlacementFile() { std::filesystem::remove(name()); }
    PlacementFile(const PlacementFile&) = delete;
    PlacementFile& operator=(const PlacementFile&) = delete;
    std::string name() const { return (std::filesystem::temp_directory_path() / "laple_placement").string(); }
};

}  // namespace

TEST_CASE("ranks fill the hosts in blocks", "[grid]") {
    const Placement block = Placement::parse("block");
    CHECK(block.runs(4, kHosts) == Runs{{0, 1}, {1, 1}, {2, 1}, {3, 1}});
    CHECK(block.runs(3, kHosts) == Runs{{0, 1}, {1, 1}, {2, 1}});
    CHECK(block.runs(8, kHosts) == Runs{{0, 2}, {1, 2}, {2, 2}, {3, 2}});
    CHECK(block.runs(7, kHosts) == Runs{{0, 2}, {1, 2}, {2, 2}, {3, 1}});
    CHECK(block.runs(5, kHosts) == Runs{{0, 2}, {1, 2}, {2, 1}});
    CHECK(block.ranks(0, 4) == 4);
    CHECK(block.ranks(7, 4) == 7);
}

TEST_CASE("ranks are dealt round the hosts", "[grid]") {
    CHECK(Placement::parse("cyclic").runs(6, kHosts) == Runs{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {0, 1}, {1, 1}});
    CHECK(Placement::parse("cyclic").runs(2, {"a-1"}) == Runs{{0, 2}});
}

TEST_CASE("a file puts each rank on a host", "[grid]") {
    const PlacementFile file("a-2  # the root\n\na-2\nb-1\na-2\n# the end\n");
    const Placement placement = Placement::parse(file.name());
    CHECK(placement.ranks(0, 4) == 4);
    CHECK(placement.ranks(4, 4) == 4);
    CHECK_THROWS_WITH(placement.ranks(5, 4), Contains("places 4 ranks"));
    CHECK(placement.runs(4, kHosts) == Runs{{1, 2}, {2, 1}, {1, 1}});
    CHECK_THROWS_WITH(placement.runs(4, {"a-1", "b-1"}), Contains("\"a-2\", which is no host of the job"));
}

TEST_CASE("what is wrong with a placement is said", "[grid]") {
    CHECK_THROWS_WITH(Placement::parse("/nowhere/at-all"), Contains("there is no such file"));
    const PlacementFile empty("# nothing\n");
    CHECK_THROWS_WITH(Placement::parse(empty.name()), Contains("names no host"));
}

TEST_CASE("a line of a placement names one host", "[grid]") {
    const PlacementFile file("a-1 a-2\n");
    CHECK_THROWS_WITH(Placement::parse(file.name()), Contains("more than a host"));
}
