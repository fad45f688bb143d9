// SPDX-License-Identifier: BSD-3-Clause
#include "streams/endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include "streams/descriptor.hpp"

namespace laple::streams {
namespace {

bool is_loopback(const Endpoint& endpoint) {
    if (!endpoint.is_v6) return endpoint.address[0] == std::byte{127};
    std::array<std::byte, 16> loopback{};
    loopback[15] = std::byte{1};
    return endpoint.address == loopback;
}

bool is_link_local(const Endpoint& endpoint) {
    if (!endpoint.is_v6)
        return endpoint.address[0] == std::byte{169} && endpoint.address[1] == std::byte{254};
    return endpoint.address[0] == std::byte{0xfe} &&
           (endpoint.address[1] & std::byte{0xc0}) == std::byte{0x80};
}

bool is_for_other_hosts(const Endpoint& endpoint) {
    return !is_loopback(endpoint) && !is_link_local(endpoint);
}

template <typename Ask>
std::optional<Endpoint> ask(int descriptor, Ask ask_system) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (ask_system(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return std::nullopt;
    return from_system(address);
}

/// UDP's sockets may be connected, too.
bool is_stream(int descriptor) {
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

}  // namespace

sockaddr_storage to_system(const Endpoint& endpoint, socklen_t& length) {
    sockaddr_storage storage{};
    if (endpoint.is_v6) {
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        address.sin6_port = htons(endpoint.port);
        std::memcpy(&address.sin6_addr, endpoint.address.data(), 16);
        std::memcpy(&storage, &address, length = sizeof address);
    } else {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(endpoint.port);
        std::memcpy(&address.sin_addr, endpoint.address.data(), 4);
        std::memcpy(&storage, &address, length = sizeof address);
    }
    return storage;
}

std::optional<Endpoint> from_system(const sockaddr_storage& address) {
    Endpoint endpoint;
    if (address.ss_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof v4);
        std::memcpy(endpoint.address.data(), &v4.sin_addr, 4);
        endpoint.port = ntohs(v4.sin_port);
        return endpoint;
    }
    if (address.ss_family != AF_INET6) return std::nullopt;
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    endpoint.port = ntohs(v6.sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
        std::memcpy(endpoint.address.data(), v6.sin6_addr.s6_addr + 12, 4);
        return endpoint;
    }
    endpoint.is_v6 = true;
    std::memcpy(endpoint.address.data(), &v6.sin6_addr, 16);
    return endpoint;
}

std::string text(const Endpoint& endpoint) {
    std::array<char, INET6_ADDRSTRLEN> address{};
    inet_ntop(endpoint.is_v6 ? AF_INET6 : AF_INET, endpoint.address.data(), address.data(), address.size());
    return endpoint.is_v6 ? fmt::format("[{}]:{}", address.data(), endpoint.port)
                          : fmt::format("{}:{}", address.data(), endpoint.port);
}

std::optional<Endpoint> address_in_use() {
    std::map<std::array<std::byte, 16>, std::pair<int, Endpoint>> counts;
    for (const int descriptor : open_descriptors()) {
        if (!is_stream(descriptor)) continue;
        const auto peer = ask(descriptor, getpeername);
        auto own = ask(descriptor, getsockname);
        if (!peer || !own || !is_for_other_hosts(*peer) || !is_for_other_hosts(*own)) continue;
        own->port = 0;
        auto& [count, endpoint] = counts[own->address];
        ++count;
        endpoint = *own;
    }
    if (counts.empty()) return std::nullopt;
    const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second.first < b.second.first;
    });
    return most->second.second;
}

std::optional<Endpoint> own_address(const std::string& interface_name) {
    return interface_name.empty() ? address_in_use() : address_of_interface(interface_name);
}

std::optional<Endpoint> address_of_interface(const std::string& name) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return std::nullopt;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, freeifaddrs);
    std::optional<Endpoint> found;
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || name != one->ifa_name) continue;
        const int family = one->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        sockaddr_storage storage{};
        std::memcpy(&storage, one->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
        auto endpoint = from_system(storage);
        if (!endpoint || is_link_local(*endpoint)) continue;
        endpoint->port = 0;
        if (!found || (found->is_v6 && !endpoint->is_v6)) found = endpoint;
    }
    return found;
}

}  // namespace laple::streams
