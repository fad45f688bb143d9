// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace laple {

/// How long a message of one size takes between the leaders of clusters, and how long each cluster needs
/// to pass it on inside: what a tree between clusters is planned from. All in seconds.
///
///     from ├── gap ──┤                 the next message of `from` may begin
///               └ latency ┐
///     to                  ├── local ──┤  all its ranks have it
///
/// (Barchet-Estefanel and Mounié, 2006: g_ij, L_ij and T_i of the message's size)
class ClusterTimes {
  public:
    explicit ClusterTimes(int count)
        : count_(static_cast<std::size_t>(count)),
          gap_(count_ * count_),
          latency_(count_ * count_),
          local_(count_) {}

    int count() const { return static_cast<int>(count_); }

    double gap(int from, int to) const { return gap_[at(from, to)]; }
    double latency(int from, int to) const { return latency_[at(from, to)]; }
    double local(int cluster) const { return local_[static_cast<std::size_t>(cluster)]; }
    /// From the start of a message until `to` has it.
    double trip(int from, int to) const { return gap_[at(from, to)] + latency_[at(from, to)]; }

    void set_gap(int from, int to, double seconds) { gap_[at(from, to)] = seconds; }
    void set_latency(int from, int to, double seconds) { latency_[at(from, to)] = seconds; }
    void set_local(int cluster, double seconds) { local_[static_cast<std::size_t>(cluster)] = seconds; }

    /// With every message going the other way: a reduction to `root` takes what a broadcast from it takes on
    /// these times. (docs/algorithms.md)
    ClusterTimes reversed() const;

  private:
    std::size_t at(int from, int to) const {
        return static_cast<std::size_t>(from) * count_ + static_cast<std::size_t>(to);
    }

    std::size_t count_;
    std::vector<double> gap_;
    std::vector<double> latency_;
    std::vector<double> local_;
};

/// One message from a leader that has it to one that does not.
struct Send {
    int from = 0;
    int to = 0;
    bool operator==(const Send&) const = default;
};

/// A broadcast between clusters: every cluster but the root receives once, none sends before it has received.
/// Each leader's messages leave in this order, without a pause.
using SendOrder = std::vector<Send>;

/// When a leader begins to pass the message on inside its cluster.
enum class LocalPhase {
    after_sends,  ///< when it has nothing more to send to others (model A)
    at_once,      ///< when it gets it: a sub-leader does that (model B)
};

/// When the last rank of the last cluster has the message. (Barchet-Estefanel and Mounié, 2006;
/// docs/algorithms.md)
double makespan(const ClusterTimes& times, const SendOrder& order, int root, LocalPhase phase);

}  // namespace laple
