// SPDX-License-Identifier: BSD-3-Clause
#include "grid/relay.hpp"

#include <array>
#include <cstring>
#include <ctime>
#include <random>

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "grid/machine_error.hpp"
#include "grid/tun.hpp"

namespace laple::grid {
namespace {

constexpr std::uint64_t kTimer = std::uint64_t{1} << 32;
constexpr std::uint64_t kWatched = std::uint64_t{1} << 33;
constexpr std::size_t kIpHeader = 20;
constexpr std::size_t kPacketsAtStart = 4096;

Instant now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

void add(int epoll, int fd, std::uint64_t tag) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = tag;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        throw MachineError("epoll: " + errno_text(), "raise the limit of open files (ulimit -n)");
    }
}

}  // namespace

Relay::Relay(const Scenario& scenario, const GridLayout& layout)
    : wan_(scenario, std::random_device{}()),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
      read_buffer_(kLargestPacket) {
    add(epoll_.get(), timer_.get(), kTimer);
    if (layout.sites.size() < 2) return;
    for (const SiteLayout& site : layout.sites) {
        tuns_.push_back(attach_tun(site.netns));
        add(epoll_.get(), tuns_.back().get(), tuns_.size() - 1);
    }
    packets_.reserve(kPacketsAtStart);
}

void Relay::watch(int fd) {
    add(epoll_.get(), fd, kWatched | static_cast<std::uint64_t>(fd));
}

int Relay::run() {
    std::array<epoll_event, 64> ready;
    for (;;) {
        set_timer();
        const int count = epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), -1);
        int watched = -1;
        for (int i = 0; i < count; ++i) {
            const std::uint64_t tag = ready[static_cast<std::size_t>(i)].data.u64;
            if ((tag & kWatched) != 0) {
                watched = static_cast<int>(tag & 0xffffffffu);
            } else if (tag == kTimer) {
                std::uint64_t expirations = 0;
                if (::read(timer_.get(), &expirations, sizeof expirations) > 0) timer_at_ = Instant{};
            } else {
                read_all(static_cast<std::size_t>(tag));
            }
        }
        run_due_events();
        if (watched >= 0) return watched;
    }
}

void Relay::read_all(std::size_t site) {
    for (;;) {
        const ssize_t got = ::read(tuns_[site].get(), read_buffer_.data(), read_buffer_.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;
        take(site, read_buffer_.data(), static_cast<std::size_t>(got));
    }
}

void Relay::take(std::size_t from, const unsigned char* data, std::size_t length) {
    if (length < sizeof(VnetHeader) + kIpHeader) return;
    VnetHeader header;
    std::memcpy(&header, data, sizeof header);
    const unsigned char* const ip = data + sizeof header;
    const int to = (ip[0] >> 4) == 4 ? site_of_address(ip + 16) : -1;
    if (to < 0 || to >= static_cast<int>(tuns_.size()) || to == static_cast<int>(from)) return;
    const auto destination = static_cast<std::size_t>(to);
    const WireSize size = wire_size(ip, length - sizeof header, header.gso_bytes);
    const auto train = wan_.depart(from, destination, now(), size);
    if (!train) return;
    const std::size_t index = new_packet();
    Packet& packet = packets_[index];
    packet.from = from;
    packet.to = destination;
    packet.train = *train;
    packet.has_arrived = false;
    packet.bytes.assign(data, data + length);
    schedule(train->first, index);
}

void Relay::run_due_events() {
    // One look at the clock for all that are due: those which become due meanwhile wait for the next round,
    // after the sockets have been read.
    const Instant time = now();
    while (!events_.empty() && events_.top().at <= time) {
        const std::size_t packet = events_.top().packet;
        events_.pop();
        handle(packet);
    }
}

void Relay::handle(std::size_t index) {
    Packet& packet = packets_[index];
    if (!packet.has_arrived) {
        packet.has_arrived = true;
        if (const auto at = wan_.arrive(packet.from, packet.to, packet.train)) {
            schedule(*at, index);
            return;
        }
    } else {
        // A device that does not take a packet (its site is going down) drops it, as a real one would.
        [[maybe_unused]] const ssize_t written =
            ::write(tuns_[packet.to].get(), packet.bytes.data(), packet.bytes.size());
    }
    free_packets_.push_back(index);
}

void Relay::schedule(Instant at, std::size_t packet) {
    events_.push({at, next_order_++, packet});
}

void Relay::set_timer() {
    if (events_.empty() || events_.top().at == timer_at_) return;
    timer_at_ = events_.top().at;
    itimerspec spec{};
    spec.it_value.tv_sec = timer_at_.count() / 1'000'000'000;
    spec.it_value.tv_nsec = timer_at_.count() % 1'000'000'000;
    timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

std::size_t Relay::new_packet() {
    if (free_packets_.empty()) {
        packets_.emplace_back();
        return packets_.size() - 1;
    }
    const std::size_t index = free_packets_.back();
    free_packets_.pop_back();
    return index;
}

}  // namespace laple::grid
