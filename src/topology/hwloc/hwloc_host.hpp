// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topology/node.hpp"

struct hwloc_topology;

namespace laple {

/// The inside of a host, as hwloc sees it. Owns hwloc's topology.
class HwlocHost {
  public:
    /// This host, or what HWLOC_XMLFILE or HWLOC_SYNTHETIC name instead. These, like the function's siblings,
    /// throw Error when hwloc cannot do it.
    static HwlocHost live();
    /// What lstopo --of xml wrote.
    static HwlocHost from_xml(const std::string& file);
    /// A description like "package:2 l3:2 core:4 pu:1".
    static HwlocHost synthetic(const std::string& description);

    /// Where what may run on `pus`, processors by the numbers of the operating system, runs. kNoPart
    /// throughout for no processors, and for processors that the host does not have.
    Placement placement_of(const std::vector<int>& pus) const;

    /// How many parts of each kind there are, the largest first: "1 Machine, 2 Package, 4 L3, 8 Core, 16 PU,
    /// 2 NUMANode".
    std::string describe() const;

  private:
    struct Destroy {
        void operator()(hwloc_topology* topology) const;
    };
    using Handle = std::unique_ptr<hwloc_topology, Destroy>;

    explicit HwlocHost(Handle topology);
    static Handle make();
    static HwlocHost load(Handle topology, const std::string& what);

    Handle topology_;
};

}  // namespace laple
