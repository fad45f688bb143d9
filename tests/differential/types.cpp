// SPDX-License-Identifier: BSD-3-Clause
#include "differential/types.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>

namespace laple::test {
namespace {

constexpr std::size_t kLongDoubleBytes = 10;  // of x86; the rest of its 16 is padding

template <typename T>
NamedType plain(MPI_Datatype type, const char* name, Holds holds) {
    return {type, name, holds, sizeof(T), 1, sizeof(T), 0, 0};
}

template <typename Value, typename Index>
NamedType pair(MPI_Datatype type, const char* name, std::size_t value_bytes = sizeof(Value)) {
    struct Pair {
        Value value;
        Index index;
    };
    return {type, name, Holds::pairs, sizeof(Pair), 2, value_bytes, offsetof(Pair, index), sizeof(Index)};
}

template <typename Part>
NamedType complex(MPI_Datatype type, const char* name, std::size_t part_bytes = sizeof(Part)) {
    return {type, name, Holds::complexes, 2 * sizeof(Part), 2, part_bytes, sizeof(Part), part_bytes};
}

/// A small whole number as whatever a type holds at `to`.
void put(const NamedType& type, std::byte* to, std::size_t bytes, int value, bool is_index) {
    const bool is_float = !is_index && (type.holds == Holds::floats || type.holds == Holds::complexes ||
                                        type.type == MPI_FLOAT_INT || type.type == MPI_DOUBLE_INT ||
                                        type.type == MPI_LONG_DOUBLE_INT);
    const auto copy = [&](const auto& number) { std::memcpy(to, &number, bytes); };
    if (is_float && bytes == kLongDoubleBytes) return copy(static_cast<long double>(value));
    if (is_float && bytes == sizeof(double)) return copy(static_cast<double>(value));
    if (is_float) return copy(static_cast<float>(value));
    copy(static_cast<std::int64_t>(value));  // little endian: its low bytes
}

int value_for(const NamedType& type, MPI_Op op, Random& random) {
    if (type.holds == Holds::logicals) return uniform_int(random, 0, 1);
    if (op == MPI_PROD) return uniform_int(random, 0, 3) == 0 ? 2 : 1;
    if (type.holds == Holds::integers && uniform_int(random, 0, 3) == 0) return 0;
    // Ten of them fit into eight bits with a sign.
    return uniform_int(random, type.holds == Holds::integers ? 0 : -12, 12);
}

}  // namespace

const std::vector<NamedType>& named_types() {
    static const std::vector<NamedType> types{
        plain<int>(MPI_INT, "INT", Holds::integers),
        plain<double>(MPI_DOUBLE, "DOUBLE", Holds::floats),
        plain<float>(MPI_FLOAT, "FLOAT", Holds::floats),
        plain<char>(MPI_SIGNED_CHAR, "SIGNED_CHAR", Holds::integers),
        plain<char>(MPI_UNSIGNED_CHAR, "UNSIGNED_CHAR", Holds::integers),
        plain<short>(MPI_SHORT, "SHORT", Holds::integers),
        plain<short>(MPI_UNSIGNED_SHORT, "UNSIGNED_SHORT", Holds::integers),
        plain<long>(MPI_LONG, "LONG", Holds::integers),
        plain<long>(MPI_UNSIGNED_LONG, "UNSIGNED_LONG", Holds::integers),
        plain<std::int16_t>(MPI_INT16_T, "INT16_T", Holds::integers),
        plain<std::uint64_t>(MPI_UINT64_T, "UINT64_T", Holds::integers),
        plain<MPI_Aint>(MPI_AINT, "AINT", Holds::fortran_integers),
        plain<MPI_Count>(MPI_COUNT, "COUNT", Holds::fortran_integers),
        {MPI_LONG_DOUBLE, "LONG_DOUBLE", Holds::floats, sizeof(long double), 1, kLongDoubleBytes, 0, 0},
        plain<bool>(MPI_C_BOOL, "C_BOOL", Holds::logicals),
        plain<char>(MPI_BYTE, "BYTE", Holds::bytes),
        complex<float>(MPI_C_FLOAT_COMPLEX, "C_FLOAT_COMPLEX"),
        complex<double>(MPI_C_DOUBLE_COMPLEX, "C_DOUBLE_COMPLEX"),
        complex<long double>(MPI_C_LONG_DOUBLE_COMPLEX, "C_LONG_DOUBLE_COMPLEX", kLongDoubleBytes),
        pair<float, int>(MPI_FLOAT_INT, "FLOAT_INT"),
        pair<double, int>(MPI_DOUBLE_INT, "DOUBLE_INT"),
        pair<long, int>(MPI_LONG_INT, "LONG_INT"),
        pair<int, int>(MPI_2INT, "2INT"),
        pair<short, int>(MPI_SHORT_INT, "SHORT_INT"),
        pair<long double, int>(MPI_LONG_DOUBLE_INT, "LONG_DOUBLE_INT", kLongDoubleBytes),
    };
    return types;
}

std::vector<MPI_Op> operations_for(const NamedType& type) {
    switch (type.holds) {
        case Holds::integers:
            return {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,
                    MPI_BAND, MPI_LOR,  MPI_BOR, MPI_LXOR, MPI_BXOR};
        case Holds::fortran_integers:
            return {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR};
        case Holds::floats:
            return {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
        case Holds::complexes:
            return {MPI_SUM, MPI_PROD};
        case Holds::logicals:
            return {MPI_LAND, MPI_LOR, MPI_LXOR};
        case Holds::bytes:
            return {MPI_BAND, MPI_BOR, MPI_BXOR};
        case Holds::pairs:
            return {MPI_MINLOC, MPI_MAXLOC};
    }
    return {};
}

std::string name_of_operation(MPI_Op op) {
    static const std::map<MPI_Op, const char*> names{
        {MPI_SUM, "SUM"},   {MPI_PROD, "PROD"}, {MPI_MAX, "MAX"},       {MPI_MIN, "MIN"},
        {MPI_LAND, "LAND"}, {MPI_BAND, "BAND"}, {MPI_LOR, "LOR"},       {MPI_BOR, "BOR"},
        {MPI_LXOR, "LXOR"}, {MPI_BXOR, "BXOR"}, {MPI_MINLOC, "MINLOC"}, {MPI_MAXLOC, "MAXLOC"}};
    const auto found = names.find(op);
    return found == names.end() ? "user's" : found->second;
}

std::vector<std::byte> values(const NamedType& type, std::size_t count, MPI_Op op, Random& random) {
    std::vector<std::byte> elements(count * type.extent);
    for (std::size_t i = 0; i < count; ++i) {
        std::byte* const at = elements.data() + i * type.extent;
        if (type.holds == Holds::bytes) {
            *at = static_cast<std::byte>(random());
            continue;
        }
        put(type, at, type.part_bytes, value_for(type, op, random), false);
        if (type.parts == 1) continue;
        const bool is_pair = type.holds == Holds::pairs;
        // A product of complex numbers would have zeroes of either sign.
        const bool is_product = !is_pair && op == MPI_PROD;
        const int second = is_pair      ? uniform_int(random, 0, 99)
                           : is_product ? 0
                                        : value_for(type, op, random);
        put(type, at + type.second, type.second_bytes, second, is_pair);
    }
    return elements;
}

void clear_padding(const NamedType& type, std::vector<std::byte>& elements) {
    const std::size_t first_end = type.parts == 1 ? type.extent : type.second;
    for (std::size_t at = 0; at + type.extent <= elements.size(); at += type.extent) {
        std::fill(elements.begin() + static_cast<std::ptrdiff_t>(at + type.part_bytes),
                  elements.begin() + static_cast<std::ptrdiff_t>(at + first_end), std::byte{0});
        if (type.parts == 1) continue;
        std::fill(elements.begin() + static_cast<std::ptrdiff_t>(at + type.second + type.second_bytes),
                  elements.begin() + static_cast<std::ptrdiff_t>(at + type.extent), std::byte{0});
    }
}

}  // namespace laple::test
