// SPDX-License-Identifier: BSD-3-Clause
#include "topology/remembered_survey.hpp"

#include <algorithm>

namespace laple {
namespace {

std::pair<int, int> in_order(const NodePair& pair) {
    return std::minmax(pair.a, pair.b);
}

}  // namespace

RememberedSurvey::RememberedSurvey(std::unique_ptr<Survey> survey, Latencies known)
    : survey_(std::move(survey)), before_(known), known_(std::move(known)) {}

std::vector<ProbeRound> RememberedSurvey::next() {
    while (true) {
        std::vector<ProbeRound> rounds = survey_->next();
        if (rounds.empty()) return rounds;
        take_out(rounds, [&](const NodePair& pair) {
            const auto found = before_.find(in_order(pair));
            if (found == before_.end()) return false;
            survey_->add({pair, found->second});
            before_.erase(found);  // asked for once more, it is in doubt, and measured again
            return true;
        });
        if (!rounds.empty()) return rounds;
    }
}

void RememberedSurvey::add(const PairLatency& measured) {
    const auto [entry, is_new] = known_.try_emplace(in_order(measured.pair), measured.latency);
    if (!is_new) entry->second = std::min(entry->second, measured.latency);
    survey_->add(measured);
}

}  // namespace laple
