// SPDX-License-Identifier: BSD-3-Clause
#include "topology/hwloc/hwloc_host.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <hwloc.h>

#include "base/error.hpp"

namespace laple {
namespace {

struct FreeBitmap {
    void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Error failure(const std::string& what, const std::string& advice) {
    return {fmt::format("hwloc cannot {} ({})", what, std::strerror(errno)), advice};
}

Bitmap bitmap_of(const std::vector<int>& pus) {
    Bitmap bitmap(hwloc_bitmap_alloc());
    if (bitmap == nullptr) throw failure("allocate a set of processors", "free some memory");
    for (const int pu : pus) {
        if (hwloc_bitmap_set(bitmap.get(), static_cast<unsigned>(pu)) != 0)
            throw failure("extend a set of processors", "free some memory");
    }
    return bitmap;
}

/// The number of the first object of `type` that has all of `pus`. Several may: NUMA nodes of fast and of
/// slow memory beside the same processors.
int part_with(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_bitmap_t pus) {
    for (hwloc_obj_t part = hwloc_get_next_obj_by_type(topology, type, nullptr); part != nullptr;
         part = hwloc_get_next_obj_by_type(topology, type, part)) {
        if (hwloc_bitmap_isincluded(pus, part->cpuset) != 0) return static_cast<int>(part->logical_index);
    }
    return kNoPart;
}

}  // namespace

void HwlocHost::Destroy::operator()(hwloc_topology* topology) const {
    hwloc_topology_destroy(topology);
}

HwlocHost::HwlocHost(Handle topology) : topology_(std::move(topology)) {}

HwlocHost::Handle HwlocHost::make() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) throw failure("be started", "free some memory");
    Handle handle(topology);
    // Ranks of one host may be confined to processors of which another rank, which asks for them, has none.
    if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0)
        throw failure("look at all processors", "use hwloc 2");
    return handle;
}

HwlocHost HwlocHost::load(Handle topology, const std::string& what) {
    if (hwloc_topology_load(topology.get()) != 0) throw failure("read " + what, "see whether lstopo can");
    return HwlocHost(std::move(topology));
}

HwlocHost HwlocHost::live() {
    return load(make(), "this host");
}

HwlocHost HwlocHost::from_xml(const std::string& file) {
    Handle topology = make();
    if (hwloc_topology_set_xml(topology.get(), file.c_str()) != 0)
        throw failure("read " + file, "name a file that lstopo --of xml wrote");
    return load(std::move(topology), file);
}

HwlocHost HwlocHost::synthetic(const std::string& description) {
    Handle topology = make();
    const std::string what = fmt::format("the description \"{}\"", description);
    if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0)
        throw failure("read " + what, "write one like \"package:2 core:4 pu:1\"");
    return load(std::move(topology), what);
}

Placement HwlocHost::placement_of(const std::vector<int>& pus) const {
    if (pus.empty()) return {};
    const Bitmap set = bitmap_of(pus);
    return {.package = part_with(topology_.get(), HWLOC_OBJ_PACKAGE, set.get()),
            .numa = part_with(topology_.get(), HWLOC_OBJ_NUMANODE, set.get()),
            .l3 = part_with(topology_.get(), HWLOC_OBJ_L3CACHE, set.get())};
}

std::string HwlocHost::describe() const {
    std::string text;
    const auto add = [&](int depth) {
        const unsigned count = hwloc_get_nbobjs_by_depth(topology_.get(), depth);
        const hwloc_obj_t first = hwloc_get_obj_by_depth(topology_.get(), depth, 0);
        if (first == nullptr) return;
        std::array<char, 64> kind{};
        hwloc_obj_type_snprintf(kind.data(), kind.size(), first, 0);
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind.data());
    };
    for (int depth = 0; depth < hwloc_topology_get_depth(topology_.get()); ++depth) add(depth);
    add(HWLOC_TYPE_DEPTH_NUMANODE);
    return text;
}

}  // namespace laple
