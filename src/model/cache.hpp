// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "topology/remembered_survey.hpp"

namespace laple {

/// One that was found, with the ranks of the job that looks for it, and the file that it is from: that of its
/// placement, where there is one.
struct CachedModel {
    Model model;
    std::string file;
};

/// Where models of earlier jobs are kept: one file for each set of hosts and MPI (`mpi`: as name_of_mpi()
/// names it, with its transport), so that the next job there starts at once, whatever its rank order; and one
/// for each placement of ranks on them with which collectives were measured since. Jobs at the same time do
/// not disturb each other: files are put in their place whole, and the last one wins. Only files of the
/// user's own that no one else can write are trusted.
class ModelCache {
  public:
    /// `directory` may be empty: then nothing is kept and nothing found.
    explicit ModelCache(std::string directory) : directory_(std::move(directory)) {}

    /// $XDG_CACHE_HOME/laple, else $HOME/.cache/laple; "" when neither is set, or not absolute. Reads the
    /// environment.
    static std::string default_directory();

    /// The model for a job on `nodes`, with its ranks: that of a job on the same hosts, else the latest one
    /// of a job that had all of them, two at least, among its hosts; nothing when there is none. What was
    /// measured of collectives is in it where that was with these ranks on these hosts. A file for these
    /// hosts that is broken or not to be trusted is ignored, and `note` says so.
    std::optional<CachedModel> find(const std::vector<Node>& nodes, const std::string& mpi,
                                    std::string& note) const;

    /// Keeps `model` for later jobs on its hosts. Not when hosts share a name: they could not be told apart.
    /// A failure is harmless; `note` tells of it. Of some hundred files the oldest are removed.
    void keep(const Model& model, std::string& note) const;

    /// Keeps `model`, which find() has found, with what was measured with its ranks since: MPI's own
    /// collectives, calls of programs.
    void keep_job(const Model& model, std::string& note) const;

    /// What jobs on `nodes` have measured of their latencies when that was not enough to find the clusters;
    /// by the places of nodes in `nodes`. Until keep() has a model for them. Whether they are kept.
    RememberedSurvey::Latencies find_latencies(const std::vector<Node>& nodes, const std::string& mpi,
                                               std::string& note) const;
    bool keep_latencies(const std::vector<Node>& nodes, const std::string& mpi,
                        const RememberedSurvey::Latencies& known, std::string& note) const;

    /// The hosts of `ranks` ranks, as an earlier job had them whose ranks were in the same places: `places`
    /// is what tells them from all others (text_of(PlaceSums)). Nothing where no job is known, or its file is
    /// not to be trusted.
    std::optional<std::vector<Node>> find_hosts(const std::string& places, int ranks) const;
    void keep_hosts(const std::string& places, const std::vector<Node>& nodes) const;

    /// Those that find() may find, the latest first.
    std::vector<std::string> files() const;

    /// The file for these hosts; "" when there is no directory.
    std::string file_for(const std::vector<Node>& nodes, const std::string& mpi) const;

  private:
    std::string job_file_for(const std::vector<Node>& nodes, const std::string& mpi) const;
    std::optional<CachedModel> find_on_more_hosts(const std::vector<Node>& nodes,
                                                  const std::string& mpi) const;
    std::string latencies_file_for(const std::vector<Node>& nodes, const std::string& mpi) const;
    std::string hosts_file_for(const std::string& places) const;
    bool write(const std::vector<Node>& nodes, const std::string& text, const std::string& file,
               std::string& note) const;

    std::string directory_;
};

/// Sixteen hexadecimal digits that stand for a set of hosts, in any order, and an MPI.
std::string fingerprint(const std::vector<Node>& nodes, const std::string& mpi);

}  // namespace laple
