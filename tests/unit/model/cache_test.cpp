// SPDX-License-Identifier: BSD-3-Clause
#include "model/cache.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "model/model_file.hpp"
#include "model/mpi_name.hpp"
#include "support/temporary_directory.hpp"

using namespace laple;

namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

Model model_of(const std::vector<Node>& nodes) {
    Model model;
    model.mpi = "MPI 1";
    model.nodes = nodes;
    Clusters clusters;
    for (int node = 0; node < static_cast<int>(nodes.size()); ++node) clusters.push_back({node});
    model.topology = topology_of({clusters}, nodes);
    return model;
}

const std::vector<Node> kNodes{{"a", {0, 1}}, {"b", {2}}};
const std::vector<Node> kOtherOrder{{"b", {0, 2}}, {"a", {1}}};

}  // namespace

TEST_CASE("a fingerprint knows the hosts and the MPI, in any order", "[cache]") {
    CHECK(fingerprint(kNodes, "MPI 1") == fingerprint(kOtherOrder, "MPI 1"));
    CHECK(fingerprint(kNodes, "MPI 1") != fingerprint(kNodes, "MPI 2"));
    CHECK(fingerprint({{"a", {0}}, {"b", {1}}}, "") != fingerprint({{"ab", {0}}}, ""));
    CHECK(fingerprint({{"a", {0}}, {"b", {1}}}, "").size() == 16);
}

TEST_CASE("an MPI has a name for each transport", "[cache]") {
    const std::string mpich =
        "MPICH Version:    \t4.0.2\nMPICH Release date:\tThu Apr  7\nMPICH Device:    \tch4:ofi\nMPICH "
        "CC:\tgcc";
    CHECK(version_of_mpi(mpich) == "MPICH Version: 4.0.2");
    CHECK(name_of_mpi(mpich, {}) == "MPICH Version: 4.0.2; device ch4:ofi");
    CHECK(name_of_mpi(mpich, {{"HOME", "/"}, {"UCX_TLS", "tcp"}, {"FI_PROVIDER", "verbs"}}) ==
          "MPICH Version: 4.0.2; device ch4:ofi; FI_PROVIDER=verbs; UCX_TLS=tcp");
    CHECK(name_of_mpi("Open MPI v4.1.4", {}) == "Open MPI v4.1.4");
    CHECK(name_of_mpi("", {}).empty());
    // What older models name, and others of this version.
    CHECK(is_of_version("MPICH Version: 4.0.2", version_of_mpi(mpich)));
    CHECK(is_of_version(name_of_mpi(mpich, {{"UCX_TLS", "tcp"}}), version_of_mpi(mpich)));
    CHECK_FALSE(is_of_version("MPICH Version: 4.0.20", version_of_mpi(mpich)));
    CHECK_FALSE(is_of_version("", version_of_mpi(mpich)));

    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    Model over_tcp = model_of(kNodes);
    over_tcp.mpi = name_of_mpi(mpich, {{"UCX_TLS", "tcp"}});
    Model usual = model_of(kNodes);
    usual.mpi = name_of_mpi(mpich, {});
    CHECK(cache.file_for(kNodes, over_tcp.mpi) != cache.file_for(kNodes, usual.mpi));
    std::string note;
    cache.keep(over_tcp, note);
    CHECK_FALSE(cache.find(kNodes, usual.mpi, note));
    cache.keep(usual, note);
    CHECK(cache.find(kNodes, usual.mpi, note)->model == usual);
    CHECK(cache.find(kNodes, over_tcp.mpi, note)->model == over_tcp);
    CHECK(note.empty());
}

TEST_CASE("a model that was kept is found by a job on the same hosts", "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path() + "/new/deeper");
    std::string note;
    CHECK_FALSE(cache.find(kNodes, "MPI 1", note));
    cache.keep(model_of(kNodes), note);
    CHECK(note.empty());
    CHECK(cache.find(kNodes, "MPI 1", note)->model == model_of(kNodes));
    const auto moved = cache.find(kOtherOrder, "MPI 1", note);
    REQUIRE(moved);
    CHECK(moved->model.nodes == kOtherOrder);
    CHECK(moved->model.topology == Topology::from_clusters(3, {{0, 2}, {1}}));
    CHECK_FALSE(cache.find(kNodes, "MPI 2", note));
    CHECK_FALSE(cache.find({{"a", {0}}, {"c", {1}}}, "MPI 1", note));
    CHECK(note.empty());
    // Nothing but the one file is left.
    CHECK(std::distance(fs::directory_iterator(directory.path() + "/new/deeper"), fs::directory_iterator()) ==
          1);
}

TEST_CASE("a file in the cache that is broken, or that others could have written, is ignored and replaced",
          "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    const std::string file = cache.file_for(kNodes, "MPI 1");
    std::string note;
    cache.keep(model_of(kNodes), note);
    SECTION("broken") {
        std::ofstream(file) << "{\"format\": \"laple-model-1\"";
    }
    SECTION("a group") {
        fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
    }
    SECTION("a link") {
        fs::rename(file, directory.path() + "/elsewhere");
        fs::create_symlink("elsewhere", file);
    }
    CHECK_FALSE(cache.find(kNodes, "MPI 1", note));
    CHECK_THAT(note, Catch::Contains("ignored"));
    note.clear();
    cache.keep(model_of(kNodes), note);
    CHECK(cache.find(kNodes, "MPI 1", note));
    CHECK(note.empty());
}

TEST_CASE("what cannot be kept is harmless", "[cache]") {
    const TemporaryDirectory directory;
    std::ofstream(directory.path() + "/file") << "";
    std::string note;
    ModelCache(directory.path() + "/file").keep(model_of(kNodes), note);
    CHECK_THAT(note, Catch::Contains("cannot be written"));
    CHECK_THAT(note, Catch::Contains("unless XDG_CACHE_HOME names another folder"));
    ModelCache("").keep(model_of(kNodes), note);
    CHECK_THAT(note, Catch::StartsWith("neither XDG_CACHE_HOME nor HOME"));
    note.clear();
    CHECK_FALSE(ModelCache("").find(kNodes, "MPI 1", note));
    // Hosts with one name and nothing else cannot be told apart.
    const std::vector<Node> twins{{"a", {0}}, {"a", {1}}};
    ModelCache(directory.path()).keep(model_of(twins), note);
    CHECK_FALSE(ModelCache(directory.path()).find(twins, "MPI 1", note));
    CHECK(note.empty());
}

TEST_CASE("latencies of a job that had too little time are for the next one, until there is a model",
          "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    std::string note;
    CHECK(cache.find_latencies(kNodes, "MPI 1", note).empty());
    const std::vector<Node> three{{"a", {0}}, {"b", {1}}, {"c", {2}}};
    const std::vector<Node> three_in_another_order{{"c", {0}}, {"a", {1}}, {"b", {2}}};
    CHECK(cache.keep_latencies(three, "MPI 1", {{{0, 1}, Seconds(0.01)}, {{0, 2}, Seconds(0.02)}}, note));
    CHECK(cache.find_latencies(three_in_another_order, "MPI 1", note) ==
          RememberedSurvey::Latencies{{{1, 2}, Seconds(0.01)}, {{0, 1}, Seconds(0.02)}});
    CHECK(cache.find_latencies(three, "MPI 2", note).empty());
    cache.keep(model_of(three), note);
    CHECK(cache.find_latencies(three, "MPI 1", note).empty());
    CHECK(note.empty());
    CHECK_FALSE(ModelCache("").keep_latencies(three, "MPI 1", {}, note));
}

TEST_CASE("a job on some of the hosts takes the latest model that has them all", "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    std::string note;
    const std::vector<Node> four{{"a", {0}}, {"b", {1}}, {"c", {2}}, {"d", {3}}};
    const std::vector<Node> three{{"a", {0}}, {"b", {1}}, {"c", {2}}};
    Model of_four = model_of(four);
    of_four.date = "2026-01-02T03:04:05Z";
    of_four.links.clusters.resize(4);
    cache.keep(of_four, note);
    cache.keep(model_of(three), note);
    const auto now = fs::file_time_type::clock::now();
    fs::last_write_time(cache.file_for(three, "MPI 1"), now - std::chrono::hours(1));
    const std::vector<Node> job{{"b", {0, 1}}, {"a", {2}}};
    auto found = cache.find(job, "MPI 1", note);
    REQUIRE(found);
    CHECK(found->file == cache.file_for(four, "MPI 1"));
    CHECK(found->model == adapted_to(of_four, job, "f"));
    fs::last_write_time(cache.file_for(four, "MPI 1"), now - std::chrono::hours(2));
    CHECK(cache.find(job, "MPI 1", note)->file == cache.file_for(three, "MPI 1"));
    CHECK_FALSE(cache.find(job, "MPI 2", note));
    CHECK_FALSE(cache.find({{"a", {0}}, {"e", {1}}}, "MPI 1", note));
    CHECK_FALSE(cache.find({{"a", {0, 1}}}, "MPI 1", note));  // one host needs no network
    // What cannot be read is passed over.
    fs::create_directory(directory.path() + "/0123456789abcdef.json");
    CHECK(cache.find(job, "MPI 1", note));
    // MPI's own collectives are those of this placement.
    found->model.links.job.ranks = 3;
    found->model.links.job.times["barrier"] = Curve({{0, Seconds(1e-3)}});
    cache.keep_job(found->model, note);
    CHECK(cache.find(job, "MPI 1", note)->model.links.job.ranks == 0);  // of another model
    fs::remove(cache.file_for(three, "MPI 1"));
    CHECK(cache.find(job, "MPI 1", note)->model.links.job.ranks == 3);
    // Nobody has asked for a file of other hosts: it is passed over without a word.
    fs::permissions(cache.file_for(four, "MPI 1"), fs::perms::others_write, fs::perm_options::add);
    CHECK_FALSE(cache.find(job, "MPI 1", note));
    CHECK(note.empty());
}

TEST_CASE("each placement of ranks has its own times of MPI's collectives", "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    const std::vector<Node> block{{"a", {0, 1}}, {"b", {2, 3}}};
    const std::vector<Node> cyclic{{"a", {0, 2}}, {"b", {1, 3}}};
    std::string note;
    Model model = model_of(block);
    model.date = "monday";
    model.links.clusters.resize(static_cast<std::size_t>(model.topology.cluster_count()));
    model.links.job = {4, {{"bcast", Curve({{8, Seconds(1)}})}}};
    cache.keep(model, note);
    CHECK(cache.find(block, "MPI 1", note)->model.links.job == model.links.job);
    auto other = cache.find(cyclic, "MPI 1", note);
    REQUIRE(other);
    CHECK(other->model.links.job.ranks == 0);
    CHECK(other->file == cache.file_for(block, "MPI 1"));
    other->model.links.job = {4, {{"bcast", Curve({{8, Seconds(2)}})}}};
    cache.keep_job(other->model, note);
    const auto again = cache.find(cyclic, "MPI 1", note);
    CHECK(again->model.links.job == other->model.links.job);
    // Which knows all that a job on them goes by.
    CHECK(again->file != other->file);
    CHECK(parse_model(JsonDocument::parse(read_file(again->file), "f")).links.job == other->model.links.job);
    CHECK(cache.find(block, "MPI 1", note)->model.links.job == model.links.job);
    CHECK(note.empty());
    // What calls have shown since stands beside the model of the job that measured.
    Model called = model;
    called.links.job.calls = {{"bcast", 8, 0, "ring", {Seconds(1)}, Seconds(2)}};
    cache.keep_job(called, note);
    CHECK(cache.find(block, "MPI 1", note)->model.links.job == called.links.job);
    CHECK(cache.find(cyclic, "MPI 1", note)->model.links.job == other->model.links.job);
    // A broken file of a placement costs its times, not the network's.
    for (const auto& entry : fs::directory_iterator(directory.path())) {
        if (entry.path() != cache.file_for(block, "MPI 1")) std::ofstream(entry.path()) << "{";
    }
    REQUIRE(cache.find(cyclic, "MPI 1", note));
    CHECK(cache.find(cyclic, "MPI 1", note)->model.links.job.ranks == 0);
    CHECK_THAT(note, Catch::Contains("ignored"));
    note.clear();
    cache.keep_job(other->model, note);
    model.date = "tuesday";  // the network was measured anew
    cache.keep(model, note);
    CHECK(cache.find(cyclic, "MPI 1", note)->model.links.job.ranks == 0);
    CHECK(note.empty());
}

TEST_CASE("of very many files the oldest go", "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    std::string note;
    const auto now = fs::file_time_type::clock::now();
    const auto add = [&](const std::string& name, int hours) {
        const std::string file = directory.path() + "/" + name;
        std::ofstream(file) << "{}";
        fs::last_write_time(file, now - std::chrono::hours(hours));
        return file;
    };
    std::vector<std::string> files;
    for (int i = 0; i < 1000; ++i) {
        const char* ending = i % 4 == 1 ? "-0123456789abcdef.json" : i % 4 == 2 ? ".latencies" : ".json";
        files.push_back(add(fmt::format("{:016x}{}", i, ending), i + 1));
    }
    const std::string foreign = add("notes of the last month.json", 10000);
    const std::string other = add("0123456789abcdef.txt", 10000);
    fs::create_directory(directory.path() + "/fedcba9876543210.json");
    fs::last_write_time(directory.path() + "/fedcba9876543210.json", now - std::chrono::hours(10000));
    cache.keep(model_of(kNodes), note);
    CHECK(note.empty());
    CHECK(cache.find(kNodes, "MPI 1", note)->model == model_of(kNodes));
    const auto left =
        std::count_if(files.begin(), files.end(), [](const auto& file) { return fs::exists(file); });
    CHECK(left >= 300);
    CHECK(left <= 500);
    for (long i = 0; i < 1000; ++i) CHECK(fs::exists(files[static_cast<std::size_t>(i)]) == (i < left));
    CHECK(fs::exists(foreign));
    CHECK(fs::exists(other));
    CHECK(fs::exists(directory.path() + "/fedcba9876543210.json"));
    // Below that nothing goes.
    cache.keep(model_of(kOtherOrder), note);
    CHECK(std::count_if(files.begin(), files.end(), [](const auto& file) { return fs::exists(file); }) ==
          left);
}

TEST_CASE("an old model stays where jobs on its hosts have left many placements", "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    std::string note;
    cache.keep(model_of(kNodes), note);
    const std::string model = cache.file_for(kNodes, "MPI 1");
    fs::last_write_time(model, fs::file_time_type::clock::now() - std::chrono::hours(10000));
    for (int i = 0; i < 600; ++i) {
        const std::string name = fmt::format("0123456789abcdef-{:016x}.json", i);
        std::ofstream(directory.path() + "/" + name) << "{}";
    }
    cache.keep_job(model_of(kNodes), note);
    CHECK(fs::exists(model));
    const fs::directory_iterator files(directory.path());
    CHECK(std::distance(begin(files), end(files)) <= 401);
}

TEST_CASE("what is known of hosts goes before what was measured", "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    std::string note;
    const auto add = [&](const std::string& name) {
        std::ofstream(directory.path() + "/" + name) << "{}";
        return directory.path() + "/" + name;
    };
    std::vector<std::string> measured;
    for (int i = 0; i < 300; ++i) measured.push_back(add(fmt::format("0123456789abcdef-{:016x}.json", i)));
    for (const std::string& file : measured)
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1000));
    for (int i = 0; i < 300; ++i) add(fmt::format("fedcba9876543210-{:016x}.hosts", i));
    cache.keep(model_of(kNodes), note);
    for (const std::string& file : measured) CHECK(fs::exists(file));
    const fs::directory_iterator files(directory.path());
    CHECK(std::distance(begin(files), end(files)) == 401);
}

TEST_CASE("of models of other hosts a job reads the latest ones only", "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    std::string note;
    const std::vector<Node> three{{"a", {0}}, {"b", {1}}, {"c", {2}}};
    cache.keep(model_of(three), note);
    const auto add = [&](const std::string& name, std::uintmax_t bytes) {
        std::ofstream(directory.path() + "/" + name) << "{}";
        fs::resize_file(directory.path() + "/" + name, bytes);
    };
    fs::last_write_time(cache.file_for(three, "MPI 1"),
                        fs::file_time_type::clock::now() - std::chrono::hours(1));
    add("0000000000000001.json", 9U << 20);  // too large to be looked at
    CHECK(cache.find(kNodes, "MPI 1", note));
    add("0000000000000002.json", 5U << 20);
    add("0000000000000003.json", 5U << 20);
    CHECK_FALSE(cache.find(kNodes, "MPI 1", note));
    CHECK(note.empty());
}

TEST_CASE("hosts with one name are known by their ids", "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    std::vector<Node> twins{{"a", {0}, "17"}, {"a", {1}, "4"}};
    label_hosts(twins);
    std::string note;
    cache.keep(model_of(twins), note);
    CHECK(cache.find(twins, "MPI 1", note)->model.nodes == twins);
    std::vector<Node> others{{"a", {0}, "17"}, {"a", {1}, "5"}};
    label_hosts(others);
    CHECK(others[0].host == twins[0].host);
    CHECK_FALSE(cache.find(others, "MPI 1", note));
    CHECK(note.empty());
}

TEST_CASE("hosts are known by the places of all ranks", "[cache]") {
    const TemporaryDirectory directory;
    const ModelCache cache(directory.path());
    const std::string places = "0123456789abcdef-fedcba9876543210";
    const std::vector<Node> nodes{{"a", {0, 2}}, {"b", {1}, "17"}, {"c \"d\"", {3}}};
    CHECK_FALSE(cache.find_hosts(places, 4));
    cache.keep_hosts(places, nodes);
    CHECK(cache.find_hosts(places, 4) == nodes);
    CHECK_FALSE(cache.find_hosts("1123456789abcdef-fedcba9876543210", 4));
    CHECK(cache.files().empty());
    const std::string file = directory.path() + "/" + places + ".hosts";
    const std::string good = read_file(file);
    SECTION("not of as many ranks") {
        CHECK_FALSE(cache.find_hosts(places, 3));
        CHECK_FALSE(cache.find_hosts(places, 5));
    }
    SECTION("a rank twice") {
        std::ofstream(file)
            << R"({"format": "laple-hosts-1", "hosts": [{"name": "a", "id": "", "ranks": [0, 0]}]})";
        CHECK_FALSE(cache.find_hosts(places, 1));
    }
    SECTION("ranks out of order") {
        std::ofstream(file)
            << R"({"format": "laple-hosts-1", "hosts": [{"name": "a", "id": "", "ranks": [1, 0]}]})";
        CHECK_FALSE(cache.find_hosts(places, 2));
    }
    SECTION("a host without ranks") {
        std::ofstream(file)
            << R"({"format": "laple-hosts-1", "hosts": [{"name": "a", "id": "", "ranks": []}, {"name": "b", "id": "", "ranks": [0]}]})";
        CHECK_FALSE(cache.find_hosts(places, 1));
    }
    SECTION("cut off") {
        std::ofstream(file) << good.substr(0, good.size() / 2);
        CHECK_FALSE(cache.find_hosts(places, 4));
    }
    SECTION("others may write it") {
        fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
        CHECK_FALSE(cache.find_hosts(places, 4));
    }
    cache.keep_hosts(places, nodes);
    CHECK(cache.find_hosts(places, 4) == nodes);
    ModelCache("").keep_hosts(places, nodes);
    CHECK_FALSE(ModelCache("").find_hosts(places, 4));
}

TEST_CASE("the cache is where the environment says", "[cache]") {
    const auto directory = [](const char* cache, const char* home) {
        cache != nullptr ? setenv("XDG_CACHE_HOME", cache, 1) : unsetenv("XDG_CACHE_HOME");
        home != nullptr ? setenv("HOME", home, 1) : unsetenv("HOME");
        return ModelCache::default_directory();
    };
    const char* home = std::getenv("HOME");
    const std::string saved = home != nullptr ? home : "";
    CHECK(directory("/c", "/h") == "/c/laple");
    CHECK(directory(nullptr, "/h") == "/h/.cache/laple");
    CHECK(directory("relative", "/h") == "/h/.cache/laple");
    CHECK(directory(nullptr, nullptr).empty());
    if (!saved.empty()) setenv("HOME", saved.c_str(), 1);
}
