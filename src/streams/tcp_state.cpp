// SPDX-License-Identifier: BSD-3-Clause
#include "streams/tcp_state.hpp"

#include <linux/tcp.h>  // glibc's knows fewer members
#include <netinet/in.h>
#include <sys/socket.h>

namespace laple::streams {

std::optional<TcpState> tcp_state(int descriptor) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
    // Older kernels fill in less.
    return TcpState{std::chrono::microseconds(info.tcpi_rtt),
                    static_cast<Bytes>(info.tcpi_snd_cwnd) * info.tcpi_snd_mss, info.tcpi_total_retrans,
                    info.tcpi_bytes_received, std::chrono::milliseconds(info.tcpi_last_data_recv)};
}

}  // namespace laple::streams
