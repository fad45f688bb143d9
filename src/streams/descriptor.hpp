// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include <unistd.h>

namespace laple::streams {

/// An open file descriptor, closed with this.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { reset(); }

    bool is_open() const { return number_ >= 0; }
    int number() const { return number_; }
    void reset() {
        if (number_ >= 0) close(std::exchange(number_, -1));
    }

  private:
    int number_ = -1;
};

/// Those of this process, whoever opened them; none where the system does not say.
std::vector<int> open_descriptors();

/// So many more this process may open, at this time (RLIMIT_NOFILE).
int free_descriptors();

}  // namespace laple::streams
