// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"

namespace laple {

/// How a host's kernel does TCP; what it does not say is missing or empty.
struct TcpHost {
    std::string name;
    std::optional<Bytes> most_received;       ///< net.ipv4.tcp_rmem, the last: of a connection's buffer
    std::optional<Bytes> most_sent;           ///< net.ipv4.tcp_wmem, the last
    std::optional<bool> restarts_after_idle;  ///< net.ipv4.tcp_slow_start_after_idle
    std::string control;                      ///< net.ipv4.tcp_congestion_control
    std::vector<std::string> own_addresses;   ///< of its ends of connections

    bool operator==(const TcpHost&) const = default;
};

/// One connection, seen from one of its ends (TCP_INFO).
struct TcpFlow {
    int host = 0;              ///< this end, of a list of hosts
    std::string peer_address;  ///< the other end, as TcpHost::own_addresses has it
    Seconds round_trip{0};     ///< smoothed
    Seconds least_round_trip{0};
    Bytes window = 0;  ///< that may be under way (congestion window)
    Bytes sent = 0;    ///< again included
    Bytes sent_again = 0;
    std::optional<Bytes> fixed_send_buffer;  ///< where the MPI set its size: the kernel does not adjust it
    std::optional<Bytes> fixed_receive_buffer;

    bool operator==(const TcpFlow&) const = default;
};

/// What holds TCP up on a long way, and the line to type against it.
struct TcpAdvice {
    std::string problem;
    std::string line;

    bool operator==(const TcpAdvice&) const = default;
};

/// What of `hosts` and their `flows` is known to be slow on long fat links, the worst of each kind.
///
///     window    a connection carries at most what may be under way in a round trip; half of a buffer holds
///               data, the kernel's bookkeeping takes the rest: with buffers of B bytes at most B / 2 / RTT
///     idle      after a pause longer than a retransmission timeout a connection starts slowly again
///     loss      controls that take every loss for congestion halve their window, and grow it once a
///               round trip
///     fixed     buffers that the MPI has set do not grow
///
/// `rate`: of a NIC, bytes a second; a connection should be able to carry as much. (tcp(7))
std::vector<TcpAdvice> tcp_advice(std::span<const TcpHost> hosts, std::span<const TcpFlow> flows,
                                  double rate);

/// How large a buffer must be able to grow so that a connection carries `rate` over that round trip.
Bytes tcp_buffer_for(double rate, Seconds round_trip);

/// The host that has that address among its own; nothing if there is none.
std::optional<int> host_with(std::span<const TcpHost> hosts, const std::string& address);

Json to_json(const TcpHost& host);
Json to_json(const TcpFlow& flow);
TcpHost tcp_host_from(const Json& json);
TcpFlow tcp_flow_from(const Json& json);

}  // namespace laple
