// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/varied_pace.hpp"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

using namespace laple;

namespace {

constexpr int kNearRanks = 4;
constexpr int kOtherClusters = 3;
constexpr Bytes kBytes = 64 * 1024;
const Pace kUsual{1e-6, Seconds(0.1)};  // of one of four ranks behind an uplink of 4 MB/s

/// To and from each of the ranks of the other clusters, which have as many.
std::vector<FarBlock> equal_blocks() {
    std::vector<FarBlock> blocks;
    for (int cluster = 1; cluster <= kOtherClusters; ++cluster) {
        for (int rank = 0; rank < kNearRanks; ++rank) {
            blocks.push_back({.bytes = kBytes, .is_sent = true, .cluster = cluster});
            blocks.push_back({.bytes = kBytes, .is_sent = false, .cluster = cluster});
        }
    }
    return blocks;
}

/// What this rank sends to, and gets from, all ranks of one cluster, or one rank of each; else nothing.
std::vector<FarBlock> only(bool to_one_cluster) {
    std::vector<FarBlock> blocks = equal_blocks();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const bool is_first_rank = i % (2 * kNearRanks) < 2;
        if (to_one_cluster ? blocks[i].cluster != 1 : !is_first_rank) blocks[i].bytes = 0;
    }
    return blocks;
}

/// How long a byte takes, of the usual time.
double part(const std::vector<FarBlock>& blocks, double uplink = 0) {
    return varied_pace(kUsual, blocks, kNearRanks, uplink).seconds_per_byte / kUsual.seconds_per_byte;
}

}  // namespace

TEST_CASE("ranks that all send as much to all go at the usual pace", "[varied-pace]") {
    CHECK(part(equal_blocks()) == Approx(1));
    CHECK(varied_pace(kUsual, equal_blocks(), kNearRanks, 0).ahead == kUsual.ahead);
    CHECK(varied_pace({}, equal_blocks(), kNearRanks, 0).seconds_per_byte == 0);
}

TEST_CASE("who has to do with a few ranks only goes faster", "[varied-pace]") {
    CHECK(part(only(true)) == Approx(1.0 / kOtherClusters));
    CHECK(part(only(false)) == Approx(1.0 / kNearRanks));
    CHECK(varied_pace(kUsual, only(false), kNearRanks, 0).ahead == kUsual.ahead / kNearRanks);
}

TEST_CASE("who sends more than it gets goes faster than the others", "[varied-pace]") {
    std::vector<FarBlock> blocks = equal_blocks();
    for (FarBlock& block : blocks) {
        if (!block.is_sent) block.bytes = kBytes / 3;
    }
    CHECK(part(blocks) == Approx((1 + 3 * 1.0 / 3) / 4));
}

TEST_CASE("no rank goes faster than the uplinks on the way", "[varied-pace]") {
    // Its own, which takes all.
    CHECK(part(only(false), 0.5e-6) == Approx(0.5));
    CHECK(part(only(false), 5e-6) == Approx(1));
    // Those of others, which take what is for their ranks.
    std::vector<FarBlock> blocks = only(false);
    for (FarBlock& block : blocks) block.uplink = 0.9e-6;
    CHECK(part(blocks, 0.1e-6) == Approx(0.9 / kOtherClusters));
    blocks = only(true);
    for (FarBlock& block : blocks) block.uplink = 0.9e-6;
    CHECK(part(blocks, 0.1e-6) == Approx(0.9));
}

TEST_CASE("no rank waits for an uplink that its blocks do not pass", "[varied-pace]") {
    // The usual pace is that of the third cluster, whose uplink takes 10 us a byte. Two others swap blocks.
    const Pace of_slow{40e-6, Seconds(0.1)};
    std::vector<FarBlock> blocks = equal_blocks();
    for (FarBlock& block : blocks) {
        if (block.cluster != 1) block.bytes = 0;
        block.uplink = block.cluster == 3 ? 10e-6 : 0.04e-6;
    }
    const auto seconds_a_byte = [&] {
        return varied_pace(of_slow, blocks, kNearRanks, 0.04e-6).seconds_per_byte;
    };
    // Into that cluster come four blocks from each of four ranks.
    CHECK(seconds_a_byte() == Approx(4 * 0.04e-6));
    // From the others comes as much there as here: next to nothing, or a block from each of the second.
    for (FarBlock& block : blocks) block.bytes = std::max<Bytes>(block.bytes, 1);
    CHECK(seconds_a_byte() == Approx(4 * 0.04e-6).epsilon(0.01));
    for (FarBlock& block : blocks) {
        if (!block.is_sent && block.cluster == 2) block.bytes = kBytes;
    }
    CHECK(seconds_a_byte() == Approx(0.04e-6 * (4 * 4 + 4 * 4) / 4).epsilon(0.01));
    for (FarBlock& block : blocks) {
        if (block.cluster != 1) block.bytes = 0;
    }
    for (FarBlock& block : blocks) block.link = block.cluster == 1 ? 1e-6 : 0;
    CHECK(seconds_a_byte() >= 1e-6);
    // Where an uplink on the way is not known, it may be the slow one.
    for (FarBlock& block : blocks) block.uplink = 0;
    CHECK(seconds_a_byte() == Approx(40e-6 / kOtherClusters));
}

TEST_CASE("a root goes as fast as the uplinks on the way allow", "[varied-pace]") {
    const Pace of_slow{10e-6, Seconds(0.1)};
    std::vector<FarBlock> blocks;
    for (const int cluster : {1, 2}) blocks.push_back({.bytes = kBytes, .is_sent = true, .cluster = cluster});
    const auto seconds_a_byte = [&] { return varied_pace_of_root(of_slow, blocks, 0.1e-6).seconds_per_byte; };
    CHECK(seconds_a_byte() == Approx(10e-6 / 2));  // as if one of both, not known, were the slow one
    blocks[0].uplink = 0.3e-6;
    blocks[1].uplink = 10e-6;
    CHECK(seconds_a_byte() == Approx(10e-6 / 2));
    blocks[1].bytes = 0;
    CHECK(seconds_a_byte() == Approx(0.3e-6));
    blocks[0].link = 2e-6;
    CHECK(seconds_a_byte() == Approx(2e-6));
    CHECK(varied_pace_of_root({}, blocks, 0.1e-6).seconds_per_byte == 0);
}

TEST_CASE("what goes by other ways says only that ranks have to do with each other", "[varied-pace]") {
    std::vector<FarBlock> blocks = only(false);
    for (FarBlock& block : blocks) block.is_paced = block.cluster == 1;
    // A single paced block is for a single cluster.
    for (FarBlock& block : blocks) block.uplink = 0.6e-6;
    CHECK(part(blocks, 0.1e-6) == Approx(0.6));
}
