// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/known_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "collectives/algorithms/native.hpp"
#include "collectives/planner/planner.hpp"

namespace laple {
namespace {

constexpr std::size_t kMostKept = 300;

auto kind_of(const CallTime& call) {
    return std::tie(call.collective, call.bytes, call.root);
}

CallTime call_of(const Request& request) {
    CallTime call;
    call.collective = name_of(request.collective);
    call.bytes = size_class_of(request.bytes());
    call.root = row_of(request.collective).is_rooted ? request.root : 0;
    return call;
}

}  // namespace

KnownCalls::KnownCalls(const Request& request, const JobTimes& job, int ranks) {
    if (job.ranks != ranks || !request.counts.are_equal()) return;
    const CallTime wanted = call_of(request);
    for (const CallTime& call : job.calls) {
        if (kind_of(call) == kind_of(wanted)) calls_.push_back(&call);
    }
}

const Candidate* KnownCalls::best_of(const std::vector<Candidate>& found,
                                     const std::function<bool(const Algorithm&)>& may_use) const {
    for (const CallTime* call : calls_) {
        for (const Candidate& candidate : found) {
            if (candidate.algorithm->name() == call->algorithm && may_use(*candidate.algorithm))
                return &candidate;
        }
    }
    return nullptr;
}

bool KnownCalls::is_of_native_alone() const {
    return std::all_of(calls_.begin(), calls_.end(),
                       [](const CallTime* call) { return call->algorithm == native()->name(); });
}

const CallTime* KnownCalls::of(const Algorithm& algorithm) const {
    const auto call = std::find_if(calls_.begin(), calls_.end(), [&](const CallTime* known) {
        return known->algorithm == algorithm.name();
    });
    return call != calls_.end() ? *call : nullptr;
}

std::vector<CallTime> calls_by_trial(const std::vector<Plan>& plans, const Trials& trials) {
    std::vector<CallTime> calls;
    if (!plans.front().request.counts.are_equal()) return calls;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        CallTime call = call_of(plans[i].request);
        call.algorithm = plans[i].name();
        call.predicted = trials.predicted(i);
        call.times = trials.times_of(i);
        if (!call.times.empty()) calls.push_back(std::move(call));
    }
    // Of one plan that was compared with none they would make later jobs keep it, whatever they measure.
    if (calls.size() == 1 && calls.front().algorithm != native()->name()) calls.clear();
    const std::string best = plans[trials.best()].name();
    std::stable_sort(calls.begin(), calls.end(), [&](const CallTime& a, const CallTime& b) {
        const bool is_a_best = a.algorithm == best;
        return is_a_best != (b.algorithm == best) ? is_a_best : usual_time(a) < usual_time(b);
    });
    return calls;
}

void add_calls(const std::vector<CallTime>& anew, std::vector<CallTime>& known) {
    std::vector<CallTime> all;
    const auto place_of = [&](const CallTime& call) {
        return std::find_if(all.begin(), all.end(), [&](const CallTime& other) {
            return kind_of(other) == kind_of(call) && other.algorithm == call.algorithm;
        });
    };
    for (const CallTime& call : anew) {
        if (place_of(call) == all.end()) all.push_back(call);
    }
    for (const CallTime& call : known) {
        const auto place = place_of(call);
        if (place == all.end()) {
            all.push_back(call);
        } else {
            place->predicted = call.predicted;  // what the later job expected was measured by an earlier one
        }
    }
    all.resize(std::min(all.size(), kMostKept));
    known = std::move(all);
}

void gather_calls(const std::vector<CallTime>& others, std::vector<CallTime>& calls) {
    std::map<std::tuple<std::string, Bytes, int>, std::pair<std::size_t, std::size_t>> timed;
    for (const CallTime& call : others) timed[kind_of(call)].first += call.times.size();
    for (const CallTime& call : calls) timed[kind_of(call)].second += call.times.size();
    std::vector<CallTime> better;
    for (const CallTime& call : others) {
        const auto& [here, there] = timed[kind_of(call)];
        if (here > there) better.push_back(call);
    }
    add_calls(better, calls);
}

}  // namespace laple
