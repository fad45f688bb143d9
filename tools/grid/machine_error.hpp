// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace laple::grid {

/// This machine cannot raise a grid: rights, kernel or commands are missing. Exit status 3.
class MachineError : public Error {
  public:
    using Error::Error;
};

/// Exit statuses of laple-grid's own; a job's status is passed on as it is.
constexpr int kExitOff = 1;       ///< check: a measured figure is not the stated one
constexpr int kExitBadInput = 2;  ///< command line or scenario
constexpr int kExitMachine = 3;   ///< MachineError
constexpr int kExitTimeout = 124;
constexpr int kExitSignal = 128;  ///< plus the signal's number

inline std::string errno_text() {
    return std::strerror(errno);
}

/// What to do where `error`, an errno, keeps us from a standing grid.
inline std::string advice_after(int error) {
    switch (error) {
        case EACCES:
        case EPERM:
            return "run as root";
        case ENOSPC:
            return "make room in /run";
        default:
            return "look with laple-grid list whether the grid is up";
    }
}

}  // namespace laple::grid
