// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/json.hpp"
#include "grid/fd.hpp"

namespace laple::grid {

using Arguments = std::vector<std::string>;

/// A process by number and start time: unlike the number alone this never names another process later.
struct ProcessId {
    pid_t pid = 0;
    unsigned long long start = 0;  ///< clock ticks since boot

    static ProcessId of(pid_t pid);  ///< start is 0 when there is no such process
    static ProcessId self();
    bool alive() const;  ///< a zombie is not
    /// Sends a signal to this process and to no other. False when it is gone.
    bool signal(int number) const;
};

Json to_json(const ProcessId& process);
ProcessId process_from_json(const Json& json);

/// A child process; killed and reaped by the destructor when nobody waited for it.
class Child {
  public:
    Child() = default;
    explicit Child(pid_t pid);
    Child(Child&& other) noexcept = default;
    Child& operator=(Child&& other) noexcept;
    ~Child();

    pid_t pid() const { return pid_.value; }
    int pidfd() const { return pidfd_.get(); }  ///< readable when the child has ended
    bool running() const { return pid_.value > 0; }
    void signal(int number) const;
    int wait();  ///< exit status, or 128 + signal
    bool ended_within(int milliseconds) const;
    void release() { pid_.value = 0; }  ///< lets it live on

  private:
    struct Pid {
        pid_t value = 0;
        Pid() = default;
        explicit Pid(pid_t pid) : value(pid) {}
        Pid(Pid&& other) noexcept : value(std::exchange(other.value, 0)) {}
        Pid& operator=(Pid&& other) noexcept {
            value = std::exchange(other.value, 0);
            return *this;
        }
    };
    Pid pid_;
    Fd pidfd_;
};

/// Forks; the child runs `body` with default signals and exits with what it returns (127 when it throws).
/// The child gets `death_signal` (0: none) when this process ends.
Child fork_child(const std::function<int()>& body, int death_signal);

/// Replaces this process. Returns only when that fails: 127, errno tells why.
int execute(const Arguments& arguments);

struct CommandResult {
    int status = 0;
    std::string output;  ///< stdout and stderr
};

/// Runs a command with `input` on its stdin, in the network namespace `netns_fd` (-1: this one).
CommandResult run_command(const Arguments& arguments, const std::string& input, int netns_fd = -1);

/// The file in $PATH, or "".
std::string find_program(const std::string& name);

/// The directory of the running program.
std::string program_directory();

/// Signals that end laple-grid in good order, blocked in this process and read from a descriptor.
class EndSignals {
  public:
    struct Received {
        int number = 0;
        bool from_terminal = false;  ///< then the job has had it as well
    };

    EndSignals();
    int fd() const { return fd_.get(); }
    std::optional<Received> next() const;

  private:
    Fd fd_;
};

/// Waits until one of the descriptors is readable: its index, or -1 after the timeout (-1 ms: none).
int wait_readable(std::initializer_list<int> fds, int timeout_ms);

/// With --verbose: says on stderr what is done.
void set_verbose(bool verbose);
bool is_verbose();
void say(const std::string& text);      ///< always
void explain(const std::string& text);  ///< with --verbose only

/// As a shell would have to be given it.
std::string quote(const std::string& word);
std::string quote(const Arguments& words);

}  // namespace laple::grid
