// SPDX-License-Identifier: BSD-3-Clause
#include "model/cache.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "topology/topology_file.hpp"

namespace laple {
namespace {

namespace fs = std::filesystem;

bool are_distinct(const std::vector<std::string>& sorted) {
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

std::string absolute_or_empty(const char* directory) {
    return directory != nullptr && directory[0] == '/' ? directory : "";
}

Model read_model(const std::string& file) {
    return parse_model(JsonDocument::parse(read_own_file(file), file));
}

/// From the file of a job with the same ranks, where there is one, and the network has not been measured anew
/// since. Without it the model is as good as before.
void add_natives(const std::string& file, Model& model, std::string& note) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return;
    try {
        const Model known = read_model(file);
        if (known.nodes == model.nodes && known.mpi == model.mpi && known.date == model.date)
            model.links.native = known.links.native;
    } catch (const std::exception& error) {
        note = fmt::format("{}; it is passed over", error.what());
    }
}

}  // namespace

std::string fingerprint(const std::vector<Node>& nodes, const std::string& mpi) {
    std::uint64_t hash = fnv1a(mpi, fnv1a(kModelFormat));
    for (const std::string& host : sorted_hosts(nodes)) hash = fnv1a(host, hash);
    return fmt::format("{:016x}", hash);
}

std::string ModelCache::default_directory() {
    const std::string cache = absolute_or_empty(std::getenv("XDG_CACHE_HOME"));
    if (!cache.empty()) return cache + "/laple";
    const std::string home = absolute_or_empty(std::getenv("HOME"));
    return home.empty() ? "" : home + "/.cache/laple";
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

std::optional<Model> ModelCache::find(const std::vector<Node>& nodes, const std::string& mpi,
                                      std::string& note) const {
    const std::string file = file_for(nodes, mpi);
    std::error_code ignored;
    if (file.empty() || !are_distinct(sorted_hosts(nodes)) || !fs::exists(file, ignored)) return std::nullopt;
    try {
        Model model = read_model(file);
        if (model.mpi != mpi) return std::nullopt;  // another one with the same fingerprint
        model = adapted_to(model, nodes, file);
        if (model.links.native.ranks == 0) add_natives(job_file_for(nodes, mpi), model, note);
        return model;
    } catch (const std::exception& error) {
        note = fmt::format("{}; it is passed over", error.what());
        return std::nullopt;
    }
}

void ModelCache::keep(const Model& model, std::string& note) const {
    write(model, file_for(model.nodes, model.mpi), note);
}

void ModelCache::keep_natives(const Model& model, std::string& note) const {
    write(model, job_file_for(model.nodes, model.mpi), note);
}

void ModelCache::write(const Model& model, const std::string& file, std::string& note) const {
    if (file.empty() || !are_distinct(sorted_hosts(model.nodes))) return;
    std::error_code failure;
    fs::create_directories(directory_, failure);
    const std::string reason = failure ? failure.message() : replace_file(file, model_text(model));
    if (!reason.empty()) note = fmt::format("{} cannot be written: {}; later jobs measure again", file, reason);
}

}  // namespace laple
