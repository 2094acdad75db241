// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/scalar.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera {

/// The types of numbers that files hold, in the order of the safetensors format.
enum class dtype : std::uint8_t {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64
};

namespace detail {

struct dtype_row {
  std::string_view name;
  unsigned bits;
};
inline constexpr dtype_row dtype_table[] = {
    {"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
    {"I64", 64},        {"U64", 64}};

}  // namespace detail

/// The bits of one number.
[[nodiscard]] constexpr auto bits_of(dtype type) -> unsigned {
  return detail::dtype_table[static_cast<std::size_t>(type)].bits;
}
/// "F32": the name in files.
[[nodiscard]] constexpr auto name_of(dtype type) -> std::string_view {
  return detail::dtype_table[static_cast<std::size_t>(type)].name;
}
/// The dtype of a name in files, if there is one.
[[nodiscard]] constexpr auto dtype_of(std::string_view name) -> std::optional<dtype> {
  for (auto i = std::size_t{0}; i < std::size(detail::dtype_table); ++i)
    if (detail::dtype_table[i].name == name) return static_cast<dtype>(i);
  return std::nullopt;
}

/// The dtype of a C++ type.
template <class T> [[nodiscard]] consteval auto dtype_of() -> dtype {
  if constexpr (std::same_as<T, bool>) return dtype::boolean;
  if constexpr (std::same_as<T, float>) return dtype::f32;
  if constexpr (std::same_as<T, double>) return dtype::f64;
  if constexpr (std::same_as<T, f16>) return dtype::f16;
  if constexpr (std::same_as<T, bf16>) return dtype::bf16;
  if constexpr (std::same_as<T, std::byte>) return dtype::u8;
  if constexpr (std::integral<T> && not std::same_as<T, bool>) {
    constexpr dtype of_size[2][4] = {{dtype::u8, dtype::u16, dtype::u32, dtype::u64},
                                     {dtype::i8, dtype::i16, dtype::i32, dtype::i64}};
    return of_size[std::is_signed_v<T> ? 1 : 0][std::countr_zero(sizeof(T))];
  }
}

}  // namespace tessera
