// SPDX-License-Identifier: BSD-3-Clause
#include "base/options.hpp"

#include <cstdio>
#include <vector>

#include <catch2/catch.hpp>

#include "base/configuration.hpp"
#include "base/file.hpp"

using namespace laple;

namespace {

Configuration read(const std::vector<std::string>& environment) {
    return read_configuration(environment, UsualFiles{});
}

}  // namespace

TEST_CASE("settings come from LAPLE_ variables only") {
    const Configuration r = read(
        {"PATH=/bin", "LAPLE_TOPOLOGY=map", "LAPLE_DEBUG=2", "LAPLE_REPORT=1", "LAPLE_ALGORITHM=^native"});
    CHECK(r.warnings.empty());
    CHECK(r.settings.topology == "map");
    CHECK(r.settings.has_topology_file());
    CHECK(r.settings.debug == 2);
    CHECK(r.settings.report == "-");
    CHECK(r.settings.algorithm == "^native");
    CHECK_FALSE(r.settings.is_disabled);
}

TEST_CASE("unset, empty and off mean the fallback") {
    for (const char* unset : {"X=1", "LAPLE_TOPOLOGY=", "LAPLE_TOPOLOGY=auto", "LAPLE_TOPOLOGY=off"})
        CHECK_FALSE(read({unset}).settings.has_topology_file());
    CHECK(read({"LAPLE_TOPOLOGY=off"}).settings.is_topology_off());
    CHECK_FALSE(read({"LAPLE_TOPOLOGY=auto"}).settings.is_topology_off());
    CHECK(read({"LAPLE_MODEL=m"}).settings.topology_file() == "m");
    CHECK(read({"LAPLE_MODEL=m", "LAPLE_TOPOLOGY=t"}).settings.topology_file() == "t");
    CHECK_FALSE(read({"LAPLE_MODEL=m", "LAPLE_TOPOLOGY=off"}).settings.has_topology_file());
    CHECK(read({}).settings.probe_budget == 2);
    CHECK(read({"LAPLE_BLOCK_MEMORY=8K"}).settings.block_memory == 8192);
    CHECK(read({"LAPLE_BLOCK_MEMORY=much"}).settings.block_memory == 64U << 20);
    CHECK(read({"LAPLE_BLOCK_MEMORY=much"}).warnings.size() == 1);
    CHECK(read({"LAPLE_PROBE_BUDGET=0.5"}).settings.probe_budget == 0.5);
    for (const char* wrong : {"-1", "1s", "nan", "1e9"}) {
        const Configuration r = read({std::string("LAPLE_PROBE_BUDGET=") + wrong});
        CHECK(r.settings.probe_budget == 2);
        REQUIRE(r.warnings.size() == 1);
        CHECK_THAT(r.warnings[0], Catch::Contains("use a number of seconds from 0 to 86400"));
    }
    CHECK(read({"LAPLE_REPORT=0"}).settings.report.empty());
    CHECK(read({"LAPLE_PROFILE=1"}).settings.is_profile);
    CHECK(read({"LAPLE_PROFILE=1"}).settings.report == "-");
    CHECK(read({"LAPLE_PROFILE=1", "LAPLE_REPORT=file.txt"}).settings.report == "file.txt");
    CHECK(read({"LAPLE_PROFILE=0"}).settings.report.empty());
    CHECK(read({"LAPLE_PROFILE=yes"}).warnings.size() == 1);
    CHECK(read({"LAPLE_PROFILE=1"}).settings.profile_file.empty());
    CHECK(read({"LAPLE_PROFILE=p.json"}).settings.is_profile);
    CHECK(read({"LAPLE_PROFILE=p.json"}).settings.profile_file == "p.json");
    CHECK(read({"LAPLE_PROFILE=p.json"}).settings.report == "-");
    CHECK(read({"LAPLE_REPORT=file.txt"}).settings.report == "file.txt");
    CHECK_FALSE(read({"LAPLE_DISABLE=0"}).settings.is_disabled);
}

TEST_CASE("every fallback of the table is what the setting has by itself") {
    const Settings by_itself;
    Settings settings;
    std::string problem;
    // Others, so that each fallback has something to change.
    for (const char* other : {"LAPLE_DISABLE=1", "LAPLE_TOPOLOGY=t", "LAPLE_MODEL=m", "LAPLE_PROBE_BUDGET=7",
                              "LAPLE_ALGORITHM=^native", "LAPLE_STREAMS=3", "LAPLE_STREAM_INTERFACE=eth1",
                              "LAPLE_STREAM_PORTS=5-6", "LAPLE_SHARED_MEMORY=1", "LAPLE_BLOCK_MEMORY=1",
                              "LAPLE_REPRODUCIBLE=fast", "LAPLE_ADAPT=off", "LAPLE_VERIFY=1",
                              "LAPLE_PCONTROL=1", "LAPLE_PROGRESS=thread", "LAPLE_DEBUG=2", "LAPLE_PROFILE=1",
                              "LAPLE_REPORT=file", "LAPLE_TRACE=t"}) {
        const std::string entry(other);
        const auto equals = entry.find('=');
        REQUIRE(apply_setting(entry.substr(0, equals), entry.substr(equals + 1), settings, problem));
    }
    CHECK_FALSE(settings == by_itself);
    for (const SettingRow& row : all_settings()) CHECK(apply_setting(row.name, "", settings, problem));
    CHECK(problem.empty());
    CHECK(settings == by_itself);
}

TEST_CASE("streams, their interface and ports") {
    CHECK(read({}).settings.streams == Settings::kAutomatic);
    CHECK(read({"LAPLE_STREAMS=auto"}).settings.streams == Settings::kAutomatic);
    CHECK(read({"LAPLE_STREAMS=off"}).settings.streams == 0);
    CHECK(read({"LAPLE_STREAMS=16"}).settings.streams == 16);
    for (const char* wrong : {"17", "-1", "8x", "many"}) {
        const Configuration r = read({std::string("LAPLE_STREAMS=") + wrong});
        CHECK(r.settings.streams == Settings::kAutomatic);
        REQUIRE(r.warnings.size() == 1);
        CHECK_THAT(r.warnings[0], Catch::Contains("use auto, off, or a number from 1 to 16"));
    }
    CHECK(read({"LAPLE_STREAM_INTERFACE=eth1"}).settings.stream_interface == "eth1");
    const Settings range = read({"LAPLE_STREAM_PORTS=50000-50100"}).settings;
    CHECK(range.first_stream_port == 50000);
    CHECK(range.last_stream_port == 50100);
    CHECK(read({"LAPLE_STREAM_PORTS=50000"}).settings.last_stream_port == 50000);
    for (const char* wrong : {"50100-50000", "0-10", "1-65536", "1-", "a-b", "-5"}) {
        const Configuration r = read({std::string("LAPLE_STREAM_PORTS=") + wrong});
        CHECK(r.settings.first_stream_port == 0);
        CHECK(r.settings.last_stream_port == 0);
        CHECK(r.warnings.size() == 1);
    }
}

TEST_CASE("how exact results are to be") {
    CHECK(read({}).settings.reproducible == Reproducible::stable);
    CHECK(read({"LAPLE_REPRODUCIBLE=strict"}).settings.reproducible == Reproducible::strict);
    CHECK(read({"LAPLE_REPRODUCIBLE=fast"}).settings.reproducible == Reproducible::fast);
    CHECK_FALSE(read({"LAPLE_VERIFY=0"}).settings.verify);
    CHECK(read({"LAPLE_VERIFY=1"}).settings.verify);
    CHECK_FALSE(read({}).settings.heeds_pcontrol);
    CHECK(read({"LAPLE_PCONTROL=1"}).settings.heeds_pcontrol);
    const Configuration r = read({"LAPLE_REPRODUCIBLE=Strict", "LAPLE_VERIFY=yes"});
    CHECK(r.settings.reproducible == Reproducible::stable);
    CHECK_FALSE(r.settings.verify);
    REQUIRE(r.warnings.size() == 2);
    CHECK_THAT(r.warnings[0], Catch::Contains("use fast, stable or strict"));
    CHECK_THAT(r.warnings[1], Catch::Contains("use 0 or 1"));
}

TEST_CASE("whoever sets LAPLE_DISABLE wants LaPle off") {
    CHECK(read({"LAPLE_DISABLE=1"}).settings.is_disabled);
    const Configuration r = read({"LAPLE_DISABLE=yes"});
    CHECK(r.settings.is_disabled);
    REQUIRE(r.warnings.size() == 1);
    CHECK(r.warnings[0] == "LAPLE_DISABLE=yes is taken as 1: use 0 or 1");
}

TEST_CASE("a misspelt name is answered with the nearest one, a bad value with the accepted ones") {
    const Configuration r = read({"LAPLE_TOPOLGY=map", "LAPLE_DEBUG=7", "LAPLE_debug=1"});
    REQUIRE(r.warnings.size() == 3);
    CHECK(r.warnings[0] == "LAPLE_TOPOLGY is no setting of LaPle; did you mean LAPLE_TOPOLOGY?");
    CHECK(r.warnings[1] == "LAPLE_DEBUG=7 is ignored: use 0, 1 or 2");
    CHECK(r.warnings[2] == "LAPLE_debug is no setting of LaPle; did you mean LAPLE_DEBUG?");
}

TEST_CASE("docs/settings.md shows the table of settings as it is: run scripts/update-docs") {
    CHECK(read_file(LAPLE_SOURCE_DIR "/docs/settings.md").find(settings_table()) != std::string::npos);
}

TEST_CASE("prints that table, for scripts/update-docs", "[.settings-table]") {
    std::fputs(settings_table().c_str(), stdout);
}
