// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "plogp/tcp.hpp"

namespace laple::info {

/// The TCP settings of this host, from /proc/sys/net, without its name and addresses. Local.
TcpHost tcp_settings();

/// The TCP connections that this process has open, `host` left at 0, but those by the loopback interface;
/// `own_addresses` gets the addresses of this end. Local.
std::vector<TcpFlow> open_flows(std::vector<std::string>& own_addresses);

}  // namespace laple::info
