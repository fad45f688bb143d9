// SPDX-License-Identifier: BSD-3-Clause
#include "base/packed_numbers.hpp"

#include <bit>
#include <cstddef>
#include <limits>

#include "base/error.hpp"

namespace laple {
namespace {

// Each number or run begins with a key, a whole number:
//   0         any number: its 64 bits follow
//   2n + 2    the whole number n
//   2n + 1    a run of n + kLeastRun numbers; how many numbers before it begins follows
constexpr std::size_t kLeastRun = 2;
constexpr std::uint64_t kLongestRun = std::uint64_t{1} << 31U;
constexpr std::uint64_t kMostWhole = std::uint64_t{1} << 53U;  // up to here doubles hold all whole numbers
constexpr int kBitsOfNumber = 64;

/// Seven bits in each byte, the low ones first; the eighth says that there are more.
constexpr unsigned kBitsOfByte = 7;
constexpr std::uint64_t kMore = 1U << kBitsOfByte;

void add_whole(std::uint64_t number, std::vector<std::uint8_t>& bytes) {
    for (; number >= kMore; number >>= kBitsOfByte)
        bytes.push_back(static_cast<std::uint8_t>(number % kMore | kMore));
    bytes.push_back(static_cast<std::uint8_t>(number));
}

void add_number(double number, std::vector<std::uint8_t>& bytes) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    if (number >= 0 && number < static_cast<double>(kMostWhole)) {
        const auto whole = static_cast<std::uint64_t>(number);
        if (std::bit_cast<std::uint64_t>(static_cast<double>(whole)) == bits)
            return add_whole(2 * whole + 2, bytes);
    }
    bytes.push_back(0);
    for (int shift = 0; shift < kBitsOfNumber; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(bits >> shift));
}

/// Finds where the numbers at some place occurred before.
class Runs {
  public:
    explicit Runs(std::span<const double> numbers) : numbers_(numbers), last_(kPlaces, kNone) {}

    struct Run {
        std::size_t start = 0;
        std::size_t length = 0;
    };
    /// The longest run from `place` on that is the same as one from the last earlier place that begins with
    /// the same two numbers.
    Run before(std::size_t place) const {
        if (place + kLeastRun > numbers_.size()) return {};
        Run run{last_[hash_at(place)], 0};
        if (run.start == kNone) return {};
        while (place + run.length < numbers_.size() &&
               bits_at(run.start + run.length) == bits_at(place + run.length))
            ++run.length;
        return run;
    }
    void note(std::size_t place) {
        if (place + kLeastRun <= numbers_.size()) last_[hash_at(place)] = place;
    }

  private:
    static constexpr int kBitsOfHash = 16;
    static constexpr std::size_t kPlaces = std::size_t{1} << kBitsOfHash;
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

    std::uint64_t bits_at(std::size_t place) const { return std::bit_cast<std::uint64_t>(numbers_[place]); }
    /// Of two numbers. Where others have the same, a run is not found.
    std::size_t hash_at(std::size_t place) const {
        constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
        const std::uint64_t both = (bits_at(place) * kOdd) ^ std::rotl(bits_at(place + 1), kBitsOfNumber / 2);
        return static_cast<std::size_t>((both * kOdd) >> (kBitsOfNumber - kBitsOfHash));
    }

    std::span<const double> numbers_;
    std::vector<std::size_t> last_;  // by hash
};

/// Takes numbers off the front of bytes.
class PackedBytes {
  public:
    explicit PackedBytes(std::span<const std::uint8_t> bytes) : left_(bytes) {}

    bool is_at_end() const { return left_.empty(); }
    std::uint64_t next_whole() {
        std::uint64_t number = 0;
        for (unsigned shift = 0; shift < kBitsOfNumber; shift += kBitsOfByte) {
            const std::uint64_t byte = next();
            number |= byte % kMore << shift;
            if (byte < kMore) return number;
        }
        throw broken();
    }
    double next_number() {
        std::uint64_t bits = 0;
        for (int shift = 0; shift < kBitsOfNumber; shift += 8) bits |= std::uint64_t{next()} << shift;
        return std::bit_cast<double>(bits);
    }
    static Error broken() {
        return Error("what another rank sent of the network cannot be unpacked on this rank",
                     "install the same build of LaPle on all hosts");
    }

  private:
    std::uint8_t next() {
        if (left_.empty()) throw broken();
        const std::uint8_t byte = left_.front();
        left_ = left_.subspan(1);
        return byte;
    }

    std::span<const std::uint8_t> left_;
};

}  // namespace

std::vector<std::uint8_t> pack_numbers(std::span<const double> numbers) {
    std::vector<std::uint8_t> bytes;
    Runs runs(numbers);
    for (std::size_t place = 0; place < numbers.size();) {
        const auto [start, length] = runs.before(place);
        const std::size_t end = place + (length < kLeastRun ? 1 : length);
        if (length < kLeastRun) {
            add_number(numbers[place], bytes);
        } else {
            add_whole(2 * (length - kLeastRun) + 1, bytes);
            add_whole(place - start, bytes);
        }
        for (; place < end; ++place) runs.note(place);
    }
    return bytes;
}

std::vector<double> unpack_numbers(std::span<const std::uint8_t> bytes) {
    std::vector<double> numbers;
    for (PackedBytes in(bytes); !in.is_at_end();) {
        const std::uint64_t key = in.next_whole();
        if (key == 0) {
            numbers.push_back(in.next_number());
        } else if (key % 2 == 0) {
            numbers.push_back(static_cast<double>(key / 2 - 1));
        } else {
            const std::uint64_t distance = in.next_whole();
            if (distance == 0 || distance > numbers.size() || key / 2 > kLongestRun)
                throw PackedBytes::broken();
            const std::size_t start = numbers.size() - distance;
            // A run may go on into itself.
            for (std::size_t i = 0; i < key / 2 + kLeastRun; ++i) numbers.push_back(numbers[start + i]);
        }
    }
    return numbers;
}

}  // namespace laple
