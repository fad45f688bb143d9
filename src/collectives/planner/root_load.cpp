// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/root_load.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "collectives/schedule/schedule.hpp"

namespace laple {
namespace {

constexpr Bytes kShort = 8 * 1024;
constexpr double kGain = 0.8;  // of the time of MPI's own
constexpr double kSlower = 2;  // than the fastest: no matter
constexpr int kBinomials = 2;

int binomial_messages(const Machine& machine) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(machine.host_count() - 1)));
}

int messages_of_root(const Algorithm& algorithm, const Request& request, const Machine& machine) {
    const Host here = machine.host_of(request.root);
    const Schedule schedule = expand(algorithm, {request, machine, {}, request.root});
    return static_cast<int>(std::count_if(
        schedule.steps.begin(), schedule.steps.end(),
        [&](const Step& step) { return step.is_message() && machine.host_of(step.peer) != here; }));
}

}  // namespace

void look_at_roots(const Request& request, const Machine& machine,
                   const std::function<bool(const Algorithm&)>& may_use, std::vector<Candidate>& found) {
    const bool is_short = row_of(request.collective).is_rooted && is_one_message(request.collective) &&
                          request.bytes() <= kShort;
    if (!is_short || machine.host_count() < 2 || found.empty()) return;
    double native = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : found) {
        if (candidate.algorithm->is_native() && may_use(*candidate.algorithm)) native = candidate.seconds;
    }
    const double fastest = found.front().seconds;
    const int few = binomial_messages(machine);
    for (Candidate& candidate : found) {
        if (candidate.algorithm->is_native() || candidate.algorithm->is_native_in_clusters()) {
            candidate.root_messages = few;
        } else if (candidate.seconds <= kSlower * fastest) {
            candidate.root_messages = messages_of_root(*candidate.algorithm, request, machine);
        }
    }
    std::erase_if(found, [&](const Candidate& candidate) {
        return candidate.root_messages > kBinomials * few && candidate.seconds > kGain * native;
    });
}

}  // namespace laple
