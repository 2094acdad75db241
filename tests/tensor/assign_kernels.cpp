// SPDX-License-Identifier: MIT
#include <support/backwards.hpp>
#include <support/test.hpp>

using namespace tessera;

// The passes over expressions: vectors have the bits of plain loops, whatever the shape.
template <class T, class S, std::ptrdiff_t... Axes> void same_bits(unsigned seed) {
  auto const a = std::make_unique<tensor<T, S, simd>>();
  auto const b = std::make_unique<tensor<T, S, reference>>();
  test::fill(*a, seed, 4);
  test::fill(*b, seed, 4);
  auto const compare = [](auto const& x, auto const& y) {
    CHECK(test::same_bits(evaluate(x), evaluate(y)));
  };
  // Elementary functions along one axis; on more axes, where the order of places and sums is at
  // stake, arithmetic that compiles faster.
  auto const f = [](auto const& x) {
    if constexpr (S::rank == 1)
      return tanh(x * x - 0.5) / (abs(x) + 1) + where(x > 0, exp(x), x);
    else
      return where(x > 0, x * x - 0.5, x / (abs(x) + 1));
  };
  compare(f(*a), f(*b));
  compare(sum(f(*a), axis<Axes...>), sum(f(*b), axis<Axes...>));
  compare(max(*a, axis<Axes...>), max(*b, axis<Axes...>));
  compare(*a - mean(*a, axis<Axes...>, keepdims), *b - mean(*b, axis<Axes...>, keepdims));
  compare(*a > 0 && !(*a < 1), *b > 0 && !(*b < 1));
  compare(transpose(*a) * 2 + 1, transpose(*b) * 2 + 1);
  compare(variance(*a, axis<Axes...>), variance(*b, axis<Axes...>));
}
TEST_CASE("tensor kernels: vectors have the bits of plain loops") {
  same_bits<float, shape<1>>(1);
  same_bits<float, shape<7>>(2);
  same_bits<float, shape<64>>(3);
  same_bits<float, shape<1000>>(4);
  same_bits<float, shape<5, 3>, 0>(5);
  same_bits<float, shape<5, 3>, 1>(6);
  same_bits<float, shape<13, 67>, 0>(7);
  same_bits<float, shape<13, 67>, 1>(8);
  same_bits<float, shape<13, 67>, 0, 1>(9);
  same_bits<float, shape<3, 5, 33>, 0, 2>(10);
  same_bits<float, shape<3, 5, 33>, 1, 2>(11);
  same_bits<float, shape<3, 16, 1>, 1>(12);
  same_bits<double, shape<7>>(13);
  same_bits<double, shape<1000>>(14);
  same_bits<double, shape<13, 67>, 0>(15);
  same_bits<double, shape<13, 67>, 1>(16);
  same_bits<double, shape<3, 5, 33>, 0, 2>(17);
}
TEST_CASE("tensor kernels: broadcasts and bounded extents") {
  auto const a = std::make_unique<tensor<float, shape<at_most(9), 37>, simd>>();
  auto const b = std::make_unique<tensor<float, shape<at_most(9), 37>, reference>>();
  auto row_a = tensor<float, shape<37>, simd>{};
  auto row_b = tensor<float, shape<37>, reference>{};
  auto y_a = *a;
  auto y_b = *b;
  for (auto n = std::size_t{0}; n <= 9; ++n) {
    test::fill(*a, 1);
    test::fill(*b, 1);
    test::fill(row_a, 2);
    test::fill(row_b, 2);
    y_a = {};
    y_b = {};
    assign(y_a.sized(n), sigmoid(a->sized(n) * row_a) - max(a->sized(n), axis<1>, keepdims));
    assign(y_b.sized(n), sigmoid(b->sized(n) * row_b) - max(b->sized(n), axis<1>, keepdims));
    CHECK(std::memcmp(y_a.values, y_b.values, sizeof y_a.values) == 0);
  }
}
TEST_CASE("tensor kernels: 16-bit scalars by vectors as one by one") {
  auto a = tensor<bf16, shape<3, 21>, simd>{};
  auto b = tensor<bf16, shape<3, 21>, reference>{};
  for (auto i = std::size_t{0}; i < 63; ++i)
    a.values[i] = b.values[i] = bf16(std::sin(static_cast<float>(i)));
  CHECK(test::same_bits(evaluate(exp(a) * 3), evaluate(exp(b) * 3)));
  a = a * a + 1;
  b = b * b + 1;
  CHECK(std::memcmp(a.values, b.values, sizeof a.values) == 0);
}
TEST_CASE("tensor kernels: results that are written past the caches") {
  constexpr auto n = nontemporal_bytes / sizeof(float) + 5;
  using X = tensor<float, shape<n>, simd>;
  auto const a = std::make_unique<X>();
  auto const y = std::make_unique<X>();
  for (auto i = std::size_t{0}; i < n; ++i) a->values[i] = static_cast<float>(i % 1000);
  auto const counts = [&](X const& x, float scale) {
    auto right = true;
    for (auto i = std::size_t{0}; i < n; ++i)
      right = right && x.values[i] == static_cast<float>(i % 1000) * scale + 1;
    return right;
  };
  *y = *a * 2 + 1;
  CHECK(counts(*y, 2));
  *y = *a;
  *y = *y * 3 + 1;  // read where it is written
  CHECK(counts(*y, 3));
  auto const whole = std::make_unique<tensor<float, shape<at_most(n + 7)>, simd>>();
  auto const target = view<float, shape<n>, simd>{whole->data() + 3};
  assign(target, *a * 4 + 1);
  *y = target;
  CHECK(counts(*y, 4));
  CHECK(whole->data()[2] == 0);
  CHECK(whole->data()[n + 3] == 0);
}
TEMPLATE_TEST_CASE("tensor kernels: sums of what comes from memory have the reference's bits", "",
                   float, double) {
  constexpr auto n = nontemporal_bytes / sizeof(TestType) + 5;
  auto const sums = []<class Backend>(Backend) {
    using X = tensor<TestType, shape<at_most(n)>, Backend>;
    auto const x = std::make_unique<X>();
    for (auto i = std::size_t{0}; i < n; ++i)
      x->data()[i] = static_cast<TestType>(i % 1009) / 7 - 60;
    auto result = std::vector<TestType>{};
    auto const keep = [&](tensor<TestType, shape<>, Backend> const& y) {
      result.push_back(y.values[0]);
    };
    auto const all = x->sized(n);
    keep(sum(all));
    keep(mean(all * all + 1));
    keep(sum(where(all > 0, all, TestType{2})));
    keep(sum(x->sized(70)));
    return result;
  };
  auto const want = sums(reference{});
  CHECK(want[3] != want[0]);
  CHECK(sums(simd{}) == want);
}
TEST_CASE("tensor kernels: threads share what is large, with the same bits") {
  using large = tensor<float, shape<at_most(300), 257>, simd>;
  auto const x = std::make_unique<large>();
  test::fill(*x, 12, 4);
  for (auto const rows : {300U, 256U, 3U}) {
    auto const a = as_const(x->sized(rows));
    auto const alone = std::make_unique<large>();
    alone->sized(rows) = exp(a) * a - 0.5;
    auto const shared = std::make_unique<large>();
    auto const team = test::backwards(3);
    shared->sized(rows) = exp(a) * a - 0.5;
    CHECK(team.tasks == (rows == 3 ? 0U : 2U));
    CHECK(std::memcmp(shared->data(), alone->data(), rows * 257 * sizeof(float)) == 0);
  }
}
