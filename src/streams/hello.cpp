// SPDX-License-Identifier: BSD-3-Clause
#include "streams/hello.hpp"

#include <sodium.h>

#include "streams/wire.hpp"

namespace laple::streams {
namespace {

constexpr std::uint64_t kChallengeMagic = 0x3167686c65706c61U;
constexpr std::uint64_t kHelloMagic = 0x31686f6c65706c61U;
constexpr std::size_t kSigned = kHelloBytes - sizeof(Proof);

/// What each end proves differs, lest one sends the other's proof back.
enum class By : std::uint64_t { connecting = 1, listening = 2 };

template <std::size_t N>
const unsigned char* plain(const std::array<std::byte, N>& bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

template <std::size_t N>
std::array<std::byte, N> random_bytes() {
    std::array<std::byte, N> bytes;
    randombytes_buf(bytes.data(), bytes.size());
    return bytes;
}

void write_signed(WireWriter& out, const Hello& hello) {
    out.put(kHelloMagic).put(hello.link).put(hello.lane).put(std::uint32_t{0}).put_bytes(hello.nonce);
}

constexpr std::size_t kMessage = sizeof(By) + sizeof(Nonce) + kSigned;

std::array<std::byte, kMessage> message_of(By end, const Hello& hello, const Nonce& challenge) {
    std::array<std::byte, kMessage> message{};
    WireWriter out(message);
    out.put(static_cast<std::uint64_t>(end)).put_bytes(challenge);
    write_signed(out, hello);
    return message;
}

Proof proof_of(By end, const Hello& hello, const Nonce& challenge, const Secret& secret) {
    static_assert(sizeof(Proof) == crypto_auth_hmacsha256_BYTES);
    static_assert(sizeof(Secret) == crypto_auth_hmacsha256_KEYBYTES);
    const auto message = message_of(end, hello, challenge);
    Proof proof{};
    crypto_auth_hmacsha256(reinterpret_cast<unsigned char*>(proof.data()), plain(message), message.size(),
                           plain(secret));
    return proof;
}

}  // namespace

Secret new_secret() {
    return random_bytes<sizeof(Secret)>();
}
Nonce new_nonce() {
    return random_bytes<sizeof(Nonce)>();
}

std::array<std::byte, kChallengeBytes> challenge_of(const Nonce& nonce) {
    std::array<std::byte, kChallengeBytes> bytes{};
    WireWriter(bytes).put(kChallengeMagic).put_bytes(nonce);
    return bytes;
}

std::optional<Nonce> read_challenge(std::span<const std::byte, kChallengeBytes> bytes) {
    WireReader in(bytes);
    if (in.take<std::uint64_t>() != kChallengeMagic) return std::nullopt;
    Nonce nonce;
    in.take_bytes(nonce);
    return nonce;
}

Hello make_hello(std::uint64_t link, std::uint32_t lane, const Nonce& challenge, const Secret& secret) {
    Hello hello{link, lane, new_nonce(), {}};
    hello.proof = proof_of(By::connecting, hello, challenge, secret);
    return hello;
}

std::array<std::byte, kHelloBytes> encode(const Hello& hello) {
    std::array<std::byte, kHelloBytes> bytes{};
    WireWriter out(bytes);
    write_signed(out, hello);
    out.put_bytes(hello.proof);
    return bytes;
}

std::optional<Hello> read_hello(std::span<const std::byte, kHelloBytes> bytes) {
    WireReader in(bytes);
    if (in.take<std::uint64_t>() != kHelloMagic) return std::nullopt;
    Hello hello;
    hello.link = in.take<std::uint64_t>();
    hello.lane = in.take<std::uint32_t>();
    if (in.take<std::uint32_t>() != 0) return std::nullopt;
    in.take_bytes(hello.nonce);
    in.take_bytes(hello.proof);
    return hello;
}

/// Takes as long whatever is wrong.
bool is_true(const Hello& hello, const Nonce& challenge, const Secret& secret) {
    const Proof expected = proof_of(By::connecting, hello, challenge, secret);
    return sodium_memcmp(hello.proof.data(), expected.data(), expected.size()) == 0;
}

std::array<std::byte, kWelcomeBytes> welcome_for(const Hello& hello, const Nonce& challenge,
                                                 const Secret& secret) {
    return proof_of(By::listening, hello, challenge, secret);
}

bool is_welcome(std::span<const std::byte, kWelcomeBytes> bytes, const Hello& hello, const Nonce& challenge,
                const Secret& secret) {
    const Proof expected = proof_of(By::listening, hello, challenge, secret);
    return sodium_memcmp(bytes.data(), expected.data(), expected.size()) == 0;
}

}  // namespace laple::streams
