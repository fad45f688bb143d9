// SPDX-License-Identifier: BSD-3-Clause
// A grid is made, served and taken down by one process of its own, its keeper. The keeper holds a socket of
// the laple-grid that started it; whatever ends that one, the keeper reads the end of the socket and cleans
// up.
#pragma once

#include <string>

#include "grid/link.hpp"
#include "grid/process.hpp"
#include "grid/scenario.hpp"
#include "grid/state.hpp"

namespace laple::grid {

/// A raised grid, owned by this object: taken down by the destructor.
class Grid {
  public:
    /// Raises a grid. A signal of `signals` meanwhile takes it down again and throws Interrupted.
    /// Throws MachineError when the machine cannot.
    Grid(const Scenario& scenario, const EndSignals& signals);
    ~Grid();
    Grid(const Grid&) = delete;
    Grid& operator=(const Grid&) = delete;

    const GridState& state() const { return state_; }
    int keeper_fd() const { return socket_.get(); }  ///< readable when the keeper has died

    /// Lets the grid stand when this process ends.
    void leave_standing();

    void take_down();

  private:
    void await_raised(const EndSignals& signals);

    Fd socket_;
    Child keeper_;
    GridState state_;
};

/// A signal that asks laple-grid to end.
struct Interrupted {
    int signal;
};

/// Ends a standing grid and waits until nothing is left of it. Throws MachineError where its keeper does not
/// end.
void take_down(const GridState& state);

/// Makes it so from now on. Throws Error where the grid has no such link, or another change is under way.
void change_network(const GridState& state, const Change& change);

/// The relay's counters as a table.
std::string read_counters(const GridState& state);

}  // namespace laple::grid
