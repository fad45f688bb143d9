// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/verification.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "mpi/comm/log.hpp"
#include "mpi/comm/own_comms.hpp"
#include "mpi/comm/report.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/native_call.hpp"

namespace laple::mpi {
namespace {

int bytes_of(const UserBuffer& message) {
    int size = 0;
    PMPI_Type_size(message.type, &size);
    return size * static_cast<int>(message.count);
}

/// Not by MPI_Pack: MPICH's takes no MPI_BOTTOM.
int move(const UserBuffer& from, const UserBuffer& to, MPI_Comm inner) {
    return send_to_self(from.data, static_cast<int>(from.count), from.type, to.data,
                        static_cast<int>(to.count), to.type, inner);
}

UserBuffer packed(std::vector<std::byte>& bytes) {
    return {bytes.data(), static_cast<MPI_Count>(bytes.size()), MPI_PACKED};
}

/// The first few times: an operation that rounds would have it said at every call.
void say_difference(Collective collective, const std::string& algorithm, std::size_t at, std::size_t bytes,
                    MPI_Comm comm, const char* remark) {
    constexpr int kMost = 10;
    if (++verification_count.different > kMost) return;
    say(fmt::format(
        "LAPLE_VERIFY: {} of {} bytes by {}: the result of rank {} differs from MPI's own at byte {} of {}{}",
        name_of(collective), bytes, algorithm, rank_in(comm), at, bytes, remark));
}

/// Whether `flag` is set on any rank of `inner`.
int any_of_ranks(bool flag, MPI_Comm inner, bool& any) {
    const int mine = flag ? 1 : 0;
    int most = 0;
    const int code = PMPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, inner);
    any = most != 0;
    return code;
}

/// Where their bytes differ first; nothing: nowhere.
std::ptrdiff_t first_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    const auto place = std::mismatch(a.begin(), a.end(), b.begin()).first;
    return place == a.end() ? -1 : place - a.begin();
}

template <typename Number>
double number_at(const std::byte* data) {
    Number number;
    std::memcpy(&number, data, sizeof(number));
    return static_cast<double>(number);
}

/// Of whichever size floating-point numbers have.
double float_at(const std::byte* data, std::size_t bytes) {
    if (bytes == sizeof(float)) return number_at<float>(data);
    if (bytes == sizeof(double)) return number_at<double>(data);
    return number_at<long double>(data);
}

double epsilon_of(std::size_t bytes) {
    return bytes == sizeof(float) ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                  : std::numeric_limits<double>::epsilon();
}

/// What is only moved: compares what this rank has got with what MPI's own call brings, as bytes in the order
/// of the signature.
class VerifiedMove final : public Verification {
  public:
    VerifiedMove(const Arguments& arguments, MPI_Comm inner) : arguments_(arguments), inner_(inner) {
        const Request& request = arguments.request;
        const CollectiveRow& row = row_of(request.collective);
        if (!row.has_input) return;
        if (!arguments.is_in_place) {
            input_.resize(static_cast<std::size_t>(bytes_of(arguments.input)));
            code_ = move(arguments.input, packed(input_), inner);
            return;
        }
        std::vector<std::byte> result(static_cast<std::size_t>(bytes_of(arguments.result)));
        code_ = move(arguments.result, packed(result), inner);
        const BufferSizes buffers = buffers_of_rank();
        const bool is_apart = buffers.input_in_result == BufferSizes::kApart;
        const auto begin =
            result.begin() + static_cast<std::ptrdiff_t>(is_apart ? 0 : buffers.input_in_result);
        input_.assign(begin, begin + static_cast<std::ptrdiff_t>(buffers.input_units));
    }

    int compare(const std::string& algorithm) override {
        const UserBuffer& message = arguments_.result;
        const Request& request = arguments_.request;
        std::vector<std::byte> ours(static_cast<std::size_t>(bytes_of(message)));
        if (code_ != MPI_SUCCESS) return code_;
        if (const int code = move(message, packed(ours), inner_); code != MPI_SUCCESS) return code;
        std::vector<std::byte> theirs = ours;
        theirs.resize(buffers_of_rank().result_units);
        const int code =
            call_native(request.collective, {input_.data(), theirs.data(), static_cast<int>(request.units),
                                             MPI_BYTE, MPI_OP_NULL, request.root, inner_});
        if (code != MPI_SUCCESS) return code;
        if (ours.empty() || may_be_padded(message.type)) return MPI_SUCCESS;
        ++verification_count.compared;
        const std::ptrdiff_t at = first_difference(ours, theirs);
        if (at < 0) return MPI_SUCCESS;
        say_difference(request.collective, algorithm, static_cast<std::size_t>(at), ours.size(), inner_,
                       "; MPI's stands");
        return move(packed(theirs), message, inner_);
    }

  private:
    BufferSizes buffers_of_rank() const {
        return row_of(arguments_.request.collective)
            .buffers(arguments_.request, size_of(inner_), rank_in(inner_));
    }

    const Arguments& arguments_;
    MPI_Comm inner_;
    std::vector<std::byte> input_;  // as it was
    int code_ = MPI_SUCCESS;        // of copying it
};

/// Blocks with counts of their own: the user's call once more, by MPI alone, into the same memory.
class VerifiedBlocks final : public Verification {
  public:
    VerifiedBlocks(const Call& call, const Arguments& arguments, MPI_Comm inner)
        : call_(call), arguments_(arguments), inner_(inner) {
        if (arguments.is_in_place) before_.emplace(arguments.result_blocks, inner, true, Arrangement::copied);
    }

    int compare(const std::string& algorithm) override {
        const PackedBlocks ours = copy_of_result();
        if (before_) before_->unpack();
        if (const int code = native(); code != MPI_SUCCESS) return code;
        const PackedBlocks theirs = copy_of_result();
        std::size_t bytes = 0;
        for (const BlockMemory& block : ours.memory()) bytes += block.bytes;
        if (bytes == 0) return MPI_SUCCESS;
        ++verification_count.compared;
        std::size_t passed = 0;
        for (std::size_t i = 0; i < ours.memory().size(); ++i) {
            const BlockMemory& mine = ours.memory()[i];
            const std::byte* const end = mine.data + mine.bytes;
            const auto* const place =
                std::mismatch(mine.data, mine.data + mine.bytes, theirs.memory()[i].data).first;
            if (place != end && !may_be_padded(arguments_.result_blocks[i].buffer.type)) {
                say_difference(call_.collective, algorithm,
                               passed + static_cast<std::size_t>(place - mine.data), bytes, inner_,
                               "; MPI's stands");
                break;
            }
            passed += mine.bytes;
        }
        return MPI_SUCCESS;
    }

  private:
    /// Its error is the user's when all of LaPle's work is done (treat()).
    int native() const {
        const ReturnErrors guard(call_.comm);
        return call_.native();
    }

    PackedBlocks copy_of_result() const {
        return {arguments_.result_blocks, inner_, true, Arrangement::copied};
    }

    const Call& call_;
    const Arguments& arguments_;
    MPI_Comm inner_;
    std::optional<PackedBlocks> before_;  // what is overwritten
};

/// What is combined. Sums and products of floating-point numbers may differ by what another order rounds: n ε
/// Σ|x| for n ranks, and some more for safety; or because one order overflows (or a product vanishes) where
/// another does not. Of 0 and -0 either may be the larger one. A user's operation must give the same bits, or
/// it is said that rounding may be why, and LaPle's result stays.
class VerifiedReduction final : public Verification {
  public:
    VerifiedReduction(const Arguments& arguments, MPI_Comm inner)
        : operands_(arguments.operands), request_(arguments.request), inner_(inner) {
        const BufferSizes buffers =
            row_of(request_.collective).buffers(request_, size_of(inner), rank_in(inner));
        count_ = static_cast<int>(buffers.result_units);
        input_count_ = static_cast<int>(buffers.input_units);
        constexpr MPI_Count kMostSpan = MPI_Count{1} << 31;
        // Also of MPI_BOTTOM, whose types hold addresses: then the span begins there.
        const TypeLayout& layout = operands_.layout;
        const TypeLayout::Span span = layout.span_of(buffers.input_units);
        bool is_impossible = layout.extent < 0 || span.bytes > kMostSpan;
        try {
            if (!is_impossible) memory_.resize(static_cast<std::size_t>(span.bytes));
        } catch (const std::bad_alloc&) {
            is_impossible = true;  // the others must learn of it
        }
        bool is_impossible_somewhere = true;
        if (any_of_ranks(is_impossible, inner, is_impossible_somewhere) != MPI_SUCCESS ||
            is_impossible_somewhere)
            return;
        is_possible_ = true;
        low_ = span.low;
        input_ = moved(memory_.data(), -low_);
        // What is between the data may not even be readable.
        auto* const from = const_cast<std::byte*>(operands_.input);
        move({from, input_count_, operands_.type}, {input_, input_count_, operands_.type}, inner);
    }

    int compare(const std::string& algorithm) override {
        if (!is_possible_) return MPI_SUCCESS;
        const UserBuffer result{operands_.result, count_, operands_.type};
        const auto bytes = static_cast<std::size_t>(bytes_of(result));
        // MPI's result in memory that looks like the user's: holes, if any, are not compared.
        std::vector<std::byte> memory(memory_.size());
        std::byte* const start = moved(memory.data(), -low_);
        if (const int code = call_again(start); code != MPI_SUCCESS) return code;
        if (const int code = take_magnitudes(); code != MPI_SUCCESS) return code;
        std::vector<std::byte> ours(operands_.has_result ? bytes : 0);
        std::vector<std::byte> theirs(ours.size());
        int code = MPI_SUCCESS;
        if (operands_.has_result) {
            code = move(result, packed(ours), inner_);
            if (code == MPI_SUCCESS) code = move({start, count_, operands_.type}, packed(theirs), inner_);
        }
        const bool is_compared =
            code == MPI_SUCCESS && operands_.has_result && !may_be_padded(operands_.type);
        if (is_compared) ++verification_count.compared;
        const std::ptrdiff_t at = first_difference(ours, theirs);
        const bool is_wrong = is_compared && at >= 0 && !is_rounding(ours, theirs);
        const bool is_certain = is_exact(operands_.op, operands_.type) || !magnitudes_.empty();
        if (is_wrong)
            say_difference(request_.collective, algorithm, static_cast<std::size_t>(at), bytes, inner_,
                           is_certain ? "; MPI's stands"
                                      : "; where the operation rounds or does not commute, that may be so");
        // All or none: what is equal on all ranks must stay so.
        bool is_wrong_somewhere = false;
        if (const int voted = any_of_ranks(is_wrong && is_certain, inner_, is_wrong_somewhere);
            voted != MPI_SUCCESS)
            return voted;
        if (code != MPI_SUCCESS || !is_wrong_somewhere || !operands_.has_result) return code;
        return move(packed(theirs), result, inner_);
    }

  private:
    int call_again(std::byte* result) const {
        return combine_natively(input_, result, operands_.type, operands_.op);
    }

    int combine_natively(const void* input, void* result, MPI_Datatype type, MPI_Op op) const {
        if (request_.counts.are_equal())
            return call_native(request_.collective, {input, result, static_cast<int>(request_.units), type,
                                                     op, request_.root, inner_});
        std::vector<int> counts;
        for (Rank rank = 0; rank < size_of(inner_); ++rank)
            counts.push_back(static_cast<int>(request_.block_units(rank)));
        return PMPI_Reduce_scatter(input, result, counts.data(), type, op, inner_);
    }

    /// Of sums Σ|x|, of products Π|x|; of a complex number |re| + |im| stands for both parts.
    int take_magnitudes() {
        const FloatLayout floats = float_layout_of(operands_.type);
        if (floats.bytes == 0 || !is_predefined(operands_.op)) return MPI_SUCCESS;
        const MPI_Op op = operands_.op == MPI_PROD ? MPI_PROD : MPI_SUM;
        std::vector<double> own(static_cast<std::size_t>(input_count_));
        for (std::size_t i = 0; i < own.size(); ++i) {
            for (std::size_t part = 0; part < floats.parts; ++part)
                own[i] += std::abs(float_at(input_ + (i * floats.parts + part) * floats.bytes, floats.bytes));
        }
        magnitudes_.resize(static_cast<std::size_t>(count_));
        return combine_natively(own.data(), magnitudes_.data(), MPI_DOUBLE, op);
    }

    bool may_differ(double ours, double theirs, double magnitude) const {
        if (ours == theirs || (std::isnan(ours) && std::isnan(theirs))) return true;
        const std::size_t bytes = float_layout_of(operands_.type).bytes;
        const bool is_of_minmax = operands_.op == MPI_MAX || operands_.op == MPI_MIN;
        const bool are_finite = std::isfinite(ours) && std::isfinite(theirs);
        if (is_of_minmax) return std::isnan(magnitude);
        // One order of factors may vanish or overflow where another does not.
        if (operands_.op == MPI_PROD && (!are_finite || ours == 0 || theirs == 0)) return true;
        const double largest = bytes == sizeof(float) ? static_cast<double>(std::numeric_limits<float>::max())
                                                      : std::numeric_limits<double>::max();
        if (!are_finite) return !(magnitude <= largest);
        return std::abs(ours - theirs) <= 4.0 * size_of(inner_) * epsilon_of(bytes) * magnitude;
    }

    bool is_rounding(const std::vector<std::byte>& ours, const std::vector<std::byte>& theirs) const {
        if (magnitudes_.empty()) return false;
        const FloatLayout floats = float_layout_of(operands_.type);
        for (std::size_t i = 0; i < magnitudes_.size() * floats.parts; ++i) {
            const double a = float_at(ours.data() + i * floats.bytes, floats.bytes);
            const double b = float_at(theirs.data() + i * floats.bytes, floats.bytes);
            if (!may_differ(a, b, magnitudes_[i / floats.parts])) return false;
        }
        return true;
    }

    const Operands& operands_;
    const Request& request_;
    int count_ = 0;  // of the result, and of what the rank contributes
    int input_count_ = 0;
    MPI_Comm inner_;
    bool is_possible_ = false;
    std::vector<std::byte> memory_;   // of the input, as it was
    std::ptrdiff_t low_ = 0;          // from there to the first byte
    std::byte* input_ = nullptr;      // where MPI wants it
    std::vector<double> magnitudes_;  // of each number in the result: what it would be if no sign cancelled
};

}  // namespace

std::unique_ptr<Verification> verification_of(const Call& call, const Arguments& arguments, MPI_Comm inner) {
    if (row_of(call.collective).combines) return std::make_unique<VerifiedReduction>(arguments, inner);
    if (call.has_blocks) return std::make_unique<VerifiedBlocks>(call, arguments, inner);
    return std::make_unique<VerifiedMove>(arguments, inner);
}

}  // namespace laple::mpi
