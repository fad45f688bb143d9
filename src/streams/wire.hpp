// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace laple::streams {

/// Writes whole numbers, little-endian, one after the other. The memory must suffice.
class WireWriter {
  public:
    explicit WireWriter(std::span<std::byte> memory) : memory_(memory) {}

    template <typename Number>
    WireWriter& put(Number number) {
        for (std::size_t i = 0; i < sizeof(Number); ++i)
            memory_[at_++] = static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i));
        return *this;
    }
    WireWriter& put_bytes(std::span<const std::byte> bytes) {
        std::copy(bytes.begin(), bytes.end(), memory_.subspan(at_).begin());
        at_ += bytes.size();
        return *this;
    }

  private:
    std::span<std::byte> memory_;
    std::size_t at_ = 0;
};

/// Reads them again.
class WireReader {
  public:
    explicit WireReader(std::span<const std::byte> memory) : memory_(memory) {}

    template <typename Number>
    Number take() {
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < sizeof(Number); ++i)
            number |= static_cast<std::uint64_t>(memory_[at_++]) << (8 * i);
        return static_cast<Number>(number);
    }
    void take_bytes(std::span<std::byte> bytes) {
        std::copy_n(memory_.subspan(at_).begin(), bytes.size(), bytes.begin());
        at_ += bytes.size();
    }

  private:
    std::span<const std::byte> memory_;
    std::size_t at_ = 0;
};

}  // namespace laple::streams
