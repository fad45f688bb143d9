// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace laple::test {

/// A directory that is gone in the end.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "laple-test-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    std::string path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace laple::test
