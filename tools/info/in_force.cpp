// SPDX-License-Identifier: BSD-3-Clause
#include "in_force.hpp"

#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/configuration.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/version.hpp"
#include "model/cache.hpp"
#include "model/describe.hpp"
#include "model/model_file.hpp"
#include "mpi/probe/provenance.hpp"

namespace laple::info {

namespace {

InForce from_file(const Settings& settings, const std::vector<Node>& hosts, int ranks) {
    const std::string& file = settings.topology_file();
    InForce result{
        fmt::format("{}={}", settings.topology.empty() ? "LAPLE_MODEL" : "LAPLE_TOPOLOGY", file), {}, ""};
    if (settings.has_rates_file()) result.source += fmt::format(", rates: LAPLE_MODEL={}", settings.model);
    try {
        Model model = read_model(file);
        // A shell is no job: there the file is shown as it is.
        if (ranks > 1) {
            std::vector<Rank> in_world(static_cast<std::size_t>(ranks));
            std::iota(in_world.begin(), in_world.end(), 0);
            model = model_for(model, hosts, in_world, ranks, file);
            if (settings.has_rates_file()) {
                const Model rates = read_model(settings.model);
                model = with_rates(model, model_for(rates, hosts, in_world, ranks, settings.model));
            }
            if (model.nodes.empty()) model.nodes = hosts;  // a map names no hosts: the job knows its own
        }
        result.model = std::move(model);
    } catch (const Error& error) {
        result.problem = error.what();
    }
    return result;
}

}  // namespace

Model read_model(const std::string& file) {
    return parse_model_file(read_file(file), file);
}

InForce in_force(const Settings& settings, const std::vector<Node>& hosts, int ranks) {
    if (settings.is_disabled) return {"LAPLE_DISABLE is set: every call is MPI's own", {}, ""};
    if (settings.is_topology_off()) return {"LAPLE_TOPOLOGY=off: every call is MPI's own", {}, ""};
    if (settings.has_topology_file()) return from_file(settings, hosts, ranks);
    if (ranks < 2) return {"auto: one rank, every call is MPI's own", {}, ""};
    InForce result;
    const ModelCache cache(ModelCache::default_directory());
    auto found = cache.find(hosts, mpi::mpi_in_use(), result.problem);
    if (found) result.model = std::move(found->model);
    result.source = found ? fmt::format("auto: kept in {}", found->file)
                    : settings.probe_budget <= 0
                        ? "auto: nothing kept, and LAPLE_PROBE_BUDGET is 0: every call is MPI's own"
                        : fmt::format(
                              "auto: measured at the first collective, within {} s; rates in half as long "
                              "again, and so MPI's own collectives",
                              settings.probe_budget);
    return result;
}

std::string overview_text(const InForce& used, std::size_t hosts, int ranks) {
    std::string text = fmt::format("LaPle {}, built for {}, running on {}\n\n", version_text(),
                                   LAPLE_BUILT_WITH_MPI, mpi::mpi_version());
    for (const SettingRow& row : all_settings()) {
        const auto [value, source] = configuration().value_of(row);
        text += fmt::format("{:<22} {:<20} {}\n", row.name, value.empty() ? "(none)" : value, source);
    }
    for (const std::string& warning : configuration().warnings) text += fmt::format("warning: {}\n", warning);
    text += fmt::format("\n{} {} on {} {}\n", ranks, ranks == 1 ? "rank" : "ranks", hosts,
                        hosts == 1 ? "host" : "hosts");
    text += fmt::format("topology: {}\n", used.source);
    if (!used.problem.empty()) text += fmt::format("problem: {}\n", used.problem);
    if (!used.model) return text;
    if (!used.model->date.empty())
        text += fmt::format("measured: {} by LaPle {} with {}\n", used.model->date, used.model->version,
                            used.model->mpi);
    return text + describe_model(*used.model);
}

std::string overview_json(const InForce& used, std::size_t hosts, int ranks) {
    Json document{
        {"version", LAPLE_VERSION}, {"built_for", LAPLE_BUILT_WITH_MPI}, {"mpi", mpi::mpi_version()}};
    for (const SettingRow& row : all_settings()) {
        const auto [value, source] = configuration().value_of(row);
        document["settings"].push_back({{"name", row.name}, {"value", value}, {"from", source}});
    }
    document["warnings"] = configuration().warnings;
    document["ranks"] = ranks;
    document["hosts"] = hosts;
    document["topology_from"] = used.source;
    if (!used.problem.empty()) document["problem"] = used.problem;
    if (used.model) document["model"] = Json::parse(model_text(*used.model));
    return json_text(document, 2) + "\n";
}

}  // namespace laple::info
