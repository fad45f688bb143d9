// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace laple {

/// Where models of earlier jobs are kept: one file for each set of hosts and MPI, so that the next job there
/// starts at once, whatever its rank order; and one for each other placement of ranks on them, for which
/// MPI's own collectives were measured. Jobs at the same time do not disturb each other: files are put in
/// their place whole, and the last one wins. Only files of the user's own that no one else can write are
/// trusted.
class ModelCache {
  public:
    /// `directory` may be empty: then nothing is kept and nothing found.
    explicit ModelCache(std::string directory) : directory_(std::move(directory)) {}

    /// $XDG_CACHE_HOME/laple, else $HOME/.cache/laple; "" when neither is set, or not absolute. Reads the
    /// environment.
    static std::string default_directory();

    /// The model for a job on `nodes`, with its ranks; nothing when there is none that fits. MPI's own
    /// collectives are in it where they were measured with these ranks on these hosts. A file that is
    /// broken or not to be trusted is ignored, and `note` says so.
    std::optional<Model> find(const std::vector<Node>& nodes, const std::string& mpi,
                              std::string& note) const;

    /// Keeps `model` for later jobs on its hosts. Not when hosts share a name: they could not be told apart.
    /// A failure is harmless; `note` tells of it.
    void keep(const Model& model, std::string& note) const;

    /// Keeps `model`, which find() has found, with what was measured of MPI's own collectives since.
    void keep_natives(const Model& model, std::string& note) const;

    /// The file for these hosts; "" when there is no directory.
    std::string file_for(const std::vector<Node>& nodes, const std::string& mpi) const;

  private:
    std::string job_file_for(const std::vector<Node>& nodes, const std::string& mpi) const;
    void write(const Model& model, const std::string& file, std::string& note) const;

    std::string directory_;
};

/// Sixteen hexadecimal digits that stand for a set of hosts, in any order, and an MPI.
std::string fingerprint(const std::vector<Node>& nodes, const std::string& mpi);

}  // namespace laple
