// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/gguf/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

/// The numbers of a tensor of any type that is read, as floats, and back.
namespace tessera {

namespace detail {

/// Calls f with a number or block of the type that a tensor has.
template <class F> void with_stored_type(ggml_type type, F const& f) {
  switch (type) {
    case ggml_type::f32:
      return f(float{});
    case ggml_type::f16:
      return f(f16{});
    case ggml_type::bf16:
      return f(bf16{});
    case ggml_type::q4_0:
      return f(q4_0{});
    case ggml_type::q4_1:
      return f(q4_1{});
    case ggml_type::q8_0:
      return f(q8_0{});
  }
  throw std::invalid_argument("expected a type of F32, F16, BF16, Q4_0, Q4_1, Q8_0, got number " +
                              std::to_string(static_cast<std::uint32_t>(type)));
}
template <class Stored> void decode_as(std::span<std::byte const> from, std::span<float> to) {
  constexpr auto step = is_block<Stored> ? block_length : std::size_t{1};
  for (auto k = std::size_t{0}; k < to.size() / step; ++k) {
    auto stored = Stored{};
    std::memcpy(&stored, from.data() + k * sizeof(Stored), sizeof(Stored));
    if constexpr (is_block<Stored>)
      for (auto i = std::size_t{0}; i < step; ++i) to[k * step + i] = decode(stored, i);
    else
      to[k] = static_cast<float>(stored);
  }
}
[[nodiscard]] constexpr auto fits_half(float x) -> bool {
  return (f16(x).bits & 0x7C00U) != 0x7C00U;
}
/// False where a number has no place in the type: it is not finite, or becomes infinite.
template <class Stored> [[nodiscard]] auto encode_as(float const* x, Stored& to) -> bool {
  if constexpr (is_block<Stored>) {
    for (auto i = std::size_t{0}; i < block_length; ++i)
      if (not std::isfinite(x[i])) return false;
    auto const [least, most] = std::minmax_element(x, x + block_length);
    if constexpr (std::same_as<Stored, q4_1>) {
      if (not fits_half((*most - *least) / 15) || not fits_half(*least)) return false;
    } else {
      auto const steps = std::same_as<Stored, q4_0> ? 8.F : 127.F;
      if (not fits_half(std::max(*most, -*least) / steps)) return false;
    }
    encode([&](std::size_t i) { return x[i]; }, to);
    return true;
  } else {
    to = Stored(*x);
    return not std::isfinite(*x) || std::isfinite(static_cast<float>(to));
  }
}

}  // namespace detail

/// The numbers of stored bytes, as floats.
///
/// Errors  std::invalid_argument where `from` and `to` do not have the same numbers
inline void decode_numbers(ggml_type type, std::span<std::byte const> from, std::span<float> to) {
  detail::with_stored_type(type, [&]<class Stored>(Stored) {
    constexpr auto facts = facts_of(ggml_type_of<Stored>());
    if (to.size() % facts.numbers != 0 || from.size() != to.size() / facts.numbers * facts.bytes)
      throw std::invalid_argument("decode_numbers: expected the bytes of " +
                                  std::to_string(to.size()) + " numbers of " +
                                  std::string{facts.name} + ", got " + std::to_string(from.size()));
    detail::decode_as<Stored>(from, to);
  });
}
/// The bytes that store `x`; its rows are whole blocks.
///
/// Errors  std::invalid_argument where a number has no place in the type (in a block, all must be
///         finite; in 16 bits, none may become infinite), and where the last block is not whole
[[nodiscard]] inline auto encode_numbers(ggml_type type, std::span<float const> x)
    -> std::vector<std::byte> {
  auto result = std::vector<std::byte>{};
  detail::with_stored_type(type, [&]<class Stored>(Stored stored) {
    constexpr auto facts = facts_of(ggml_type_of<Stored>());
    auto const refuse = [&](std::string const& what) {
      throw std::invalid_argument("encode_numbers: expected " + what + " for " +
                                  std::string{facts.name});
    };
    if (x.size() % facts.numbers != 0)
      refuse("whole blocks of 32, got " + std::to_string(x.size()) + " numbers,");
    auto const blocks = x.size() / facts.numbers;
    result.resize(blocks * sizeof(Stored));
    for (auto k = std::size_t{0}; k < blocks; ++k) {
      if (not detail::encode_as(x.data() + k * facts.numbers, stored))
        refuse("finite numbers that 16 bits hold, got others at number " +
               std::to_string(k * facts.numbers));
      std::memcpy(result.data() + k * sizeof(Stored), &stored, sizeof(Stored));
    }
  });
  return result;
}

}  // namespace tessera
