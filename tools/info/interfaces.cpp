// SPDX-License-Identifier: BSD-3-Clause
#include "interfaces.hpp"

#include <cstring>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

namespace laple::info {
namespace {

struct Question {
    nlmsghdr header;
    ifinfomsg about;
};

/// Attributes end with a NUL.
std::string text_of(const rtattr* attribute) {
    return static_cast<const char*>(RTA_DATA(attribute));
}

Interface interface_of(const nlmsghdr* message) {
    const auto* about = static_cast<const ifinfomsg*>(NLMSG_DATA(message));
    Interface found;
    found.is_up = (about->ifi_flags & IFF_UP) != 0;
    auto left = static_cast<long>(IFLA_PAYLOAD(message));
    for (const rtattr* each = IFLA_RTA(about); RTA_OK(each, left); each = RTA_NEXT(each, left)) {
        if (each->rta_type == IFLA_IFNAME) found.name = text_of(each);
        if (each->rta_type == IFLA_QDISC) found.queueing = text_of(each);
        if (each->rta_type == IFLA_MTU) std::memcpy(&found.mtu, RTA_DATA(each), sizeof found.mtu);
    }
    return found;
}

/// False when there is no more.
bool take_answer(int socket, std::vector<Interface>& found) {
    constexpr std::size_t kLargest = 1U << 16;
    alignas(nlmsghdr) static char answer[kLargest];
    const ssize_t count = recv(socket, answer, sizeof answer, 0);
    if (count <= 0) return false;
    auto left = static_cast<unsigned>(count);
    for (auto* message = reinterpret_cast<nlmsghdr*>(answer); NLMSG_OK(message, left);
         message = NLMSG_NEXT(message, left)) {
        if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) return false;
        if (message->nlmsg_type == RTM_NEWLINK) found.push_back(interface_of(message));
    }
    return true;
}

}  // namespace

std::vector<Interface> interfaces() {
    std::vector<Interface> found;
    const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (socket < 0) return found;
    Question question{};
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = RTM_GETLINK;
    question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    if (send(socket, &question, sizeof question, 0) == static_cast<ssize_t>(sizeof question)) {
        while (take_answer(socket, found)) continue;
    }
    close(socket);
    return found;
}

}  // namespace laple::info
