// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "topology/survey.hpp"

namespace laple {

/// A survey that remembers what was measured, so that an interrupted one can be taken up again: pairs that
/// are known already are answered from memory and not asked for.
class RememberedSurvey final : public Survey {
  public:
    using Latencies = std::map<std::pair<int, int>, Seconds>;  // a < b

    /// `known` from an earlier run over the same nodes.
    explicit RememberedSurvey(std::unique_ptr<Survey> survey, Latencies known = {});

    std::vector<ProbeRound> next() override;
    void add(const PairLatency& measured) override;
    Findings findings() const override { return survey_->findings(); }
    bool is_usable() const override { return survey_->is_usable(); }

    /// All that is known now.
    const Latencies& known() const { return known_; }

  private:
    std::unique_ptr<Survey> survey_;
    Latencies before_;
    Latencies known_;
};

}  // namespace laple
