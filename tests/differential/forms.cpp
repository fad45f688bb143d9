// SPDX-License-Identifier: BSD-3-Clause
#include "differential/forms.hpp"

#include <vector>

namespace laple::test {
namespace {

constexpr std::size_t kGap = 2;           // elements between two blocks of a vector
constexpr std::size_t kMostBlocks = 300;  // of a type that lists its blocks

}  // namespace

Form::Form(MPI_Datatype element, std::size_t extent, std::size_t elements, Random& random)
    : type_(element), count_(static_cast<int>(elements)), bytes_(elements * extent) {
    const int kind = uniform_int(random, 0, 7);
    // MPICH 4.0.2 cuts large messages of other forms of it short.
    if (element == MPI_C_LONG_DOUBLE_COMPLEX) return;
    if (elements == 0) {
        // MPICH 5.0.2 itself hangs where some ranks give a count of 0 and others a type of size 0.
        if (kind < 4 || MPI_VERSION >= 5) return;
        // Elements of no size at all, of which there may be any number.
        PMPI_Type_contiguous(0, element, &type_);
        count_ = uniform_int(random, 0, 3);
        name_ = "of size 0";
        is_derived_ = true;
    } else if (kind == 4) {
        make_vector(element, extent, elements);
    } else if (kind == 5 && elements <= kMostBlocks) {
        make_backwards(element, extent, elements);
    } else if (kind == 6) {
        make_before(element, extent, elements);
    } else if (kind == 7) {
        for (const std::size_t in_unit : {7U, 5U, 3U, 2U}) {
            if (elements % in_unit != 0) continue;
            make_units(element, extent, elements, in_unit);
            break;
        }
    }
    if (is_derived_) PMPI_Type_commit(&type_);
}

Form::~Form() {
    if (is_derived_) PMPI_Type_free(&type_);
}

void Form::make_vector(MPI_Datatype element, std::size_t extent, std::size_t elements) {
    const auto stride = static_cast<int>(1 + kGap);
    PMPI_Type_vector(static_cast<int>(elements), 1, stride, element, &type_);
    bytes_ = elements * (1 + kGap) * extent;
    count_ = 1;
    name_ = "vector";
    is_derived_ = true;
}

/// The first element is the last in memory.
void Form::make_backwards(MPI_Datatype element, std::size_t extent, std::size_t elements) {
    const std::vector<int> lengths(elements, 1);
    std::vector<MPI_Aint> offsets(elements);
    for (std::size_t i = 0; i < elements; ++i)
        offsets[i] = static_cast<MPI_Aint>((elements - 1 - i) * extent);
    PMPI_Type_create_hindexed(count_, lengths.data(), offsets.data(), element, &type_);
    count_ = 1;
    name_ = "back to front";
    is_derived_ = true;
}

/// All of it lies before the address that MPI gets, or around it.
void Form::make_before(MPI_Datatype element, std::size_t extent, std::size_t elements) {
    const int length = static_cast<int>(elements);
    origin_ = static_cast<std::ptrdiff_t>((elements + 1) / 2 * extent);
    const MPI_Aint offset = -origin_;
    PMPI_Type_create_hindexed(1, &length, &offset, element, &type_);
    count_ = 1;
    name_ = "before its address";
    is_derived_ = true;
}

/// A hole after each unit.
void Form::make_units(MPI_Datatype element, std::size_t extent, std::size_t elements, std::size_t in_unit) {
    MPI_Datatype unit = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(static_cast<int>(in_unit), element, &unit);
    PMPI_Type_create_resized(unit, 0, static_cast<MPI_Aint>((in_unit + 1) * extent), &type_);
    PMPI_Type_free(&unit);
    count_ = static_cast<int>(elements / in_unit);
    bytes_ = elements / in_unit * (in_unit + 1) * extent;
    name_ = "units of " + std::to_string(in_unit);
    is_derived_ = true;
}

}  // namespace laple::test
