// SPDX-License-Identifier: BSD-3-Clause
#include "network.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "gather.hpp"
#include "mpi/probe/hosts.hpp"
#include "mpi/probe/waiting.hpp"
#include "sockets.hpp"

namespace laple::info {
namespace {

constexpr Bytes kBurst = 1 << 20;
constexpr int kMostPeers = 16;

/// How far away, in the order of hosts, those are to whom each host sends: all, or in powers of two, so that
/// every host is reached by as many as it reaches.
std::vector<int> distances(int hosts) {
    std::vector<int> found;
    if (hosts <= kMostPeers + 1) {
        found.resize(static_cast<std::size_t>(std::max(hosts - 1, 0)));
        std::iota(found.begin(), found.end(), 1);
    } else {
        for (int distance = 1; distance < hosts; distance *= 2) found.push_back(distance);
    }
    return found;
}

/// Makes the connections of this rank, one of `firsts`, and uses them.
void send_bursts(const std::vector<int>& firsts, int rank) {
    const int count = static_cast<int>(firsts.size());
    const auto self = static_cast<int>(std::find(firsts.begin(), firsts.end(), rank) - firsts.begin());
    if (self == count) return;
    std::vector<char> outgoing(kBurst);
    std::vector<char> incoming(kBurst);
    for (const int distance : distances(count)) {
        const int to = firsts[static_cast<std::size_t>((self + distance) % count)];
        const int from = firsts[static_cast<std::size_t>((self + count - distance) % count)];
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Irecv(incoming.data(), static_cast<int>(kBurst), MPI_CHAR, from, 0, MPI_COMM_WORLD, &request);
        mpi::send_quietly(outgoing.data(), static_cast<int>(kBurst), MPI_CHAR, to, 0, MPI_COMM_WORLD);
        mpi::wait_quietly(request);
    }
}

/// What a first rank of a host tells of it, as text; "" when it cannot. Others wait for it: throws nothing.
std::string own_state() {
    try {
        TcpHost host = tcp_settings();
        Json state{{"flows", Json::array()}};
        for (const TcpFlow& flow : open_flows(host.own_addresses)) state["flows"].push_back(to_json(flow));
        state["host"] = to_json(host);
        return json_text(state);
    } catch (const std::exception&) {
        return "";
    }
}

/// "33.6 MB", "0.33 kB", or "?" where it is not known.
std::string size_text(const std::optional<Bytes>& bytes) {
    constexpr double kLarge = 1e5;
    if (!bytes) return "?";
    const auto size = static_cast<double>(*bytes);
    return size >= kLarge ? fmt::format("{:.3g} MB", size / 1e6) : fmt::format("{:.3g} kB", size / 1e3);
}

/// Hosts that are set up alike share a line.
std::string host_rows(const std::vector<TcpHost>& hosts) {
    std::string text = fmt::format("{:<28} {:>12} {:>12}  {:<12} {}\n", "host", "receive", "send",
                                   "after a rest", "control");
    std::map<std::string, std::vector<std::string>> names;  // by the rest of the line
    for (const TcpHost& host : hosts) {
        const auto restarts = host.restarts_after_idle;
        names[fmt::format("{:>12} {:>12}  {:<12} {}", size_text(host.most_received),
                          size_text(host.most_sent),
                          !restarts   ? "?"
                          : *restarts ? "starts anew"
                                      : "goes on",
                          host.control.empty() ? "?" : host.control)]
            .push_back(host.name);
    }
    for (const auto& [line, alike] : names) {
        const std::string name =
            alike.size() == 1 ? alike[0] : fmt::format("{} and {} more", alike[0], alike.size() - 1);
        text += fmt::format("{:<28} {}\n", name, line);
    }
    return text;
}

std::string flow_row(const NetworkState& state, const TcpFlow& flow) {
    const auto to = host_with(state.hosts, flow.peer_address);
    const double sent = static_cast<double>(flow.sent);
    return fmt::format("{:<13} {:<14} {:>10} {:>10} {:>10} {:>12} {:>11.2f} %\n",
                       state.hosts[static_cast<std::size_t>(flow.host)].name,
                       to ? state.hosts[static_cast<std::size_t>(*to)].name : flow.peer_address,
                       format_seconds(flow.round_trip), format_seconds(flow.least_round_trip),
                       size_text(flow.window), size_text(flow.sent),
                       sent > 0 ? 100 * static_cast<double>(flow.sent_again) / sent : 0);
}

}  // namespace

std::optional<NetworkState> look_at_network(int rank, int ranks) {
    const auto hosts = mpi::gather_hosts(MPI_COMM_WORLD, 0);
    const std::vector<int> firsts = first_ranks(hosts);  // those alone talk and tell
    send_bursts(firsts, rank);
    PMPI_Barrier(MPI_COMM_WORLD);  // all that was sent has arrived
    const bool is_first = std::find(firsts.begin(), firsts.end(), rank) != firsts.end();
    const auto texts = gather_texts(is_first ? own_state() : "", rank, ranks);
    if (!hosts) return std::nullopt;
    NetworkState state;
    for (const Node& host : *hosts) {
        const std::string& text = texts[static_cast<std::size_t>(host.ranks.front())];
        if (text.empty())
            throw Error(fmt::format("{} does not tell of its connections", host.host),
                        "is /proc mounted there?");
        const Json told = Json::parse(text);
        TcpHost tcp_host = tcp_host_from(told.at("host"));
        tcp_host.name = host.host;
        for (const Json& told_flow : told.at("flows")) {
            TcpFlow flow = tcp_flow_from(told_flow);
            if (host_with({&tcp_host, 1}, flow.peer_address)) continue;  // to itself
            flow.host = static_cast<int>(state.hosts.size());
            state.flows.push_back(std::move(flow));
        }
        state.hosts.push_back(std::move(tcp_host));
    }
    std::stable_sort(state.flows.begin(), state.flows.end(), [](const TcpFlow& a, const TcpFlow& b) {
        return a.least_round_trip > b.least_round_trip;
    });
    return state;
}

std::string network_text(const NetworkState& state, double rate, const std::string& rate_source,
                         std::size_t most_rows) {
    std::string text = fmt::format("{}\n", host_rows(state.hosts));
    if (state.flows.empty())
        return text + (state.hosts.size() < 2 ? "one host: no connection to look at\n"
                                              : "the MPI uses no TCP connection between these hosts\n");
    text += fmt::format("{:<13} {:<14} {:>10} {:>10} {:>10} {:>12} {:>13}\n", "from", "to", "round trip",
                        "least", "window", "sent", "sent again");
    const std::size_t rows = std::min(most_rows, state.flows.size());
    for (std::size_t i = 0; i < rows; ++i) text += flow_row(state, state.flows[i]);
    if (rows < state.flows.size())
        text += fmt::format("and {} shorter ones (--json has them)\n", state.flows.size() - rows);
    const auto advice = tcp_advice(state.hosts, state.flows, rate);
    if (advice.empty())
        return text + fmt::format("\nnothing found that keeps a connection below {:.3g} MB/s ({})\n",
                                  rate / 1e6, rate_source);
    text += fmt::format("\nslower than they could be ({:.3g} MB/s: {}), and what to type on all hosts:\n",
                        rate / 1e6, rate_source);
    for (const TcpAdvice& each : advice) text += fmt::format("- {}\n    {}\n", each.problem, each.line);
    return text;
}

std::string network_json(const NetworkState& state, double rate, const std::string& rate_source) {
    Json document{{"rate", rate}, {"rate_source", rate_source}, {"hosts", Json::array()}};
    for (const TcpHost& host : state.hosts) document["hosts"].push_back(to_json(host));
    document["connections"] = Json::array();
    for (const TcpFlow& flow : state.flows) document["connections"].push_back(to_json(flow));
    document["advice"] = Json::array();
    for (const TcpAdvice& each : tcp_advice(state.hosts, state.flows, rate))
        document["advice"].push_back({{"problem", each.problem}, {"line", each.line}});
    return json_text(document, 2) + "\n";
}

}  // namespace laple::info
