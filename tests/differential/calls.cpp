// SPDX-License-Identifier: BSD-3-Clause
#include "differential/calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <vector>

#include "differential/block_calls.hpp"
#include "differential/forms.hpp"
#include "differential/twins.hpp"
#include "differential/types.hpp"
#include "support/path.hpp"

namespace laple::test {
namespace {

/// x -> a x + b, modulo 2^32: composition is associative, exact and not commutative.
struct Affine {
    std::uint32_t a;
    std::uint32_t b;
};

/// A type that holds an Affine, with what else is in its extent.
struct AffineType {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const char* name = "";
    std::ptrdiff_t offset = 0;    ///< of the first number from an element's address
    std::ptrdiff_t distance = 4;  ///< from the first number to the second
    std::ptrdiff_t extent = 8;
};

std::array<AffineType, 4> affine_types;
MPI_Op compose = MPI_OP_NULL;
MPI_Op add = MPI_OP_NULL;

const AffineType& affine_type_of(MPI_Datatype type) {
    return *std::find_if(affine_types.begin(), affine_types.end(),
                         [&](const AffineType& known) { return known.type == type; });
}

template <typename Combine>
void for_all_elements(void* in, void* inout, std::size_t count, MPI_Datatype type, Combine combine) {
    const AffineType& layout = affine_type_of(type);
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = [&](void* array, std::ptrdiff_t distance) {
            return reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(array) + layout.offset +
                                                    distance +
                                                    static_cast<std::ptrdiff_t>(i) * layout.extent);
        };
        const Affine left{*number(in, 0), *number(in, layout.distance)};
        const Affine right{*number(inout, 0), *number(inout, layout.distance)};
        const Affine result = combine(left, right);
        *number(inout, 0) = result.a;
        *number(inout, layout.distance) = result.b;
    }
}

Affine composed(const Affine& left, const Affine& right) {
    return {left.a * right.a, left.a * right.b + left.b};
}

Affine sum(const Affine& left, const Affine& right) {
    return {left.a + right.a, left.b + right.b};
}

void compose_all(void* in, void* inout, int* count, MPI_Datatype* type) {
    for_all_elements(in, inout, static_cast<std::size_t>(*count), *type, composed);
}

#if MPI_VERSION >= 4
void add_all(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
    for_all_elements(in, inout, static_cast<std::size_t>(*count), *type, sum);
}
#else
void add_all(void* in, void* inout, int* count, MPI_Datatype* type) {
    for_all_elements(in, inout, static_cast<std::size_t>(*count), *type, sum);
}
#endif

/// Small ones, mostly: that is where algorithms differ, and they are fast.
std::size_t draw_elements(Random& random, std::size_t most) {
    if (uniform_int(random, 0, 15) == 0) return 0;
    const double digits = uniform(random, 0, std::log(static_cast<double>(most) + 1));
    return static_cast<std::size_t>(std::exp(digits));
}

int error_class(int code) {
    int result = MPI_SUCCESS;
    PMPI_Error_class(code, &result);
    return result;
}

/// One call and what becomes of it on this rank.
class Call {
  public:
    Call(const Communicators::One& one, const CallSeed& seed)
        : one_(one),
          all_(seed.seed ^ (seed.call * 0x9E3779B97F4A7C15u)),
          own_(all_() + 1 + static_cast<std::uint64_t>(seed.rank)),
          seed_(seed) {
        PMPI_Comm_rank(one.comm, &rank_);
        PMPI_Comm_size(one.comm, &size_);
        int roots = size_;
        if (one.is_inter && !one.is_first) PMPI_Comm_remote_size(one.comm, &roots);
        root_ = uniform_int(all_, 0, roots - 1);
        is_large_ = MPI_VERSION >= 4 && uniform_int(all_, 0, 3) == 0;
        elements_ = draw_elements(all_, seed.most_elements);
    }

    std::string run() {
        const int kind = uniform_int(all_, 0, 53);
        std::string difference;
        if (kind < 7) {
            difference = bcast();
        } else if (kind >= 50) {
            difference = one_.is_inter ? barrier() : prefix();
        } else if (kind >= 45) {
            difference = one_.is_inter ? barrier() : reduction_in_parts();
        } else if (kind >= 35) {
            difference = one_.is_inter ? barrier() : blocks_of_counts();
        } else if (kind >= 25) {
            difference = one_.is_inter ? barrier() : blocks(kind >= 31 ? 2 : kind % 2);
        } else if (kind >= 20) {
            difference = allgather();
        } else if (kind < 12) {
            difference = reduction(true);
        } else if (kind < 17) {
            difference = reduction(false);
        } else if (kind < 19 || one_.is_inter) {
            difference = barrier();
        } else {
            difference = invalid();
        }
        if (difference.empty()) return {};
        std::ostringstream text;
        text << what_ << " on " << one_.kind << ", rank " << rank_ << " of " << size_ << ": " << difference;
        return text.str();
    }

    const std::string& what() const { return what_; }
    /// Whether it is one that LaPle could do: not between groups, not on one rank, and no mistake.
    bool may_be_ours() const {
        return !one_.is_inter && size_ > 1 && elements_ > 0 && what_.starts_with("MPI_");
    }

  private:
    /// What this rank gives as root.
    int root() const {
        if (!one_.is_inter || !one_.is_first) return root_;
        return rank_ == root_ ? MPI_ROOT : MPI_PROC_NULL;
    }
    bool is_root() const { return one_.is_inter ? root() == MPI_ROOT : rank_ == root_; }

    void tell() const {
        if (seed_.is_told)
            std::fprintf(stderr, "[%d] call %llu on %s (%d of %d): %s\n", seed_.rank,
                         static_cast<unsigned long long>(seed_.call), one_.kind.c_str(), rank_, size_,
                         what_.c_str());
    }

    std::string codes(int ours, int theirs) const {
        if (error_class(ours) == error_class(theirs)) return {};
        return "error class " + std::to_string(error_class(ours)) + ", MPI's own " +
               std::to_string(error_class(theirs));
    }

    std::string bcast() {
        const auto& types = named_types();
        const NamedType& type = types[all_() % types.size()];
        const Form form(type.type, type.extent, elements_, own_);
        what_ = std::string(is_large_ ? "MPI_Bcast_c" : "MPI_Bcast") + " of " + std::to_string(elements_) +
                " " + type.name + ", root " + std::to_string(root_) + ", " + form.name();
        tell();
        Twins twins(values(type, form.bytes() / type.extent, MPI_NO_OP, own_));
        const int ours = call_bcast(form.address(twins.our_start()), form);
        const int theirs =
            PMPI_Bcast(form.address(twins.their_start()), form.count(), form.type(), root(), one_.comm);
        clear_both(type, twins);
        const std::string difference = codes(ours, theirs);
        return difference.empty() ? first_difference(twins, "the message") : difference;
    }

    int call_bcast(void* buffer, const Form& form) const {
#if MPI_VERSION >= 4
        if (is_large_) return MPI_Bcast_c(buffer, form.count(), form.type(), root(), one_.comm);
#endif
        return MPI_Bcast(buffer, form.count(), form.type(), root(), one_.comm);
    }

    /// Each rank describes its own contribution, and the blocks that it gets, in its own way.
    std::string allgather() {
        // MPICH 4.0.2 itself cuts messages between groups short where ranks describe them unlike.
        if (one_.is_inter) return barrier();
        const auto& types = named_types();
        const NamedType& type = types[all_() % types.size()];
        // MPICH itself hangs where some ranks give a count of 0 and others elements of size 0.
        const std::size_t elements = elements_ / 8 + 1;
        const bool is_in_place = uniform_int(all_, 0, 3) == 0;
        const Form input(type.type, type.extent, elements, own_);
        const Form block(type.type, type.extent, elements, own_);
        what_ = std::string(is_large_ ? "MPI_Allgather_c" : "MPI_Allgather") + " of " +
                std::to_string(elements) + " " + type.name + ", " +
                (is_in_place ? "in place" : input.name()) + " to " + block.name();
        tell();
        MPI_Aint lower = 0;
        MPI_Aint extent = 0;
        PMPI_Type_get_extent(block.type(), &lower, &extent);
        const std::size_t distance =
            static_cast<std::size_t>(block.count()) * static_cast<std::size_t>(extent);
        const std::size_t bytes = block.bytes() + static_cast<std::size_t>(size_ - 1) * distance;
        Twins own(values(type, input.bytes() / type.extent, MPI_NO_OP, own_));
        Twins result(values(type, (bytes + type.extent - 1) / type.extent, MPI_NO_OP, own_));
        const void* const ours = is_in_place ? MPI_IN_PLACE : input.address(own.our_start());
        const void* const theirs = is_in_place ? MPI_IN_PLACE : input.address(own.their_start());
        const int our_code = call_allgather(ours, input, block.address(result.our_start()), block);
        const int their_code =
            PMPI_Allgather(theirs, input.count(), input.type(), block.address(result.their_start()),
                           block.count(), block.type(), one_.comm);
        clear_both(type, result);
        std::string difference = codes(our_code, their_code);
        if (difference.empty()) difference = first_difference(own, "the input");
        return difference.empty() ? first_difference(result, "the result") : difference;
    }

    int call_allgather(const void* from, const Form& input, void* to, const Form& block) const {
#if MPI_VERSION >= 4
        if (is_large_)
            return MPI_Allgather_c(from, input.count(), input.type(), to, block.count(), block.type(),
                                   one_.comm);
#endif
        return MPI_Allgather(from, input.count(), input.type(), to, block.count(), block.type(), one_.comm);
    }

    std::string blocks_of_counts() {
        BlockCall call(one_.comm, {all_, own_, root_, is_large_, elements_ / 8 + 1});
        what_ = call.what();
        tell();
        const auto [ours, theirs] = call.run();
        const std::string difference = codes(ours, theirs);
        return difference.empty() ? call.difference() : difference;
    }

    enum BlockKind { kGather, kScatter, kAlltoall };

    /// MPI_Gather, MPI_Scatter or MPI_Alltoall. Each rank describes its blocks in its own way. What means
    /// nothing on a rank is no buffer and no type there.
    std::string blocks(int kind) {
        static const char* const kNames[] = {"MPI_Gather", "MPI_Scatter", "MPI_Alltoall"};
        const NamedType& type = draw_type_without_padding();
        // MPICH itself hangs where some ranks give a count of 0 and others elements of size 0.
        const std::size_t elements = elements_ / 8 + 1;
        const bool wants_in_place = uniform_int(all_, 0, 3) == 0;
        const Form input(type.type, type.extent, elements, own_);
        const Form block(type.type, type.extent, elements, own_);
        const bool has_input = kind != kScatter || is_root();
        const bool has_result = kind != kGather || is_root();
        // MPICH 4.0.2 has trouble of its own in place at another root than 0.
        const bool is_in_place =
            wants_in_place && has_input && has_result && (kind == kAlltoall || root_ == 0);
        what_ = std::string(kNames[kind]) + (is_large_ ? "_c of " : " of ") + std::to_string(elements) + " " +
                type.name + ", root " + std::to_string(root_) + ", " + input.name() + " to " + block.name() +
                (is_in_place ? ", in place" : "");
        tell();
        Twins own = memory_of(type, input, kind == kGather ? 1 : size_);
        Twins result = memory_of(type, block, kind == kScatter ? 1 : size_);
        const auto call = [&](bool ours) {
            std::byte* const from = ours ? own.our_start() : own.their_start();
            std::byte* const to = ours ? result.our_start() : result.their_start();
            Ends ends{input.address(from), static_cast<int>(input.count()), input.type(),
                      block.address(to),   static_cast<int>(block.count()), block.type()};
            if (!has_input) ends.input = nullptr, ends.input_count = -1, ends.input_type = MPI_DATATYPE_NULL;
            if (!has_result)
                ends.result = nullptr, ends.result_count = -1, ends.result_type = MPI_DATATYPE_NULL;
            if (is_in_place) (kind == kScatter ? ends.result : ends.input) = MPI_IN_PLACE;
            return ours ? call_blocks(kind, ends) : call_own_blocks(kind, ends);
        };
        const int our_code = call(true);
        const int their_code = call(false);
        clear_both(type, result);
        std::string difference = codes(our_code, their_code);
        if (difference.empty()) difference = first_difference(own, "the input");
        return difference.empty() ? first_difference(result, "the result") : difference;
    }

    /// MPICH 4.0.2 itself cuts blocks of padded types short where ranks describe them unlike, and those of
    /// long double _Complex.
    const NamedType& draw_type_without_padding() {
        const auto& types = named_types();
        while (true) {
            const NamedType& type = types[all_() % types.size()];
            int size = 0;
            PMPI_Type_size(type.type, &size);
            constexpr int kLongest = 16;
            if (size <= kLongest && static_cast<std::size_t>(size) == static_cast<std::size_t>(type.extent))
                return type;
        }
    }

    /// For so many blocks of that form.
    Twins memory_of(const NamedType& type, const Form& form, int blocks) {
        MPI_Aint lower = 0;
        MPI_Aint extent = 0;
        PMPI_Type_get_extent(form.type(), &lower, &extent);
        const std::size_t distance =
            static_cast<std::size_t>(form.count()) * static_cast<std::size_t>(extent);
        const std::size_t bytes = form.bytes() + static_cast<std::size_t>(blocks - 1) * distance;
        return Twins(values(type, (bytes + type.extent - 1) / type.extent, MPI_NO_OP, own_));
    }

    struct Ends {
        void* input;
        int input_count;
        MPI_Datatype input_type;
        void* result;
        int result_count;
        MPI_Datatype result_type;
    };

    int call_blocks(int kind, const Ends& e) const {
#if MPI_VERSION >= 4
        if (is_large_ && kind == kGather)
            return MPI_Gather_c(e.input, e.input_count, e.input_type, e.result, e.result_count, e.result_type,
                                root_, one_.comm);
        if (is_large_ && kind == kScatter)
            return MPI_Scatter_c(e.input, e.input_count, e.input_type, e.result, e.result_count,
                                 e.result_type, root_, one_.comm);
        if (is_large_)
            return MPI_Alltoall_c(e.input, e.input_count, e.input_type, e.result, e.result_count,
                                  e.result_type, one_.comm);
#endif
        if (kind == kGather)
            return MPI_Gather(e.input, e.input_count, e.input_type, e.result, e.result_count, e.result_type,
                              root_, one_.comm);
        if (kind == kScatter)
            return MPI_Scatter(e.input, e.input_count, e.input_type, e.result, e.result_count, e.result_type,
                               root_, one_.comm);
        return MPI_Alltoall(e.input, e.input_count, e.input_type, e.result, e.result_count, e.result_type,
                            one_.comm);
    }

    int call_own_blocks(int kind, const Ends& e) const {
        if (kind == kGather)
            return PMPI_Gather(e.input, e.input_count, e.input_type, e.result, e.result_count, e.result_type,
                               root_, one_.comm);
        if (kind == kScatter)
            return PMPI_Scatter(e.input, e.input_count, e.input_type, e.result, e.result_count, e.result_type,
                                root_, one_.comm);
        return PMPI_Alltoall(e.input, e.input_count, e.input_type, e.result, e.result_count, e.result_type,
                             one_.comm);
    }

    /// What a reduction works on.
    struct Operands {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Op op = MPI_OP_NULL;
        std::vector<std::byte> own;
        std::vector<std::byte> before;  // what the result's memory holds
        std::ptrdiff_t origin = 0;      // of the first element's address
        const NamedType* named = nullptr;
    };

    /// Of so many elements. `composed`: of the types that are composed, too, the first ones.
    Operands draw_operands(std::size_t elements, std::size_t composed = affine_types.size()) {
        Operands operands;
        if (uniform_int(all_, 0, 2) == 0) {
            operands.op = uniform_int(all_, 0, 1) == 0 ? compose : add;
            const AffineType& type =
                affine_types[all_() % (operands.op == compose ? composed : affine_types.size())];
            operands.type = type.type;
            operands.origin = type.offset < 0 ? -type.offset : 0;
            const std::size_t bytes = elements * static_cast<std::size_t>(type.extent) + 16;
            operands.own = noise(bytes, own_);
            operands.before = noise(bytes, own_);
            what_ += std::string(type.name) + ", " + (operands.op == compose ? "composed" : "added");
            return operands;
        }
        const auto& types = named_types();
        const NamedType& type = types[all_() % types.size()];
        const std::vector<MPI_Op> operations = operations_for(type);
        operands.named = &type;
        operands.type = type.type;
        operands.op = operations[all_() % operations.size()];
        operands.own = values(type, elements, operands.op, own_);
        operands.before = values(type, elements, operands.op, own_);
        what_ += std::string(type.name) + ", " + name_of_operation(operands.op);
        return operands;
    }

    std::string reduction(bool is_to_all) {
        // MPICH 4.0.2 itself crashes on larger ones in place at another root than 0.
        constexpr std::size_t kFewElements = 32;
        const bool may_be_in_place = !one_.is_inter && (is_to_all || root_ == 0 || elements_ <= kFewElements);
        const bool is_in_place =
            uniform_int(all_, 0, 3) == 0 && may_be_in_place && (is_to_all || rank_ == root_);
        what_ = std::string(is_to_all ? "MPI_Allreduce" : "MPI_Reduce") + (is_large_ ? "_c of " : " of ") +
                std::to_string(elements_) + " ";
        const Operands operands = draw_operands(elements_);
        if (!is_to_all) what_ += ", root " + std::to_string(root_);
        if (is_in_place) what_ += ", in place";
        tell();
        Twins input(operands.own);
        Twins result(is_in_place ? operands.own : operands.before);
        void* const our_result = result.our_start() + operands.origin;
        void* const their_result = result.their_start() + operands.origin;
        const void* const own = input.our_start() + operands.origin;
        const int ours = is_to_all ? call_allreduce(is_in_place ? MPI_IN_PLACE : own, our_result, operands)
                                   : call_reduce(is_in_place ? MPI_IN_PLACE : own, our_result, operands);
        const int count = static_cast<int>(elements_);
        const int theirs =
            is_to_all ? PMPI_Allreduce(own, their_result, count, operands.type, operands.op, one_.comm)
                      : PMPI_Reduce(own, their_result, count, operands.type, operands.op, root(), one_.comm);
        if (operands.named != nullptr) clear_both(*operands.named, result);
        std::string difference = codes(ours, theirs);
        if (difference.empty()) difference = first_difference(input, "the input");
        return difference.empty() ? first_difference(result, "the result") : difference;
    }

    /// MPI_Scan or MPI_Exscan.
    std::string prefix() {
        const bool is_exclusive = uniform_int(all_, 0, 1) == 0;
        const bool is_in_place = uniform_int(all_, 0, 3) == 0;
        what_ = std::string(is_exclusive ? "MPI_Exscan" : "MPI_Scan") + (is_large_ ? "_c of " : " of ") +
                std::to_string(elements_) + " ";
        const Operands operands = draw_operands(elements_);
        if (is_in_place) what_ += ", in place";
        tell();
        Twins input(operands.own);
        Twins result(is_in_place ? operands.own : operands.before);
        const void* const own = is_in_place ? MPI_IN_PLACE : input.our_start() + operands.origin;
        const int ours = call_prefix(is_exclusive, own, result.our_start() + operands.origin, operands);
        const int theirs = (is_exclusive ? PMPI_Exscan : PMPI_Scan)(
            input.their_start() + operands.origin, result.their_start() + operands.origin,
            static_cast<int>(elements_), operands.type, operands.op, one_.comm);
        if (operands.named != nullptr) clear_both(*operands.named, result);
        std::string difference = codes(ours, theirs);
        if (difference.empty()) difference = first_difference(input, "the input");
        return difference.empty() ? first_difference(result, "the result") : difference;
    }

    int call_prefix(bool is_exclusive, const void* input, void* result, const Operands& o) const {
#if MPI_VERSION >= 4
        if (is_large_)
            return (is_exclusive ? MPI_Exscan_c : MPI_Scan_c)(
                input, result, static_cast<MPI_Count>(elements_), o.type, o.op, one_.comm);
#endif
        return (is_exclusive ? MPI_Exscan : MPI_Scan)(input, result, static_cast<int>(elements_), o.type,
                                                      o.op, one_.comm);
    }

    /// MPI_Reduce_scatter, or MPI_Reduce_scatter_block.
    std::string reduction_in_parts() {
        const bool is_of_counts = uniform_int(all_, 0, 1) == 0;
        const bool wants_in_place = uniform_int(all_, 0, 3) == 0;
        std::vector<int> counts;
        bool overlaps = false;  // some rank's part of the input and its place for the result
        int all = 0;
        for (int rank = 0; rank < size_; ++rank) {
            const bool is_empty = is_of_counts && uniform_int(all_, 0, 3) == 0;
            const auto most = static_cast<int>(elements_ / 8 + 1);
            counts.push_back(!is_of_counts ? most : is_empty ? 0 : uniform_int(all_, 1, most));
            overlaps = overlaps || (all > 0 && all < counts.back());
            all += counts.back();
        }
        what_ = std::string(is_of_counts ? "MPI_Reduce_scatter" : "MPI_Reduce_scatter_block") +
                (is_large_ ? "_c of " : " of ") + std::to_string(all) + " in all ";
        // MPICH 4.0.2 itself writes beyond its buffers where elements of an operation that does not commute
        // have holes, or begin elsewhere than at their address.
        constexpr std::size_t kWithoutHoles = 1;
        const Operands operands = draw_operands(static_cast<std::size_t>(all), kWithoutHoles);
        // MPICH 4.0.2 itself copies one over the other, and ends, where it takes its algorithm for long
        // input.
        constexpr std::size_t kLong = 512 * 1024;
        const bool is_in_place = wants_in_place && !(overlaps && operands.own.size() >= kLong);
        if (is_in_place) what_ += ", in place";
        tell();
        Twins input(operands.own);
        Twins result(is_in_place ? operands.own : operands.before);
        const auto call = [&](bool ours) {
            std::byte* const from = ours ? input.our_start() : input.their_start();
            std::byte* const to = ours ? result.our_start() : result.their_start();
            const void* const own = is_in_place && ours ? MPI_IN_PLACE : from + operands.origin;
            return is_of_counts
                       ? call_reduce_scatter(ours, own, to + operands.origin, counts, operands)
                       : call_reduce_scatter_block(ours, own, to + operands.origin, counts.front(), operands);
        };
        const int ours = call(true);
        const int theirs = call(false);
        if (operands.named != nullptr) clear_both(*operands.named, result);
        if (is_in_place && all > 0) {
            // Of the memory behind the result, which has held the input, MPI says nothing.
            const std::size_t of_element = operands.own.size() / static_cast<std::size_t>(all);
            const std::size_t own_bytes =
                of_element * static_cast<std::size_t>(counts[static_cast<std::size_t>(rank_)]);
            std::copy(result.their_start() + own_bytes, result.their_start() + operands.own.size(),
                      result.our_start() + own_bytes);
        }
        std::string difference = codes(ours, theirs);
        if (difference.empty()) difference = first_difference(input, "the input");
        return difference.empty() ? first_difference(result, "the result") : difference;
    }

    int call_reduce_scatter(bool ours, const void* input, void* result, const std::vector<int>& counts,
                            const Operands& o) const {
#if MPI_VERSION >= 4
        const std::vector<MPI_Count> large(counts.begin(), counts.end());
        if (is_large_ && ours)
            return MPI_Reduce_scatter_c(input, result, large.data(), o.type, o.op, one_.comm);
#endif
        return (ours ? MPI_Reduce_scatter : PMPI_Reduce_scatter)(input, result, counts.data(), o.type, o.op,
                                                                 one_.comm);
    }

    int call_reduce_scatter_block(bool ours, const void* input, void* result, int count,
                                  const Operands& o) const {
#if MPI_VERSION >= 4
        if (is_large_ && ours)
            return MPI_Reduce_scatter_block_c(input, result, count, o.type, o.op, one_.comm);
#endif
        return (ours ? MPI_Reduce_scatter_block : PMPI_Reduce_scatter_block)(input, result, count, o.type,
                                                                             o.op, one_.comm);
    }

    static void clear_both(const NamedType& type, Twins& twins) {
        clear(type, twins.ours);
        clear(type, twins.theirs);
    }

    static void clear(const NamedType& type, std::vector<std::byte>& memory) {
        std::vector<std::byte> elements(memory.begin() + kGuard, memory.end() - kGuard);
        clear_padding(type, elements);
        std::copy(elements.begin(), elements.end(), memory.begin() + kGuard);
    }

    int call_reduce(const void* input, void* result, const Operands& operands) const {
#if MPI_VERSION >= 4
        if (is_large_)
            return MPI_Reduce_c(input, result, static_cast<MPI_Count>(elements_), operands.type, operands.op,
                                root(), one_.comm);
#endif
        return MPI_Reduce(input, result, static_cast<int>(elements_), operands.type, operands.op, root(),
                          one_.comm);
    }

    int call_allreduce(const void* input, void* result, const Operands& operands) const {
#if MPI_VERSION >= 4
        if (is_large_)
            return MPI_Allreduce_c(input, result, static_cast<MPI_Count>(elements_), operands.type,
                                   operands.op, one_.comm);
#endif
        return MPI_Allreduce(input, result, static_cast<int>(elements_), operands.type, operands.op,
                             one_.comm);
    }

    /// With a message of the user's under way that asks for anything from anybody.
    std::string barrier() {
        what_ = "MPI_Barrier";
        tell();
        if (one_.is_inter) return codes(MPI_Barrier(one_.comm), PMPI_Barrier(one_.comm));
        constexpr int kTag = 99;
        int heard = -1;
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Irecv(&heard, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, one_.comm, &request);
        const int code = MPI_Barrier(one_.comm);
        PMPI_Send(&rank_, 1, MPI_INT, (rank_ + 1) % size_, kTag, one_.comm);
        MPI_Status status;
        PMPI_Wait(&request, &status);
        if (heard != (rank_ + size_ - 1) % size_ || status.MPI_TAG != kTag)
            return "a message of the user's was taken for another";
        return codes(code, PMPI_Barrier(one_.comm));
    }

    /// Only what MPICH finds out: a count below 0 in MPI_Reduce, and no type at all, end it.
    std::string invalid() {
        int number[4] = {0, 0, 0, 0};
        int result[4] = {0, 0, 0, 0};
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        PMPI_Comm_get_errhandler(one_.comm, &handler);
        PMPI_Comm_set_errhandler(one_.comm, MPI_ERRORS_RETURN);
        std::string difference;
        switch (uniform_int(all_, 0, 4)) {
            case 0:
                what_ = "a root that is none";
                difference = codes(MPI_Bcast(number, 4, MPI_INT, size_, one_.comm),
                                   PMPI_Bcast(number, 4, MPI_INT, size_, one_.comm));
                break;
            case 1:
                what_ = "a count below 0";
                difference = codes(MPI_Bcast(number, -1, MPI_INT, 0, one_.comm),
                                   PMPI_Bcast(number, -1, MPI_INT, 0, one_.comm));
                break;
            case 2:
                what_ = "no operation";
                difference = codes(MPI_Allreduce(number, result, 4, MPI_INT, MPI_OP_NULL, one_.comm),
                                   PMPI_Allreduce(number, result, 4, MPI_INT, MPI_OP_NULL, one_.comm));
                break;
            case 3:
                what_ = "an operation that is not for the type";
                difference = codes(MPI_Allreduce(number, result, 4, MPI_FLOAT, MPI_BAND, one_.comm),
                                   PMPI_Allreduce(number, result, 4, MPI_FLOAT, MPI_BAND, one_.comm));
                break;
            default:
                what_ = "input and result in one place";
                difference = codes(MPI_Allreduce(number, number, 4, MPI_INT, MPI_SUM, one_.comm),
                                   PMPI_Allreduce(result, result, 4, MPI_INT, MPI_SUM, one_.comm));
        }
        PMPI_Comm_set_errhandler(one_.comm, handler);
        PMPI_Errhandler_free(&handler);
        return difference;
    }

    const Communicators::One& one_;
    Random all_;
    Random own_;
    const CallSeed& seed_;
    int rank_ = 0;
    int size_ = 0;
    int root_ = 0;
    bool is_large_ = false;
    std::size_t elements_ = 0;
    std::string what_;
};

void make_affine_types() {
    constexpr int kTwo[] = {1, 1};
    affine_types[0].name = "two numbers";
    PMPI_Type_contiguous(2, MPI_UINT32_T, &affine_types[0].type);
    // A hole between them and one behind.
    AffineType& spread = affine_types[1];
    spread = {MPI_DATATYPE_NULL, "two numbers with holes", 0, 8, 16};
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    PMPI_Type_vector(2, 1, 2, MPI_UINT32_T, &inner);
    PMPI_Type_create_resized(inner, 0, spread.extent, &spread.type);
    PMPI_Type_free(&inner);
    // The first number behind the second.
    AffineType& swapped = affine_types[2];
    swapped = {MPI_DATATYPE_NULL, "two numbers back to front", 4, -4, 8};
    constexpr MPI_Aint kSwapped[] = {4, 0};
    PMPI_Type_create_hindexed(2, kTwo, kSwapped, MPI_UINT32_T, &swapped.type);
    // The first number before the element's address.
    AffineType& before = affine_types[3];
    before = {MPI_DATATYPE_NULL, "two numbers around their address", -4, 4, 8};
    constexpr MPI_Aint kBefore[] = {-4, 0};
    PMPI_Type_create_hindexed(2, kTwo, kBefore, MPI_UINT32_T, &inner);
    PMPI_Type_create_resized(inner, -4, before.extent, &before.type);
    PMPI_Type_free(&inner);
    for (AffineType& type : affine_types) PMPI_Type_commit(&type.type);
}

}  // namespace

UserOperations::UserOperations() {
    make_affine_types();
    PMPI_Op_create(compose_all, 0, &compose);
#if MPI_VERSION >= 4
    PMPI_Op_create_c(add_all, 1, &add);
#else
    PMPI_Op_create(add_all, 1, &add);
#endif
}

UserOperations::~UserOperations() {
    PMPI_Op_free(&compose);
    PMPI_Op_free(&add);
    for (AffineType& type : affine_types) PMPI_Type_free(&type.type);
}

std::string differs(const Communicators::One& one, const CallSeed& seed, Paths* paths) {
    Call call(one, seed);
    if (!one.is_inter) forget_path(one.comm);
    const std::string difference = call.run();
    if (paths != nullptr && call.may_be_ours()) paths->note(one.comm, call.what());
    return difference;
}

}  // namespace laple::test
