// SPDX-License-Identifier: BSD-3-Clause
#include "topology/hwloc/hwloc_host.hpp"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace laple;

namespace {

Placement place(int package, int numa, int l3) {
    return {.package = package, .numa = numa, .l3 = l3};
}

/// Sets a variable of hwloc's for a while.
class Setting {
  public:
    Setting(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
    ~Setting() { unsetenv(name_); }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

  private:
    const char* name_;
};

const std::string kSmallMachine = LAPLE_SOURCE_DIR "/tests/unit/hwloc/small.xml";

template <typename Call>
std::string problem_of(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a processor is in one package, one NUMA node and one L3", "[hwloc]") {
    const HwlocHost host = HwlocHost::synthetic("package:2 numa:2 l3:2 core:2 pu:1");
    CHECK(host.placement_of({0}) == place(0, 0, 0));
    CHECK(host.placement_of({2}) == place(0, 0, 1));
    CHECK(host.placement_of({7}) == place(0, 1, 3));
    CHECK(host.placement_of({8}) == place(1, 2, 4));
    CHECK(host.placement_of({15}) == place(1, 3, 7));
}

TEST_CASE("processors of several parts are in none of them", "[hwloc]") {
    const HwlocHost host = HwlocHost::synthetic("package:2 numa:2 l3:2 core:2 pu:1");
    CHECK(host.placement_of({2, 3}) == place(0, 0, 1));
    CHECK(host.placement_of({1, 2}) == place(0, 0, kNoPart));
    CHECK(host.placement_of({2, 4}) == place(0, kNoPart, kNoPart));
    CHECK(host.placement_of({0, 15}) == place(kNoPart, kNoPart, kNoPart));
}

TEST_CASE("processors that are not there are nowhere", "[hwloc]") {
    const HwlocHost host = HwlocHost::synthetic("package:1 core:2 pu:1");
    CHECK(host.placement_of({}) == Placement());
    CHECK(host.placement_of({2}) == Placement());
    CHECK(host.placement_of({0, 2}) == Placement());
    CHECK(host.placement_of({0, 1}) == place(0, 0, kNoPart));  // hwloc knows no machine without memory
}

TEST_CASE("a machine is read from lstopo's XML", "[hwloc]") {
    const HwlocHost host = HwlocHost::from_xml(kSmallMachine);
    CHECK(host.placement_of({1}) == place(0, 0, 0));
    CHECK(host.placement_of({2, 3}) == place(1, 0, 1));
    CHECK(host.placement_of({1, 2}) == place(kNoPart, 0, kNoPart));
}

TEST_CASE("hwloc's own settings replace this host", "[hwloc]") {
    SECTION("by a description") {
        const Setting setting("HWLOC_SYNTHETIC", "package:3 l3:2 core:1 pu:1");
        CHECK(HwlocHost::live().placement_of({5}) == place(2, 0, 5));
    }
    SECTION("by a file") {
        const Setting setting("HWLOC_XMLFILE", kSmallMachine);
        CHECK(HwlocHost::live().placement_of({3}) == place(1, 0, 1));
    }
}

TEST_CASE("what hwloc cannot read is refused, with advice", "[hwloc]") {
    CHECK_THAT(problem_of([] { HwlocHost::synthetic("bush:2"); }),
               Catch::Contains("\"bush:2\"") && Catch::Contains("; write one like"));
    CHECK_THAT(problem_of([] { HwlocHost::from_xml("/nowhere.xml"); }),
               Catch::Contains("/nowhere.xml") && Catch::Contains("; name a file"));
    CHECK_THAT(problem_of([] { HwlocHost::from_xml(LAPLE_SOURCE_DIR "/VERSION"); }),
               Catch::Contains("VERSION") && Catch::Contains("; "));
}

TEST_CASE("a host is described by its parts", "[hwloc]") {
    CHECK(HwlocHost::synthetic("package:2 numa:1 l3:2 core:2 pu:1").describe() ==
          "1 Machine, 2 Package, 4 L3, 8 Core, 8 PU, 2 NUMANode");
}
