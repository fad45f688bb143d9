// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace laple::info {

/// A network interface of this host. No address.
struct Interface {
    std::string name;
    unsigned mtu = 0;
    std::string queueing;  ///< its queueing discipline: "fq_codel"
    bool is_up = false;
};

/// All of them, as the kernel tells by netlink; none where it does not. Local.
std::vector<Interface> interfaces();

}  // namespace laple::info
