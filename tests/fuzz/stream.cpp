// SPDX-License-Identifier: BSD-3-Clause
// What another process may send on a connection: as frames, as what is said before them, and to a link.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "streams/frame.hpp"
#include "streams/hello.hpp"
#include "streams/link.hpp"
#include "target.hpp"

using namespace laple;
using namespace laple::streams;

namespace {

constexpr std::uint64_t kMostTotal = 1U << 20;

template <std::size_t kBytes>
std::array<std::byte, kBytes> first(std::span<const std::byte> bytes) {
    std::array<std::byte, kBytes> taken{};
    std::copy_n(bytes.begin(), std::min(kBytes, bytes.size()), taken.begin());
    return taken;
}

/// What is read is what would be written, but for bytes that mean nothing.
void read_as_frame(std::span<const std::byte> bytes) {
    const auto frame = decode(first<kFrameBytes>(bytes));
    if (frame) fuzz::expect(decode(encode(*frame)) == frame, "a frame is not read as it is written");
}

void read_as_hello(std::span<const std::byte> bytes) {
    const auto nonce = read_challenge(first<kChallengeBytes>(bytes));
    if (nonce) fuzz::expect(read_challenge(challenge_of(*nonce)) == nonce, "a challenge is not read back");
    const auto hello = read_hello(first<kHelloBytes>(bytes));
    if (hello)
        fuzz::expect(!is_true(*hello, Nonce{}, Secret{std::byte{1}}), "a hello without the secret is true");
}

/// Whether a link may be given this: a message of any length may be said to come, for which there must be
/// room.
bool is_small(std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at + kFrameBytes <= bytes.size(); ++at) {
        const auto frame = decode(first<kFrameBytes>(bytes.subspan(at)));
        if (frame && frame->total > kMostTotal) return false;
    }
    return true;
}

/// Two messages are expected, and one is sent; what comes of them touches their memory only.
void read_as_link(std::span<const std::byte> bytes) {
    std::array<int, 2> ends{};
    if (!is_small(bytes) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) return;
    std::vector<Descriptor> lanes;
    lanes.emplace_back(ends[0]);
    const Descriptor other(ends[1]);
    std::vector<std::byte> received(100);
    std::array<Posted, 3> posted;
    Link link(std::move(lanes), {});
    link.receive({1, 1, 1, 0}, received.data(), 100, posted[0]);
    link.receive({1, 1, 1, 1}, received.data(), 50, posted[1]);
    link.send({1, 1, 1, 0}, received.data(), 100, posted[2]);
    link.progress(Seconds(1));
    [[maybe_unused]] const ssize_t gone = write(other.number(), bytes.data(), bytes.size());
    for (int i = 0; i < 3; ++i) link.progress(Seconds(2 + i));
    for (Posted& one : posted) link.forget(one);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    read_as_frame(bytes);
    read_as_hello(bytes);
    read_as_link(bytes);
    return 0;
}
