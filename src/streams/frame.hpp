// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace laple::streams {

/// Which receive a message is for. Both ends count alike, so that no two messages of a link have equal keys.
struct MessageKey {
    std::uint64_t context = 0;  ///< of the communicator
    std::uint64_t call = 0;     ///< number of the collective call
    std::uint32_t tag = 0;
    std::uint32_t turn = 0;  ///< of the messages with the same tag in that call

    auto operator<=>(const MessageKey&) const = default;
};

/// What stands before the bytes of a stripe, or alone, on a connection:
///
///     stripe     some bytes of a message follow: those from `offset` on, of `total`
///     receipt    so many stripes have come completely on this connection; and of messages without a receive
///                so many bytes are kept here, as the newest receipt of the link has it
///     claim      there is a receive for the message with this key
///     end        nothing more comes, and nothing is expected: this end closes the link
struct Frame {
    enum class Kind : std::uint8_t { stripe = 1, receipt = 2, end = 3, claim = 4 };

    Kind kind = Kind::stripe;
    std::uint32_t bytes = 0;    ///< of the stripe
    std::uint64_t message = 0;  ///< its number: those of one direction of a link count from 0
    std::uint64_t offset = 0;
    std::uint64_t total = 0;
    MessageKey key;
    std::uint64_t count = 0;      ///< of a receipt, as the next two
    std::uint64_t unclaimed = 0;  ///< bytes without a receive
    std::uint64_t news = 0;       ///< number of what `unclaimed` says

    bool operator==(const Frame&) const = default;
};

inline constexpr std::size_t kFrameBytes = 64;
inline constexpr std::uint32_t kMostStripe = 1U << 20;
inline constexpr std::uint64_t kMostMessage = std::uint64_t{1} << 40;  ///< a block may be longer than 2 GiB

std::array<std::byte, kFrameBytes> encode(const Frame& frame);

/// Nothing where the bytes are no frame, or one that says something impossible.
std::optional<Frame> decode(std::span<const std::byte, kFrameBytes> bytes);

}  // namespace laple::streams
