// SPDX-License-Identifier: BSD-3-Clause
#include "streams/joining.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <list>
#include <map>
#include <set>
#include <span>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>

namespace laple::streams {
namespace {

constexpr int kBacklog = 512;
constexpr std::size_t kMostUnproven = 256;  // beside as many as there are to be
constexpr Seconds kTimeToProve{3};
constexpr int kLookEvery = 1;  // ms
constexpr Seconds kRetry = std::chrono::milliseconds(50);
constexpr Seconds kRest = std::chrono::milliseconds(20);

Descriptor new_socket(const Endpoint& endpoint) {
    const int family = endpoint.is_v6 ? AF_INET6 : AF_INET;
    return Descriptor(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

enum class Way { out, in };
enum class Outcome { done, later, failed };

/// Sends or receives what is left of `bytes`, as far as that goes without waiting.
Outcome move(Way way, int descriptor, std::span<std::byte> bytes, std::size_t& done) {
    while (done < bytes.size()) {
        const auto rest = bytes.subspan(done);
        const ssize_t moved = way == Way::out ? send(descriptor, rest.data(), rest.size(), MSG_NOSIGNAL)
                                              : recv(descriptor, rest.data(), rest.size(), 0);
        if (moved > 0) {
            done += static_cast<std::size_t>(moved);
        } else if (moved < 0 && errno == EINTR) {
            continue;
        } else if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return Outcome::later;
        } else {
            return Outcome::failed;
        }
    }
    return Outcome::done;
}

using Address = std::array<std::byte, 16>;  // without a port

/// A connection that has been accepted, until both ends have proved who they are.
class Arrival {
  public:
    Arrival(Descriptor socket, const Address& source, Seconds since)
        : socket_(std::move(socket)),
          source_(source),
          since_(since),
          nonce_(new_nonce()),
          challenge_(challenge_of(nonce_)) {}

    Outcome go_on(std::vector<JoinedLink>& links) {
        while (true) {
            const Outcome outcome =
                move(step_ == Step::hello ? Way::in : Way::out, socket_.number(), bytes(), done_);
            if (outcome != Outcome::done) return outcome;
            done_ = 0;
            if (step_ == Step::challenge) {
                step_ = Step::hello;
            } else if (step_ == Step::hello) {
                if (!expects(links)) return Outcome::failed;
                step_ = Step::welcome;
            } else {
                return take_lane();
            }
        }
    }

    pollfd awaited() const {
        return {socket_.number(), static_cast<short>(step_ == Step::hello ? POLLIN : POLLOUT), 0};
    }
    const Address& source() const { return source_; }
    bool is_late(Seconds now) const { return now > since_ + kTimeToProve; }
    bool has_proved() const { return has_proved_; }

  private:
    enum class Step { challenge, hello, welcome };

    std::span<std::byte> bytes() {
        if (step_ == Step::challenge) return challenge_;
        return step_ == Step::hello ? std::span<std::byte>(hello_) : std::span<std::byte>(welcome_);
    }

    bool expects(std::vector<JoinedLink>& links) {
        const auto hello = read_hello(hello_);
        if (!hello) return false;
        const auto found = std::find_if(links.begin(), links.end(), [&](const JoinedLink& link) {
            return !link.connects && link.number == hello->link;
        });
        if (found == links.end() || !is_true(*hello, nonce_, found->secret)) return false;
        has_proved_ = true;
        if (hello->lane >= found->lanes.size() || !found->wants(hello->lane)) return false;
        lane_ = &found->lanes[hello->lane];
        welcome_ = welcome_for(*hello, nonce_, found->secret);
        return !lane_->is_open();
    }

    Outcome take_lane() {
        if (lane_->is_open()) return Outcome::failed;
        *lane_ = std::move(socket_);
        return Outcome::done;
    }

    Descriptor socket_;
    Address source_;
    Seconds since_;
    Nonce nonce_;
    Step step_ = Step::challenge;
    bool has_proved_ = false;  // that it belongs to a link, though the lane may not be wanted
    std::size_t done_ = 0;     // bytes of the step
    std::array<std::byte, kChallengeBytes> challenge_;
    std::array<std::byte, kHelloBytes> hello_{};
    std::array<std::byte, kWelcomeBytes> welcome_{};
    Descriptor* lane_ = nullptr;
};

/// Nobody listens there, or a firewall says so.
bool is_refusal(int error) {
    return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH;
}

/// The end that connects. What fails is tried again: the other end may not listen yet.
class Departure {
  public:
    Departure(JoinedLink& link, std::uint32_t lane) : link_(link), lane_(lane) {}

    bool is_for(const JoinedLink& link) const { return &link == &link_; }
    bool is_for(const JoinedLink& link, std::uint32_t lane) const { return is_for(link) && lane == lane_; }
    /// Once, at least.
    bool has_connected() const { return has_connected_; }
    bool is_refused() const { return is_refused_; }

    Outcome go_on(Seconds now) {
        if (!socket_.is_open() && (now < retry_ || !begin(now))) return Outcome::later;
        const Outcome outcome = go_on_connected();
        if (outcome != Outcome::failed) return outcome;
        socket_.reset();
        retry_ = now + kRetry;
        return Outcome::later;
    }

    pollfd awaited() const {
        const bool sends = step_ == Step::connecting || step_ == Step::hello;
        return {socket_.number(), static_cast<short>(sends ? POLLOUT : POLLIN), 0};
    }

  private:
    enum class Step { connecting, challenge, hello, welcome };

    bool begin(Seconds now) {
        step_ = Step::connecting;
        done_ = 0;
        socket_ = new_socket(link_.endpoint);
        socklen_t length = 0;
        const sockaddr_storage address = to_system(link_.endpoint, length);
        if (!socket_.is_open()) return false;
        if (connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return true;
        if (errno == EINPROGRESS) return true;
        is_refused_ = is_refused_ || is_refusal(errno);
        socket_.reset();
        retry_ = now + kRetry;
        return false;
    }

    Outcome go_on_connected() {
        while (true) {
            const Outcome outcome = step_ == Step::connecting ? look_whether_connected() : move_bytes();
            if (outcome != Outcome::done) return outcome;
            done_ = 0;
            if (step_ == Step::connecting) {
                has_connected_ = true;
                step_ = Step::challenge;
            } else if (step_ == Step::challenge) {
                const auto nonce = read_challenge(challenge_);
                if (!nonce) return Outcome::failed;
                nonce_ = *nonce;
                hello_ = make_hello(link_.number, lane_, nonce_, link_.secret);
                encoded_ = encode(hello_);
                step_ = Step::hello;
            } else if (step_ == Step::hello) {
                step_ = Step::welcome;
            } else {
                if (!is_welcome(welcome_, hello_, nonce_, link_.secret)) return Outcome::failed;
                link_.lanes[lane_] = std::move(socket_);
                return Outcome::done;
            }
        }
    }

    Outcome move_bytes() {
        if (step_ == Step::challenge) return move(Way::in, socket_.number(), challenge_, done_);
        if (step_ == Step::hello) return move(Way::out, socket_.number(), encoded_, done_);
        return move(Way::in, socket_.number(), welcome_, done_);
    }

    Outcome look_whether_connected() {
        pollfd ready{socket_.number(), POLLOUT, 0};
        if (poll(&ready, 1, 0) <= 0) return Outcome::later;
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &error, &length);
        is_refused_ = is_refused_ || is_refusal(error);
        return error == 0 ? Outcome::done : Outcome::failed;
    }

    JoinedLink& link_;
    std::uint32_t lane_;
    Descriptor socket_;
    Seconds retry_{0};
    bool has_connected_ = false;
    bool is_refused_ = false;
    Step step_ = Step::connecting;
    std::size_t done_ = 0;  // bytes of the step
    Nonce nonce_{};
    Hello hello_;
    std::array<std::byte, kChallengeBytes> challenge_{};
    std::array<std::byte, kHelloBytes> encoded_{};
    std::array<std::byte, kWelcomeBytes> welcome_{};
};

}  // namespace

std::optional<Listener> Listener::open(const Endpoint& address, PortRange ports) {
    for (int port = ports.first; port <= ports.last; ++port) {
        Endpoint endpoint = address;
        endpoint.port = static_cast<std::uint16_t>(port);
        auto listener = open_at(endpoint);
        if (listener) return listener;
    }
    return std::nullopt;
}

std::optional<Listener> Listener::open_at(const Endpoint& endpoint) {
    Descriptor socket = new_socket(endpoint);
    // A port of the range may be that of connections which have ended a moment ago. With this option others
    // may be bound to the same one: of these the first to listen has it.
    const int yes = 1;
    if (socket.is_open()) setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    socklen_t length = 0;
    sockaddr_storage storage = to_system(endpoint, length);
    auto* const general = reinterpret_cast<sockaddr*>(&storage);
    if (bind(socket.number(), general, length) != 0 || listen(socket.number(), kBacklog) != 0)
        return std::nullopt;
    length = sizeof storage;
    if (getsockname(socket.number(), general, &length) != 0) return std::nullopt;
    const auto bound = from_system(storage);
    if (!bound) return std::nullopt;
    return Listener(std::move(socket), *bound);
}

std::vector<PortRange> ports_in_turn(PortRange ports, int first, const std::set<std::uint16_t>& last) {
    if (ports.first == 0) return {ports};
    const int count = ports.last - ports.first + 1;
    std::vector<PortRange> all;
    for (int i = 0; i < count; ++i) {
        const auto port = static_cast<std::uint16_t>(ports.first + (first + i) % count);
        all.push_back({port, port});
    }
    std::stable_partition(all.begin(), all.end(),
                          [&](const PortRange& port) { return !last.contains(port.first); });
    return all;
}

struct Joining::Arrivals {
    std::list<Arrival> all;

    /// The oldest of those from where most have come: a host that floods this one gets in its own way.
    void close_one() {
        std::map<Address, std::size_t> counts;
        std::size_t most = 0;
        for (const Arrival& one : all) most = std::max(most, ++counts[one.source()]);
        all.erase(std::find_if(all.begin(), all.end(),
                               [&](const Arrival& one) { return counts[one.source()] == most; }));
    }
};

struct Joining::Departures {
    std::list<Departure> all;
};

Joining::Joining(std::span<const Listener> listeners, std::vector<JoinedLink>& links)
    : listeners_(listeners),
      links_(links),
      arrivals_(std::make_unique<Arrivals>()),
      departures_(std::make_unique<Departures>()) {}

Joining::~Joining() = default;

bool Joining::is_complete() const {
    return std::all_of(links_.begin(), links_.end(), [](const JoinedLink& link) { return link.is_made(); });
}

void Joining::go_on(Seconds now) {
    is_resting_ = now < rests_until_;
    for (const Listener& listener : listeners_) accept_all(listener, now);
    depart();
    std::erase_if(departures_->all, [&](Departure& one) { return one.go_on(now) == Outcome::done; });
    give_up_hopeless(now);
    std::erase_if(arrivals_->all, [&](Arrival& one) {
        const Outcome outcome = one.go_on(links_);
        const bool is_over = outcome != Outcome::later || one.is_late(now);
        if (is_over && outcome != Outcome::done && !one.has_proved()) ++strangers_;
        return is_over;
    });
}

/// For each lane that is wanted one, until it is there.
void Joining::depart() {
    for (JoinedLink& link : links_) {
        for (std::uint32_t lane = 0; link.connects && lane < link.lanes.size(); ++lane) {
            if (!link.wants(lane) || link.lanes[lane].is_open()) continue;
            const auto is_for = [&](const Departure& one) { return one.is_for(link, lane); };
            if (std::none_of(departures_->all.begin(), departures_->all.end(), is_for))
                departures_->all.emplace_back(link, lane);
        }
    }
}

/// Where a firewall says nothing, the kernel would go on trying for minutes.
void Joining::give_up_hopeless(Seconds now) {
    if (!begun_) begun_ = now;
    for (JoinedLink& link : links_) {
        if (!link.connects || !link.time_to_connect) continue;
        bool has_connected = std::any_of(link.lanes.begin(), link.lanes.end(),
                                         [](const Descriptor& lane) { return lane.is_open(); });
        bool is_over = now > *begun_ + *link.time_to_connect;
        for (const Departure& one : departures_->all) {
            if (!one.is_for(link)) continue;
            has_connected = has_connected || one.has_connected();
            is_over = is_over || one.is_refused();
        }
        if (has_connected || !is_over) continue;
        link.wanted.emplace();
        std::erase_if(departures_->all, [&](const Departure& one) { return one.is_for(link); });
    }
}

void Joining::wait() const {
    std::vector<pollfd> awaited;
    for (const Listener& listener : listeners_) {
        if (!is_resting_) awaited.push_back({listener.descriptor(), POLLIN, 0});
    }
    for (const Departure& one : departures_->all) awaited.push_back(one.awaited());
    for (const Arrival& one : arrivals_->all) awaited.push_back(one.awaited());
    poll(awaited.data(), awaited.size(), kLookEvery);
}

int Joining::strangers() const {
    return strangers_ + static_cast<int>(arrivals_->all.size());
}

std::size_t Joining::lanes_to_come() const {
    std::size_t lanes = 0;
    for (const JoinedLink& link : links_) {
        for (std::size_t lane = 0; !link.connects && lane < link.lanes.size(); ++lane)
            lanes += link.wants(lane) && !link.lanes[lane].is_open() ? 1U : 0U;
    }
    return lanes;
}

void Joining::accept_all(const Listener& listener, Seconds now) {
    const std::size_t most = kMostUnproven + lanes_to_come();
    // Others have their turn, too, though more may come all the time.
    for (int accepted = 0; accepted < kBacklog && !is_resting_; ++accepted) {
        sockaddr_storage source{};
        socklen_t length = sizeof source;
        Descriptor socket(accept4(listener.descriptor(), reinterpret_cast<sockaddr*>(&source), &length,
                                  SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!socket.is_open()) {
            // Where the system gives no descriptor the connection stays, and who waits for it does not wait.
            is_resting_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
            if (is_resting_) rests_until_ = now + kRest;
            return;
        }
        if (arrivals_->all.size() >= most) {
            arrivals_->close_one();
            ++strangers_;
        }
        arrivals_->all.emplace_back(std::move(socket), from_system(source).value_or(Endpoint()).address, now);
    }
}

int join(std::span<const Listener> listeners, std::vector<JoinedLink>& links,
         const std::function<Seconds()>& end, const std::function<Seconds()>& now,
         const std::function<void()>& meanwhile) {
    Joining joining(listeners, links);
    while (true) {
        joining.go_on(now());
        if (joining.is_complete() || now() > end()) return joining.strangers();
        meanwhile();
        joining.wait();
    }
}

}  // namespace laple::streams
