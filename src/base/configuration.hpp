// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"

namespace laple {

/// A setting's value as text, and where it is from: "default", "environment", or "FILE:LINE".
struct GivenValue {
    std::string value;
    std::string source;
};

/// The settings of a process, and where each is from.
struct Configuration {
    Settings settings;
    std::map<std::string, GivenValue, std::less<>> given;  ///< by name; the others have their fallbacks
    std::vector<std::string> files;                        ///< that were read, the weakest first
    std::vector<std::string> warnings;                     ///< what is wrong, each with what to do

    GivenValue value_of(const SettingRow& row) const;
    /// "LAPLE_DEBUG=1 (environment), LAPLE_STREAMS=4 (/etc/laple.conf:3)"; "" when none is given.
    std::string describe_given() const;
    /// For what is wrong with a value: "LAPLE_ALGORITHM", or "FILE:LINE: LAPLE_ALGORITHM".
    std::string named(std::string_view name) const;
};

/// That of this process, from /etc/laple.conf, the user's laple.conf, the file of LAPLE_CONFIG and the
/// environment, each of them stronger than those before. Read at the first call, and never again. A setuid
/// program reads the first of the files only.
const Configuration& configuration();

/// The files that are read though nobody has named them.
struct UsualFiles {
    std::string system;                ///< may be missing, as the next
    std::string user;                  ///< "": none
    bool is_named_one_trusted = true;  ///< that of LAPLE_CONFIG
};

/// The same from an environment ("NAME=value" entries). Never fails: what is wrong is passed over, and goes
/// to the warnings. An empty value stands for the fallback.
Configuration read_configuration(std::span<const std::string> environment, const UsualFiles& files);

/// All settings as a laple.conf: what each does, its default, and what is in force with its source.
std::string configuration_text(const Configuration& configuration);

}  // namespace laple
