// SPDX-License-Identifier: BSD-3-Clause
#include "grid/probe.hpp"

#include <algorithm>
#include <chrono>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "grid/machine_error.hpp"
#include "grid/netns.hpp"
#include "grid/process.hpp"

namespace laple::grid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPings = 9;
constexpr int kPingTimeoutMs = 5000;
constexpr std::size_t kBlock = std::size_t{256} << 10;
constexpr Seconds kSample{0.25};

sockaddr_in address_of(const HostLayout& host) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, host.address.c_str(), &address.sin_addr);
    return address;
}

template <typename T>
T median(std::vector<T> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void set_nonblocking(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool pass_byte(int from, int to) {
    char byte = 0;
    return ::write(from, &byte, 1) == 1 && wait_readable({to}, kPingTimeoutMs) == 0 &&
           ::read(to, &byte, 1) == 1;
}

/// Reads what is there and returns how much that was.
std::size_t read_all(int fd, std::vector<char>& buffer) {
    std::size_t total = 0;
    for (;;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got <= 0) return total;
        total += static_cast<std::size_t>(got);
    }
}

}  // namespace

Connection::Connection(const HostLayout& from, const HostLayout& to) {
    const auto fail = [&]() -> MachineError {
        return {fmt::format("no connection from {} to {}: {}", from.name, to.name, errno_text()),
                "see laple-grid doctor"};
    };
    sockaddr_in address = address_of(to);
    socklen_t length = sizeof address;
    Fd listener;
    {
        const InNetns inside(to.netns);
        listener.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    }
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener.get(), generic, length) != 0 || listen(listener.get(), 1) != 0 ||
        getsockname(listener.get(), generic, &length) != 0) {
        throw fail();
    }
    {
        const InNetns inside(from.netns);
        sender_.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    }
    if (connect(sender_.get(), generic, length) != 0) throw fail();
    receiver_.reset(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!receiver_) throw fail();
    const int on = 1;
    for (const int fd : {sender(), receiver()}) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool Connection::use_congestion_control(const std::string& name) {
    return setsockopt(sender(), IPPROTO_TCP, TCP_CONGESTION, name.c_str(),
                      static_cast<socklen_t>(name.size())) == 0;
}

std::optional<Seconds> Connection::round_trip() const {
    std::vector<Seconds> times;
    for (int i = 0; i < kPings; ++i) {
        const auto start = Clock::now();
        if (!pass_byte(sender(), receiver()) || !pass_byte(receiver(), sender())) return std::nullopt;
        times.push_back(Clock::now() - start);
    }
    return median(times);
}

std::vector<double> measure_rates(const std::vector<const Connection*>& connections, Seconds settle,
                                  Seconds window) {
    std::vector<pollfd> polled;
    for (const Connection* c : connections) {
        set_nonblocking(c->sender());
        set_nonblocking(c->receiver());
        polled.push_back({c->sender(), POLLOUT, 0});
        polled.push_back({c->receiver(), POLLIN, 0});
    }
    std::vector<char> buffer(kBlock);
    std::vector<std::size_t> received_bytes(connections.size());
    std::vector<std::vector<double>> samples(connections.size());
    const auto start = Clock::now();
    auto sample_start = start;
    while (Clock::now() - start < settle + window) {
        poll(polled.data(), polled.size(), 50);
        for (std::size_t i = 0; i < connections.size(); ++i) {
            if ((polled[2 * i].revents & POLLOUT) != 0) {
                [[maybe_unused]] const ssize_t sent = ::write(polled[2 * i].fd, buffer.data(), buffer.size());
            }
            if ((polled[2 * i + 1].revents & POLLIN) != 0)
                received_bytes[i] += read_all(polled[2 * i + 1].fd, buffer);
        }
        const auto now = Clock::now();
        const Seconds passed = now - sample_start;
        if (passed < kSample) continue;
        for (std::size_t i = 0; i < connections.size(); ++i) {
            if (sample_start - start >= settle) {
                samples[i].push_back(static_cast<double>(received_bytes[i]) * 8 / passed.count());
            }
            received_bytes[i] = 0;
        }
        sample_start = now;
    }
    std::vector<double> rates;
    for (auto& s : samples) rates.push_back(s.empty() ? 0 : median(s));
    return rates;
}

}  // namespace laple::grid
