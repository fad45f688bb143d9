// SPDX-License-Identifier: BSD-3-Clause
#include "differential/block_calls.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace laple::test {
namespace {

constexpr const char* kNames[] = {"MPI_Allgatherv", "MPI_Gatherv", "MPI_Scatterv", "MPI_Alltoallv",
                                  "MPI_Alltoallw"};

std::vector<MPI_Count> wide(const std::vector<int>& numbers) {
    return {numbers.begin(), numbers.end()};
}
std::vector<MPI_Aint> far(const std::vector<int>& numbers) {
    return {numbers.begin(), numbers.end()};
}

}  // namespace

BlockCall::BlockCall(MPI_Comm comm, const Drawn& drawn)
    : comm_(comm),
      kind_(uniform_int(drawn.all, kAllgatherv, kAlltoallw)),
      root_(drawn.root),
      is_large_(drawn.is_large),
      is_in_place_(uniform_int(drawn.all, 0, 4) == 0),
      seed_(drawn.all()),
      most_(drawn.most_elements) {
    PMPI_Comm_rank(comm, &rank_);
    PMPI_Comm_size(comm, &size_);
    constexpr std::pair<MPI_Datatype, int> kElements[] = {
        {MPI_BYTE, 1}, {MPI_SHORT, 2}, {MPI_INT, 4}, {MPI_DOUBLE, 8}};
    std::tie(element_, element_bytes_) = kElements[uniform_int(drawn.all, 0, 3)];
    make_shapes();
    const bool is_root = rank_ == root_;
    const bool is_rooted = kind_ == kGatherv || kind_ == kScatterv;
    is_in_place_ = is_in_place_ && (!is_rooted || is_root);
    const auto of_all = [&](auto count_of) {
        std::vector<std::size_t> elements;
        for (int other = 0; other < size_; ++other) elements.push_back(count_of(other));
        return elements;
    };
    std::vector<std::size_t> sent;
    std::vector<std::size_t> got;
    if (kind_ == kAllgatherv || kind_ == kGatherv) sent = {elements(rank_, 0)};
    if (kind_ == kAllgatherv || (kind_ == kGatherv && is_root))
        got = of_all([&](int other) { return elements(other, 0); });
    if (kind_ == kScatterv) got = {elements(root_, rank_)};
    if (kind_ == kScatterv && is_root) sent = of_all([&](int other) { return elements(root_, other); });
    if (kind_ >= kAlltoallv) {
        // In place, what two ranks have for each other has one length.
        const auto between = [&](int a, int b) {
            return is_in_place_ ? elements(std::min(a, b), std::max(a, b)) : elements(a, b);
        };
        sent = of_all([&](int other) { return between(rank_, other); });
        got = of_all([&](int other) { return between(other, rank_); });
    }
    input_ = draw_end(sent, drawn.own);
    result_ = draw_end(got, drawn.own);
    sent_ = Twins(noise(input_.bytes, drawn.own));
    got_ = Twins(noise(result_.bytes, drawn.own));
    what_ = std::string(kNames[kind_]) + (is_large_ ? "_c" : "") + " of up to " + std::to_string(most_) +
            " elements of " + std::to_string(element_bytes_) + " bytes, root " + std::to_string(root_) +
            (is_in_place_ ? ", in place" : "");
}

BlockCall::~BlockCall() {
    for (std::size_t i = 1; i < shapes_.size(); ++i) PMPI_Type_free(&shapes_[i].type);
}

/// Of a block. Always pairs, so that types of two fit; a third of all blocks is empty.
std::size_t BlockCall::elements(int source, int dest) const {
    Random random(seed_ ^ (static_cast<std::uint64_t>(source) * 1000003u + static_cast<std::uint64_t>(dest)));
    random();
    if (uniform_int(random, 0, 2) == 0) return 0;
    return 2 * static_cast<std::size_t>(
                   std::exp(uniform(random, 0, std::log(static_cast<double>(most_) / 2 + 1))));
}

/// An element; two of them; two with holes between and behind; two back to front.
void BlockCall::make_shapes() {
    shapes_ = {
        {element_, 1, 1}, {MPI_DATATYPE_NULL, 2, 2}, {MPI_DATATYPE_NULL, 2, 5}, {MPI_DATATYPE_NULL, 2, 2}};
    PMPI_Type_contiguous(2, element_, &shapes_[1].type);
    MPI_Datatype spread = MPI_DATATYPE_NULL;
    PMPI_Type_vector(2, 1, 2, element_, &spread);
    PMPI_Type_create_resized(spread, 0, MPI_Aint{5} * element_bytes_, &shapes_[2].type);
    PMPI_Type_free(&spread);
    constexpr int kOnes[] = {1, 1};
    const MPI_Aint swapped[] = {element_bytes_, 0};
    PMPI_Type_create_hindexed(2, kOnes, swapped, element_, &shapes_[3].type);
    for (std::size_t i = 1; i < shapes_.size(); ++i) PMPI_Type_commit(&shapes_[i].type);
}

BlockCall::End BlockCall::draw_end(const std::vector<std::size_t>& elements, Random& own) {
    End end;
    const std::size_t blocks = elements.size();
    end.counts.resize(blocks);
    end.displacements.resize(blocks);
    end.types.resize(blocks);
    std::vector<std::size_t> order(blocks);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (uniform_int(own, 0, 1) == 0) std::shuffle(order.begin(), order.end(), own);
    const bool has_gaps = uniform_int(own, 0, 1) == 0;
    const auto of_own = static_cast<std::size_t>(uniform_int(own, 0, 3));
    Shape shape = shapes_[is_cut_by_extents() ? seed_ % shapes_.size() : of_own];
    int next = 0;  // in elements
    for (const std::size_t block : order) {
        const bool is_first = block == order.front();
        if (kind_ == kAlltoallw && !is_first)
            shape = shapes_[static_cast<std::size_t>(uniform_int(own, 0, 3))];
        if (has_gaps) next += shape.extent * uniform_int(own, 0, 3);
        const int unit = kind_ == kAlltoallw ? element_bytes_ : 1;
        const int in = kind_ == kAlltoallw ? 1 : shape.extent;
        end.counts[block] = static_cast<int>(elements[block]) / shape.elements;
        end.displacements[block] = next / in * unit;
        end.types[block] = shape.type;
        next += end.counts[block] * shape.extent;
    }
    end.bytes = static_cast<std::size_t>(next) * static_cast<std::size_t>(element_bytes_);
    return end;
}

/// MPICH 4.0.2 sends long blocks of an allgatherv around a ring in pieces, of which each rank knows the
/// length by the extent of its own type: where extents differ MPI's own call fails.
bool BlockCall::is_cut_by_extents() const {
    constexpr std::size_t kPiece = 32 * 1024;
    constexpr std::size_t kLargestExtent = 5;  // of a shape, in elements
    return kind_ == kAllgatherv && most_ * kLargestExtent * static_cast<std::size_t>(element_bytes_) > kPiece;
}

std::pair<int, int> BlockCall::run() {
    const int ours = call(true);
    return {ours, call(false)};
}

std::string BlockCall::difference() const {
    const std::string of_input = first_difference(sent_, "the input");
    return of_input.empty() ? first_difference(got_, "the result") : of_input;
}

int BlockCall::call(bool ours) {
    void* in = ours ? sent_.our_start() : sent_.their_start();
    void* out = ours ? got_.our_start() : got_.their_start();
    if (is_in_place_) (kind_ == kScatterv ? out : in) = MPI_IN_PLACE;
    const auto first = [](const auto& list, auto otherwise) {
        return list.empty() ? otherwise : list.front();
    };
    const int sent = first(input_.counts, 0);
    const int got = first(result_.counts, 0);
    const MPI_Datatype in_type = first(input_.types, MPI_BYTE);
    const MPI_Datatype out_type = first(result_.types, MPI_BYTE);
    const End& i = input_;
    const End& r = result_;
#if MPI_VERSION >= 4
    if (is_large_ && ours) {
        const auto in_counts = wide(i.counts);
        const auto out_counts = wide(r.counts);
        const auto in_places = far(i.displacements);
        const auto out_places = far(r.displacements);
        switch (kind_) {
            case kAllgatherv:
                return MPI_Allgatherv_c(in, sent, in_type, out, out_counts.data(), out_places.data(),
                                        out_type, comm_);
            case kGatherv:
                return MPI_Gatherv_c(in, sent, in_type, out, out_counts.data(), out_places.data(), out_type,
                                     root_, comm_);
            case kScatterv:
                return MPI_Scatterv_c(in, in_counts.data(), in_places.data(), in_type, out, got, out_type,
                                      root_, comm_);
            case kAlltoallv:
                return MPI_Alltoallv_c(in, in_counts.data(), in_places.data(), in_type, out,
                                       out_counts.data(), out_places.data(), out_type, comm_);
            default:
                return MPI_Alltoallw_c(in, in_counts.data(), in_places.data(), i.types.data(), out,
                                       out_counts.data(), out_places.data(), r.types.data(), comm_);
        }
    }
#endif
    switch (kind_) {
        case kAllgatherv:
            return (ours ? MPI_Allgatherv : PMPI_Allgatherv)(in, sent, in_type, out, r.counts.data(),
                                                             r.displacements.data(), out_type, comm_);
        case kGatherv:
            return (ours ? MPI_Gatherv : PMPI_Gatherv)(in, sent, in_type, out, r.counts.data(),
                                                       r.displacements.data(), out_type, root_, comm_);
        case kScatterv:
            return (ours ? MPI_Scatterv : PMPI_Scatterv)(in, i.counts.data(), i.displacements.data(), in_type,
                                                         out, got, out_type, root_, comm_);
        case kAlltoallv:
            return (ours ? MPI_Alltoallv : PMPI_Alltoallv)(in, i.counts.data(), i.displacements.data(),
                                                           in_type, out, r.counts.data(),
                                                           r.displacements.data(), out_type, comm_);
        default:
            return (ours ? MPI_Alltoallw : PMPI_Alltoallw)(in, i.counts.data(), i.displacements.data(),
                                                           i.types.data(), out, r.counts.data(),
                                                           r.displacements.data(), r.types.data(), comm_);
    }
}

}  // namespace laple::test
