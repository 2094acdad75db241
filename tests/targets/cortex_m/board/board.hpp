// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// What the test programs ask of a board.
namespace board {

void print(char const* text);
/// SysTick, which counts down from here; ticks() are those since, up to 2^24.
void start_counting();
auto ticks() -> std::uint32_t;

inline void print(std::uint32_t n) {
  char text[12] = {};
  auto* at = text + 11;
  do *--at = static_cast<char>('0' + n % 10);
  while ((n /= 10) > 0);
  print(at);
}
/// "name value", for the script that runs the programs.
inline void print(char const* name, std::uint32_t value) {
  print(name);
  print(" ");
  print(value);
  print("\n");
}
/// "name bits bits ...": floats by their bits.
inline void print(char const* name, float const* values, std::size_t n) {
  print(name);
  for (auto i = std::size_t{0}; i < n; ++i) {
    print(" ");
    print(__builtin_bit_cast(std::uint32_t, values[i]));
  }
  print("\n");
}
/// The ticks that a call takes.
template <class F> auto ticks_of(F const& f) -> std::uint32_t {
  start_counting();
  auto const before = ticks();
  f();
  return ticks() - before;
}

}  // namespace board
