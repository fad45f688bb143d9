// SPDX-License-Identifier: BSD-3-Clause
#include "grid/keeper.hpp"

#include <array>
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file.hpp"
#include "grid/machine_error.hpp"
#include "grid/netns.hpp"
#include "grid/raise.hpp"
#include "grid/relay.hpp"

namespace laple::grid {
namespace {

// Words on the socket between owner and keeper; each is one message.
const std::string kRaised = "raised ";     // keeper: followed by the id
const std::string kFailed = "failed ";     // keeper: followed by the message
const std::string kStanding = "standing";  // owner: live on without me; keeper: I will

constexpr int kRelayPriority = 10;
constexpr int kAnswerMs = 1000;
constexpr int kEndMs = 20'000;

/// Thrown in the keeper when nobody wants the grid any more.
struct Abandoned {};

void send_message(int socket, const std::string& text) {
    send(socket, text.data(), text.size(), MSG_NOSIGNAL);
}

/// The next message; "" when the other side is gone.
std::string receive_message(int socket) {
    std::array<char, 8192> buffer;
    ssize_t got = 0;
    do {
        got = recv(socket, buffer.data(), buffer.size(), 0);
    } while (got < 0 && errno == EINTR);
    return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

std::string counters_table(const Wan& wan, const GridLayout& layout) {
    std::string table = fmt::format("{:<16} {:<16} {:>12} {:>14} {:>8} {:>10}\n", "from", "to", "packets",
                                    "bytes", "lost", "overflowed");
    for (std::size_t a = 0; a < wan.sites(); ++a) {
        for (std::size_t b = 0; b < wan.sites(); ++b) {
            if (a == b) continue;
            const LinkCounters& c = wan.counters(a, b);
            table += fmt::format("{:<16} {:<16} {:>12} {:>14} {:>8} {:>10}\n", layout.sites[a].name,
                                 layout.sites[b].name, c.packets, c.bytes, c.lost, c.overflowed);
        }
    }
    return table;
}

std::string counters_file(const GridState& state) {
    return state.directory() + "/counters";
}

std::string change_file(const GridState& state) {
    return state.directory() + "/change";
}

/// The keeper's life. Runs in a process of its own.
class Keeper {
  public:
    Keeper(Fd socket, const ProcessId& owner) : socket_(std::move(socket)), owner_(owner) {
        detach();
        state_.keeper = ProcessId::self();
    }

    int live(const Scenario& scenario) {
        bool claimed = false;
        try {
            state_ = claim_grid(scenario, owner_, state_.keeper);
            claimed = true;
            raise_namespaces(scenario, state_.layout, [this] { check_wanted(); });
            serve(scenario);
        } catch (const Abandoned&) {
        } catch (const std::exception& e) {
            send_message(socket_.get(), kFailed + e.what());
        }
        if (claimed) {
            destroy_netns(state_.layout.netns_names());
            remove_state(state_);
        }
        return 0;
    }

  private:
    /// Leaves the terminal: Ctrl-C is for the owner.
    void detach() {
        setsid();
        prctl(PR_SET_NAME, "laple-grid-wan");
        umask(022);  // all users may read what we leave in /run
        close_inherited();
        const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
        dup2(null.get(), STDIN_FILENO);
        dup2(null.get(), STDOUT_FILENO);
        for (const int number : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) signal(number, SIG_IGN);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGUSR1);
        sigaddset(&set, SIGUSR2);
        sigprocmask(SIG_BLOCK, &set, nullptr);
        signals_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    }

    /// Whoever waits for the end of a pipe that the owner had been given shall not wait for us.
    void close_inherited() {
        constexpr int kSocket = 3;
        if (socket_.get() != kSocket) {
            dup3(socket_.get(), kSocket, O_CLOEXEC);
            socket_.reset(kSocket);
        }
        syscall(SYS_close_range, kSocket + 1, ~0u, 0);
    }

    void check_wanted() {
        // Before the owner knows that the grid is there it has nothing to say: readable means gone.
        if (wait_readable({socket_.get(), signals_.get()}, 0) >= 0) throw Abandoned{};
    }

    void serve(const Scenario& scenario) {
        Relay relay(scenario, state_.layout);
        relay.watch(signals_.get());
        relay.watch(socket_.get());
        if (scenario.sites.size() > 1) take_priority();
        state_.raised = true;
        save_state(state_);
        send_message(socket_.get(), kRaised + state_.layout.id);
        for (;;) {
            if (relay.run() == signals_.get()) {
                handle_signal(relay);
            } else {
                handle_message();
            }
        }
    }

    /// Polling ranks must not delay packets.
    void take_priority() {
        sched_param parameter{};
        parameter.sched_priority = kRelayPriority;
        if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) != 0) {
            say("no real-time priority for the relay (" + errno_text() +
                "): delays will be uneven while ranks compute");
        }
    }

    void handle_signal(Relay& relay) {
        signalfd_siginfo info;
        if (::read(signals_.get(), &info, sizeof info) != sizeof info) return;
        if (info.ssi_signo == SIGTERM) throw Abandoned{};
        if (info.ssi_signo == SIGUSR2) return change_network(relay);
        const std::string file = counters_file(state_);
        write_file(file + ".new", counters_table(relay.wan(), state_.layout));
        rename((file + ".new").c_str(), file.c_str());
    }

    /// The file is gone when it is done.
    void change_network(Relay& relay) {
        const std::string file = change_file(state_);
        try {
            relay.wan().apply(change_of_line(read_file(file)));
        } catch (const std::exception&) {
            return;  // whoever has written it sees that it is still there
        }
        ::unlink(file.c_str());
    }

    void handle_message() {
        if (receive_message(socket_.get()) != kStanding) throw Abandoned{};
        state_.standing = true;
        save_state(state_);
        send_message(socket_.get(), kStanding);
        // Nobody waits on the other end from now on, and whoever reads our owner's stderr shall see its end.
        socket_.reset();
        const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
        dup2(null.get(), STDERR_FILENO);
    }

    Fd socket_;
    Fd signals_;
    ProcessId owner_;
    GridState state_;
};

/// Returns when it has ended.
void end_keeper(const GridState& state) {
    const ProcessId& keeper = state.keeper;
    const std::string name = fmt::format("process {}, the keeper of grid {},", keeper.pid, state.layout.id);
    const bool is_told = keeper.signal(SIGTERM);
    const int error = errno;
    if (!is_told && keeper.alive())
        throw MachineError(fmt::format("{} cannot be ended: {}", name, std::strerror(error)),
                           advice_after(error));
    for (int waited_ms = 0; waited_ms < kEndMs; waited_ms += 10) {
        if (!keeper.alive()) return;
        usleep(10'000);
    }
    throw MachineError(
        fmt::format("{} has not ended within {} s", name, kEndMs / 1000),
        fmt::format("kill -KILL {}, and laple-grid list clears what is left of the grid", keeper.pid));
}

}  // namespace

Grid::Grid(const Scenario& scenario, const EndSignals& signals) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        throw MachineError("no socket pair: " + errno_text(), "raise the limit of open files (ulimit -n)");
    }
    socket_.reset(ends[0]);
    Fd keeper_end(ends[1]);
    const ProcessId owner = ProcessId::self();
    keeper_ = fork_child(
        [&] {
            socket_.reset();
            return Keeper(std::move(keeper_end), owner).live(scenario);
        },
        0);
    keeper_end.reset();
    try {
        await_raised(signals);
    } catch (...) {
        take_down();
        throw;
    }
}

Grid::~Grid() {
    take_down();
}

void Grid::await_raised(const EndSignals& signals) {
    if (wait_readable({signals.fd(), socket_.get()}, -1) == 0) throw Interrupted{signals.next()->number};
    const std::string message = receive_message(socket_.get());
    if (message.rfind(kFailed, 0) == 0) {
        const std::string text = message.substr(kFailed.size());
        const auto split = text.rfind("; ");
        throw MachineError(text.substr(0, split), split == std::string::npos ? "" : text.substr(split + 2));
    }
    if (message.rfind(kRaised, 0) != 0)
        throw MachineError("the grid's keeper died", "look into the kernel's log");
    state_ = find_grid(message.substr(kRaised.size()));
}

void Grid::leave_standing() {
    send_message(socket_.get(), kStanding);
    if (receive_message(socket_.get()) != kStanding) {
        throw MachineError("the grid's keeper died", "look into the kernel's log");
    }
    socket_.reset();
    keeper_.release();
}

void Grid::take_down() {
    if (!keeper_.running()) return;
    socket_.reset();  // the keeper reads the end of it
    keeper_.wait();
    if (!state_.layout.id.empty()) living_grids();  // had the keeper been killed, this clears what it left
}

void take_down(const GridState& state) {
    end_keeper(state);
    living_grids();
}

void change_network(const GridState& state, const Change& change) {
    const std::string file = change_file(state);
    const std::string line = line_of(change);
    const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd && errno == EEXIST)
        throw Error(fmt::format("{}: {}", file, errno_text()),
                    "wait until the other laple-grid set is done; if there is none, remove the file");
    if (!fd) throw MachineError(fmt::format("{}: {}", file, errno_text()), advice_after(errno));
    if (::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw MachineError(fmt::format("{}: {}", file, errno_text()), "look for room on that disk");
    state.keeper.signal(SIGUSR2);
    for (int waited_ms = 0; waited_ms < kAnswerMs; waited_ms += 10) {
        if (access(file.c_str(), F_OK) != 0) return;
        usleep(10'000);
    }
    ::unlink(file.c_str());
    throw MachineError("the grid's keeper has not done it", "look with laple-grid list whether it lives");
}

std::string read_counters(const GridState& state) {
    const std::string file = counters_file(state);
    ::unlink(file.c_str());
    state.keeper.signal(SIGUSR1);
    for (int waited_ms = 0; waited_ms < kAnswerMs; waited_ms += 10) {
        if (access(file.c_str(), R_OK) == 0) return read_file(file);
        usleep(10'000);
    }
    return "the grid's keeper does not answer\n";
}

}  // namespace laple::grid
