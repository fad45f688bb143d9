// SPDX-License-Identifier: BSD-3-Clause
#include "sockets.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace laple::info {
namespace {

constexpr int kEstablished = 1;  // TCP_ESTABLISHED of <netinet/tcp.h>, which does not go with <linux/tcp.h>
#ifdef SO_BUF_LOCK
constexpr int kBufferLocks = SO_BUF_LOCK;
#else
constexpr int kBufferLocks = 72;  // since Linux 5.14
#endif
constexpr int kSendLock = 1;
constexpr int kReceiveLock = 2;

/// The words of a file under /proc/sys/net; none if it cannot be read.
std::vector<std::string> words_of(const std::string& name) {
    std::ifstream file("/proc/sys/net/" + name);
    std::vector<std::string> words;
    for (std::string word; file >> word;) words.push_back(word);
    return words;
}

std::optional<Bytes> last_number_of(const std::string& name) {
    const auto words = words_of(name);
    if (words.empty()) return std::nullopt;
    const std::string& last = words.back();
    Bytes number = 0;
    const auto [end, status] = std::from_chars(last.data(), last.data() + last.size(), number);
    return status == std::errc{} && end == last.data() + last.size() ? std::optional(number) : std::nullopt;
}

/// "10.0.0.1", "fd00::1"; "" for an end that is not IP.
std::string address_text(const sockaddr_storage& address) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address.ss_family == AF_INET) {
        inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof text);
    } else if (address.ss_family == AF_INET6) {
        const in6_addr& number = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
        constexpr std::size_t kMapped = 12;  // bytes before the IPv4 address
        if (IN6_IS_ADDR_V4MAPPED(&number)) {
            inet_ntop(AF_INET, number.s6_addr + kMapped, text, sizeof text);
        } else {
            inet_ntop(AF_INET6, &number, text, sizeof text);
        }
    }
    return text;
}

bool is_loopback(const std::string& address) {
    return address.starts_with("127.") || address == "::1";
}

template <typename T>
bool get_option(int socket, int level, int name, T& value) {
    socklen_t length = sizeof value;
    return getsockopt(socket, level, name, &value, &length) == 0;
}

/// The kernel's view of a connection; nothing for an answer that is not one.
std::optional<TcpFlow> flow_of(int socket) {
    tcp_info info{};
    if (!get_option(socket, IPPROTO_TCP, TCP_INFO, info) || info.tcpi_state != kEstablished)
        return std::nullopt;
    TcpFlow flow;
    flow.round_trip = Seconds(1e-6 * info.tcpi_rtt);
    flow.least_round_trip = Seconds(1e-6 * std::min(info.tcpi_min_rtt, info.tcpi_rtt));
    flow.window = Bytes{info.tcpi_snd_cwnd} * info.tcpi_snd_mss;
    flow.sent = info.tcpi_bytes_sent;
    flow.sent_again = info.tcpi_bytes_retrans;
    int locks = 0;
    get_option(socket, SOL_SOCKET, kBufferLocks, locks);
    int bytes = 0;
    if ((locks & kSendLock) != 0 && get_option(socket, SOL_SOCKET, SO_SNDBUF, bytes))
        flow.fixed_send_buffer = static_cast<Bytes>(bytes);
    if ((locks & kReceiveLock) != 0 && get_option(socket, SOL_SOCKET, SO_RCVBUF, bytes))
        flow.fixed_receive_buffer = static_cast<Bytes>(bytes);
    return flow;
}

std::vector<int> open_descriptors() {
    std::vector<int> found;
    std::error_code error;
    for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
        found.push_back(std::atoi(entry->path().filename().c_str()));
    return found;
}

}  // namespace

TcpHost tcp_settings() {
    TcpHost host;
    host.most_received = last_number_of("ipv4/tcp_rmem");
    host.most_sent = last_number_of("ipv4/tcp_wmem");
    if (const auto restarts = last_number_of("ipv4/tcp_slow_start_after_idle"))
        host.restarts_after_idle = *restarts != 0;
    const auto control = words_of("ipv4/tcp_congestion_control");
    if (!control.empty()) host.control = control.front();
    return host;
}

std::vector<TcpFlow> open_flows(std::vector<std::string>& own_addresses) {
    std::vector<TcpFlow> flows;
    for (const int descriptor : open_descriptors()) {
        sockaddr_storage here{};
        sockaddr_storage there{};
        socklen_t length = sizeof here;
        if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&here), &length) != 0) continue;
        length = sizeof there;
        if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&there), &length) != 0) continue;
        const std::string own = address_text(here);
        const std::string peer = address_text(there);
        if (own.empty() || peer.empty() || own == peer || is_loopback(own) || is_loopback(peer)) continue;
        auto flow = flow_of(descriptor);
        if (!flow) continue;
        flow->peer_address = peer;
        flows.push_back(*flow);
        if (std::find(own_addresses.begin(), own_addresses.end(), own) == own_addresses.end())
            own_addresses.push_back(own);
    }
    return flows;
}

}  // namespace laple::info
