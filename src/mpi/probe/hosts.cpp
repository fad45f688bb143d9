// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/hosts.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/hash.hpp"
#include "base/index.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr int kMeasured = 1;  // tag
constexpr int kIdLength = 16;
constexpr std::size_t kMostName = MPI_MAX_PROCESSOR_NAME + 1;

}  // namespace

/// What is known of a rank's host, as bytes that can be sent. Texts are ended by zeros.
struct HostIdentity {
    std::int32_t first = -1;  ///< of the ranks that share its memory, as MPI says; -1 where it cannot say
    std::array<char, kMostName> name{};
    std::array<char, kIdLength + 1> id{};

    /// Equal for ranks of one host: those that share memory, and those on one kernel and network, whatever
    /// MPI says. Launchers that start several times on a host make several of it for MPI.
    std::string key() const {
        return id[0] != 0 ? fmt::format("{} {}", name.data(), id.data())
                          : fmt::format("{} rank {}", name.data(), first);
    }
    /// Of 63 bits, so that it has a negative.
    std::int64_t number() const { return static_cast<std::int64_t>(fnv1a(key()) >> 1); }
};

namespace {

/// Equal on two hosts only if one kernel runs both, with one network.
std::string own_id() {
    const std::string kernel = boot_id();
    std::array<char, 48> network{};
    const ssize_t length = readlink("/proc/self/ns/net", network.data(), network.size() - 1);
    if (kernel.empty()) return "";
    return fmt::format("{:0{}x}", fnv1a(length > 0 ? network.data() : "", fnv1a(kernel)), kIdLength);
}

HostIdentity own_identity() {
    HostIdentity identity;
    int length = 0;
    PMPI_Get_processor_name(identity.name.data(), &length);
    const std::string id = own_id();
    std::copy(id.begin(), id.end(), identity.id.begin());
    return identity;
}

/// Makes the communicator of the ranks that share memory with this one. Returns what the first of them is:
/// what shares memory is one host, whatever its ranks call it. Collective.
HostIdentity split_by_host(MPI_Comm comm, MPI_Comm& host) {
    HostIdentity identity = own_identity();
    const Rank rank = rank_in(comm);
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host) != MPI_SUCCESS)
        return identity;
    identity.first = rank;
    PMPI_Bcast(&identity, sizeof identity, MPI_BYTE, 0, host);
    return identity;
}

/// That of each rank of `comm`, on `root`; elsewhere nothing, and nothing after an MPI error. Collective.
std::optional<std::vector<HostIdentity>> gather_identities(const HostIdentity& mine, MPI_Comm comm,
                                                           int root) {
    const bool is_root = rank_in(comm) == root;
    std::vector<HostIdentity> all(is_root ? at(size_of(comm)) : 0);
    constexpr int kSize = sizeof mine;
    const int code = PMPI_Gather(&mine, kSize, MPI_BYTE, all.data(), kSize, MPI_BYTE, root, comm);
    if (code != MPI_SUCCESS || !is_root) return std::nullopt;
    return all;
}

std::vector<Node> hosts_of(const std::vector<HostIdentity>& identities) {
    std::vector<Node> nodes;
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < identities.size(); ++i) {
        const HostIdentity& identity = identities[i];
        const auto [entry, is_new] = known.try_emplace(identity.key(), nodes.size());
        if (is_new) nodes.push_back({identity.name.data(), {}, identity.id.data()});
        nodes[entry->second].ranks.push_back(static_cast<Rank>(i));
    }
    label_hosts(nodes);
    return nodes;
}

}  // namespace

std::string boot_id() {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id;
}

std::int64_t host_number() {
    return own_identity().number();
}

/// The last steps mix all bits (those of SplitMix64, Steele, Lea and Flood 2014): sums of plain FNV hashes of
/// like names are like each other.
std::optional<PlaceSums> place_sums(Rank rank) {
    const HostIdentity identity = own_identity();
    if (identity.id[0] == 0) return std::nullopt;
    const std::string place = fmt::format("{} {}", rank, identity.key());
    PlaceSums sums{};
    for (std::uint64_t& sum : sums) {
        sum = fnv1a(place, fnv1a(&sum == sums.data() ? "first" : "second"));
        sum = (sum ^ sum >> 30U) * 0xbf58476d1ce4e5b9U;
        sum = (sum ^ sum >> 27U) * 0x94d049bb133111ebU;
        sum ^= sum >> 31U;
    }
    return sums;
}

std::string text_of(const PlaceSums& sums) {
    return fmt::format("{:016x}-{:016x}", sums[0], sums[1]);
}

std::optional<std::vector<Node>> gather_hosts(MPI_Comm comm, int root) {
    MPI_Comm host = MPI_COMM_NULL;
    const HostIdentity mine = split_by_host(comm, host);
    if (host != MPI_COMM_NULL) PMPI_Comm_free(&host);
    const auto identities = gather_identities(mine, comm, root);
    if (!identities) return std::nullopt;
    return hosts_of(*identities);
}

std::optional<std::vector<Node>> gather_hosts_by_name(MPI_Comm comm, int root) {
    const auto identities = gather_identities(own_identity(), comm, root);
    const auto has_no_id = [](const HostIdentity& identity) { return identity.id[0] == 0; };
    if (!identities || std::any_of(identities->begin(), identities->end(), has_no_id)) return std::nullopt;
    return hosts_of(*identities);
}

NodeLayout::NodeLayout(MPI_Comm comm) {
    const HostIdentity mine = split_by_host(comm, node_);
    if (mine.first < 0) return;
    const std::array<std::int64_t, 2> number{mine.first, mine.number()};
    std::vector<std::array<std::int64_t, 2>> numbers(at(size_of(comm)));
    if (PMPI_Allgather(&number, 2, MPI_INT64_T, numbers.data(), 2, MPI_INT64_T, comm) != MPI_SUCCESS) return;
    std::map<std::int64_t, Rank> firsts;
    std::vector<Rank> first_of_rank;
    bool is_as_mpi_says = true;
    for (const auto& [first, host] : numbers) {
        first_of_rank.push_back(firsts.try_emplace(host, static_cast<Rank>(first)).first->second);
        is_as_mpi_says = is_as_mpi_says && first_of_rank.back() == first;
    }
    is_good_ = is_as_mpi_says || join_hosts(comm, first_of_rank);
    if (is_good_) make_probes(comm, mine, first_of_rank);
}

/// MPI takes one host for several.
bool NodeLayout::join_hosts(MPI_Comm comm, const std::vector<Rank>& first_of_rank) {
    PMPI_Comm_free(&node_);
    const Rank rank = rank_in(comm);
    return PMPI_Comm_split(comm, first_of_rank[at(rank)], rank, &node_) == MPI_SUCCESS;
}

void NodeLayout::make_probes(MPI_Comm comm, const HostIdentity& mine,
                             const std::vector<Rank>& first_of_rank) {
    std::vector<Rank> firsts(first_of_rank);
    std::sort(firsts.begin(), firsts.end());
    firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &all);
    PMPI_Group_incl(all, static_cast<int>(firsts.size()), firsts.data(), &group);
    is_good_ = PMPI_Comm_create(comm, group, &probes_) == MPI_SUCCESS;
    PMPI_Group_free(&group);
    PMPI_Group_free(&all);
    if (!is_good_ || probes_ == MPI_COMM_NULL) return;
    const auto identities = gather_identities(mine, probes_, 0);
    if (!identities) return;
    for (const HostIdentity& identity : *identities)
        nodes_.push_back({identity.name.data(), {}, identity.id.data()});
    for (std::size_t rank = 0; rank < first_of_rank.size(); ++rank) {
        const auto node =
            std::lower_bound(firsts.begin(), firsts.end(), first_of_rank[rank]) - firsts.begin();
        nodes_[static_cast<std::size_t>(node)].ranks.push_back(static_cast<Rank>(rank));
    }
    label_hosts(nodes_);
}

NodeLayout::~NodeLayout() {
    for (MPI_Comm* comm : {&probes_, &node_}) {
        if (*comm != MPI_COMM_NULL) PMPI_Comm_free(comm);
    }
}

void NodeLayout::sleep_until_measured() const {
    if (probes_ == MPI_COMM_NULL) return wait_for_signal(0, kMeasured, node_);
    for (int peer = 1; peer < size_of(node_); ++peer) send_signal(peer, kMeasured, node_);
}

}  // namespace laple::mpi
