// SPDX-License-Identifier: BSD-3-Clause
#include "bug_report.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "archive.hpp"
#include "base/configuration.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "gather.hpp"
#include "host_facts.hpp"
#include "model/cache.hpp"
#include "model/model_file.hpp"
#include "mpi/probe/provenance.hpp"

namespace laple::info {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "laple-report";
constexpr std::string_view kAddress = LAPLE_BUG_ADDRESS;

struct Part {
    ArchivedFile file;
    std::string about;
};

std::string environment_text() {
    std::string text;
    for (const auto& [name, value] : mpi::mpi_environment()) text += fmt::format("{}={}\n", name, value);
    return text;
}

/// Names, sizes and times of what earlier jobs have measured.
std::string cache_text() {
    const std::string directory = ModelCache::default_directory();
    std::string text = fmt::format("{}\n", directory.empty() ? "no cache: HOME is not set" : directory);
    std::error_code failure;
    for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        std::error_code ignored;
        const auto written = std::chrono::file_clock::to_sys(entry->last_write_time(ignored));
        text += fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {:>9} {}\n",
                            fmt::gmtime(std::chrono::system_clock::to_time_t(
                                std::chrono::time_point_cast<std::chrono::system_clock::duration>(written))),
                            entry->file_size(ignored), entry->path().filename().string());
    }
    return text;
}

std::string content_or_problem(const std::string& file) try {
    return read_file(file);
} catch (const Error& error) {
    return error.what();
}

std::string hosts_text(const std::vector<Node>& hosts, const std::vector<std::string>& facts) {
    std::string text;
    for (const Node& host : hosts)
        text += fmt::format("{}\n{}\n", host.host, facts[static_cast<std::size_t>(host.ranks.front())]);
    return text;
}

std::vector<Part> parts_of(const InForce& used, const std::vector<Node>& hosts,
                           const std::vector<std::string>& facts, int ranks) {
    const Settings& settings = configuration().settings;
    std::vector<Part> parts{
        {{"info.txt", overview_text(used, hosts.size(), ranks)},
         "what laple-info prints: versions, settings, hosts"},
        {{"info.json", overview_json(used, hosts.size(), ranks)}, "the same, and the model in force"},
        {{"laple.conf", configuration_text(configuration())}, "settings in force, and where each is from"},
        {{"environment.txt", environment_text()}, "variables of LaPle, MPI and its network library"},
        {{"hosts.txt", hosts_text(hosts, facts)}, "each host's kernel, processors, TCP settings, interfaces"},
        {{"cache.txt", cache_text()}, "names of what earlier jobs have measured"}};
    if (used.model) parts.push_back({{"model.json", model_text(*used.model)}, "the model in force"});
    if (settings.has_topology_file())
        parts.push_back(
            {{"topology", content_or_problem(settings.topology_file())}, settings.topology_file()});
    if (settings.has_rates_file())
        parts.push_back({{"rates.json", content_or_problem(settings.model)}, settings.model});
    return parts;
}

void check_name(const std::string& file) {
    if (!file.ends_with(".tar.gz") && !file.ends_with(".tgz"))
        throw Error({file, 0, 0}, "is no name for it", "let it end with .tar.gz");
}

}  // namespace

int report_bug(const std::string& file, bool replaces, const std::optional<std::vector<Node>>& hosts,
               int rank, int ranks) {
    const auto firsts = first_ranks(hosts);
    const bool is_first = std::find(firsts.begin(), firsts.end(), rank) != firsts.end();
    const auto facts = gather_texts(is_first ? host_facts() : "", rank, ranks);
    if (!hosts) return 0;
    check_name(file);
    std::vector<ArchivedFile> files;
    std::string contents;
    for (Part& part : parts_of(in_force(configuration().settings, *hosts, ranks), *hosts, facts, ranks)) {
        contents += fmt::format("  {:<16} {}\n", part.file.name, part.about);
        files.push_back(std::move(part.file));
    }
    write_archive(file, kFolder, files, replaces);
    fmt::print(
        "{} holds, in {}/:\n{}It names hosts and files, and has no addresses but those in settings. Look it "
        "through before you send it (tar -xzf {}), and add what the job printed with LAPLE_DEBUG=2. Send it "
        "to "
        "{}.\n",
        file, kFolder, contents, file,
        kAddress.empty() ? "whoever gave you LaPle, or the maintainers of your package" : kAddress);
    return 0;
}

}  // namespace laple::info
