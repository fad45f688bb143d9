// SPDX-License-Identifier: BSD-3-Clause
#include "grid/find_scenario.hpp"

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "grid/process.hpp"

namespace laple::grid {

namespace fs = std::filesystem;

std::string find_scenario(const std::string& name) {
    if (name.find('/') != std::string::npos || fs::path(name).extension() == ".json") return name;
    std::set<std::string> names;
    for (const fs::path& directory :
         {fs::path(program_directory()) / LAPLE_GRID_DATADIR, fs::path(LAPLE_GRID_SOURCE)}) {
        const fs::path file = directory / (name + ".json");
        if (fs::exists(file)) return file;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(directory, error)) {
            if (entry.path().extension() == ".json") names.insert(entry.path().stem());
        }
    }
    const std::string near = nearest_name(name, names);
    throw Error(fmt::format("there is no scenario \"{}\"", name),
                near.empty() ? fmt::format("name a file, or one of: {}", fmt::join(names, ", "))
                             : fmt::format("did you mean {}? There are: {}", near, fmt::join(names, ", ")));
}

}  // namespace laple::grid
