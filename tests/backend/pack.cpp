// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {
/// Lane by lane what numbers give, for pairs that include zeros, infinities and NaN.
template <class T> void check_arithmetic() {
  using P = lane::pack<T>;
  constexpr auto width = P::width;
  auto const inf = std::numeric_limits<T>::infinity();
  auto const special = std::array<T, 8>{0, -T{0}, 1, -2, inf, -inf, T(NAN), T(0.3)};
  T a[width];
  T b[width];
  auto const lanes = [&](auto vector, auto number) {
    T got[width];
    lane::store(got, vector(lane::load(a), lane::load(b)));
    for (auto i = std::size_t{0}; i < width; ++i) {
      auto const want = number(a[i], b[i]);
      if (std::isnan(want))
        CHECK(std::isnan(got[i]));
      else
        CHECK(std::memcmp(&got[i], &want, sizeof(T)) == 0);
    }
  };
  for (auto shift = std::size_t{0}; shift < 8; ++shift) {
    for (auto i = std::size_t{0}; i < width; ++i) {
      a[i] = special[i % 8];
      b[i] = special[(i + shift) % 8];
    }
    lanes([](P x, P y) { return x + y; }, [](T x, T y) { return x + y; });
    lanes([](P x, P y) { return x - y; }, [](T x, T y) { return x - y; });
    lanes([](P x, P y) { return x * y; }, [](T x, T y) { return x * y; });
    lanes([](P x, P y) { return x / y; }, [](T x, T y) { return x / y; });
    lanes([](P x, P) { return -x; }, [](T x, T) { return -x; });
    lanes([](P x, P) { return abs(x); }, [](T x, T) { return std::abs(x); });
    lanes([](P x, P) { return sqrt(x); }, [](T x, T) { return std::sqrt(x); });
    lanes([](P x, P y) { return copysign(x, y); }, [](T x, T y) { return std::copysign(x, y); });
    lanes([](P x, P y) { return select(x < y, x, y); }, [](T x, T y) { return x < y ? x : y; });
    lanes([](P x, P y) { return select(x >= y && y != y, x, y); },
          [](T x, T y) { return x >= y && y != y ? x : y; });
    lanes([](P x, P y) { return min(x, y); }, [](T x, T y) { return lane::min(x, y); });
    lanes([](P x, P y) { return max(x, y); }, [](T x, T y) { return lane::max(x, y); });
    lanes([](P x, P y) { return fma(x, y, x); }, [](T x, T y) { return lane::fma(x, y, x); });
  }
}
}  // namespace

TEST_CASE("pack: arithmetic is that of numbers, lane by lane, special values included") {
  check_arithmetic<float>();
  check_arithmetic<double>();
}
