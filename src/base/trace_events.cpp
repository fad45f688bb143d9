// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace_events.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace laple {
namespace {

// Viewers hide what takes no time.
constexpr double kShortest = 0.001;

double in_us(Seconds time) {
    return time.count() * 1e6;
}

std::string quoted(std::string_view text) {
    return json_text(text);
}

}  // namespace

/// `rest`: further members, with a comma before each.
void TraceEvents::add(std::string_view phase, std::string_view name, Place place, std::string_view rest) {
    fmt::format_to(std::back_inserter(events_), "{}{{\"ph\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{}{}}}",
                   events_.empty() ? "" : ",\n", phase, quoted(name), place.process, place.track, rest);
}

void TraceEvents::name_process(int process, std::string_view name, int order) {
    add("M", "process_name", {process, 0}, fmt::format(",\"args\":{{\"name\":{}}}", quoted(name)));
    add("M", "process_sort_index", {process, 0}, fmt::format(",\"args\":{{\"sort_index\":{}}}", order));
}

void TraceEvents::name_track(Place place, std::string_view name) {
    add("M", "thread_name", place, fmt::format(",\"args\":{{\"name\":{}}}", quoted(name)));
    add("M", "thread_sort_index", place, fmt::format(",\"args\":{{\"sort_index\":{}}}", place.track));
}

void TraceEvents::slice(Place place, std::string_view name, Seconds begin, Seconds end, const Json& args) {
    add("X", name, place,
        fmt::format(",\"ts\":{:.3f},\"dur\":{:.3f}{}", in_us(begin), std::max(in_us(end - begin), kShortest),
                    args.is_null() ? "" : ",\"args\":" + json_text(args)));
}

void TraceEvents::arrow(Place from, Seconds begin, Place to, Seconds end) {
    const std::uint64_t number = arrows_++;
    add("s", "message", from,
        fmt::format(",\"cat\":\"message\",\"id\":{},\"ts\":{:.3f}", number, in_us(begin)));
    add("f", "message", to,
        fmt::format(",\"cat\":\"message\",\"id\":{},\"ts\":{:.3f},\"bp\":\"e\"", number, in_us(end)));
}

void TraceEvents::counter(int process, std::string_view name, Seconds time, const Json& values) {
    add("C", name, {process, 0}, fmt::format(",\"ts\":{:.3f},\"args\":{}", in_us(time), json_text(values)));
}

std::string TraceEvents::text(const Json& about) const {
    return fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\n\"traceEvents\":[\n{}\n]}}\n",
                       about.is_null() ? "{}" : json_text(about), events_);
}

int SideBySide::take(Seconds begin, Seconds end) {
    auto track = std::find_if(free_from_.begin(), free_from_.end(),
                              [&](Seconds free_from) { return free_from <= begin; });
    if (track == free_from_.end()) track = free_from_.insert(free_from_.end(), begin);
    *track = end;
    return static_cast<int>(track - free_from_.begin());
}

}  // namespace laple
