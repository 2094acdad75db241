// SPDX-License-Identifier: MIT
#pragma once

#include <support/catch.hpp>
#include <tessera/backend/simd/pack.hpp>
#include <tessera/random/torch.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace test {

using namespace tessera;

/// Special values, then random bit patterns, then numbers of everyday size.
template <class T> class patterns {
 public:
  auto next() -> T {
    using limit = std::numeric_limits<T>;
    static constexpr T special[] = {T{0},
                                    -T{0},
                                    T{1},
                                    -T{1},
                                    limit::infinity(),
                                    -limit::infinity(),
                                    limit::quiet_NaN(),
                                    limit::min(),
                                    limit::denorm_min(),
                                    limit::max(),
                                    limit::lowest(),
                                    limit::epsilon(),
                                    T{0.5},
                                    T{20},
                                    T{-87},
                                    T{88.5},
                                    T{-103},
                                    static_cast<T>(709.7),
                                    T{0.9375}};
    auto const k = count_++;
    if (k < std::size(special)) return special[k];
    if (k % 2 == 0) return static_cast<T>((g_.template rand<double>() - 0.5) * 40);
    auto const bits = g_.random64();
    auto x = T{};
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }

 private:
  torch_generator g_{1};
  std::size_t count_ = 0;
};

/// A function of lanes gives the same bits for numbers and for vectors; returns a checksum of the
/// values, in which NaN is one value.
template <class T, class F> auto vectors_equal_numbers(F f, int rounds = 20000) -> std::uint64_t {
  using V = lane::pack<T>;
  auto source = patterns<T>{};
  auto sum = std::uint64_t{14695981039346656037ULL};
  for (auto k = 0; k < rounds * 16; k += static_cast<int>(V::width)) {
    T in[V::width];
    T out[V::width];
    for (auto& x : in) x = source.next();
    lane::store(out, f(lane::load(in)));
    for (auto i = std::size_t{0}; i < V::width; ++i) {
      auto const one = f(in[i]);
      auto const same =
          std::isnan(one) ? std::isnan(out[i]) : std::memcmp(&one, &out[i], sizeof one) == 0;
      if (not same) FAIL("of " << in[i] << ": number " << one << ", vector " << out[i]);
      auto bits = std::uint64_t{0x7FF8};
      if (not std::isnan(one)) bits = lane::as_bits(one);
      sum = (sum ^ bits) * 1099511628211ULL;
    }
  }
  return sum;
}

}  // namespace test

/// A test case for lane::function, in float and double.
#define SAME_BITS(function)                                           \
  TEST_CASE(#function ": numbers and vectors have the same bits") {   \
    auto const f = [](auto x) { return tessera::lane::function(x); }; \
    CHECK(test::vectors_equal_numbers<float>(f) != 0);                \
    CHECK(test::vectors_equal_numbers<double>(f) != 0);               \
  }
