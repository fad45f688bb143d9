// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/units.hpp"

namespace laple {

/// Which bits a reduction has whose operation rounds: they depend on the order in which values are combined.
enum class Reproducible {
    fast,    ///< any
    stable,  ///< the same on all ranks, and from run to run while topology, model and settings are the same
    strict,  ///< those of one tree over the ranks, whatever the topology
};

/// What a rank's settings are; told to the others where they decide what to send.
struct Settings {
    static constexpr int kAutomatic = -1;    ///< what is measured decides
    static constexpr int kMostStreams = 16;  ///< connections of a pair

    bool is_disabled = false;             ///< LAPLE_DISABLE
    std::string topology;                 ///< LAPLE_TOPOLOGY: a file, "off", or "" for auto
    std::string model;                    ///< LAPLE_MODEL: a file, or ""
    double probe_budget = 2;              ///< LAPLE_PROBE_BUDGET: seconds
    int streams = kAutomatic;             ///< LAPLE_STREAMS: connections of a pair; 0: none
    std::string stream_interface;         ///< LAPLE_STREAM_INTERFACE: its name, or ""
    std::uint16_t first_stream_port = 0;  ///< LAPLE_STREAM_PORTS; 0: any
    std::uint16_t last_stream_port = 0;
    Bytes shared_memory = 64u << 20;                   ///< LAPLE_SHARED_MEMORY: bytes of a host
    Bytes block_memory = 64u << 20;                    ///< LAPLE_BLOCK_MEMORY: bytes of a rank
    std::string algorithm;                             ///< LAPLE_ALGORITHM, not parsed here
    Reproducible reproducible = Reproducible::stable;  ///< LAPLE_REPRODUCIBLE
    bool adapts = true;                                ///< LAPLE_ADAPT
    bool verify = false;                               ///< LAPLE_VERIFY
    bool heeds_pcontrol = false;                       ///< LAPLE_PCONTROL
    bool has_progress_thread = false;                  ///< LAPLE_PROGRESS=thread
    int debug = 0;                                     ///< LAPLE_DEBUG: 0 silent, 1 set-up, 2 every plan
    bool is_profile = false;                           ///< LAPLE_PROFILE
    std::string profile_file;                          ///< LAPLE_PROFILE: "" none, else for programs to read
    std::string trace;                                 ///< LAPLE_TRACE: "" none, else a file
    std::string report;                                ///< LAPLE_REPORT: "" none, "-" stderr, else a file

    bool operator==(const Settings&) const = default;

    bool is_topology_off() const { return topology == "off"; }
    /// The file that says who is near whom, if one does.
    const std::string& topology_file() const { return topology.empty() ? model : topology; }
    bool has_topology_file() const { return !topology_file().empty() && !is_topology_off(); }
    /// Whether the file of LAPLE_MODEL gives rates only: LAPLE_TOPOLOGY says who is near whom.
    bool has_rates_file() const { return has_topology_file() && !topology.empty() && !model.empty(); }
};

/// One row of THE table of settings, from which the parser, the help texts and docs/settings.md come.
struct SettingRow {
    std::string_view name;      ///< LAPLE_…
    std::string_view fallback;  ///< its value when it is not given
    std::string_view accepted;  ///< what may be given
    std::string_view meaning;   ///< one sentence
};

std::span<const SettingRow> all_settings();

/// Gives a setting `value`, as text; "" stands for its fallback. What is wrong, and what to do, goes to
/// `problem`, an unknown name with the nearest one. Whether the setting has that value now: else it keeps the
/// one that it had.
bool apply_setting(std::string_view name, const std::string& value, Settings& settings, std::string& problem);

/// The table of docs/settings.md, in Markdown.
std::string settings_table();

}  // namespace laple
