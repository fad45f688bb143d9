// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"

namespace laple {

/// Writes a timeline for ui.perfetto.dev and chrome://tracing, in the JSON form of the Trace Event Format.
/// Processes, and tracks in them, have numbers; slices of one track must not overlap but for being inside
/// each other. Times are of one clock, in any order.
class TraceEvents {
  public:
    struct Place {
        int process = 0;
        int track = 0;
    };

    /// Processes are shown in ascending `order`, and tracks of one process likewise.
    void name_process(int process, std::string_view name, int order);
    void name_track(Place place, std::string_view name);

    /// `args`: an object, shown for the slice.
    void slice(Place place, std::string_view name, Seconds begin, Seconds end, const Json& args = Json());
    /// From one slice to another, each of which holds its instant.
    void arrow(Place from, Seconds begin, Place to, Seconds end);
    /// What `values`, an object of numbers, are from `time` on.
    void counter(int process, std::string_view name, Seconds time, const Json& values);

    /// The whole file. `about`: what else it tells of itself, an object.
    std::string text(const Json& about) const;

  private:
    void add(std::string_view phase, std::string_view name, Place place, std::string_view rest);

    std::string events_;
    std::uint64_t arrows_ = 0;
};

/// Tracks beside each other, for what may go on at the same time.
class SideBySide {
  public:
    /// The first track that is free at `begin`, from 0; it is taken until `end`. To be called in the order of
    /// `begin`.
    int take(Seconds begin, Seconds end);
    int count() const { return static_cast<int>(free_from_.size()); }

  private:
    std::vector<Seconds> free_from_;
};

}  // namespace laple
