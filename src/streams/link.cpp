// SPDX-License-Identifier: BSD-3-Clause
#include "streams/link.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/median.hpp"

namespace laple::streams {
namespace {

constexpr std::uint64_t kUsualStripe = 256U << 10;
constexpr std::uint64_t kLeastStripe = 32U << 10;
/// Of the bytes that the system has taken, those that it has not sent yet: more of them would wait behind a
/// slow lane while others have nothing to do.
constexpr int kNotSent = 256 << 10;
/// Does not take each loss for congestion, which matters on long links; on short ones its pacing is slow to
/// begin. Where it is not allowed, the system's own stays.
constexpr Seconds kLong = std::chrono::milliseconds(5);
constexpr char kControl[] = "bbr";
/// Of lanes that carry nothing, in seconds, and how often: as long as TCP tries to send.
constexpr int kIdle = 10;
constexpr int kProbes = 90;
constexpr std::size_t kNothing = 64U << 10;
constexpr int kMostFramesAtOnce = 64;  // of a lane, before others have their turn
constexpr Seconds kLeastPatience = std::chrono::milliseconds(500);
constexpr double kTripsOfPatience = 10;
/// Keys of messages that this end has not begun, or has sent meanwhile: of the former there are few, and they
/// are told again.
constexpr std::size_t kMostClaimed = 4096;

/// What a system does not know it does without.
template <typename Value>
void set(int descriptor, int level, int option, Value value) {
    setsockopt(descriptor, level, option, &value, sizeof value);
}

/// An end that only receives learns so that the other one has lost the connection: a firewall that has
/// forgotten it refuses one end, and tells the other one nothing.
void keep_alive(int descriptor) {
    set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kIdle);
    set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kIdle);
    set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

void put_last(Stripes& all, Stripes stripes) noexcept {
    all.splice(all.end(), stripes);
}

bool would_wait() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

std::uint64_t window_for(double rate, Seconds round_trip) {
    constexpr double kNotSentOfAll = 4U << 20;
    if (!(rate > 0) || !(round_trip > Seconds(0))) return kMostWindow;
    const double window = 2 * rate * round_trip.count() + kNotSentOfAll;
    return static_cast<std::uint64_t>(std::min(window, static_cast<double>(kMostWindow)));
}

Descriptor Link::new_poller() {
    return Descriptor(epoll_create1(EPOLL_CLOEXEC));
}

Link::Link(std::vector<Descriptor> connections, const LinkOptions& options, Descriptor poller)
    : poller_(std::move(poller)), options_(options) {
    lanes_.resize(connections.size());
    for (std::size_t i = 0; i < connections.size(); ++i) add_lane(i, std::move(connections[i]));
    account_.lanes = static_cast<int>(lanes_.size());
}

Link::~Link() {
    say_end();
}

/// A lane of which a stripe is half sent breaks.
void Link::say_end() {
    Frame end;
    end.kind = Frame::Kind::end;
    const auto bytes = encode(end);
    for (const auto& lane : lanes_) {
        if (lane->is_alive() && lane->going.empty() && lane->receipt_left == 0)
            ::send(lane->socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

void Link::add_lane(std::size_t number, Descriptor connection) {
    const int descriptor = connection.number();
    set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    set(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kNotSent);
    keep_alive(descriptor);
    if (options_.round_trip >= kLong)
        setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, kControl, sizeof kControl);
    lanes_[number] = std::make_unique<Lane>(std::move(connection), number);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = number;
    ++living_;
    if (epoll_ctl(poller_.number(), EPOLL_CTL_ADD, descriptor, &event) != 0) break_lane(*lanes_[number]);
}

/// Something is to go, to be confirmed, or to come.
bool Link::has_work() const {
    return !outgoing_.empty() || stripes_ > 0 ||
           std::any_of(incoming_.begin(), incoming_.end(),
                       [](const auto& one) { return one.second.posted != nullptr; });
}

std::vector<std::size_t> Link::missing() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> missing;
    if (is_broken_ || is_closed_) return missing;
    for (const auto& lane : lanes_) {
        if (!lane->is_alive()) missing.push_back(lane->number);
    }
    return missing;
}

void Link::replace(std::size_t lane, Descriptor connection) {
    const std::lock_guard lock(mutex_);
    if (is_broken_ || is_closed_ || lanes_[lane]->is_alive()) return;
    add_lane(lane, std::move(connection));
    ++account_.replaced_lanes;
}

void Link::send(const MessageKey& key, const std::byte* data, std::uint64_t bytes, Posted& posted) {
    const std::lock_guard lock(mutex_);
    if (is_broken_) return finish(&posted, true);
    outgoing_.push_back({next_number_, key, data, bytes, 0, 0, &posted, false});
    outgoing_.back().is_claimed = claimed_.erase(key) > 0;
    ++next_number_;  // only now: the other end waits for each number
    account_.sent += bytes;
}

void Link::receive(const MessageKey& key, std::byte* data, std::uint64_t bytes, Posted& posted) {
    const std::lock_guard lock(mutex_);
    Incoming& incoming = incoming_[key];
    incoming.data = data;
    incoming.bytes = bytes;
    incoming.posted = &posted;
    if (!incoming.kept.empty()) {
        // Lanes go on with what they have begun, at its new place.
        std::memcpy(data, incoming.kept.data(), std::min<std::uint64_t>(bytes, incoming.kept.size()));
        unclaimed_ -= incoming.kept.size();
        incoming.kept = {};
    }
    if (unclaimed_told_ > options_.window_bytes / 4) claims_.push_back(key);
    finish_if_there(key);
    if (is_broken_) fail_all();
}

void Link::finish(Posted* posted, bool has_failed) {
    if (posted == nullptr) return;
    posted->has_failed = has_failed;
    posted->is_done.store(true, std::memory_order_release);
}

void Link::forget(Posted& posted) {
    const std::lock_guard lock(mutex_);
    for (auto& [key, incoming] : incoming_) {
        if (incoming.posted != &posted) continue;
        incoming.posted = nullptr;
        incoming.data = nullptr;
        incoming.is_forgotten = true;
    }
    for (Outgoing& message : outgoing_) {
        if (message.posted != &posted) continue;
        message.posted = nullptr;
        if (message.cut == 0 && message.unsent == 0) message.total = 0;
        if (!copy_rest(message)) return give_up();
    }
}

/// Of its memory nothing is needed then. False where there is no memory for that.
bool Link::copy_rest(Outgoing& message) try {
    while (message.cut < message.total) put_last(again_, cut(message));
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

/// This end closes the link: a message can neither go nor be called back.
void Link::give_up() {
    say_end();
    for (const auto& lane : lanes_) break_lane(*lane);
    is_broken_ = true;
    fail_all();
}

/// The system is asked without the lock: where ranks share cores, a preload may make a look that finds
/// nothing give the core away (tools/yield), and nobody should wait for the lock until this thread has one
/// again.
bool Link::progress(Seconds now) {
    bool has_moved = false;
    {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) return false;
        tell_again(now);
        has_moved = send_on_all(now);
    }
    std::array<epoll_event, 32> events{};
    const int count = epoll_wait(poller_.number(), events.data(), static_cast<int>(events.size()), 0);
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return has_moved;
    for (int i = 0; i < count; ++i) {
        if (look_after(events[static_cast<std::size_t>(i)].data.u64, now)) has_moved = true;
    }
    help_those_behind(now);
    if (living_ == 0) {
        with_lanes_.begin_anew();
        wait_for_lanes(now);
    } else {
        with_lanes_.look(now);
        if (with_lanes_.time() >= options_.patience) without_lanes_.begin_anew();
    }
    return has_moved;
}

/// The first ones have the most to do, and with it the largest windows. But what is told again must not
/// always go by the same one.
bool Link::send_on_all(Seconds now) {
    bool has_moved = false;
    if (must_tell_) ++turn_;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        Lane& lane = *lanes_[(i + turn_) % lanes_.size()];
        if (lane.is_alive() && send_on(lane, now)) has_moved = true;
    }
    return has_moved;
}

/// There is no hurry as long as nothing waits. A new lane that breaks before it has carried anything is no
/// end of the waiting: that may go on for ever.
void Link::wait_for_lanes(Seconds now) {
    if (!is_closed_ && !has_work()) return without_lanes_.begin_anew();
    without_lanes_.look(now);
    if (!is_closed_ && without_lanes_.time() < options_.patience) return;
    is_broken_ = true;
    fail_all();
}

/// Of a lane that has something to read, or room. Where there is no memory for what comes, the lane breaks,
/// and it comes again.
bool Link::look_after(std::size_t number, Seconds now) {
    Lane& lane = *lanes_[number];
    if (!lane.is_alive()) return false;
    const std::uint64_t confirmed = lane.confirmed;
    bool has_moved = false;
    try {
        has_moved = receive_on(lane);
    } catch (const std::bad_alloc&) {
        break_lane(lane);
    }
    if (lane.is_alive() && lane.confirmed != confirmed) {
        has_moved = true;
        lane.last_receipt = lane.waits_since = lane.last_sign = now;
        lane.is_still = false;
    }
    if (lane.is_alive() && send_on(lane, now)) has_moved = true;
    return has_moved;
}

/// Receipts go between stripes. Whether anything of a stripe has gone.
bool Link::send_on(Lane& lane, Seconds now) {
    bool has_moved = false;
    while (lane.is_alive()) {
        const bool is_receipt = lane.receipt_left > 0 || (lane.gone == 0 && put_control(lane));
        if (!is_receipt && lane.going.empty() && !lane.is_still) take_stripe(lane, now);
        if (!is_receipt && lane.going.empty()) {
            watch(lane, false);
            return has_moved;
        }
        const std::span<const std::byte> rest =
            is_receipt ? std::span<const std::byte>(lane.receipt).last(lane.receipt_left)
                       : std::span<const std::byte>(lane.going.front()->bytes).subspan(lane.gone);
        const ssize_t sent = ::send(lane.socket.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            if (would_wait()) {
                watch(lane, true);
            } else {
                break_lane(lane);
            }
            return has_moved;
        }
        if (is_receipt) {
            lane.receipt_left -= static_cast<std::size_t>(sent);
        } else {
            has_moved = true;
            lane.gone += static_cast<std::size_t>(sent);
            if (lane.gone == lane.going.front()->bytes.size()) has_gone(lane);
        }
    }
    return has_moved;
}

/// A receipt, or a claim; false where there is nothing to tell.
bool Link::put_control(Lane& lane) {
    Frame frame;
    const bool has_more_room = unclaimed_ < unclaimed_told_ && unclaimed_told_ > options_.window_bytes / 4;
    if (lane.told < lane.come || has_more_room || must_tell_) {
        must_tell_ = false;
        frame.kind = Frame::Kind::receipt;
        frame.count = lane.told = lane.come;
        frame.unclaimed = unclaimed_told_ = unclaimed_;
        frame.news = ++news_;
    } else if (!claims_.empty()) {
        frame.kind = Frame::Kind::claim;
        frame.key = claims_.front();
        claims_.pop_front();
    } else {
        return false;
    }
    lane.receipt = encode(frame);
    lane.receipt_left = kFrameBytes;
    return true;
}

/// Once room has been short, says now and then what the other end must know to go on: a lane may have broken
/// with it, or stand still.
void Link::tell_again(Seconds now) {
    constexpr Seconds kPause = std::chrono::milliseconds(250);
    if (!was_short_of_room_ || now - last_told_ < kPause) return;
    last_told_ = now;
    must_tell_ = true;
    claims_.clear();
    if (!is_short_of_room()) return;
    for (const auto& [key, incoming] : incoming_) {
        if (incoming.posted != nullptr) claims_.push_back(key);
    }
}

void Link::take_stripe(Lane& lane, Seconds now) {
    lane.going = next_stripe();
    if (!lane.going.empty() && lane.unconfirmed.empty()) lane.waits_since = lane.last_sign = now;
}

/// The whole stripe is with the system.
void Link::has_gone(Lane& lane) {
    is_on_its_way(*lane.going.front());
    lane.going.front()->is_sent = true;
    put_last(lane.unconfirmed, std::exchange(lane.going, {}));
    lane.gone = 0;
}

/// Whether the poller tells when the lane can send, too.
void Link::watch(Lane& lane, bool for_room) {
    if (for_room == lane.asks_for_room) return;
    lane.asks_for_room = for_room;
    epoll_event event{};
    event.events = for_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.u64 = lane.number;
    epoll_ctl(poller_.number(), EPOLL_CTL_MOD, lane.socket.number(), &event);
}

/// None where there is none that may go.
Stripes Link::next_stripe() {
    Stripes next;
    while (!again_.empty()) {
        const Stripe& stripe = *again_.front();
        if (stripe.is_received) {
            again_.pop_front();
            continue;
        }
        if (stripe.is_again) account_.sent_again += stripe.frame.bytes;
        next.splice(next.end(), again_, again_.begin());
        return next;
    }
    if (kept_ > 0 && kept_ >= options_.window_bytes) return next;
    for (Outgoing& message : outgoing_) {
        const bool has_more = message.cut < message.total || (message.total == 0 && message.unsent == 0);
        if (has_more && may_go(message)) return cut(message);
    }
    return next;
}

/// Of what is under way, all may turn out to have no receive.
bool Link::may_go(const Outgoing& message) const {
    return message.is_claimed || message.total == 0 || unclaimed_there_ == 0 ||
           unclaimed_there_ + kept_ < options_.window_bytes;
}

/// The last ones are short, so that lanes finish at about the same time.
std::uint64_t Link::stripe_bytes(std::uint64_t left) const {
    const std::uint64_t share = left / static_cast<std::uint64_t>(2 * std::max(living_, 1));
    return std::min(left, std::clamp(share, kLeastStripe, kUsualStripe));
}

/// Where there is no memory for it, the message stays as it was.
Stripes Link::cut(Outgoing& message) {
    Stripes stripes;
    stripes.push_back(std::make_shared<Stripe>());
    Stripe& stripe = *stripes.front();
    Frame& frame = stripe.frame;
    frame.bytes = static_cast<std::uint32_t>(stripe_bytes(message.total - message.cut));
    frame.message = message.number;
    frame.offset = message.cut;
    frame.total = message.total;
    frame.key = message.key;
    stripe.bytes.resize(kFrameBytes + frame.bytes);
    const auto header = encode(frame);
    std::copy(header.begin(), header.end(), stripe.bytes.begin());
    if (frame.bytes > 0)
        std::memcpy(stripe.bytes.data() + kFrameBytes, message.data + message.cut, frame.bytes);
    message.cut += frame.bytes;
    ++message.unsent;
    kept_ += frame.bytes;
    ++stripes_;
    account_.most_kept = std::max(account_.most_kept, kept_);
    return stripes;
}

void Link::is_on_its_way(const Stripe& stripe) {
    if (stripe.is_sent) return;  // sent once more
    const auto message = std::find_if(outgoing_.begin(), outgoing_.end(), [&](const Outgoing& one) {
        return one.number == stripe.frame.message;
    });
    if (message == outgoing_.end() || --message->unsent > 0 || message->cut < message->total) return;
    finish(message->posted, false);
    outgoing_.erase(message);
}

/// Whether anything of a stripe has come.
bool Link::receive_on(Lane& lane) {
    bool has_moved = false;
    for (int frames = 0; frames < kMostFramesAtOnce;) {
        std::size_t room = 0;
        std::byte* const place = place_for(lane, room);
        const ssize_t come = recv(lane.socket.number(), place, room, 0);
        if (come == 0 || (come < 0 && !would_wait())) {
            break_lane(lane);
            return has_moved;
        }
        if (come < 0) return has_moved;
        if (lane.header_come < kFrameBytes) {
            lane.header_come += static_cast<std::size_t>(come);
            if (lane.header_come < kFrameBytes) continue;
            ++frames;
            take_frame(lane);
        } else {
            lane.bytes_come += static_cast<std::uint32_t>(come);
        }
        if (!lane.is_alive()) return has_moved;
        has_moved = has_moved || lane.header_come == kFrameBytes;
        if (lane.header_come == kFrameBytes && lane.bytes_come == lane.frame.bytes) stripe_has_come(lane);
    }
    return has_moved;
}

/// What comes twice, or beyond the end of what the receiver expects, is read into nothing.
std::byte* Link::place_for(Lane& lane, std::size_t& room) {
    if (lane.header_come < kFrameBytes) {
        room = kFrameBytes - lane.header_come;
        return lane.header.data() + lane.header_come;
    }
    const std::uint64_t left = lane.frame.bytes - lane.bytes_come;
    const std::uint64_t begin = lane.frame.offset + lane.bytes_come;
    if (lane.is_wanted) {
        const auto found = incoming_.find(lane.frame.key);
        if (found != incoming_.end() && found->second.number == lane.frame.message) {
            Incoming& incoming = found->second;
            std::byte* const data = incoming.kept.empty() ? incoming.data : incoming.kept.data();
            const std::uint64_t bytes = incoming.kept.empty() ? incoming.bytes : incoming.kept.size();
            if (data != nullptr && begin < bytes) {
                room = static_cast<std::size_t>(std::min(left, bytes - begin));
                return data + begin;
            }
        }
    }
    nothing_.resize(kNothing);
    room = static_cast<std::size_t>(std::min<std::uint64_t>(left, nothing_.size()));
    return nothing_.data();
}

void Link::take_frame(Lane& lane) {
    const auto frame = decode(lane.header);
    if (!frame) return break_lane(lane);  // not what the other end has sent
    if (frame->kind == Frame::Kind::end) {
        is_closed_ = true;
        return break_lane(lane);
    }
    lane.frame = *frame;
    lane.bytes_come = 0;
    if (frame->kind == Frame::Kind::claim) {
        lane.header_come = 0;
        const auto message = std::find_if(outgoing_.begin(), outgoing_.end(),
                                          [&](const Outgoing& one) { return one.key == frame->key; });
        if (message != outgoing_.end()) {
            message->is_claimed = true;
        } else if (claimed_.size() < kMostClaimed) {
            claimed_.insert(frame->key);
        }
        return;
    }
    if (frame->kind == Frame::Kind::receipt) {
        lane.header_come = 0;
        if (frame->news > news_there_) {
            news_there_ = frame->news;
            unclaimed_there_ = frame->unclaimed;
        }
        // Also true of a count that is smaller than before.
        if (frame->count - lane.confirmed > lane.unconfirmed.size()) return break_lane(lane);
        for (; lane.confirmed < frame->count; ++lane.confirmed) {
            Stripe& stripe = *lane.unconfirmed.front();
            without_lanes_.begin_anew();
            if (!std::exchange(stripe.is_received, true)) {
                kept_ -= stripe.frame.bytes;
                --stripes_;
            }
            lane.unconfirmed.pop_front();
        }
        return;
    }
    lane.is_wanted = !is_known(frame->message);
    if (!lane.is_wanted) return;
    Incoming& incoming = incoming_[frame->key];
    if (incoming.has_come && (incoming.total != frame->total || incoming.number != frame->message))
        return break_lane(lane);
    if (!incoming.has_come) {
        incoming.has_come = true;
        incoming.total = frame->total;
        incoming.number = frame->message;
    }
    if (incoming.posted == nullptr && !incoming.is_forgotten) keep(incoming, frame->offset + frame->bytes);
}

/// Stripes come in their order, about: there is no need for more room than they take.
void Link::keep(Incoming& incoming, std::uint64_t bytes) {
    if (incoming.kept.size() >= bytes) return;
    const std::uint64_t before = incoming.kept.size();
    incoming.kept.resize(bytes);
    unclaimed_ += bytes - before;
    account_.most_unclaimed = std::max(account_.most_unclaimed, unclaimed_);
    was_short_of_room_ = was_short_of_room_ || is_short_of_room();
}

void Link::stripe_has_come(Lane& lane) {
    const Frame& frame = lane.frame;
    const auto found = incoming_.find(frame.key);
    const bool is_new = lane.is_wanted && found != incoming_.end() && found->second.number == frame.message &&
                        found->second.offsets.insert(frame.offset).second;
    if (is_new) {
        found->second.received += frame.bytes;
        account_.received += frame.bytes;
        without_lanes_.begin_anew();
    } else {
        account_.dropped += frame.bytes;
    }
    finish_if_there(frame.key);  // there may have been no memory for that when it came first
    ++lane.come;
    lane.header_come = 0;
}

/// The message has come as a whole, and there is a receive.
void Link::finish_if_there(const MessageKey& key) {
    const auto found = incoming_.find(key);
    if (found == incoming_.end()) return;
    Incoming& incoming = found->second;
    const bool is_whole =
        incoming.has_come && incoming.received == incoming.total && !incoming.offsets.empty();
    if (!is_whole) return;
    if (!is_known(incoming.number)) {
        known_above_.insert(incoming.number);
        while (!known_above_.empty() && *known_above_.begin() == known_below_) {
            known_above_.erase(known_above_.begin());
            ++known_below_;
        }
    }
    if (incoming.posted == nullptr && !incoming.is_forgotten) return;
    if (incoming.posted != nullptr) incoming.posted->total = incoming.total;
    finish(incoming.posted, false);
    incoming_.erase(found);
}

bool Link::is_known(std::uint64_t message) const {
    return message < known_below_ || known_above_.contains(message);
}

/// Its stripes go on other lanes.
void Link::break_lane(Lane& lane) {
    if (!lane.is_alive()) return;
    // Closing does not suffice where a child of fork() has the descriptor, too.
    epoll_ctl(poller_.number(), EPOLL_CTL_DEL, lane.socket.number(), nullptr);
    shutdown(lane.socket.number(), SHUT_RDWR);
    lane.socket.reset();
    --living_;
    if (!is_closed_) ++account_.broken_lanes;
    put_again(std::exchange(lane.unconfirmed, {}));
    put_again(std::exchange(lane.going, {}));
}

void Link::put_again(Stripes stripes) {
    stripes.remove_if([](const auto& stripe) { return stripe->is_received; });
    for (const auto& stripe : stripes) stripe->is_again = true;
    put_last(again_, std::move(stripes));
}

/// It has something on the way, and another one has got receipts since it waits for one: the receiver was at
/// work.
bool Link::is_behind(const Lane& lane) const {
    if (!lane.is_alive() || lane.is_still || !lane.has_work()) return false;
    return std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& other) {
        return other->is_alive() && !other->is_still &&
               other->last_receipt > lane.waits_since + options_.round_trip;
    });
}

/// The others have nothing more to do, and all that they did while it waits took them a small part of the
/// time.
bool Link::is_left_alone(const Lane& lane, Seconds now) const {
    constexpr double kTimes = 8;
    Seconds last{0};
    for (const auto& other : lanes_) {
        if (other.get() == &lane || !other->is_alive() || other->is_still) continue;
        if (other->has_work()) return false;
        last = std::max(last, other->last_receipt);
    }
    return now - lane.waits_since > kTimes * std::max(last - lane.waits_since, patience_with_lanes());
}

Seconds Link::patience_with_lanes() const {
    return std::max(kLeastPatience, kTripsOfPatience * options_.round_trip);
}

/// Nothing has moved on it for long, or hardly anything. On a slow one receipts are far apart, for there is
/// one for each stripe: the kernel knows of what goes between them. The first look is what a later one is
/// compared with.
bool Link::stands_still(Lane& lane, Seconds now) const {
    if (now - std::max(lane.last_sign, lane.last_look) < patience_with_lanes() / 2 || !is_behind(lane))
        return false;
    const std::uint64_t acknowledged = options_.acknowledged(lane.socket.number());
    const bool is_first = lane.last_look < lane.last_sign;
    if (!is_first && acknowledged != lane.acknowledged) lane.last_sign = now;
    lane.acknowledged = acknowledged;
    lane.last_look = now;
    return !is_first && (now - lane.last_sign >= patience_with_lanes() || is_left_alone(lane, now));
}

/// Others send what such a lane has, and it gets nothing more until a receipt comes.
void Link::help_those_behind(Seconds now) {
    for (const auto& lane : lanes_) {
        if (!stands_still(*lane, now)) continue;
        put_again(lane->unconfirmed);
        put_again(lane->going);
        lane->is_still = true;
    }
}

void Link::fail_all() {
    for (const Outgoing& message : outgoing_) finish(message.posted, true);
    outgoing_.clear();
    again_.clear();
    for (const auto& [key, incoming] : incoming_) finish(incoming.posted, true);
    std::erase_if(incoming_, [](const auto& one) { return one.second.posted != nullptr; });
}

bool Link::is_broken() const {
    const std::lock_guard lock(mutex_);
    return is_broken_;
}

bool Link::is_held_up() const {
    const std::lock_guard lock(mutex_);
    return !is_broken_ && living_ == 0 && has_work();
}

bool Link::is_flushed() const {
    const std::lock_guard lock(mutex_);
    return is_broken_ || is_closed_ || (outgoing_.empty() && stripes_ == 0);
}

bool Link::can_say_end() const {
    const std::lock_guard lock(mutex_);
    return is_broken_ || is_closed_ || living_ > 0;
}

Link::Account Link::account() const {
    const std::lock_guard lock(mutex_);
    Account account = account_;
    account.unclaimed = std::count_if(incoming_.begin(), incoming_.end(), [](const auto& one) {
        return one.second.has_come && one.second.posted == nullptr;
    });
    return account;
}

std::vector<int> Link::lane_descriptors() const {
    const std::lock_guard lock(mutex_);
    std::vector<int> descriptors;
    for (const auto& lane : lanes_) {
        if (lane->is_alive()) descriptors.push_back(lane->socket.number());
    }
    return descriptors;
}

std::optional<TcpState> Link::tcp_state() const {
    std::vector<double> trips;
    TcpState all;
    for (const int descriptor : lane_descriptors()) {
        const auto state = streams::tcp_state(descriptor);
        if (!state) continue;
        trips.push_back(state->round_trip.count());
        all.window += state->window;
        all.sent_again += state->sent_again;
        all.received += state->received;
        all.quiet = trips.size() == 1 ? state->quiet : std::min(all.quiet, state->quiet);
    }
    if (trips.empty()) return std::nullopt;
    all.round_trip = Seconds(median(trips));
    return all;
}

}  // namespace laple::streams
