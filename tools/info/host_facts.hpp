// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple::info {

/// What a report of a problem tells of this host, for people: kernel, system, processors, memory of TCP,
/// network interfaces. No address. Throws nothing. Local.
std::string host_facts();

}  // namespace laple::info
