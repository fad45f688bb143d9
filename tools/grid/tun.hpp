// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "grid/fd.hpp"

namespace laple::grid {

/// What precedes each packet on a tun device with IFF_VNET_HDR, in the processor's byte order.
struct VnetHeader {
    unsigned char flags;
    unsigned char gso_type;
    unsigned short header_length;
    unsigned short gso_bytes;  ///< payload of each packet on the wire; 0: the packet is one
    unsigned short checksum_start;
    unsigned short checksum_offset;
};
static_assert(sizeof(VnetHeader) == 10);

constexpr std::size_t kLargestPacket = sizeof(VnetHeader) + 65535;

/// Attaches to the tun device "wan0" of a network namespace: non-blocking, with vnet headers. Segmentation
/// offload is asked for; without it packets come in the size of the MTU. Throws MachineError.
Fd attach_tun(const std::string& netns);

}  // namespace laple::grid
