// SPDX-License-Identifier: BSD-3-Clause
#include "grid/doctor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>

#include "grid/job.hpp"
#include "grid/machine_error.hpp"
#include "grid/netns.hpp"
#include "grid/process.hpp"

namespace laple::grid {
namespace {

/// A network namespace without a name: it ends with the descriptor.
Fd make_scratch_netns() {
    const InNetns home("");
    return unshare(CLONE_NEWNET) == 0 ? open_netns("") : Fd();
}

Finding find_tool(const std::string& name, const std::string& package) {
    const std::string file = find_program(name);
    return {"command " + name, !file.empty(), true, file.empty() ? "missing; install " + package : file};
}

Finding try_command(const std::string& what, const Arguments& command, const Fd& netns,
                    const std::string& advice) {
    const CommandResult result = run_command(command, "", netns.get());
    std::string output = result.output.substr(0, result.output.find('\n'));
    return {what, result.status == 0, true, result.status == 0 ? "works" : output + "; " + advice};
}

Finding find_directory() {
    const bool writable = access("/run", W_OK) == 0;
    return {"directory /run", writable, true, writable ? "writable" : "not writable; run as root"};
}

void try_devices(std::vector<Finding>& findings, const Fd& netns) {
    const std::string ip = find_program("ip");
    const std::string tc = find_program("tc");
    findings.push_back(try_command("veth", {ip, "link", "add", "v0", "type", "veth", "peer", "name", "v1"},
                                   netns, "modprobe veth"));
    findings.push_back(try_command("gso_max_size", {ip, "link", "set", "v0", "gso_max_size", "32768"}, netns,
                                   "install an iproute2 that has it (4.16 or later)"));
    findings.push_back(
        try_command("bridge", {ip, "link", "add", "b0", "type", "bridge"}, netns, "modprobe bridge"));
    findings.push_back(try_command("tbf",
                                   {tc, "qdisc", "add", "dev", "v0", "root", "tbf", "rate", "100mbit",
                                    "burst", "128kb", "limit", "4000000"},
                                   netns, "modprobe sch_tbf"));
    findings.push_back(try_command(
        "tun", {ip, "tuntap", "add", "dev", "wan0", "mode", "tun", "vnet_hdr"}, netns,
        "be root, or modprobe tun; /dev/net/tun must be there and yours to open: mkdir -p /dev/net && mknod "
        "/dev/net/tun c 10 200 && chmod 666 /dev/net/tun"));
}

Finding try_priority() {
    Child child = fork_child(
        [] {
            sched_param parameter{};
            parameter.sched_priority = 1;
            return sched_setscheduler(0, SCHED_FIFO, &parameter) == 0 ? 0 : 1;
        },
        0);
    const bool ok = child.wait() == 0;
    return {"SCHED_FIFO", ok, false, ok ? "permitted" : "refused; delays will be uneven while ranks compute"};
}

Finding find_mpiexec() {
    Job job;
    job.program = {"true"};
    try {
        check_job(job);
        return {"mpiexec", true, false, job.mpiexec};
    } catch (const Error& e) {
        return {"mpiexec", false, false, e.what()};
    }
}

Finding find_yield_library() {
    const std::string file = yield_library();
    return {"liblaple_yield.so", !file.empty(), false,
            file.empty() ? "missing; install LaPle completely" : file};
}

}  // namespace

std::vector<Finding> examine_machine() {
    std::vector<Finding> findings{find_tool("ip", "iproute2"), find_tool("tc", "iproute2"), find_directory()};
    const Fd netns = make_scratch_netns();
    findings.push_back({"network namespaces", static_cast<bool>(netns), true,
                        netns ? std::string("work")
                              : "refused: " + errno_text() +
                                    "; run as root, in a container with --privileged (or the capabilities "
                                    "SYS_ADMIN and NET_ADMIN)"});
    if (netns && findings[0].ok && findings[1].ok) try_devices(findings, netns);
    findings.push_back(try_priority());
    findings.push_back(find_mpiexec());
    findings.push_back(find_yield_library());
    return findings;
}

void require_machine() {
    std::string missing;
    for (const Finding& finding : examine_machine()) {
        if (!finding.ok && finding.required)
            missing += fmt::format("\n  {}: {}", finding.what, finding.detail);
    }
    if (!missing.empty()) {
        throw MachineError("this machine cannot raise a grid", "what is missing, and what to do:" + missing);
    }
}

void become_root_in_user_namespace() {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (user == 0) return;
    const bool mapped = unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) == 0 &&
                        write_file("/proc/self/setgroups", "deny") &&
                        write_file("/proc/self/gid_map", fmt::format("0 {} 1", group)) &&
                        write_file("/proc/self/uid_map", fmt::format("0 {} 1", user));
    // A /run of our own, for the machine's belongs to the machine's root.
    const bool mounted = mapped && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("laple-grid", "/run", "tmpfs", MS_NOSUID | MS_NODEV, nullptr) == 0;
    if (!mounted) {
        throw MachineError("an ordinary user cannot make namespaces here: " + errno_text(),
                           "run laple-grid as root, or set user.max_user_namespaces (and, on Debian, "
                           "kernel.unprivileged_userns_clone) to allow it");
    }
    explain("not root: working in a user namespace");
}

}  // namespace laple::grid
