// SPDX-License-Identifier: BSD-3-Clause
#include "streams/tcp_state.hpp"

#include <linux/tcp.h>  // glibc's knows fewer members
#include <netinet/in.h>
#include <sys/socket.h>

namespace laple::streams {
namespace {

/// Older kernels fill in less, and leave the rest 0.
std::optional<tcp_info> info_of(int descriptor) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
    return info;
}

}  // namespace

std::optional<TcpState> tcp_state(int descriptor) {
    const auto info = info_of(descriptor);
    if (!info) return std::nullopt;
    return TcpState{std::chrono::microseconds(info->tcpi_rtt),
                    static_cast<Bytes>(info->tcpi_snd_cwnd) * info->tcpi_snd_mss, info->tcpi_total_retrans,
                    info->tcpi_bytes_received, std::chrono::milliseconds(info->tcpi_last_data_recv)};
}

std::uint64_t acknowledged_bytes(int descriptor) {
    const auto info = info_of(descriptor);
    return info ? info->tcpi_bytes_acked : 0;
}

}  // namespace laple::streams
