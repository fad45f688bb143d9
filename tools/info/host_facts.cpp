// SPDX-License-Identifier: BSD-3-Clause
#include "host_facts.hpp"

#include <array>
#include <exception>
#include <fstream>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "interfaces.hpp"
#include "topology/hwloc/hwloc_host.hpp"

namespace laple::info {
namespace {

std::string first_line(const std::string& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

/// "Debian GNU/Linux 12 (bookworm)".
std::string system_name() {
    constexpr std::string_view kName = "PRETTY_NAME=";
    std::ifstream stream("/etc/os-release");
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with(kName)) return line.substr(kName.size());
    }
    return "?";
}

std::string kernel_name() {
    utsname names{};
    if (uname(&names) != 0) return "?";
    return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

std::string inside() try { return HwlocHost::live().describe(); } catch (const std::exception& error) {
    return error.what();
}

std::string tcp_settings_text() {
    constexpr std::array<const char*, 9> kNames{"core/default_qdisc",
                                                "core/rmem_max",
                                                "core/wmem_max",
                                                "ipv4/tcp_congestion_control",
                                                "ipv4/tcp_available_congestion_control",
                                                "ipv4/tcp_rmem",
                                                "ipv4/tcp_wmem",
                                                "ipv4/tcp_slow_start_after_idle",
                                                "ipv4/tcp_mtu_probing"};
    std::string text;
    for (const char* name : kNames)
        text += fmt::format("  {:<40} {}\n", name, first_line(fmt::format("/proc/sys/net/{}", name)));
    return text;
}

/// "1000 Mbit/s"; "" where its driver does not tell.
std::string speed_of(const std::string& interface) {
    const std::string megabits = first_line(fmt::format("/sys/class/net/{}/speed", interface));
    return megabits.empty() || megabits.starts_with('-') ? "" : megabits + " Mbit/s";
}

std::string interfaces_text() {
    std::string text;
    for (const Interface& each : interfaces()) {
        text += fmt::format("  {:<16} {:<5} mtu {:<6} qdisc {:<12} {}\n", each.name,
                            each.is_up ? "up" : "down", each.mtu, each.queueing, speed_of(each.name));
    }
    return text;
}

}  // namespace

std::string host_facts() try {
    return fmt::format("kernel: {}\nsystem: {}\nhwloc: {}\nnet:\n{}interfaces:\n{}", kernel_name(),
                       system_name(), inside(), tcp_settings_text(), interfaces_text());
} catch (const std::exception& error) {
    return fmt::format("{}\n", error.what());
}

}  // namespace laple::info
