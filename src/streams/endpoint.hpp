// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/socket.h>

namespace laple::streams {

/// An address of this or another host, IPv4 or IPv6, and a port.
struct Endpoint {
    bool is_v6 = false;
    std::array<std::byte, 16> address{};  ///< of IPv4 the first four
    std::uint16_t port = 0;

    bool operator==(const Endpoint&) const = default;
};

/// As the system has it; `length` is that of the address.
sockaddr_storage to_system(const Endpoint& endpoint, socklen_t& length);
/// Nothing where it is neither IPv4 nor IPv6. IPv4 in IPv6's form becomes IPv4.
std::optional<Endpoint> from_system(const sockaddr_storage& address);

/// "10.0.0.1:4711", "[fe80::1]:4711".
std::string text(const Endpoint& endpoint);

/// This end's address of most of this process's TCP connections to other hosts: the way that MPI takes.
/// Nothing where there are none. Link-local IPv6 addresses are left out: they mean nothing elsewhere.
std::optional<Endpoint> address_in_use();

/// address_of_interface(), or address_in_use() where no name is given.
std::optional<Endpoint> own_address(const std::string& interface_name);

/// The first address of the interface of that name that is good for other hosts, IPv4 before IPv6.
std::optional<Endpoint> address_of_interface(const std::string& name);

}  // namespace laple::streams
