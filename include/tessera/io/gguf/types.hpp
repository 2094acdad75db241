// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/block_format.hpp>
#include <tessera/core/scalar.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <string_view>

/// The types of a GGUF file: of its metadata, and of its tensors.
namespace tessera {

/// The types of metadata, by their numbers in files.
enum class gguf_type : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64
};

namespace detail {

struct gguf_type_row {
  std::string_view name;
  std::size_t bytes;  // 0 for a string and an array, which say their own length
};
inline constexpr gguf_type_row gguf_type_table[] = {
    {"u8", 1},   {"i8", 1},     {"u16", 2},   {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
    {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

}  // namespace detail

[[nodiscard]] constexpr auto name_of(gguf_type type) -> std::string_view {
  return detail::gguf_type_table[static_cast<std::size_t>(type)].name;
}
/// The bytes of one value; 0 for a string and an array.
[[nodiscard]] constexpr auto byte_size_of(gguf_type type) -> std::size_t {
  return detail::gguf_type_table[static_cast<std::size_t>(type)].bytes;
}

/// The type of a C++ type: a number, bool, or std::string_view.
template <class T> [[nodiscard]] consteval auto gguf_type_of() -> gguf_type {
  if constexpr (std::same_as<T, bool>) return gguf_type::boolean;
  if constexpr (std::same_as<T, float>) return gguf_type::f32;
  if constexpr (std::same_as<T, double>) return gguf_type::f64;
  if constexpr (std::same_as<T, std::string_view>) return gguf_type::string;
  if constexpr (std::integral<T> && not std::same_as<T, bool>) {
    constexpr gguf_type of_size[2][4] = {
        {gguf_type::u8, gguf_type::u16, gguf_type::u32, gguf_type::u64},
        {gguf_type::i8, gguf_type::i16, gguf_type::i32, gguf_type::i64}};
    return of_size[std::is_signed_v<T> ? 1 : 0][std::countr_zero(sizeof(T))];
  }
}

/// The types of tensors whose numbers are read and written, by their numbers in files; a file may
/// have others, whose facts are known.
enum class ggml_type : std::uint32_t { f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q8_0 = 8, bf16 = 30 };

/// What a file needs to know of a tensor's type: `numbers` of a row are stored in `bytes`.
struct ggml_type_facts {
  std::uint32_t number;
  std::string_view name;
  std::uint32_t numbers;
  std::uint32_t bytes;
};

namespace detail {

inline constexpr ggml_type_facts ggml_type_table[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},      {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 40},      {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},  {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},  {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},   {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},    {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18}};

}  // namespace detail

/// Null for a number that no type has.
/// Source  GGML_QUANT_SIZES of PyPI's gguf 0.19.0: tests/reference/gguf_files.py
[[nodiscard]] constexpr auto facts_of_ggml_type(std::uint32_t number) -> ggml_type_facts const* {
  for (auto const& row : detail::ggml_type_table)
    if (row.number == number) return &row;
  return nullptr;
}
[[nodiscard]] constexpr auto facts_of(ggml_type type) -> ggml_type_facts const& {
  return *facts_of_ggml_type(static_cast<std::uint32_t>(type));
}
[[nodiscard]] constexpr auto is_readable(ggml_type_facts const& facts) -> bool {
  auto const type = static_cast<ggml_type>(facts.number);
  return type == ggml_type::f32 || type == ggml_type::f16 || type == ggml_type::bf16 ||
         type == ggml_type::q4_0 || type == ggml_type::q4_1 || type == ggml_type::q8_0;
}

/// The type of tensors that are stored as numbers or blocks T.
template <class T> [[nodiscard]] consteval auto ggml_type_of() -> ggml_type {
  if constexpr (std::same_as<T, float>) return ggml_type::f32;
  if constexpr (std::same_as<T, f16>) return ggml_type::f16;
  if constexpr (std::same_as<T, bf16>) return ggml_type::bf16;
  if constexpr (std::same_as<T, q4_0>) return ggml_type::q4_0;
  if constexpr (std::same_as<T, q4_1>) return ggml_type::q4_1;
  if constexpr (std::same_as<T, q8_0>) return ggml_type::q8_0;
}

}  // namespace tessera
