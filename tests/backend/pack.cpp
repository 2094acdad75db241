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

namespace {
/// A vector of narrow numbers has the values of one number at a time, whole and in part.
template <class T, class U> void check_widened(std::vector<U> const& numbers) {
  constexpr auto width = lane::pack<T>::width;
  auto const same = [](T x, T y) { return std::isnan(y) ? std::isnan(x) : x == y; };
  auto wrong = 0;
  for (auto i = std::size_t{0}; i + width <= numbers.size(); i += width)
    for (auto n = std::size_t{1}; n <= width; ++n) {
      T got[width];
      lane::store(got,
                  n == width ? lane::widen<T>(&numbers[i]) : lane::widen_first<T>(&numbers[i], n));
      for (auto k = std::size_t{0}; k < width; ++k)
        if (not same(got[k], k < n ? widened<T>(numbers[i + k]) : T{0})) ++wrong;
    }
  CHECK(wrong == 0);
}
template <class U> auto all_numbers() {
  auto result = std::vector<U>(0x10000);
  for (auto i = std::size_t{0}; i < result.size(); ++i)
    result[i].bits = static_cast<std::uint16_t>(i);
  return result;
}
}  // namespace

TEST_CASE("pack: every number of 16 and 8 bits is widened as one at a time") {
  auto bytes = std::vector<std::int8_t>{};
  for (auto i = -128; i < 128; ++i) bytes.push_back(static_cast<std::int8_t>(i));
  check_widened<float>(all_numbers<bf16>());
  check_widened<float>(all_numbers<f16>());
  check_widened<float>(bytes);
  check_widened<double>(all_numbers<bf16>());
  check_widened<double>(all_numbers<f16>());
  check_widened<double>(bytes);
}
namespace {

/// The first N lanes with N in the type: what load_first and store_first do with N.
template <class T, std::size_t... N> void first_lanes_of(std::index_sequence<N...>) {
  using V = lane::pack<T>;
  auto const one = []<std::size_t Count>(std::integral_constant<std::size_t, Count>) {
    INFO(Count << " of " << V::width);
    auto const from = std::make_unique<T[]>(Count);  // nothing beyond it may be read or written
    auto const to = std::make_unique<T[]>(Count);
    T want[V::width] = {};
    T got[V::width];
    for (auto i = std::size_t{0}; i < Count; ++i) want[i] = from[i] = static_cast<T>(i + 1);
    auto const v = lane::load_first<Count>(from.get());
    lane::store(got, v);
    CHECK(std::memcmp(got, want, sizeof want) == 0);
    lane::store_first<Count>(to.get(), v);
    CHECK(std::memcmp(to.get(), want, Count * sizeof(T)) == 0);
    for (auto& number : got) number = T{-1};
    lane::store_first<Count>(got, v + v);
    for (auto i = std::size_t{0}; i < V::width; ++i)
      CHECK(got[i] == (i < Count ? static_cast<T>(2 * i + 2) : T{-1}));
  };
  (one(std::integral_constant<std::size_t, N + 1>{}), ...);
}

}  // namespace

TEST_CASE("pack: halves are stored as one at a time, of every kind of number") {
  using V = lane::pack<float>;
  auto r = torch_generator(4);
  for (auto i = 0; i < 20'000; ++i) {
    float from[V::width];
    for (auto& x : from) {
      // Any bits, and half of the time an exponent that a half has, or nearly has.
      auto bits = static_cast<std::uint32_t>(r.randint(0x10000)) << 16U |
                  static_cast<std::uint32_t>(r.randint(0x10000));
      if (r.randint(2) == 0)
        bits = (bits & 0x807FFFFFU) | static_cast<std::uint32_t>(100 + r.randint(46)) << 23U;
      if (r.randint(4) == 0) bits &= 0xFFFFE000U | (r.randint(2) == 0 ? 0x1000U : 0U);  // ties
      x = lane::from_bits(bits);
    }
    f16 to[V::width];
    lane::store(to, lane::load(from));
    for (auto k = std::size_t{0}; k < V::width; ++k)
      if (to[k].bits != f16(from[k]).bits)
        FAIL(lane::as_bits(from[k]) << " became " << to[k].bits << ", not " << f16(from[k]).bits);
  }
}
TEMPLATE_TEST_CASE("pack: a number of first lanes that the compiler knows", "", float, double) {
  first_lanes_of<TestType>(std::make_index_sequence<lane::pack<TestType>::width>{});
}

TEMPLATE_TEST_CASE("pack: small integers, their powers of two and scaling as numbers have them", "",
                   float, double) {
  using T = TestType;
  using V = lane::pack<T>;
  auto g = torch_generator(9);
  T x[V::width];
  T found[V::width];
  auto const least = sizeof(T) == 4 ? T(-126) : T(-1022);
  for (auto k = 0; k < 2000; ++k) {
    g.uniform(x, V::width, least, -least);
    x[0] = T(k % 126) + T(0.5);  // ties go to even
    auto const n = lane::nearest_small(lane::load(x));
    lane::store(found, n.value);
    for (auto i = std::size_t{0}; i < V::width; ++i)
      if (found[i] != lane::nearest_small(x[i]).value) FAIL(x[i]);
    lane::store(found, power_of_two(n));
    for (auto i = std::size_t{0}; i < V::width; ++i)
      if (found[i] != lane::power_of_two(lane::nearest_small(x[i]))) FAIL(x[i]);
    lane::store(found, lane::exp(lane::load(x)));
    for (auto i = std::size_t{0}; i < V::width; ++i)
      if (found[i] != lane::exp(x[i])) FAIL(x[i]);
  }
}

TEMPLATE_TEST_CASE("pack: limited magnitudes as numbers have them", "", float, double) {
  using T = TestType;
  using V = lane::pack<T>;
  auto const least = std::numeric_limits<T>::denorm_min();
  auto const inf = std::numeric_limits<T>::infinity();
  auto const same = [](V found, T number) {
    T each[V::width];
    lane::store(each, found);
    return lane::as_bits(each[0]) == lane::as_bits(number);
  };
  for (auto const x :
       {T{0}, -T{0}, T{3}, -T{3}, T(9.5), -T(9.5), T{10}, -T{10}, least, -least, inf, -inf}) {
    INFO(x);
    CHECK(same(limited_magnitude(V(x), T(9.5)), lane::limited_magnitude(x, T(9.5))));
    CHECK(same(limited_negative(V(x), T(9.5)), lane::limited_negative(x, T(9.5))));
    CHECK(lane::limited_magnitude(x, T(9.5)) == std::min(std::abs(x), T(9.5)));
    CHECK(lane::limited_negative(x, T(9.5)) == -std::min(std::abs(x), T(9.5)));
  }
}
