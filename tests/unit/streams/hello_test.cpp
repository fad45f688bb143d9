// SPDX-License-Identifier: BSD-3-Clause
#include "streams/hello.hpp"

#include <catch2/catch.hpp>

using namespace laple::streams;

TEST_CASE("both ends prove that they know the secret", "[streams]") {
    const Secret secret = new_secret();
    const Nonce nonce = new_nonce();
    const auto challenge = read_challenge(challenge_of(nonce));
    REQUIRE(challenge);
    CHECK(*challenge == nonce);
    const Hello sent = make_hello(5, 3, *challenge, secret);
    const auto hello = read_hello(encode(sent));
    REQUIRE(hello);
    CHECK(hello->link == 5);
    CHECK(hello->lane == 3);
    CHECK(is_true(*hello, nonce, secret));
    CHECK(is_welcome(welcome_for(*hello, nonce, secret), sent, nonce, secret));
}

TEST_CASE("who does not know the secret proves nothing", "[streams]") {
    const Secret secret = new_secret();
    const Nonce nonce = new_nonce();
    const Hello hello = make_hello(5, 3, nonce, secret);
    CHECK_FALSE(is_true(make_hello(5, 3, nonce, new_secret()), nonce, secret));
    CHECK_FALSE(is_welcome(welcome_for(hello, nonce, new_secret()), hello, nonce, secret));
    // The other end's own proof, sent back.
    CHECK_FALSE(is_welcome(hello.proof, hello, nonce, secret));
}

TEST_CASE("a recorded or changed hello proves nothing", "[streams]") {
    const Secret secret = new_secret();
    const Nonce nonce = new_nonce();
    const Hello hello = make_hello(5, 3, nonce, secret);
    CHECK_FALSE(is_true(hello, new_nonce(), secret));
    const auto bytes = encode(hello);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto changed = bytes;
        changed[i] ^= std::byte{1};
        const auto other = read_hello(changed);
        CHECK((!other || !is_true(*other, nonce, secret)));
    }
}

TEST_CASE("other bytes are neither challenge nor hello", "[streams]") {
    CHECK_FALSE(read_challenge(std::array<std::byte, kChallengeBytes>{}));
    CHECK_FALSE(read_hello(std::array<std::byte, kHelloBytes>{}));
}
