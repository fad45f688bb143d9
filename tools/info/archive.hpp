// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace laple::info {

struct ArchivedFile {
    std::string name;  ///< without a folder
    std::string content;
};

/// Writes `archive`, which only its user can read, by the program tar: a .tar.gz with these files in a folder
/// `folder`. What is there already is replaced only where that is asked for, by `replaces`; never what a link
/// leads to. Throws Error when that cannot be done; then no new file is there.
void write_archive(const std::string& archive, const std::string& folder,
                   const std::vector<ArchivedFile>& files, bool replaces);

}  // namespace laple::info
