// SPDX-License-Identifier: BSD-3-Clause

// The code of fmt, once for all. With fmt's headers alone (FMT_HEADER_ONLY) each file that formats has a copy
// of its own, and takes twice as long to compile; a preloaded library must not bring libfmt.so along, and not
// every system has it as an archive.
#ifndef FMT_HEADER_ONLY
#include <locale>

#include <fmt/format-inl.h>

// What format.h declares to be instantiated elsewhere, in one version or another.
FMT_BEGIN_NAMESPACE
using namespace detail;
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto detail::decimal_point_impl<char>(locale_ref) -> char;
#if FMT_VERSION >= 100000 && FMT_VERSION < 110000
template auto detail::dragonbox::to_decimal<float>(float) noexcept -> dragonbox::decimal_fp<float>;
template auto detail::dragonbox::to_decimal<double>(double) noexcept -> dragonbox::decimal_fp<double>;
template void detail::vformat_to<char>(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif
FMT_END_NAMESPACE
#endif
