// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace laple::grid {

/// One thing that a grid needs of the machine.
struct Finding {
    std::string what;
    bool ok = false;
    bool required = true;
    std::string detail;  ///< what is there, or what is missing and what to do
};

/// Tries everything that a grid needs, in a network namespace of its own that is gone afterwards.
std::vector<Finding> examine_machine();

/// Throws MachineError naming everything that is missing.
void require_machine();

/// Makes an ordinary user root in namespaces of its own (user, network, mount), where grids can be raised
/// that live as long as this process. Does nothing for root. Throws MachineError where the kernel forbids it.
void become_root_in_user_namespace();

}  // namespace laple::grid
