// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "grid/fd.hpp"

namespace laple::grid {

/// Where `ip netns` keeps named network namespaces.
std::string netns_path(const std::string& name);

/// Opens a named namespace, or this process's own for "". Throws MachineError.
Fd open_netns(const std::string& name);

/// Makes named network namespaces without IPv6, routing IPv4. Leaves this process in its own. Throws
/// MachineError; namespaces made until then stay.
void create_netns(const std::vector<std::string>& names);

/// Ends every process that runs in one of the namespaces (asks first, then kills), and deletes them.
/// Names that do not exist are skipped.
void destroy_netns(const std::vector<std::string>& names);

/// Puts this process into a network namespace for the lifetime of the object.
class InNetns {
  public:
    explicit InNetns(const std::string& name);
    ~InNetns();
    InNetns(const InNetns&) = delete;
    InNetns& operator=(const InNetns&) = delete;

  private:
    Fd home_;
};

/// For a child process: moves it for good into a host's network namespace, with the host's name, a /sys that
/// shows the host's devices, and an /etc/hosts of the grid. Throws MachineError.
void become_host(const std::string& netns, const std::string& host_name, const std::string& hosts_file);

}  // namespace laple::grid
