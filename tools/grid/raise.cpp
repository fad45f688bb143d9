// SPDX-License-Identifier: BSD-3-Clause
#include "grid/raise.hpp"

#include <fmt/format.h>

#include "grid/machine_error.hpp"
#include "grid/netns.hpp"
#include "grid/process.hpp"

namespace laple::grid {
namespace {

void run_batch(const std::string& tool, const std::string& commands, const std::string& netns) {
    const std::string program = find_program(tool);
    if (program.empty()) throw MachineError(tool + " is not there", "install iproute2");
    const Fd inside = open_netns(netns);
    explain("in " + netns + ":");
    const CommandResult result = run_command({program, "-batch", "-"}, commands, inside.get());
    if (result.status != 0) {
        throw MachineError(fmt::format("{} failed in {}: {}", tool, netns, result.output),
                           "see laple-grid doctor, or repeat with --verbose");
    }
}

}  // namespace

void raise_namespaces(const Scenario& scenario, const GridLayout& layout,
                      const std::function<void()>& check) {
    create_netns(layout.netns_names());
    for (std::size_t s = 0; s < layout.sites.size(); ++s) {
        const SiteLayout& site = layout.sites[s];
        check();
        run_batch("ip", site_ip_commands(scenario, layout, s), site.netns);
        run_batch("tc", site_tc_commands(scenario, s), site.netns);
        for (const HostLayout& host : site.hosts) {
            check();
            run_batch("ip", host_ip_commands(scenario, site, host), host.netns);
            run_batch("tc", host_tc_commands(scenario, s), host.netns);
        }
    }
}

}  // namespace laple::grid
