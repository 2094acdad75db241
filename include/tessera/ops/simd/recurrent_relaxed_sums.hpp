// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/simd/recurrent.hpp>

/// The sums of a step of a cell on the backend `relaxed`, of float, in the order that is fastest.
namespace tessera::detail::inline TESSERA_TARGET {

/// The units of a panel of floats.
inline constexpr std::size_t panel_units = 64 / sizeof(float);

/// How the sums of a step go over h, whatever the vectors: those of few units wait for each other,
/// so that each is a sum of several; weights beyond a first level are read to and fro, since what
/// was read last is still there.
template <class Cell, std::size_t In, std::size_t Hidden> struct relaxed_order {
  static constexpr auto bytes = (In + Hidden) * Cell::gates * Hidden * sizeof(float);
  static constexpr bool turns = bytes > 32 * 1024;
  static constexpr auto parts = std::size_t{turns || Hidden > 16 || Hidden % 2 != 0 ? 1
                                            : Hidden <= 8 && Hidden % 4 == 0        ? 4
                                                                                    : 2};
};

/// f(k % Parts, number k in all lanes) of Count numbers, or from the last to the first of them.
///
/// Cost  one load each; with vectors of 64 bytes, of which the weights take all that a cycle can
///       load, two loads for four: one of the first, and one of all, which gives three by shuffles.
///       Shuffles of all four are no better where they share a port with the multiplications
template <std::size_t Count, std::size_t Parts>
TESSERA_INLINE inline void for_each_broadcast(float const* from, bool down, auto const& f) {
  using V = lane::pack<float>;
#if defined(__AVX512F__)
  constexpr auto by_fours = Parts == 1 && Count % 4 == 0;
  auto const fours = [&](auto is_down) TESSERA_INLINE {
    constexpr bool falls = decltype(is_down)::value;
    for (auto k = std::size_t{0}; k < Count; k += 4) {
      auto const* const at = from + (falls ? Count - 4 - k : k);
      auto const all = _mm512_maskz_broadcast_f32x4(0xFFFF, _mm_loadu_ps(at));
      f(0, V(at[falls ? 3 : 0]));
      f(0, V(decltype(V::value)(_mm512_maskz_permute_ps(0xFFFF, all, falls ? 0xAA : 0x55))));
      f(0, V(decltype(V::value)(_mm512_maskz_permute_ps(0xFFFF, all, falls ? 0x55 : 0xAA))));
      f(0, V(decltype(V::value)(_mm512_maskz_permute_ps(0xFFFF, all, falls ? 0x00 : 0xFF))));
    }
  };
#else
  constexpr auto by_fours = false;
  auto const fours = [](auto) {};
#endif
  if constexpr (by_fours) {
    if (down)
      fours(std::true_type{});
    else
      fours(std::false_type{});
  } else {
    auto const step = std::ptrdiff_t{down ? -1 : 1};
    if (down) from += Count - 1;
    for (auto k = std::size_t{0}; k < Count; k += Parts)
#pragma GCC unroll 4
      for (auto i = std::size_t{0}; i < Parts; ++i, from += step) f(i, V(*from));
  }
}

/// The sums of one row, of Count units from `unit` on: over h, then over x, which may come late.
template <class Cell, std::size_t In, std::size_t Hidden, std::size_t Count>
TESSERA_INLINE inline void relaxed_sums(
    recurrent_memory<float> const& m, recurrent_panels<float> const& w, std::size_t row,
    std::size_t unit, [[maybe_unused]] bool back,
    lane::pack<float> (&sum)[vectors_of<float, Count>][Cell::sums.size()]) {
  using V = lane::pack<float>;
  using order = relaxed_order<Cell, In, Hidden>;
  constexpr auto units = panel_units;
  constexpr auto vectors = vectors_of<float, Count>;
  constexpr auto last = Count - (vectors - 1) * V::width;  // lanes of the last vector
  constexpr auto sums = Cell::sums.size();
  constexpr auto stride = Cell::gates * units;  // from one number of h to the next
  constexpr auto parts = order::parts;
  auto const each = [](auto const& f) TESSERA_INLINE {
#pragma GCC unroll 4
    for (auto v = std::size_t{0}; v < vectors; ++v)
#pragma GCC unroll 4
      for (auto g = std::size_t{0}; g < sums; ++g) f(v, g);
  };
  auto const weights = [](float const* of, std::size_t depth, std::size_t v,
                          std::size_t g) TESSERA_INLINE {
    auto const at = v * V::width;
    return lane::load(of + at / units * depth * stride + at % units + Cell::sums[g].gate * units);
  };
  V part[parts][vectors][sums];
  start_sums<Cell>(
      w.bias_ih, w.bias_hh, Hidden, unit,
      [](std::size_t v, float const* from) TESSERA_INLINE {
        return v + 1 < vectors ? lane::load(from) : lane::load_first<last>(from);
      },
      part[0]);
#pragma GCC unroll 4
  for (auto i = std::size_t{1}; i < parts; ++i)
    each([&](std::size_t v, std::size_t g) TESSERA_INLINE { part[i][v][g] = V(0.0F); });

  auto const* of_h = w.weight_hh + unit / units * Hidden * stride + unit % units;
  auto step = static_cast<std::ptrdiff_t>(stride);
  auto const down = order::turns && not back;  // what the step before computed first comes first
  if (down) of_h += (Hidden - 1) * stride, step = -step;
  for_each_broadcast<Hidden, parts>(
      m.h + row * Hidden, down, [&](std::size_t i, V value) TESSERA_INLINE {
        each([&](std::size_t v, std::size_t g) TESSERA_INLINE {
          if (takes<Cell, true>(g))
            part[i][v][g] = fma(value, weights(of_h, Hidden, v, g), part[i][v][g]);
        });
        of_h += step;
      });
#pragma GCC unroll 2
  for (auto count = parts; count > 1; count /= 2)
#pragma GCC unroll 2
    for (auto i = std::size_t{0}; i < count / 2; ++i)
      each([&](std::size_t v, std::size_t g)
               TESSERA_INLINE { part[i][v][g] = part[i][v][g] + part[i + count / 2][v][g]; });
  auto const* of_x = w.weight_ih + unit / units * In * stride + unit % units;
  for (auto k = std::size_t{0}; k < In; ++k, of_x += stride) {
    auto const value = V(m.x[row * In + k]);
    each([&](std::size_t v, std::size_t g) TESSERA_INLINE {
      if (takes<Cell, false>(g)) part[0][v][g] = fma(value, weights(of_x, In, v, g), part[0][v][g]);
    });
  }
  each([&](std::size_t v, std::size_t g) TESSERA_INLINE { sum[v][g] = part[0][v][g]; });
}

}  // namespace tessera::detail::inline TESSERA_TARGET
