// SPDX-License-Identifier: MIT
// What points to local tensors and is returned; g++ 12 compiles it. COMPILER: Clang
// EXPECT: 'a' returned.*\n.*return a \+ b;
// EXPECT: 'b' returned.*\n.*return 2.0F \* b;
// EXPECT: 'a' returned.*\n.*return a\[1\];
// EXPECT: 'a' returned.*\n.*return slice
// EXPECT: 'a' returned.*\n.*return transpose
// EXPECT: 'a' returned.*\n.*return as_const
// EXPECT: 'run' returned.*\n.*return run
// LINES: 22
#include <tessera/compose/objects.hpp>
#include <tessera/layers/linear.hpp>

using namespace tessera;
using M = tensor<float, shape<2, 3>>;
[[maybe_unused]] static parameters_of<linear<3, 2>, owned<float>> p;

#if defined(__clang__)
#pragma clang diagnostic error "-Wreturn-stack-address"
#endif
#ifdef TESSERA_MUST_FAIL
#define LOCAL [[maybe_unused]]
#else
#define LOCAL static
#endif

[[maybe_unused]] static auto sum() {
  LOCAL M a{}, b{};
  return a + b;
}
[[maybe_unused]] static auto scaled() {
  LOCAL M b{};
  return 2.0F * b;
}
[[maybe_unused]] static auto row() {
  LOCAL M a{};
  return a[1];
}
[[maybe_unused]] static auto rows() {
  LOCAL M a{};
  return slice(a, range<0, 2>);
}
[[maybe_unused]] static auto turned() {
  LOCAL M a{};
  return transpose(a);
}
[[maybe_unused]] static auto seen() {
  LOCAL M a{};
  return as_const(a);
}
[[maybe_unused]] static auto answer() {
  LOCAL inference<linear<3, 2>, M> run;
  return run(p, M{});
}

auto main() -> int {}
