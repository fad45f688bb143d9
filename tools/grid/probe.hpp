// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "grid/fd.hpp"
#include "grid/layout.hpp"

namespace laple::grid {

/// A TCP connection between two hosts of a grid of which this process holds both ends.
class Connection {
  public:
    /// Throws MachineError when it cannot be made.
    Connection(const HostLayout& from, const HostLayout& to);

    /// Asks for a congestion control; false when the kernel has it not.
    bool use_congestion_control(const std::string& name);

    /// The median of some ping-pongs of one byte; nothing when no answer comes.
    std::optional<Seconds> round_trip() const;

    int sender() const { return sender_.get(); }
    int receiver() const { return receiver_.get(); }

  private:
    Fd sender_;
    Fd receiver_;
};

/// Sends over all connections at once for `settle` and then for `window`: the median rates at which data came
/// in during the window, in bits per second.
std::vector<double> measure_rates(const std::vector<const Connection*>& connections, Seconds settle,
                                  Seconds window);

}  // namespace laple::grid
