// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "streams/descriptor.hpp"
#include "streams/frame.hpp"

namespace laple::streams {

/// A piece of a message, ready to be sent: its frame and its bytes.
struct Stripe {
    Frame frame;
    std::vector<std::byte> bytes;  ///< with the frame in front
    bool is_received = false;      ///< the other end has said so
    bool is_sent = false;          ///< all of it was given to the system once
    bool is_again = false;         ///< it goes once more
};

/// They move from one such list to another one without memory being taken.
using Stripes = std::list<std::shared_ptr<Stripe>>;

/// One connection of a link: what is on the way there, and what is coming.
struct Lane {
    Lane(Descriptor connection, std::size_t its_number) : number(its_number), socket(std::move(connection)) {}

    bool is_alive() const { return socket.is_open(); }
    bool has_work() const { return !unconfirmed.empty() || !going.empty(); }

    std::size_t number;     ///< in the link
    bool is_still = false;  ///< it has carried nothing for so long that others do its work
    Descriptor socket;

    Stripes going;                ///< the one of which a part has gone, if any
    std::size_t gone = 0;         ///< bytes of it
    Stripes unconfirmed;          ///< gone, without a receipt, in their order
    std::uint64_t confirmed = 0;  ///< receipts
    Seconds last_receipt{0};
    Seconds waits_since{0};  ///< for a receipt: the last one, or when there was nothing to wait for
    Seconds last_sign{0};    ///< that it carries something, or as above
    Seconds last_look{0};    ///< at what the kernel says, and that: bytes
    std::uint64_t acknowledged = 0;

    std::array<std::byte, kFrameBytes> receipt{};  ///< that goes
    std::size_t receipt_left = 0;                  ///< bytes of it
    std::uint64_t come = 0;                        ///< stripes
    std::uint64_t told = 0;                        ///< of these, in receipts

    std::array<std::byte, kFrameBytes> header{};
    std::size_t header_come = 0;
    Frame frame;                   ///< of the stripe that comes, once the header is there
    std::uint32_t bytes_come = 0;  ///< of it
    bool is_wanted = false;        ///< else it has come before
    bool asks_for_room = false;    ///< the poller tells when it can send
};

}  // namespace laple::streams
