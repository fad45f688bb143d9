// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/datatype.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <vector>

namespace laple::mpi {
namespace {

struct Envelope {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    bool is_known = false;
};

/// Types made by a constructor with large counts can only be asked by MPI 4's own function; they count as
/// unknown.
Envelope envelope_of(MPI_Datatype type) {
    Envelope envelope;
#if MPI_VERSION >= 4
    MPI_Count integers = 0;
    MPI_Count addresses = 0;
    MPI_Count large = 0;
    MPI_Count types = 0;
    const int code =
        PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &envelope.combiner);
    envelope.is_known = code == MPI_SUCCESS && large == 0;
    envelope.integers = static_cast<int>(integers);
    envelope.addresses = static_cast<int>(addresses);
    envelope.types = static_cast<int>(types);
#else
    envelope.is_known = PMPI_Type_get_envelope(type, &envelope.integers, &envelope.addresses, &envelope.types,
                                               &envelope.combiner) == MPI_SUCCESS;
#endif
    return envelope;
}

/// Whether `test` holds for any of the types that a derived one is made of; `unknown` where MPI does not say.
template <typename Test>
bool any_inside(MPI_Datatype type, const Envelope& envelope, bool unknown, Test test) {
    std::vector<int> integers(static_cast<std::size_t>(envelope.integers) + 1);
    std::vector<MPI_Aint> addresses(static_cast<std::size_t>(envelope.addresses) + 1);
    std::vector<MPI_Datatype> inner(static_cast<std::size_t>(envelope.types) + 1, MPI_DATATYPE_NULL);
    if (PMPI_Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, integers.data(),
                               addresses.data(), inner.data()) != MPI_SUCCESS) {
        return unknown;
    }
    inner.resize(static_cast<std::size_t>(envelope.types));
    const bool result = std::any_of(inner.begin(), inner.end(), test);
    for (MPI_Datatype& part : inner) {
        // MPI_Type_get_contents hands out references to derived types, which must be given back.
        const Envelope of_part = envelope_of(part);
        if (!of_part.is_known || of_part.combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&part);
    }
    return result;
}

bool is_contiguous(MPI_Datatype type) {
    const Envelope envelope = envelope_of(type);
    if (!envelope.is_known) return false;
    if (envelope.combiner == MPI_COMBINER_CONTIGUOUS || envelope.combiner == MPI_COMBINER_DUP) {
        return any_inside(type, envelope, false, is_contiguous);
    }
    if (envelope.combiner != MPI_COMBINER_NAMED) return false;
    MPI_Count size = 0;
    MPI_Count lb = 0;
    MPI_Count extent = 0;
    PMPI_Type_size_x(type, &size);
    PMPI_Type_get_extent_x(type, &lb, &extent);
    return lb == 0 && size == extent;  // MPI_DOUBLE_INT, for example, has padding
}

enum class TypeClass { other, c_integer, fortran_integer, floating, logical, complex, byte, pair };

struct TypeEntry {
    MPI_Datatype type;
    TypeClass type_class;
};

TypeClass class_of(MPI_Datatype type) {
    static const std::array kTypes{
        TypeEntry{MPI_DOUBLE, TypeClass::floating},
        TypeEntry{MPI_INT, TypeClass::c_integer},
        TypeEntry{MPI_FLOAT, TypeClass::floating},
        TypeEntry{MPI_LONG, TypeClass::c_integer},
        TypeEntry{MPI_UNSIGNED, TypeClass::c_integer},
        TypeEntry{MPI_UNSIGNED_LONG, TypeClass::c_integer},
        TypeEntry{MPI_LONG_LONG, TypeClass::c_integer},
        TypeEntry{MPI_UNSIGNED_LONG_LONG, TypeClass::c_integer},
        TypeEntry{MPI_SHORT, TypeClass::c_integer},
        TypeEntry{MPI_UNSIGNED_SHORT, TypeClass::c_integer},
        TypeEntry{MPI_SIGNED_CHAR, TypeClass::c_integer},
        TypeEntry{MPI_UNSIGNED_CHAR, TypeClass::c_integer},
        TypeEntry{MPI_INT8_T, TypeClass::c_integer},
        TypeEntry{MPI_INT16_T, TypeClass::c_integer},
        TypeEntry{MPI_INT32_T, TypeClass::c_integer},
        TypeEntry{MPI_INT64_T, TypeClass::c_integer},
        TypeEntry{MPI_UINT8_T, TypeClass::c_integer},
        TypeEntry{MPI_UINT16_T, TypeClass::c_integer},
        TypeEntry{MPI_UINT32_T, TypeClass::c_integer},
        TypeEntry{MPI_UINT64_T, TypeClass::c_integer},
        TypeEntry{MPI_AINT, TypeClass::fortran_integer},
        TypeEntry{MPI_COUNT, TypeClass::fortran_integer},
        TypeEntry{MPI_OFFSET, TypeClass::fortran_integer},
        TypeEntry{MPI_INTEGER, TypeClass::fortran_integer},
        TypeEntry{MPI_REAL, TypeClass::floating},
        TypeEntry{MPI_DOUBLE_PRECISION, TypeClass::floating},
        TypeEntry{MPI_LONG_DOUBLE, TypeClass::floating},
        TypeEntry{MPI_REAL4, TypeClass::floating},
        TypeEntry{MPI_REAL8, TypeClass::floating},
        TypeEntry{MPI_COMPLEX8, TypeClass::complex},
        TypeEntry{MPI_COMPLEX16, TypeClass::complex},
        TypeEntry{MPI_LOGICAL, TypeClass::logical},
        TypeEntry{MPI_C_BOOL, TypeClass::logical},
        TypeEntry{MPI_COMPLEX, TypeClass::complex},
        TypeEntry{MPI_DOUBLE_COMPLEX, TypeClass::complex},
        TypeEntry{MPI_C_FLOAT_COMPLEX, TypeClass::complex},
        TypeEntry{MPI_C_DOUBLE_COMPLEX, TypeClass::complex},
        TypeEntry{MPI_C_LONG_DOUBLE_COMPLEX, TypeClass::complex},
        TypeEntry{MPI_BYTE, TypeClass::byte},
        TypeEntry{MPI_FLOAT_INT, TypeClass::pair},
        TypeEntry{MPI_DOUBLE_INT, TypeClass::pair},
        TypeEntry{MPI_LONG_INT, TypeClass::pair},
        TypeEntry{MPI_2INT, TypeClass::pair},
        TypeEntry{MPI_SHORT_INT, TypeClass::pair},
        TypeEntry{MPI_LONG_DOUBLE_INT, TypeClass::pair},
        TypeEntry{MPI_2REAL, TypeClass::pair},
        TypeEntry{MPI_2DOUBLE_PRECISION, TypeClass::pair},
        TypeEntry{MPI_2INTEGER, TypeClass::pair},
    };
    // An MPI without Fortran defines the Fortran types as MPI_DATATYPE_NULL.
    if (type == MPI_DATATYPE_NULL) return TypeClass::other;
    for (const TypeEntry& entry : kTypes) {
        if (entry.type == type) return entry.type_class;
    }
    return TypeClass::other;
}

bool is_one_of(TypeClass type_class, std::initializer_list<TypeClass> classes) {
    return std::find(classes.begin(), classes.end(), type_class) != classes.end();
}

}  // namespace

TypeLayout::Span TypeLayout::span_of(std::uint64_t elements) const {
    if (elements == 0) return {};
    const MPI_Count last = (static_cast<MPI_Count>(elements) - 1) * extent;
    const MPI_Count low = true_lb + std::min<MPI_Count>(last, 0);
    const MPI_Count high = true_lb + true_extent + std::max<MPI_Count>(last, 0);
    return {low, high - low};
}

TypeLayout layout_of(MPI_Datatype type) {
    TypeLayout layout;
    MPI_Count lb = 0;
    PMPI_Type_size_x(type, &layout.size);
    PMPI_Type_get_extent_x(type, &lb, &layout.extent);
    PMPI_Type_get_true_extent_x(type, &layout.true_lb, &layout.true_extent);
    layout.is_contiguous = layout.size == layout.extent && layout.true_lb == 0 && is_contiguous(type);
    return layout;
}

bool is_named(MPI_Datatype type) {
    const Envelope envelope = envelope_of(type);
    return envelope.is_known && envelope.combiner == MPI_COMBINER_NAMED;
}

bool is_predefined(MPI_Op op) {
    static const std::array kOps{MPI_SUM, MPI_MAX, MPI_MIN,  MPI_PROD, MPI_LAND,   MPI_BAND,
                                 MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

bool may_be_padded(MPI_Datatype type) {
    if (std::numeric_limits<long double>::digits != 64) return false;
    const Envelope envelope = envelope_of(type);
    if (!envelope.is_known) return true;
    if (envelope.combiner != MPI_COMBINER_NAMED) return any_inside(type, envelope, true, may_be_padded);
    return type == MPI_LONG_DOUBLE || type == MPI_LONG_DOUBLE_INT || type == MPI_C_LONG_DOUBLE_COMPLEX;
}

bool is_exact(MPI_Op op, MPI_Datatype type) {
    const bool is_pair_of_float = type == MPI_FLOAT_INT || type == MPI_DOUBLE_INT ||
                                  type == MPI_LONG_DOUBLE_INT || type == MPI_2REAL ||
                                  type == MPI_2DOUBLE_PRECISION;
    return is_predefined(op) && !is_pair_of_float && float_layout_of(type).bytes == 0;
}

FloatLayout float_layout_of(MPI_Datatype type) {
    const TypeClass type_class = class_of(type);
    if (type_class != TypeClass::floating && type_class != TypeClass::complex) return {};
    const std::size_t parts = type_class == TypeClass::complex ? 2 : 1;
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return {static_cast<std::size_t>(size) / parts, parts};
}

bool allows(MPI_Op op, MPI_Datatype type) {
    using enum TypeClass;
    const TypeClass type_class = class_of(type);
    if (op == MPI_MAX || op == MPI_MIN) return is_one_of(type_class, {c_integer, fortran_integer, floating});
    if (op == MPI_SUM || op == MPI_PROD) {
        return is_one_of(type_class, {c_integer, fortran_integer, floating, complex});
    }
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) return is_one_of(type_class, {c_integer, logical});
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) {
        return is_one_of(type_class, {c_integer, fortran_integer, byte});
    }
    if (op == MPI_MINLOC || op == MPI_MAXLOC) return type_class == pair;
    return false;
}

}  // namespace laple::mpi
