// SPDX-License-Identifier: BSD-3-Clause
#include "grid/process.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "grid/machine_error.hpp"

namespace laple::grid {
namespace {

bool verbose_talk = false;

// glibc 2.36 has wrappers of these, older ones have not.
int open_pidfd(pid_t pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}
int signal_pidfd(int fd, int number) {
    return static_cast<int>(syscall(SYS_pidfd_send_signal, fd, number, nullptr, 0));
}

/// Those that we have not been told to ignore (as nohup does, and a shell for what it runs in the
/// background).
sigset_t end_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        struct sigaction action {};
        sigaction(number, nullptr, &action);
        if (action.sa_handler != SIG_IGN) sigaddset(&set, number);
    }
    return set;
}

void restore_signals() {
    signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

void feed(Fd to, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t written = ::write(to.get(), text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return;  // the command ended early; its status tells
        done += static_cast<std::size_t>(written);
    }
}

std::string drain(int from) {
    std::string text;
    std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t got = ::read(from, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

std::pair<Fd, Fd> make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        throw MachineError("no pipe: " + errno_text(), "raise the limit of open files (ulimit -n)");
    }
    return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

bool write_file(const std::string& file, const std::string& text) {
    const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

ProcessId ProcessId::of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::ostringstream content;
    content << file.rdbuf();
    const std::string stat = content.str();
    // The name is in parentheses and may hold anything, so that fields count from the last one.
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos) return {pid, 0};
    std::istringstream fields(stat.substr(name_end + 1));
    std::string state;
    fields >> state;
    if (state == "Z" || state == "X") return {pid, 0};
    std::string skipped;
    for (int i = 0; i < 18; ++i) fields >> skipped;
    ProcessId id{pid, 0};
    fields >> id.start;
    return id;
}

ProcessId ProcessId::self() {
    return of(getpid());
}

bool ProcessId::alive() const {
    return start != 0 && of(pid).start == start;
}

bool ProcessId::signal(int number) const {
    const Fd handle(open_pidfd(pid));
    // Looked at after the handle is there: from now on it cannot come to mean another process.
    return handle && alive() && signal_pidfd(handle.get(), number) == 0;
}

Json to_json(const ProcessId& process) {
    return {{"pid", process.pid}, {"start", process.start}};
}

ProcessId process_from_json(const Json& json) {
    return {json.at("pid").get<pid_t>(), json.at("start").get<unsigned long long>()};
}

Child::Child(pid_t pid) : pid_(pid), pidfd_(open_pidfd(pid)) {}

Child& Child::operator=(Child&& other) noexcept {
    if (this != &other) {
        if (running()) {
            signal(SIGKILL);
            wait();
        }
        pid_ = std::move(other.pid_);
        pidfd_ = std::move(other.pidfd_);
    }
    return *this;
}

Child::~Child() {
    if (!running()) return;
    signal(SIGKILL);
    wait();
}

void Child::signal(int number) const {
    if (running()) kill(pid_.value, number);  // ours and not yet waited for: the number is still its own
}

int Child::wait() {
    int status = 0;
    while (waitpid(pid_.value, &status, 0) < 0 && errno == EINTR) continue;
    pid_.value = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kExitSignal + WTERMSIG(status);
}

bool Child::ended_within(int milliseconds) const {
    return wait_readable({pidfd()}, milliseconds) == 0;
}

Child fork_child(const std::function<int()>& body, int death_signal) {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        throw MachineError("no new process: " + errno_text(), "raise the limit of processes (ulimit -u)");
    if (pid > 0) return Child(pid);
    restore_signals();
    if (death_signal != 0) {
        prctl(PR_SET_PDEATHSIG, death_signal);
        if (getppid() != parent) _exit(127);
    }
    int status = 127;
    try {
        status = body();
    } catch (const std::exception& e) {
        say(e.what());
    }
    _exit(status);
}

int execute(const Arguments& arguments) {
    std::vector<char*> words;
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    return 127;
}

CommandResult run_command(const Arguments& arguments, const std::string& input, int netns_fd) {
    explain(quote(arguments) + (input.empty() ? "" : " <<EOF\n" + input + "EOF"));
    auto [input_read, input_write] = make_pipe();
    auto [output_read, output_write] = make_pipe();
    Child child = fork_child(
        [&, in = input_read.get(), out = output_write.get()] {
            if (netns_fd >= 0 && setns(netns_fd, CLONE_NEWNET) != 0) return 126;
            dup2(in, STDIN_FILENO);
            dup2(out, STDOUT_FILENO);
            dup2(out, STDERR_FILENO);
            execute(arguments);
            fmt::print(stderr, "{}: {}\n", arguments[0], errno_text());
            return 127;
        },
        0);
    input_read.reset();
    output_write.reset();
    feed(std::move(input_write), input);
    CommandResult result;
    result.output = drain(output_read.get());
    result.status = child.wait();
    return result;
}

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
    const char* path = getenv("PATH");
    // The system's directories last: an ordinary user's path often leaves out the sbin in which ip and tc
    // live.
    std::istringstream directories(std::string(path != nullptr ? path : "") +
                                   ":/usr/sbin:/sbin:/usr/bin:/bin");
    for (std::string directory; std::getline(directories, directory, ':');) {
        std::string file = directory;
        file.append("/").append(name);
        if (!directory.empty() && access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) {
            return file;
        }
    }
    return "";
}

std::string program_directory() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

EndSignals::EndSignals() {
    const sigset_t set = end_signals();
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
    fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<EndSignals::Received> EndSignals::next() const {
    signalfd_siginfo info;
    if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
    return Received{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

int wait_readable(std::initializer_list<int> fds, int timeout_ms) {
    std::vector<pollfd> polled;
    for (const int fd : fds) polled.push_back({fd, POLLIN, 0});
    int ready = 0;
    do {
        ready = poll(polled.data(), polled.size(), timeout_ms);
    } while (ready < 0 && errno == EINTR);
    for (std::size_t i = 0; i < polled.size(); ++i) {
        if (polled[i].revents != 0) return static_cast<int>(i);
    }
    return -1;
}

void set_verbose(bool verbose) {
    verbose_talk = verbose;
}
bool is_verbose() {
    return verbose_talk;
}
void say(const std::string& text) {
    fmt::print(stderr, "laple-grid: {}\n", text);
}
void explain(const std::string& text) {
    if (verbose_talk) say(text);
}

std::string quote(const std::string& word) {
    const bool plain = word.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "-_./:=,+@%") == std::string::npos;
    if (plain && !word.empty()) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string quote(const Arguments& words) {
    std::string line;
    for (const std::string& word : words) line += fmt::format("{}{}", line.empty() ? "" : " ", quote(word));
    return line;
}

}  // namespace laple::grid
