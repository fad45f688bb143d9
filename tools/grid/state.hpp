// SPDX-License-Identifier: BSD-3-Clause
// What is known of the grids that stand: one directory each, /run/laple-grid/<id>/, with state.json.
#pragma once

#include <string>
#include <vector>

#include "grid/fd.hpp"
#include "grid/layout.hpp"
#include "grid/process.hpp"

namespace laple::grid {

struct GridState {
    GridLayout layout;      ///< with the grid's id
    std::string scenario;   ///< its name
    bool raised = false;    ///< everything is there
    bool standing = false;  ///< by `up`: outlives its owner
    ProcessId owner;        ///< the laple-grid that asked for it
    ProcessId keeper;       ///< the process that relays and takes down

    std::string directory() const;
    std::string hosts_file() const;  ///< the grid's /etc/hosts
};

Json to_json(const GridState& state);

/// Makes the directory of a new grid "<scenario>-<smallest free number>" and writes its state.
GridState claim_grid(const Scenario& scenario, const ProcessId& owner, const ProcessId& keeper);

/// Writes state.json anew. Throws MachineError.
void save_state(const GridState& state);

/// Removes the grid's directory.
void remove_state(const GridState& state);

/// All grids, after clearing those whose keeper is dead: their processes, namespaces and state.
std::vector<GridState> living_grids();

/// Reads the state of a grid that is known to live. Throws Error when there is none.
GridState load_grid(const std::string& id);

/// One of the living grids. Throws Error when there is none of this id.
GridState find_grid(const std::string& id);

}  // namespace laple::grid
