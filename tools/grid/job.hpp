// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "grid/placement.hpp"
#include "grid/process.hpp"
#include "grid/state.hpp"

namespace laple::grid {

/// Whose launcher it is: they take different options.
enum class Maker { mpich, intel, open_mpi };

/// An MPI job to run in a grid.
struct Job {
    Arguments program;                     ///< with its arguments
    int ranks = 0;                         ///< 0: one on each host, or as many as the placement lists
    std::string placement = "block";       ///< as Placement::parse() takes it
    std::vector<std::string> hosts;        ///< names of those that get ranks, in this order; empty: all
    std::string mpiexec;                   ///< "": mpiexec.mpich, else mpiexec
    Maker maker = Maker::mpich;            ///< of that launcher
    std::vector<std::string> environment;  ///< "NAME=value", for the ranks only
    std::string host_name;                 ///< that all hosts take; "": each has its own
    int timeout_s = 0;                     ///< 0: none
};

/// Throws Error for what can be known to be wrong before a grid is raised; fills in the mpiexec
/// and whose it is.
void check_job(Job& job);

/// The hosts that the job uses. Throws Error for one that the grid does not have, or that is named twice.
std::vector<HostLayout> hosts_of_job(const Job& job, const GridLayout& layout);

/// Where its ranks are put. Throws Error for a placement that these hosts, or the launcher, cannot have.
std::vector<RankRun> runs_of_job(const Job& job, const std::vector<HostLayout>& hosts);

/// The command line that starts the job from the first of its hosts.
Arguments mpiexec_command(const Job& job, const GridState& grid);

/// Runs the job. Passes a signal on to it and lets it end. Returns the job's exit status, or 128 + signal, or
/// 124 after the timeout. `keeper_fd`, if not -1, is readable when the grid is gone.
int run_job(const Job& job, const GridState& grid, const EndSignals& signals, int keeper_fd);

/// Runs a command in a host, or in a site's router, as a child in the foreground. Returns its exit status.
int run_in_host(const GridState& grid, const std::string& host, const Arguments& command,
                const EndSignals& signals);

/// mpiexec's idea of ssh: `launch [-options] ADDRESS COMMAND...`, where the program is called by a link
/// "launch" in a grid's directory. Runs the command in the host of this address.
int stand_in_for_ssh(const Arguments& arguments);

/// The preload that lets polling ranks yield, or "" when it is not installed.
std::string yield_library();

}  // namespace laple::grid
