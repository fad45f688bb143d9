// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/units.hpp"
#include "streams/descriptor.hpp"
#include "streams/frame.hpp"
#include "streams/lane.hpp"
#include "streams/tcp_state.hpp"
#include "streams/time_looked.hpp"

namespace laple::streams {

/// A message that goes, or is to come: what its owner sees of it. The owner keeps it where it is until
/// `is_done`, or until Link::forget().
struct Posted {
    /// Where it is true, what follows does not change any more.
    std::atomic<bool> is_done{false};
    bool has_failed = false;  ///< the link is broken: the message did not go, or will not come
    std::uint64_t total = 0;  ///< bytes of the message that has come, which may be more than were expected
};

struct LinkOptions {
    Seconds round_trip{0.1};
    /// How long messages wait for a new connection when none is left (TimeLooked, of Link::progress); while
    /// there are no messages, the link itself waits as long as it takes. Several times without one add up,
    /// until a new one has carried something, or has lived for as long.
    Seconds patience{0};
    /// Bytes under way at most, of which a copy is kept: twice what the network holds lets it go on. The
    /// other end keeps no more of messages without a receive either. The same at both ends.
    std::uint64_t window_bytes = 32U << 20;
    /// Of the connection with that descriptor, bytes that have reached the other end's system.
    std::function<std::uint64_t(int)> acknowledged = acknowledged_bytes;
};

/// LinkOptions::window_bytes where the connections were seen to carry `rate` bytes a second: the
/// bandwidth-delay product, as much again, in queues and until receipts have come, and 4 MiB that are with
/// the system and not in the network yet; kMostWindow at most, and where one of both is not known (0).
std::uint64_t window_for(double rate, Seconds round_trip);
/// TCP has less under way on all but the fattest links.
inline constexpr std::uint64_t kMostWindow = 128U << 20;

/// Several TCP connections between two processes, as one way for messages:
///
///     message    ─────────── stripe 0 ───> lane 0 ───> at its place of the receiver's memory
///                 ────────── stripe 1 ───> lane 1 ───>
///                 ────────── stripe 2 ───> lane 0 ───> ...
///
/// The next stripe goes to the lane that has room first, so that a slow one gets less. A lane sends a receipt
/// for each stripe that has come; until then the sender keeps a copy, and where a lane breaks, or stands
/// still, it sends the stripe once more on another one. What comes twice is dropped. Lanes that broke may be
/// replaced. When messages have waited for one for longer than they may (LinkOptions::patience), or the other
/// end has closed the link, it is broken, and all its messages fail.
///
/// A message is for the receive with the same key, whichever comes first: what comes before its receive is
/// kept aside, as much as a window (LinkOptions). Then only messages go on that have a receive, as the other
/// end says of each:
///
///     sender     message 1 ... message 9 ─────>    kept aside: a window
///                <───── so much is kept (with receipts); claim: message 12
///                message 12 ──────────────────>    at its place, though 10 and 11 wait
///
/// For all threads. No call waits.
class Link {
  public:
    /// Of what a link is told by when it may go on; closed where the system gives none.
    static Descriptor new_poller();
    /// The connections, in the same order at both ends. `poller`: of new_poller(), open.
    Link(std::vector<Descriptor> connections, const LinkOptions& options, Descriptor poller = new_poller());
    /// Tells the other end that this one closes it.
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Sends `bytes` at `data`, which must stay as they are until `posted` is done: then all are on their
    /// way. `posted` must be new, here and in receive().
    void send(const MessageKey& key, const std::byte* data, std::uint64_t bytes, Posted& posted);
    /// Receives up to `bytes`; `posted` is done when the whole message has come. What is longer is cut.
    void receive(const MessageKey& key, std::byte* data, std::uint64_t bytes, Posted& posted);
    /// The message is none of the owner's business any more, and neither is its memory. One of which nothing
    /// has gone yet goes as an empty one; the rest of others is copied, and goes. Where there is no memory
    /// for that, the link is broken.
    void forget(Posted& posted);

    /// Does what can be done: sends, receives, and looks after lanes that stand still. `now` is that of any
    /// clock, always the same one. Whether messages have moved, or this end has heard that they have; what
    /// else two ends tell each other may go on for ever.
    bool progress(Seconds now);
    /// What is received and sent may be waited for by polling this descriptor for input.
    int descriptor() const { return poller_.number(); }

    /// The lanes that broke, and may be replaced; empty where the link is broken, or the other end has closed
    /// it.
    std::vector<std::size_t> missing() const;
    /// A new connection in place of a lane that broke; the other end has it in the same place.
    void replace(std::size_t lane, Descriptor connection);

    bool is_broken() const;
    /// Whether messages wait for a new connection, for none is left.
    bool is_held_up() const;
    /// Whether all that was sent has come: the other end has said so. Also where nothing goes any more.
    bool is_flushed() const;

    /// Whether the other end can learn that this one closes it: a connection lives, or the link is over.
    bool can_say_end() const;

    /// What has become of the link so far.
    struct Account {
        int lanes = 0;         ///< there were at first
        int broken_lanes = 0;  ///< so many times one broke
        int replaced_lanes = 0;
        std::uint64_t sent = 0, received = 0;  ///< bytes of messages
        std::uint64_t sent_again = 0;          ///< bytes, on another lane
        std::uint64_t dropped = 0;             ///< bytes that came twice
        std::ptrdiff_t unclaimed = 0;          ///< messages that have begun to come, now, without a receive
        std::uint64_t most_kept = 0;           ///< bytes without a receipt, at one time
        std::uint64_t most_unclaimed = 0;      ///< bytes of messages without a receive, at one time
    };
    Account account() const;
    /// For tests and reports: the system's descriptors of the lanes that live.
    std::vector<int> lane_descriptors() const;
    /// Of these lanes: the median of their round trips, the shortest quiet time, the sums of all else.
    /// Nothing where the kernel says nothing.
    std::optional<TcpState> tcp_state() const;

  private:
    struct Outgoing {
        std::uint64_t number = 0;
        MessageKey key;
        const std::byte* data = nullptr;
        std::uint64_t total = 0;
        std::uint64_t cut = 0;     // bytes that are in stripes
        std::uint64_t unsent = 0;  // stripes that are not on their way
        Posted* posted = nullptr;
        bool is_claimed = false;  // the other end has a receive for it
    };
    struct Incoming {
        std::uint64_t total = 0;
        std::uint64_t received = 0;
        std::set<std::uint64_t> offsets;  // of the stripes that have come
        std::byte* data = nullptr;        // the receive's, as soon as there is one
        std::uint64_t bytes = 0;          // of that
        Posted* posted = nullptr;
        std::vector<std::byte> kept;  // what came before the receive was there
        bool has_come = false;        // something of it
        bool is_forgotten = false;    // what comes of it is dropped
        std::uint64_t number = 0;
    };

    bool look_after(std::size_t lane, Seconds now);
    bool send_on_all(Seconds now);
    bool send_on(Lane& lane, Seconds now);
    Stripes next_stripe();
    Stripes cut(Outgoing& message);
    bool copy_rest(Outgoing& message);
    void give_up();
    void say_end();
    void is_on_its_way(const Stripe& stripe);
    bool receive_on(Lane& lane);
    void take_frame(Lane& lane);
    std::byte* place_for(Lane& lane, std::size_t& room);
    void stripe_has_come(Lane& lane);
    void finish_if_there(const MessageKey& key);
    bool is_known(std::uint64_t message) const;
    void break_lane(Lane& lane);
    void put_again(Stripes stripes);
    bool is_behind(const Lane& lane) const;
    bool is_left_alone(const Lane& lane, Seconds now) const;
    Seconds patience_with_lanes() const;
    bool stands_still(Lane& lane, Seconds now) const;
    void help_those_behind(Seconds now);
    void watch(Lane& lane, bool for_room);
    bool put_control(Lane& lane);
    bool is_short_of_room() const { return unclaimed_ > options_.window_bytes / 4; }
    bool may_go(const Outgoing& message) const;
    void keep(Incoming& incoming, std::uint64_t bytes);
    void tell_again(Seconds now);
    void take_stripe(Lane& lane, Seconds now);
    void has_gone(Lane& lane);
    static void finish(Posted* posted, bool has_failed);
    void add_lane(std::size_t number, Descriptor connection);
    bool has_work() const;
    void wait_for_lanes(Seconds now);
    void fail_all();
    std::uint64_t stripe_bytes(std::uint64_t left) const;

    mutable std::mutex mutex_;
    Descriptor poller_;
    LinkOptions options_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    int living_ = 0;
    TimeLooked without_lanes_;  // since the last lanes have carried something, or lived for long
    TimeLooked with_lanes_;     // since there were none
    bool is_broken_ = false;
    bool is_closed_ = false;  // by the other end
    std::uint64_t next_number_ = 0;
    std::deque<Outgoing> outgoing_;  // of which not all is on its way
    Stripes again_;                  // of lanes that broke, or stand still
    std::map<MessageKey, Incoming> incoming_;
    std::uint64_t known_below_ = 0;  // numbers of messages that have come completely
    std::set<std::uint64_t> known_above_;
    std::uint64_t kept_ = 0;     // bytes of stripes without a receipt
    std::uint64_t stripes_ = 0;  // without a receipt
    // Of messages that have come without a receive, and of what the other end has of such.
    std::uint64_t unclaimed_ = 0;       // bytes kept
    std::uint64_t unclaimed_told_ = 0;  // as the other end knows
    std::uint64_t news_ = 0;            // told so many times
    std::deque<MessageKey> claims_;     // to be told
    bool was_short_of_room_ = false;
    bool must_tell_ = false;
    Seconds last_told_{0};
    std::size_t turn_ = 0;               // the lane that is first to send
    std::uint64_t unclaimed_there_ = 0;  // bytes, by the newest news
    std::uint64_t news_there_ = 0;
    std::set<MessageKey> claimed_;    // by the other end, of messages to come
    std::vector<std::byte> nothing_;  // what nobody wants is read into this; empty as long as there is none
    Account account_;
};

}  // namespace laple::streams
