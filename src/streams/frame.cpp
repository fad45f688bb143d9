// SPDX-License-Identifier: BSD-3-Clause
#include "streams/frame.hpp"

#include "streams/wire.hpp"

namespace laple::streams {
namespace {

constexpr std::uint32_t kMagic = 0x4c61506cU;

bool is_possible(const Frame& frame) {
    if (frame.kind != Frame::Kind::stripe) return true;
    return frame.bytes <= kMostStripe && frame.total <= kMostMessage && frame.bytes <= frame.total &&
           frame.offset <= frame.total - frame.bytes && (frame.bytes > 0 || frame.total == 0);
}

}  // namespace

std::array<std::byte, kFrameBytes> encode(const Frame& frame) {
    std::array<std::byte, kFrameBytes> bytes{};
    WireWriter out(bytes);
    out.put(kMagic).put(static_cast<std::uint32_t>(frame.kind)).put(frame.bytes).put(frame.key.tag);
    if (frame.kind == Frame::Kind::receipt || frame.kind == Frame::Kind::end) {
        out.put(frame.count).put(frame.unclaimed).put(frame.news);
        return bytes;
    }
    out.put(frame.message).put(frame.offset).put(frame.total);
    out.put(frame.key.context).put(frame.key.call).put(frame.key.turn);
    return bytes;
}

std::optional<Frame> decode(std::span<const std::byte, kFrameBytes> bytes) {
    WireReader in(bytes);
    if (in.take<std::uint32_t>() != kMagic) return std::nullopt;
    const auto kind = in.take<std::uint32_t>();
    Frame frame;
    frame.bytes = in.take<std::uint32_t>();
    frame.key.tag = in.take<std::uint32_t>();
    if (kind == static_cast<std::uint32_t>(Frame::Kind::receipt) ||
        kind == static_cast<std::uint32_t>(Frame::Kind::end)) {
        frame.kind = static_cast<Frame::Kind>(kind);
        frame.count = in.take<std::uint64_t>();
        frame.unclaimed = in.take<std::uint64_t>();
        frame.news = in.take<std::uint64_t>();
    } else if (kind == static_cast<std::uint32_t>(Frame::Kind::stripe) ||
               kind == static_cast<std::uint32_t>(Frame::Kind::claim)) {
        frame.kind = static_cast<Frame::Kind>(kind);
        frame.message = in.take<std::uint64_t>();
        frame.offset = in.take<std::uint64_t>();
        frame.total = in.take<std::uint64_t>();
        frame.key.context = in.take<std::uint64_t>();
        frame.key.call = in.take<std::uint64_t>();
        frame.key.turn = in.take<std::uint32_t>();
    } else {
        return std::nullopt;
    }
    return is_possible(frame) ? std::optional(frame) : std::nullopt;
}

}  // namespace laple::streams
