// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "model/model.hpp"
#include "topology/node.hpp"

namespace laple::info {

/// What a job on these hosts would use, and where it comes from.
struct InForce {
    std::string source;
    std::optional<Model> model;
    std::string problem;
};

/// Throws Error when the file is none.
Model read_model(const std::string& file);

InForce in_force(const Settings& settings, const std::vector<Node>& hosts, int ranks);

/// All settings with their sources, what is wrong with them, and what is in force.
std::string overview_text(const InForce& used, std::size_t hosts, int ranks);

/// The same for programs.
std::string overview_json(const InForce& used, std::size_t hosts, int ranks);

}  // namespace laple::info
