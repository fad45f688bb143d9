// SPDX-License-Identifier: BSD-3-Clause
#include "grid/tun.hpp"

#include <cstring>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "grid/machine_error.hpp"
#include "grid/netns.hpp"
#include "grid/process.hpp"

namespace laple::grid {

Fd attach_tun(const std::string& netns) {
    const InNetns inside(netns);
    Fd fd(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!fd)
        throw MachineError("cannot open /dev/net/tun: " + errno_text(), "load the module tun, run as root");
    ifreq request{};
    std::strncpy(request.ifr_name, "wan0", IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
    int header_bytes = sizeof(VnetHeader);
    if (ioctl(fd.get(), TUNSETIFF, &request) != 0 || ioctl(fd.get(), TUNSETVNETHDRSZ, &header_bytes) != 0) {
        throw MachineError("cannot attach to a tun device: " + errno_text(), "see laple-grid doctor");
    }
    if (ioctl(fd.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0) {
        explain(
            "the kernel refuses segmentation offload on tun; large transfers will take more processor time");
    }
    return fd;
}

}  // namespace laple::grid
