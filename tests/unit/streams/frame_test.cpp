// SPDX-License-Identifier: BSD-3-Clause
#include "streams/frame.hpp"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

using namespace laple::streams;

namespace {

Frame some_stripe() {
    return {Frame::Kind::stripe, 4096, 7, 8192, 1U << 20, {3, 0x123456789abcdefU, 17, 2}, 0};
}

}  // namespace

TEST_CASE("a frame is read as it was written", "[streams]") {
    const Frame stripe = some_stripe();
    CHECK(decode(encode(stripe)) == stripe);
    Frame empty;
    empty.key = {1, 2, 3, 4};
    CHECK(decode(encode(empty)) == empty);
    Frame receipt;
    receipt.kind = Frame::Kind::receipt;
    receipt.count = ~std::uint64_t{0};
    receipt.unclaimed = 5;
    receipt.news = 7;
    CHECK(decode(encode(receipt)) == receipt);
    Frame claim;
    claim.kind = Frame::Kind::claim;
    claim.key = {1, 2, 3, 4};
    CHECK(decode(encode(claim)) == claim);
    Frame end;
    end.kind = Frame::Kind::end;
    CHECK(decode(encode(end)) == end);
}

TEST_CASE("a frame that says something impossible is none", "[streams]") {
    Frame frame = some_stripe();
    SECTION("a stripe beyond the end of its message") {
        frame.offset = frame.total - frame.bytes + 1;
    }
    SECTION("an offset that overflows") {
        frame.offset = ~std::uint64_t{0} - 100;
    }
    SECTION("a stripe longer than its message") {
        frame.total = frame.bytes - 1;
    }
    SECTION("a very long stripe") {
        frame.bytes = kMostStripe + 1;
        frame.total = 8 * std::uint64_t{kMostStripe};
    }
    SECTION("a very long message") {
        frame.total = kMostMessage + 1;
    }
    SECTION("an empty stripe of a message that is not") {
        frame.bytes = 0;
    }
    CHECK_FALSE(decode(encode(frame)));
}

TEST_CASE("other bytes are no frames", "[streams]") {
    CHECK_FALSE(decode(std::array<std::byte, kFrameBytes>{}));
    std::array<std::byte, kFrameBytes> bytes = encode(some_stripe());
    bytes[4] = std::byte{5};  // no kind
    CHECK_FALSE(decode(bytes));
    std::mt19937 draw(1);
    for (int i = 0; i < 10000; ++i) {
        std::generate(bytes.begin() + 4, bytes.end(), [&] { return static_cast<std::byte>(draw()); });
        const auto frame = decode(bytes);
        if (frame && frame->kind == Frame::Kind::stripe) CHECK(frame->offset + frame->bytes <= frame->total);
    }
}
