// SPDX-License-Identifier: BSD-3-Clause
#include "model/cache.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "model/known_hosts.hpp"
#include "model/unfinished.hpp"
#include "topology/topology_file.hpp"

namespace laple {
namespace {

namespace fs = std::filesystem;

bool are_distinct(const std::vector<std::string>& sorted) {
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

constexpr std::size_t kFingerprintDigits = 16;

Model read_model(const std::string& file) {
    return parse_model(JsonDocument::parse(read_own_file(file), file));
}

/// Most files are of other hosts: this takes much less time than to parse them.
bool names_all(const std::string& text, const std::vector<Node>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [&](const Node& node) {
        return text.find(json_text(node.host)) != std::string::npos;
    });
}

/// From the file of a job with the same ranks, where there is one, and the network has not been measured anew
/// since. Without it the model is as good as before.
void add_job(const std::string& file, CachedModel& found, std::string& note) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return;
    try {
        const Model known = read_model(file);
        Model& model = found.model;
        if (known.nodes != model.nodes || known.mpi != model.mpi || known.date != model.date) return;
        model.links.job = known.links.job;
        found.file = file;
    } catch (const std::exception& error) {
        note = fmt::format("{}; it is ignored until there is something else to keep", error.what());
    }
}

/// As much as a job may read to find a model of more hosts: some 10 ms.
constexpr std::uintmax_t kMostToRead = 8U << 20;

/// That a directory holds at most; then so many are left, so that not every job has to look at all of them.
constexpr std::size_t kMostFiles = 500;
constexpr std::size_t kFewerFiles = 400;

/// By their names alone: to ask the file system about each takes long where it is far.
template <typename IsOne>
std::vector<fs::path> files_in(const std::string& directory, IsOne is_one) {
    std::vector<fs::path> found;
    std::error_code failure;
    for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        if (is_one(entry->path())) found.push_back(entry->path());
    }
    return found;
}

/// Of a model, not of a single placement.
bool is_model(const fs::path& file) {
    return file.extension() == ".json" && file.stem().string().size() == kFingerprintDigits;
}

/// Of a model, a placement of ranks, its hosts, or latencies of an unfinished survey.
bool is_own(const fs::path& file) {
    const std::string stem = file.stem().string();
    const std::string kind = file.extension().string();
    if (kind != ".json" && kind != ".hosts" && kind != ".latencies") return false;
    const bool has_length = stem.size() == kFingerprintDigits ||
                            (stem.size() == 2 * kFingerprintDigits + 1 && stem[kFingerprintDigits] == '-');
    return has_length && stem.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

std::vector<std::string> latest_first(const std::vector<fs::path>& files) {
    std::vector<std::pair<fs::file_time_type, std::string>> found;
    for (const fs::path& file : files) {
        std::error_code failure;
        const auto written = fs::last_write_time(file, failure);
        if (!failure) found.emplace_back(written, file.string());
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<std::string> ordered;
    for (auto& [written, file] : found) ordered.push_back(std::move(file));
    return ordered;
}

std::vector<std::string> models_in(const std::string& directory) {
    return latest_first(files_in(directory, is_model));
}

/// Makes room where jobs on ever new hosts, or with ever new placements, have left many files. Models are
/// only read once they are measured, so that they look old: half of what is left may be models. Hosts go
/// first: to gather them again takes little.
void remove_oldest(const std::string& directory) {
    const std::vector<fs::path> files = files_in(directory, is_own);
    if (files.size() < kMostFiles) return;
    std::vector<std::string> ordered;
    std::vector<std::string> others;
    std::vector<std::string> hosts;
    for (std::string& file : latest_first(files)) {
        const bool is_first = is_model(file) && ordered.size() < kFewerFiles / 2;
        const bool is_last = fs::path(file).extension() == ".hosts";
        (is_first ? ordered : is_last ? hosts : others).push_back(std::move(file));
    }
    for (auto* rest : {&others, &hosts}) std::move(rest->begin(), rest->end(), std::back_inserter(ordered));
    for (std::size_t i = kFewerFiles; i < ordered.size(); ++i) {
        std::error_code ignored;
        if (fs::is_regular_file(fs::symlink_status(ordered[i], ignored))) fs::remove(ordered[i], ignored);
    }
}

}  // namespace

std::string fingerprint(const std::vector<Node>& nodes, const std::string& mpi) {
    std::uint64_t hash = fnv1a(mpi, fnv1a(kModelFormat));
    for (const std::string& host : sorted_hosts(nodes)) hash = fnv1a(host, hash);
    return fmt::format("{:016x}", hash);
}

std::string ModelCache::default_directory() {
    return user_directory("XDG_CACHE_HOME", ".cache");
}

std::vector<std::string> ModelCache::files() const {
    return directory_.empty() ? std::vector<std::string>() : models_in(directory_);
}

std::string ModelCache::file_for(const std::vector<Node>& nodes, const std::string& mpi) const {
    return directory_.empty() ? "" : fmt::format("{}/{}.json", directory_, fingerprint(nodes, mpi));
}

/// Of one placement of ranks on these hosts.
std::string ModelCache::job_file_for(const std::vector<Node>& nodes, const std::string& mpi) const {
    std::uint64_t hash = fnv1a("");
    for (const Node& node : nodes)
        hash = fnv1a(fmt::format("{} {};", node.key(), fmt::join(node.ranks, " ")), hash);
    return directory_.empty() ? ""
                              : fmt::format("{}/{}-{:016x}.json", directory_, fingerprint(nodes, mpi), hash);
}

std::optional<CachedModel> ModelCache::find(const std::vector<Node>& nodes, const std::string& mpi,
                                            std::string& note) const {
    const std::string file = file_for(nodes, mpi);
    std::error_code ignored;
    if (file.empty() || !are_distinct(sorted_hosts(nodes))) return std::nullopt;
    if (!fs::exists(file, ignored)) return find_on_more_hosts(nodes, mpi);
    try {
        const Model model = read_model(file);
        if (model.mpi != mpi) return std::nullopt;  // another one with the same fingerprint
        CachedModel found{adapted_to(model, nodes, file), file};
        add_job(job_file_for(nodes, mpi), found, note);
        return found;
    } catch (const std::exception& error) {
        note = fmt::format("{}; it is ignored, and will be replaced", error.what());
        return std::nullopt;
    }
}

std::optional<CachedModel> ModelCache::find_on_more_hosts(const std::vector<Node>& nodes,
                                                          const std::string& mpi) const {
    if (nodes.size() < 2) return std::nullopt;  // of one host other things are measured
    std::uintmax_t bytes = 0;
    for (const std::string& file : models_in(directory_)) {
        std::error_code failure;
        const std::uintmax_t size = fs::file_size(file, failure);
        if (failure || size > kMostToRead) continue;
        bytes += size;
        if (bytes > kMostToRead) return std::nullopt;
        try {
            const std::string text = read_own_file(file);
            if (!names_all(text, nodes)) continue;
            const Model model = parse_model(JsonDocument::parse(text, file));
            if (model.mpi != mpi) continue;
            CachedModel found{adapted_to(model, nodes, file), file};
            std::string note;
            add_job(job_file_for(nodes, mpi), found, note);
            return found;
        } catch (const std::exception&) {
            continue;  // it does not know all of these hosts, or is broken: a job on its own hosts says so
        }
    }
    return std::nullopt;
}

void ModelCache::keep(const Model& model, std::string& note) const {
    if (!directory_.empty()) remove_oldest(directory_);
    write(model.nodes, model_text(model), file_for(model.nodes, model.mpi), note);
    std::error_code ignored;
    fs::remove(latencies_file_for(model.nodes, model.mpi), ignored);
}

void ModelCache::keep_job(const Model& model, std::string& note) const {
    if (!directory_.empty()) remove_oldest(directory_);
    write(model.nodes, model_text(model), job_file_for(model.nodes, model.mpi), note);
}

std::string ModelCache::latencies_file_for(const std::vector<Node>& nodes, const std::string& mpi) const {
    return directory_.empty() ? "" : fmt::format("{}/{}.latencies", directory_, fingerprint(nodes, mpi));
}

RememberedSurvey::Latencies ModelCache::find_latencies(const std::vector<Node>& nodes, const std::string& mpi,
                                                       std::string& note) const {
    const std::string file = latencies_file_for(nodes, mpi);
    std::error_code ignored;
    if (file.empty() || !are_distinct(sorted_hosts(nodes)) || !fs::exists(file, ignored)) return {};
    try {
        return parse_unfinished(JsonDocument::parse(read_own_file(file), file), nodes);
    } catch (const std::exception& error) {
        note = fmt::format("{}; it is ignored, and will be replaced", error.what());
        return {};
    }
}

bool ModelCache::keep_latencies(const std::vector<Node>& nodes, const std::string& mpi,
                                const RememberedSurvey::Latencies& known, std::string& note) const {
    return write(nodes, unfinished_text(nodes, known), latencies_file_for(nodes, mpi), note);
}

std::string ModelCache::hosts_file_for(const std::string& places) const {
    return directory_.empty() ? "" : fmt::format("{}/{}.hosts", directory_, places);
}

std::optional<std::vector<Node>> ModelCache::find_hosts(const std::string& places, int ranks) const {
    const std::string file = hosts_file_for(places);
    std::error_code ignored;
    if (file.empty() || !fs::exists(file, ignored)) return std::nullopt;
    try {
        return parse_hosts(JsonDocument::parse(read_own_file(file), file), ranks);
    } catch (const std::exception&) {
        return std::nullopt;  // they are gathered, and the file is replaced
    }
}

void ModelCache::keep_hosts(const std::string& places, const std::vector<Node>& nodes) const {
    if (!directory_.empty()) remove_oldest(directory_);
    std::string ignored;  // the next job gathers them again
    write(nodes, hosts_text(nodes), hosts_file_for(places), ignored);
}

/// Whether it is there.
bool ModelCache::write(const std::vector<Node>& nodes, const std::string& text, const std::string& file,
                       std::string& note) const {
    if (file.empty())
        note =
            "neither XDG_CACHE_HOME nor HOME says where to keep what was measured; later jobs measure again";
    if (file.empty() || !are_distinct(sorted_hosts(nodes))) return false;
    std::error_code failure;
    fs::create_directories(directory_, failure);
    const std::string reason = failure ? failure.message() : replace_file(file, text);
    if (!reason.empty())
        note = fmt::format(
            "{} cannot be written: {}; later jobs measure again, unless XDG_CACHE_HOME names another folder",
            file, reason);
    return reason.empty();
}

}  // namespace laple
