// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/units.hpp"
#include "plogp/link_survey.hpp"

namespace laple {

/// What of a flow's messages comes in two parts of its time, about the middle and near the end.
///
/// Over a slow link few messages arrive in a part, and it must not matter whether one of them arrives just
/// inside it: the bytes of each count as if they had arrived evenly since the message before it. A process
/// that had no core reads several messages at once; those count as one.
///
///     bytes │                       ╱
///           │                  ╱─ · message 3
///           │            ╱─ · message 2
///           │      ╱─ ·
///           └──────────┬──────────┬── time
///                       part
class FlowParts {
  public:
    /// Of a flow that lasts `duration` > 0.
    explicit FlowParts(Seconds duration) : duration_(duration) {}

    /// A message has come, so long after the flow's start. In their order.
    void add(Seconds time, Bytes bytes);
    FlowRate rates() const;

  private:
    Seconds duration_;
    Seconds since_{0};  ///< when those had come that were read before this group
    Seconds begin_{0};  ///< of the group
    Seconds last_{0};
    double early_ = 0;  ///< bytes
    double late_ = 0;
};

}  // namespace laple
