// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "topology/clustering.hpp"

namespace laple::discover {

enum class Format { text, json, dot, svg };

struct Options {
    ClusteringOptions clustering;
    double settle_ms = 0;
    bool plain_eco = false;
    bool all_pairs = false;
    bool measures_model = false;
    double budget = 0;  ///< seconds; 0: as long as it takes
    std::string resume;
    bool is_dry_run = false;
    Format format = Format::text;
    bool quiet = false;
};

/// Reads the options; false when the program is to end with `exit_code`. All ranks see the same command line,
/// so all decide alike, and rank 0 alone talks.
bool parse(int argc, char** argv, bool talks, Options& options, int& exit_code);

}  // namespace laple::discover
