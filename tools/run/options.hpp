// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace laple::run {

/// Environment variables, in the order in which they are set.
using Environment = std::vector<std::pair<std::string, std::string>>;

struct Options {
    Environment settings;               ///< LAPLE_* only
    std::vector<std::string> warnings;  ///< of files that the job may not be able to write
    bool print_only = false;
    bool is_quiet = false;             ///< unless it is printed only
    bool is_deep = false;              ///< liblaple_deep.so instead of liblaple.so
    bool is_profile = false;           ///< else liblaple_profile.so instead
    bool has_bare_report = false;      ///< --report without =FILE: what follows is the command
    std::vector<std::string> command;  ///< never empty
};

/// Reads the command line, `arguments` without the program's name. When it asks for the help or the version,
/// writes that to `out` and returns nothing. Throws Error for anything that is not understood, and for a
/// topology file that does not exist.
std::optional<Options> parse_options(const std::vector<std::string>& arguments, std::ostream& out);

}  // namespace laple::run
