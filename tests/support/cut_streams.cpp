// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded: cuts connections of LaPle's streams at random, all the time, and holds some of them up for
// a while. TEST_FAULTS_PAUSE: milliseconds between two faults, about, of the time that the process has cores
// for. Most of those that have carried nothing yet are spared: where ranks share few cores, new ones are made
// more slowly than others could be cut. Says at the end how many there were.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr int kMostDescriptors = 512;
/// Only these have it (src/streams/link.cpp).
constexpr int kNotSent = 256 << 10;
/// Of faults, one in so many holds a connection up.
constexpr int kHolds = 20;

bool is_stream(int descriptor) {
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &value, &length) == 0 && value == kNotSent;
}

/// A message, or a part of one; before it an end reads what proves who the other one is
/// (src/streams/hello.hpp).
bool has_carried_data(int descriptor) {
    constexpr unsigned kMostOfProof = 72;
    tcp_info info{};
    socklen_t length = sizeof info;
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
           info.tcpi_bytes_received > kMostOfProof;
}

class Faults {
  public:
    Faults() {
        const char* const pause = std::getenv("TEST_FAULTS_PAUSE");
        if (pause != nullptr) thread_ = std::thread([this, most = std::atoi(pause)] { run(most); });
    }
    ~Faults() {
        is_over_ = true;
        if (!thread_.joinable()) return;
        thread_.join();
        std::fprintf(stderr, "%d connections were cut, %d held up\n", cut_, held_);
    }
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;

  private:
    void run(int pause) {
        std::mt19937 draw(static_cast<unsigned>(getpid()));
        while (!is_over_) {
            const auto below = [&](int most) {
                return static_cast<int>(draw() % static_cast<unsigned>(most));
            };
            let_process_run(std::chrono::milliseconds(1 + below(2 * pause)));
            std::vector<int> streams;
            for (int descriptor = 3; descriptor < kMostDescriptors; ++descriptor) {
                if (is_stream(descriptor)) streams.push_back(descriptor);
            }
            if (streams.empty()) continue;
            const auto count = static_cast<int>(streams.size());
            const int chosen = below(count);
            const bool are_all = below(10) == 0;
            for (int i = 0; i < count; ++i) {
                const int stream = streams[static_cast<std::size_t>(i)];
                if ((!are_all && i != chosen) || is_held(stream)) continue;
                if (below(kHolds) == 0) {
                    hold(stream, std::chrono::milliseconds(below(2000)));
                } else if (has_carried_data(stream) || below(10) == 0) {
                    cut(stream, below(2) == 0);
                }
            }
        }
    }

    void let_process_run(std::chrono::milliseconds time) {
        const std::clock_t end = std::clock() + time.count() * (CLOCKS_PER_SEC / 1000);
        while (!is_over_ && std::clock() < end) {
            let_go();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    /// A reset, or an end of both directions.
    void cut(int descriptor, bool resets) {
        const sockaddr nowhere{AF_UNSPEC, {}};
        const int done =
            resets ? connect(descriptor, &nowhere, sizeof nowhere) : shutdown(descriptor, SHUT_RDWR);
        if (done == 0) ++cut_;
    }

    bool is_held(int descriptor) const {
        return std::any_of(holds_.begin(), holds_.end(),
                           [descriptor](const Hold& hold) { return hold.descriptor == descriptor; });
    }

    /// It carries next to nothing: a segment a second, about, of those of the loopback interface.
    void hold(int descriptor, std::chrono::milliseconds time) {
        constexpr unsigned kBytesASecond = 64 << 10;
        if (!set_pace(descriptor, kBytesASecond)) return;
        ++held_;
        holds_.push_back({descriptor, std::chrono::steady_clock::now() + time});
    }

    /// Where it was cut meanwhile, another one that has its number is not held up anyway.
    void let_go() {
        const auto now = std::chrono::steady_clock::now();
        std::erase_if(holds_, [&](const Hold& hold) {
            return now >= hold.end && (!is_stream(hold.descriptor) || set_pace(hold.descriptor, ~0U));
        });
    }

    static bool set_pace(int descriptor, unsigned bytes_a_second) {
        return setsockopt(descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_a_second,
                          sizeof bytes_a_second) == 0;
    }

    std::atomic<bool> is_over_{false};
    std::thread thread_;
    struct Hold {
        int descriptor;
        std::chrono::steady_clock::time_point end;
    };
    std::vector<Hold> holds_;
    int cut_ = 0;
    int held_ = 0;
};

Faults faults;

}  // namespace
