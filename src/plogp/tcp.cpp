// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/tcp.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include <fmt/format.h>

namespace laple {
namespace {

constexpr Seconds kLongWay{1e-3};      // of a round trip; below, windows and slow starts cost next to nothing
constexpr double kManyLost = 1e-3;     // of all bytes
constexpr double kEnoughSent = 300e3;  // bytes: less says nothing about losses
constexpr Bytes kMostBuffer = Bytes{1} << 30;  // that sysctl takes: it has 31 bits

/// Controls that do not halve their window at every loss, and do not restart it after a pause: they send as
/// fast as they have seen data arrive (tcp_slow_start_after_idle_check in Linux).
bool goes_by_rate(const std::string& control) {
    return control.starts_with("bbr");
}

std::string megabytes(double bytes) {
    return fmt::format("{:.3g} MB", bytes / 1e6);
}

/// The worst case of one kind.
struct Worst {
    const TcpFlow* flow = nullptr;
    double much = 0;

    void look_at(const TcpFlow& candidate, double how_much) {
        if (how_much <= much) return;
        flow = &candidate;
        much = how_much;
    }
};

std::string way(std::span<const TcpHost> hosts, const TcpFlow& flow) {
    const auto to = host_with(hosts, flow.peer_address);
    return fmt::format("{} - {}", hosts[static_cast<std::size_t>(flow.host)].name,
                       to ? hosts[static_cast<std::size_t>(*to)].name : flow.peer_address);
}

/// The flow that has the least of the buffer it needs, where `buffer_of` says what its ends may have.
Worst most_short(std::span<const TcpFlow> flows, double rate,
                 const std::function<std::optional<Bytes>(const TcpFlow&)>& buffer_of) {
    Worst worst;
    for (const TcpFlow& flow : flows) {
        if (flow.least_round_trip < kLongWay) continue;
        const auto buffer = buffer_of(flow);
        const Bytes needed = tcp_buffer_for(rate, flow.least_round_trip);
        if (buffer && *buffer > 0 && *buffer < needed)
            worst.look_at(flow, static_cast<double>(needed) / static_cast<double>(*buffer));
    }
    return worst;
}

/// Buffers are given in whole mebibytes, powers of two.
Bytes rounded_up(Bytes bytes) {
    return bytes >= kMostBuffer ? kMostBuffer : std::bit_ceil(std::max<Bytes>(bytes, 1 << 20));
}

class Advisor {
  public:
    Advisor(std::span<const TcpHost> hosts, std::span<const TcpFlow> flows, double rate)
        : hosts_(hosts), flows_(flows), rate_(rate) {}

    std::vector<TcpAdvice> all() {
        add_window(&TcpHost::most_received, "received", "tcp_rmem=\"4096 131072");
        add_window(&TcpHost::most_sent, "sent", "tcp_wmem=\"4096 16384");
        add_fixed_buffers();
        add_idle();
        add_losses();
        return std::move(found_);
    }

  private:
    const TcpHost& host_of(const TcpFlow& flow) const { return hosts_[static_cast<std::size_t>(flow.host)]; }

    void add_window(std::optional<Bytes> TcpHost::*most, const char* what, const char* setting) {
        const Worst worst =
            most_short(flows_, rate_, [&](const TcpFlow& flow) { return host_of(flow).*most; });
        if (worst.flow == nullptr) return;
        const TcpFlow& flow = *worst.flow;
        const auto buffer = static_cast<double>(*(host_of(flow).*most));
        found_.push_back(
            {fmt::format(
                 "{}: with at most {} of buffer for what is {}, a connection of {} round trip carries "
                 "{}/s at most; a NIC does {}/s",
                 way(hosts_, flow), megabytes(buffer), what, format_seconds(flow.least_round_trip),
                 megabytes(buffer / 2 / flow.least_round_trip.count()), megabytes(rate_)),
             fmt::format("sysctl -w net.ipv4.{} {}\"", setting,
                         rounded_up(tcp_buffer_for(rate_, flow.least_round_trip)))});
    }

    void add_fixed_buffers() {
        const auto fixed = [](const TcpFlow& flow) {
            if (!flow.fixed_send_buffer) return flow.fixed_receive_buffer;
            return std::optional(std::min(*flow.fixed_send_buffer,
                                          flow.fixed_receive_buffer.value_or(*flow.fixed_send_buffer)));
        };
        const Worst worst = most_short(flows_, rate_, fixed);
        if (worst.flow == nullptr) return;
        const TcpFlow& flow = *worst.flow;
        const auto buffer = static_cast<double>(*fixed(flow));
        found_.push_back(
            {fmt::format("{}: the MPI has fixed a buffer at {}, and the kernel no longer lets it grow; a "
                         "connection of {} round trip carries {}/s at most",
                         way(hosts_, flow), megabytes(buffer), format_seconds(flow.least_round_trip),
                         megabytes(buffer / 2 / flow.least_round_trip.count())),
             "leave them to the kernel; with UCX: export UCX_TCP_SNDBUF=auto UCX_TCP_RCVBUF=auto"});
    }

    void add_idle() {
        Worst worst;
        for (const TcpFlow& flow : flows_) {
            const TcpHost& host = host_of(flow);
            if (host.restarts_after_idle.value_or(false) && !goes_by_rate(host.control) &&
                flow.least_round_trip >= kLongWay)
                worst.look_at(flow, flow.least_round_trip.count());
        }
        if (worst.flow == nullptr) return;
        found_.push_back({fmt::format("{}: after each pause connections start slowly again; 1 MB then takes "
                                      "some 6 round trips of {} more",
                                      way(hosts_, *worst.flow), format_seconds(worst.flow->least_round_trip)),
                          "sysctl -w net.ipv4.tcp_slow_start_after_idle=0"});
    }

    void add_losses() {
        Worst worst;
        for (const TcpFlow& flow : flows_) {
            const double sent = static_cast<double>(flow.sent);
            if (flow.least_round_trip < kLongWay || sent < kEnoughSent || host_of(flow).control.empty())
                continue;
            const double again = static_cast<double>(flow.sent_again) / sent;
            if (again > kManyLost && !goes_by_rate(host_of(flow).control)) worst.look_at(flow, again);
        }
        if (worst.flow == nullptr) return;
        found_.push_back(
            {fmt::format("{}: {:.2g} % was sent again, and \"{}\" takes every loss for a full link",
                         way(hosts_, *worst.flow), 100 * worst.much, host_of(*worst.flow).control),
             "modprobe tcp_bbr && sysctl -w net.ipv4.tcp_congestion_control=bbr"});
    }

    std::span<const TcpHost> hosts_;
    std::span<const TcpFlow> flows_;
    double rate_;
    std::vector<TcpAdvice> found_;
};

template <typename T>
Json json_of(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> optional_from(const Json& json) {
    return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

}  // namespace

Bytes tcp_buffer_for(double rate, Seconds round_trip) {
    return static_cast<Bytes>(std::min(2 * rate * round_trip.count(), static_cast<double>(kMostBuffer)));
}

std::optional<int> host_with(std::span<const TcpHost> hosts, const std::string& address) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto& own = hosts[i].own_addresses;
        if (std::find(own.begin(), own.end(), address) != own.end()) return static_cast<int>(i);
    }
    return std::nullopt;
}

std::vector<TcpAdvice> tcp_advice(std::span<const TcpHost> hosts, std::span<const TcpFlow> flows,
                                  double rate) {
    return Advisor(hosts, flows, rate).all();
}

Json to_json(const TcpHost& host) {
    return {{"name", host.name},
            {"most_received", json_of(host.most_received)},
            {"most_sent", json_of(host.most_sent)},
            {"restarts_after_idle", json_of(host.restarts_after_idle)},
            {"control", host.control},
            {"own_addresses", host.own_addresses}};
}

Json to_json(const TcpFlow& flow) {
    return {{"host", flow.host},
            {"peer_address", flow.peer_address},
            {"round_trip", flow.round_trip.count()},
            {"least_round_trip", flow.least_round_trip.count()},
            {"window", flow.window},
            {"sent", flow.sent},
            {"sent_again", flow.sent_again},
            {"fixed_send_buffer", json_of(flow.fixed_send_buffer)},
            {"fixed_receive_buffer", json_of(flow.fixed_receive_buffer)}};
}

TcpHost tcp_host_from(const Json& json) {
    TcpHost host;
    host.name = json.at("name");
    host.most_received = optional_from<Bytes>(json.at("most_received"));
    host.most_sent = optional_from<Bytes>(json.at("most_sent"));
    host.restarts_after_idle = optional_from<bool>(json.at("restarts_after_idle"));
    host.control = json.at("control");
    host.own_addresses = json.at("own_addresses").get<std::vector<std::string>>();
    return host;
}

TcpFlow tcp_flow_from(const Json& json) {
    TcpFlow flow;
    flow.host = json.at("host");
    flow.peer_address = json.at("peer_address");
    flow.round_trip = Seconds(json.at("round_trip").get<double>());
    flow.least_round_trip = Seconds(json.at("least_round_trip").get<double>());
    flow.window = json.at("window");
    flow.sent = json.at("sent");
    flow.sent_again = json.at("sent_again");
    flow.fixed_send_buffer = optional_from<Bytes>(json.at("fixed_send_buffer"));
    flow.fixed_receive_buffer = optional_from<Bytes>(json.at("fixed_receive_buffer"));
    return flow;
}

}  // namespace laple
