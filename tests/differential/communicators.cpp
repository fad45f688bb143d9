// SPDX-License-Identifier: BSD-3-Clause
#include "differential/communicators.hpp"

namespace laple::test {
namespace {

constexpr int kKept = 8;

}  // namespace

Communicators::Communicators(MPI_Comm base, Random& random) : base_(base) {
    PMPI_Comm_rank(base, &rank_);
    PMPI_Comm_size(base, &size_);
    One& all = ones_.emplace_back();
    all.comm = base;
    all.kind = "all ranks";
    for (int i = 1; i < kKept; ++i) ones_.push_back(make(random));
}

Communicators::~Communicators() {
    for (std::size_t i = 1; i < ones_.size(); ++i) drop(ones_[i]);
}

const Communicators::One& Communicators::draw(Random& random) const {
    // Half of all calls on the one that all ranks are in.
    const int i = uniform_int(random, 0, 2 * static_cast<int>(ones_.size()) - 1);
    return i < static_cast<int>(ones_.size()) ? ones_[static_cast<std::size_t>(i)] : ones_.front();
}

void Communicators::replace_one(Random& random) {
    One& one = ones_[static_cast<std::size_t>(uniform_int(random, 1, static_cast<int>(ones_.size()) - 1))];
    drop(one);
    one = make(random);
}

/// By MPI_Comm_free, as an application does: what LaPle knows of it goes as well.
void Communicators::drop(One& one) {
    if (one.comm != MPI_COMM_NULL) MPI_Comm_free(&one.comm);
#if MPI_VERSION >= 4
    if (one.session != MPI_SESSION_NULL) PMPI_Session_finalize(&one.session);
#endif
}

Communicators::One Communicators::make(Random& random) const {
    One one;
    switch (uniform_int(random, 0, 6)) {
        case 0:
            one.kind = "duplicate";
            MPI_Comm_dup(base_, &one.comm);
            break;
        case 1:
            one.kind = "reversed";
            MPI_Comm_split(base_, 0, -rank_, &one.comm);
            break;
        case 2:
            one.kind = "every second rank";
            MPI_Comm_split(base_, rank_ % 2, 0, &one.comm);
            break;
        case 3: {
            one.kind = "any parts in any order";
            std::vector<int> colors;
            std::vector<int> keys;
            for (int rank = 0; rank < size_; ++rank) {
                colors.push_back(uniform_int(random, 0, 2));
                keys.push_back(uniform_int(random, 0, 99));
            }
            const auto own = static_cast<std::size_t>(rank_);
            MPI_Comm_split(base_, colors[own], keys[own], &one.comm);
            break;
        }
        case 4:
            if (size_ > 1) return between_halves();
            [[fallthrough]];
        case 5:
            return of_some(random);
        default:
            return of_session();
    }
    return one;
}

Communicators::One Communicators::between_halves() const {
    One one;
    one.kind = "between halves";
    one.is_inter = true;
    one.is_first = rank_ < size_ / 2;
    MPI_Comm half = MPI_COMM_NULL;
    PMPI_Comm_split(base_, one.is_first ? 0 : 1, 0, &half);
    PMPI_Intercomm_create(half, 0, base_, one.is_first ? size_ / 2 : 0, 7, &one.comm);
    PMPI_Comm_free(&half);
    return one;
}

Communicators::One Communicators::of_some(Random& random) const {
    One one;
    one.kind = "some ranks";
    std::vector<int> members;
    for (int rank = 0; rank < size_; ++rank) {
        if (uniform_int(random, 0, 3) > 0) members.push_back(rank);
    }
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    PMPI_Comm_group(base_, &all);
    PMPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some);
    PMPI_Comm_create(base_, some, &one.comm);
    PMPI_Group_free(&some);
    PMPI_Group_free(&all);
    return one;
}

/// Of all ranks of the job, as a session sees them; a duplicate where the base is not all of them.
Communicators::One Communicators::of_session() const {
    One one;
    one.kind = "duplicate";
#if MPI_VERSION >= 4
    int result = MPI_UNEQUAL;
    PMPI_Comm_compare(base_, MPI_COMM_WORLD, &result);
    if (result == MPI_IDENT) {
        MPI_Group group = MPI_GROUP_NULL;
        one.kind = "of a session";
        PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one.session);
        PMPI_Group_from_session_pset(one.session, "mpi://WORLD", &group);
        PMPI_Comm_create_from_group(group, "differential", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one.comm);
        PMPI_Group_free(&group);
        return one;
    }
#endif
    MPI_Comm_dup(base_, &one.comm);
    return one;
}

}  // namespace laple::test
