// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

TEST_CASE("cross_entropy: probabilities minus what is wanted, safe from overflow") {
  double const logits[] = {1000, 1000, -1000};
  double slope[3];
  auto const loss = kernel_for<detail::cross_entropy_fn, simd>::row(logits, 3, 0, 0.0, slope, 2.0);
  CHECK(loss == Approx(std::log(2.0)));
  CHECK(slope[0] == Approx(-1));
  CHECK(slope[1] == Approx(1));
  CHECK(slope[2] == 0);
}
// -- reference: tests/reference/loss.py -----------------------------------------------------------
TEMPLATE_TEST_CASE("cross_entropy: what all logits have in common takes no digits", "", simd,
                   reference) {
  using kernels = kernel_for<detail::cross_entropy_fn, TestType>;
  auto const g = test::golden("loss");
  auto y = tensor<float, shape<6, 3>>{};
  test::load(y, g["far.y"]);
  auto const target = std::int32_t{0};
  auto const check = [&](float smoothing, auto const& expected) {
    for (auto r = std::size_t{0}; r < 6; ++r) {
      auto const rows = detail::cross_entropy_rows<float>{1, 3, -100, smoothing, 1.0F};
      auto const loss =
          kernels::rows(rows, y.data() + r * 3, &target, static_cast<float*>(nullptr));
      CHECK(loss == Approx(expected[r]).epsilon(1e-6));
    }
  };
  check(0.0F, g["far.plain"]);
  check(0.1F, g["far.smooth"]);
  auto const largest = tensor<float, shape<3>>{{3e38F, 3e38F, 3e38F}};
  auto const rows = detail::cross_entropy_rows<float>{1, 3, -100, 0.5F, 1.0F};
  CHECK(kernels::rows(rows, largest.data(), &target, static_cast<float*>(nullptr)) ==
        Approx(std::log(3.0)));
}
TEST_CASE("cross_entropy: its terms are the rows that are not ignored") {
  std::int32_t const targets[] = {2, -100, 0, -100, -100};
  using kernels = kernel_for<detail::cross_entropy_fn, simd>;
  CHECK(kernels::terms(5, targets, -100) == 2);
  CHECK(kernels::terms(5, targets, 2) == 4);
  CHECK(kernels::terms(0, targets, -100) == 0);
}

// -- agreement ------------------------------------------------------------------------------------
template <class T> void equals_reference(std::size_t count, std::size_t classes, T smoothing) {
  auto logits = std::vector<T>(count * classes);
  auto targets = std::vector<std::int32_t>(count);
  auto g = torch_generator(7);
  g.uniform(logits.data(), logits.size(), -9, 9);
  for (auto r = std::size_t{0}; r < count; ++r)
    targets[r] = r % 5 == 3 ? -100 : static_cast<std::int32_t>(r * 7 % classes);
  auto const rows = detail::cross_entropy_rows<T>{count, classes, -100, smoothing, T(0.3)};
  auto const run = [&]<class Backend>(std::type_identity<Backend>, std::vector<T>& slope) {
    using kernels = kernel_for<detail::cross_entropy_fn, Backend>;
    auto const with_slope = kernels::rows(rows, logits.data(), targets.data(), slope.data());
    CHECK(kernels::rows(rows, logits.data(), targets.data(), static_cast<T*>(nullptr)) ==
          with_slope);
    return with_slope;
  };
  auto of_vectors = std::vector<T>(logits.size());
  auto of_numbers = std::vector<T>(logits.size());
  auto const loss = run(std::type_identity<simd>{}, of_vectors);
  CHECK(loss == run(std::type_identity<reference>{}, of_numbers));
  CHECK(std::memcmp(of_vectors.data(), of_numbers.data(), sizeof(T) * logits.size()) == 0);
}
TEST_CASE("cross_entropy: vectors have the bits of the reference") {
  for (auto const classes : {1, 3, 10, 16, 63, 64, 65, 200}) {
    auto const n = static_cast<std::size_t>(classes);
    equals_reference<float>(n == 3 ? 1 : 37, n, 0);
    equals_reference<float>(33, n, 0.1F);
    equals_reference<double>(19, n, 0.1);
  }
}
TEMPLATE_TEST_CASE("cross_entropy: vectors have the bits of the reference beyond ordinary logits",
                   "", float, double) {
  using T = TestType;
  constexpr auto infinity = std::numeric_limits<T>::infinity();
  auto r = torch_generator(8);
  auto classes_of_no_chance = 0;
  for (auto round = 0; round < 300; ++round) {
    auto const classes = std::size_t{1} + r.randint(150);
    auto logits = std::vector<T>(classes);
    r.uniform(logits.data(), classes, -9, 9);
    if (round % 3 == 0)  // classes that are masked; of some rows, all of them
      for (auto& x : logits) x = r.randint(10) < (round % 30 == 0 ? 10U : 5U) ? -infinity : x;
    else if (round % 3 == 1)
      test::put_extremes(logits.data(), classes, 1, r);
    else
      test::put_extremes(logits.data(), classes, 5, r);
    auto const target = static_cast<std::int32_t>(r.randint(static_cast<std::uint32_t>(classes)));
    auto const rows =
        detail::cross_entropy_rows<T>{1, classes, -100, round % 2 == 0 ? T{0} : T(0.1), T(0.3)};
    auto const run = [&](auto kernel) {
      auto result = std::vector<T>(classes + 1);
      result[classes] = decltype(kernel)::rows(rows, logits.data(), &target, result.data());
      return result;
    };
    auto const result = run(kernel_for<detail::cross_entropy_fn, simd>{});
    CHECK(test::same_numbers(result, run(kernel_for<detail::cross_entropy_fn, reference>{})));
    for (auto c = std::size_t{0}; c < classes; ++c)
      classes_of_no_chance += logits[c] == -infinity && result[c] == 0 ? 1 : 0;
  }
  CHECK(classes_of_no_chance > 100);
}
