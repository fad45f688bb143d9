// SPDX-License-Identifier: BSD-3-Clause
#include "grid/netns.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "grid/machine_error.hpp"
#include "grid/process.hpp"

namespace laple::grid {
namespace {

const std::string kDirectory = "/run/netns";
constexpr int kGraceMs = 500;
constexpr int kPollMs = 10;

/// A namespace is known by the device and inode of its file.
using NetnsKey = std::pair<dev_t, ino_t>;

NetnsKey key_of(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 ? NetnsKey{status.st_dev, status.st_ino} : NetnsKey{0, 0};
}

void create_one(const std::string& name) {
    const Fd file(::open(netns_path(name).c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
    if (!file) {
        throw MachineError(fmt::format("cannot create {}: {}", netns_path(name), errno_text()),
                           "run as root, with a writable /run");
    }
    if (unshare(CLONE_NEWNET) != 0) {
        throw MachineError("no new network namespace: " + errno_text(),
                           "run as root, or see laple-grid doctor");
    }
    for (const char* scope : {"all", "default"}) {  // absent where the kernel has no IPv6
        write_file(fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", scope), "1");
    }
    if (!write_file("/proc/sys/net/ipv4/ip_forward", "1")) {
        throw MachineError("cannot set net.ipv4.ip_forward: " + errno_text(), "make /proc/sys writable");
    }
    if (mount("/proc/self/ns/net", netns_path(name).c_str(), "none", MS_BIND, nullptr) != 0) {
        throw MachineError(fmt::format("cannot mount {}: {}", netns_path(name), errno_text()),
                           "run as root, or see laple-grid doctor");
    }
}

/// Processes of the namespaces, with their start times: those that still are in one when it has been read.
std::vector<ProcessId> processes_in(const std::set<NetnsKey>& namespaces) {
    std::vector<ProcessId> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const ProcessId process = ProcessId::of(static_cast<pid_t>(std::stol(name)));
        if (process.start == 0 || process.pid == getpid()) continue;
        if (namespaces.count(key_of(entry.path() / "ns/net")) != 0) found.push_back(process);
    }
    return found;
}

void end_processes(const std::set<NetnsKey>& namespaces) {
    // A killed process may have started another meanwhile; look again until there is none. Not for ever: one
    // that hangs in the kernel must not keep us.
    for (int waited_ms = 0; waited_ms < 10 * kGraceMs; waited_ms += kPollMs) {
        const auto processes = processes_in(namespaces);
        if (processes.empty()) return;
        for (const ProcessId& process : processes) {
            if (waited_ms == 0) {
                process.signal(SIGTERM);
                process.signal(SIGCONT);
            } else if (waited_ms >= kGraceMs) {
                process.signal(SIGKILL);
            }
        }
        usleep(kPollMs * 1000);
    }
}

}  // namespace

std::string netns_path(const std::string& name) {
    return kDirectory + "/" + name;
}

Fd open_netns(const std::string& name) {
    const std::string path = name.empty() ? "/proc/self/ns/net" : netns_path(name);
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        throw MachineError(fmt::format("cannot open {}: {}", path, errno_text()), "raise the grid again");
    return fd;
}

void create_netns(const std::vector<std::string>& names) {
    std::error_code error;
    std::filesystem::create_directories(kDirectory, error);
    const InNetns home("");  // whatever happens below, return
    for (const std::string& name : names) create_one(name);
}

void destroy_netns(const std::vector<std::string>& names) {
    const NetnsKey own = key_of("/proc/self/ns/net");
    std::set<NetnsKey> namespaces;
    for (const std::string& name : names) {
        const NetnsKey key = key_of(netns_path(name));
        // A file on which no namespace has been mounted yet is an ordinary file: no process has its key.
        if (key != NetnsKey{0, 0} && key != own) namespaces.insert(key);
    }
    if (!namespaces.empty()) end_processes(namespaces);
    for (const std::string& name : names) {
        umount2(netns_path(name).c_str(), MNT_DETACH);
        ::unlink(netns_path(name).c_str());
    }
}

InNetns::InNetns(const std::string& name) : home_(open_netns("")) {
    if (name.empty()) return;
    const Fd target = open_netns(name);
    if (setns(target.get(), CLONE_NEWNET) != 0) {
        throw MachineError(fmt::format("cannot enter namespace {}: {}", name, errno_text()), "run as root");
    }
}

InNetns::~InNetns() {
    setns(home_.get(), CLONE_NEWNET);
}

void become_host(const std::string& netns, const std::string& host_name, const std::string& hosts_file) {
    const Fd target = open_netns(netns);
    const bool moved = setns(target.get(), CLONE_NEWNET) == 0 && unshare(CLONE_NEWUTS | CLONE_NEWNS) == 0 &&
                       sethostname(host_name.c_str(), host_name.size()) == 0;
    // UCX looks for network devices in /sys, which shows those of the namespace it was mounted in.
    const bool sees_devices = moved && mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
                              mount("sysfs", "/sys", "sysfs", 0, nullptr) == 0;
    if (!sees_devices) {
        throw MachineError(fmt::format("cannot become host {}: {}", host_name, errno_text()), "run as root");
    }
    // Who looks up a name shall not wait for a name server that cannot be reached from here.
    if (mount(hosts_file.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0) {
        explain("cannot replace /etc/hosts: " + errno_text());
    }
}

}  // namespace laple::grid
