// SPDX-License-Identifier: BSD-3-Clause
#include "grid/state.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "grid/machine_error.hpp"
#include "grid/netns.hpp"

namespace laple::grid {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = "/run/laple-grid";
constexpr const char* kStateFormat = "laple-grid-state-1";

/// Held while grids are claimed or cleared: nobody takes a directory in the making for a dead one.
class StateLock {
  public:
    StateLock() {
        std::error_code error;
        fs::create_directories(kRoot, error);
        fd_.reset(::open(kRoot.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!fd_ || flock(fd_.get(), LOCK_EX) != 0) {
            throw MachineError(fmt::format("cannot use {}: {}", kRoot, errno_text()),
                               "run as root, with a writable /run");
        }
    }

  private:
    Fd fd_;
};

std::optional<GridState> load_state(const std::string& id) {
    try {
        const JsonDocument document = JsonDocument::load(kRoot + "/" + id + "/state.json");
        const Json& json = document.root();
        GridState state;
        if (json.at("format") != kStateFormat) return std::nullopt;
        state.layout = layout_from_json(json.at("sites"));
        state.layout.id = id;
        state.scenario = json.at("scenario");
        state.raised = json.at("raised");
        state.standing = json.at("standing");
        state.owner = process_from_json(json.at("owner"));
        state.keeper = process_from_json(json.at("keeper"));
        return state;
    } catch (const std::exception&) {  // half written by a process that was killed, or not ours
        return std::nullopt;
    }
}

std::vector<std::string> all_ids() {
    std::vector<std::string> ids;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(kRoot, error)) {
        if (entry.is_directory()) ids.push_back(entry.path().filename());
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

}  // namespace

Json to_json(const GridState& state) {
    return {{"format", kStateFormat},          {"id", state.layout.id},
            {"scenario", state.scenario},      {"raised", state.raised},
            {"standing", state.standing},      {"owner", to_json(state.owner)},
            {"keeper", to_json(state.keeper)}, {"sites", to_json(state.layout)}};
}

std::string GridState::directory() const {
    return kRoot + "/" + layout.id;
}

std::string GridState::hosts_file() const {
    return directory() + "/hosts";
}

GridState claim_grid(const Scenario& scenario, const ProcessId& owner, const ProcessId& keeper) {
    const StateLock lock;
    GridState state;
    for (int number = 1;; ++number) {
        const std::string id = fmt::format("{}-{}", scenario.name, number);
        if (mkdir((fs::path(kRoot) / id).c_str(), 0755) == 0) {
            state.layout = make_layout(scenario, id);
            break;
        }
        if (errno != EEXIST) {
            throw MachineError(fmt::format("cannot make {}/{}: {}", kRoot, id, errno_text()), "run as root");
        }
    }
    state.scenario = scenario.name;
    state.owner = owner;
    state.keeper = keeper;
    save_state(state);
    write_file(state.hosts_file(), hosts_text(state.layout));
    return state;
}

void save_state(const GridState& state) {
    const std::string file = state.directory() + "/state.json";
    if (!write_file(file + ".new", to_json(state).dump(2) + "\n") ||
        rename((file + ".new").c_str(), file.c_str()) != 0) {
        throw MachineError(fmt::format("cannot write {}: {}", file, errno_text()), "make room in /run");
    }
}

void remove_state(const GridState& state) {
    std::error_code error;
    fs::remove_all(state.directory(), error);
}

std::vector<GridState> living_grids() {
    std::vector<GridState> living;
    if (!fs::exists(kRoot)) return living;
    const StateLock lock;
    for (const std::string& id : all_ids()) {
        const auto state = load_state(id);
        if (state && state->keeper.alive()) {
            living.push_back(*state);
            continue;
        }
        if (state) {
            explain("clearing " + id + ", whose keeper is dead");
            destroy_netns(state->layout.netns_names());
        }
        std::error_code error;
        fs::remove_all(fs::path(kRoot) / id, error);
    }
    return living;
}

GridState load_grid(const std::string& id) {
    if (const auto state = load_state(id)) return *state;
    throw Error(fmt::format("there is no grid \"{}\"", id), "raise one with laple-grid up");
}

GridState find_grid(const std::string& id) {
    std::vector<std::string> ids;
    for (const GridState& state : living_grids()) {
        if (state.layout.id == id) return state;
        ids.push_back(state.layout.id);
    }
    throw Error(fmt::format("there is no grid \"{}\"", id),
                ids.empty() ? std::string("raise one with laple-grid up")
                            : fmt::format("there are: {}", fmt::join(ids, ", ")));
}

}  // namespace laple::grid
