// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace laple::streams {

/// Known to the two ends of a link alone, who have it from each other by MPI.
using Secret = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 16>;
using Proof = std::array<std::byte, 32>;

Secret new_secret();
Nonce new_nonce();

/// Who has connected proves that it knows the secret, and the one that listens does, before any data:
///
///     listens                                connects
///        ── challenge: magic, nonce ────────────>
///        <── hello: magic, link, lane, nonce, proof over all that and both nonces
///        ── welcome: proof over the same, of the other end ──>
///
/// The proofs are HMAC-SHA-256 (RFC 2104). Each nonce is used once, so that what was recorded is worth
/// nothing; each lane of a link is welcomed once.
struct Hello {
    std::uint64_t link = 0;  ///< which of those that the other end expects
    std::uint32_t lane = 0;  ///< which connection of the link
    Nonce nonce{};
    Proof proof{};
};

inline constexpr std::size_t kChallengeBytes = 24;
inline constexpr std::size_t kHelloBytes = 72;
inline constexpr std::size_t kWelcomeBytes = 32;

std::array<std::byte, kChallengeBytes> challenge_of(const Nonce& nonce);
/// Nothing where the bytes are no challenge.
std::optional<Nonce> read_challenge(std::span<const std::byte, kChallengeBytes> bytes);

/// The answer to a challenge.
Hello make_hello(std::uint64_t link, std::uint32_t lane, const Nonce& challenge, const Secret& secret);
std::array<std::byte, kHelloBytes> encode(const Hello& hello);
/// Nothing where the bytes are no hello; whether it is a true one is another question.
std::optional<Hello> read_hello(std::span<const std::byte, kHelloBytes> bytes);
bool is_true(const Hello& hello, const Nonce& challenge, const Secret& secret);

std::array<std::byte, kWelcomeBytes> welcome_for(const Hello& hello, const Nonce& challenge,
                                                 const Secret& secret);
bool is_welcome(std::span<const std::byte, kWelcomeBytes> bytes, const Hello& hello, const Nonce& challenge,
                const Secret& secret);

}  // namespace laple::streams
